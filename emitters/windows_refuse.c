#include "emitters/windows_refuse.h"

#include "base/escape.h"
#include "base/vector.h"
#include "emitters/bwrap_text.h"
#include "emitters/windows_build.h"
#include "emitters/windows_pattern.h"
#include "emitters/windows_places.h"
#include "emitters/windows_spec.h"
#include "policy/pattern.h"

#include <stdlib.h>
#include <string.h>

struct refusal {
    struct arena *arena;
    const struct bound_policy *bound;
    struct windows_places places;
    struct note_list *notes;
    bool held;
};

static void refuse(struct refusal *refusal, enum code code, const struct rule *rule, const char *text,
                   const char *help)
{
    note_add(refusal->notes, (struct note){.code = code, .rule = rule, .text = text, .help = help});
    refusal->held = false;
}

static const char *said(struct refusal *refusal, const struct bound_rule *rule)
{
    return bound_rule_text(refusal->arena, rule);
}

/* ---- names ---- */

static void leave_out(struct refusal *refusal, const struct bound_rule *rule, const char *path,
                      const char *why)
{
    note_add(refusal->notes,
             (struct note){.code = SBX321_WINDOWS_LEFT_OUT,
                           .rule = rule->rule,
                           .text = arena_format(
                               refusal->arena, "%s %s; the automatic grant is left out on Windows (%s)",
                               escape_windows(refusal->arena, path), why, said(refusal, rule))});
}

/* The path or pattern as Windows writes it, or NULL with a note. */
static const char *named(struct refusal *refusal, const struct bound_rule *rule, const struct bound_path *at)
{
    const char *problem, *name = at->pattern ? windows_pattern_name(refusal->arena, at->path, &problem)
                                             : windows_place_name(refusal->arena, at->path, &problem);
    if (name != NULL)
        return name;
    if (rule->rule->kind == RULE_GRANT && rule->rule->automatic)
        leave_out(refusal, rule, at->path, problem);
    else
        refuse(refusal, SBX313_WINDOWS_PATH, rule->rule,
               arena_format(refusal->arena, "%s %s (\"%s\")", escape_windows(refusal->arena, at->path),
                            problem, said(refusal, rule)),
               "write the name that the file has on Windows, or put the rule under `when os linux` or `when "
               "os macos`");
    return NULL;
}

static void warn_short(struct refusal *refusal, const struct bound_rule *rule, const char *path)
{
    if (!rule->rule->automatic && windows_path_looks_short(path))
        note_add(
            refusal->notes,
            (struct note){.code = SBX317_WINDOWS_SHORT,
                          .rule = rule->rule,
                          .text = arena_format(refusal->arena,
                                               "%s looks like a short name, which may stand for another file",
                                               escape_windows(refusal->arena, path)),
                          .help = "write the long name"});
}

/* ---- grants and denies ---- */

const char *windows_grant_problem(const struct rule *rule, const char *path)
{
    if (windows_path_is_protected(path))
        return "belongs to Windows or to the whole account";
    if (rule->level == LEVEL_WRITE && windows_path_is_of_system(path))
        return "belongs to Windows, which lets no ordinary user change it";
    return NULL;
}

/* Whether something is open there, or, since an automatic grant is left out whole, below. */
static bool opens_something(const struct refusal *refusal, const struct bound_rule *rule, const char *path)
{
    if (bound_level(refusal->bound, rule->at.path, strlen(rule->at.path)) != LEVEL_NONE)
        return true;
    for (uint32_t i = windows_places_from(&refusal->places, path);
         i < refusal->places.count && windows_path_covers(path, refusal->places.items[i].path); i++)
        if (rule->rule->automatic && refusal->places.items[i].level > LEVEL_NONE)
            return true;
    return false;
}

static void check_grant(struct refusal *refusal, const struct bound_rule *rule, const char *path)
{
    const char *problem = windows_grant_problem(rule->rule, path);
    if (problem == NULL || !opens_something(refusal, rule, path))
        return;
    /* What Windows opens by itself is no loss. */
    if (rule->rule->automatic && windows_path_is_of_system(path) && rule->rule->level == LEVEL_READ)
        return;
    if (rule->rule->automatic)
        leave_out(refusal, rule, path, problem);
    else
        refuse(refusal, SBX314_WINDOWS_GRANT, rule->rule,
               arena_format(refusal->arena, "nothing can be granted at %s, which %s (\"%s\")",
                            escape_windows(refusal->arena, path), problem, said(refusal, rule)),
               windows_path_is_of_system(path) && rule->rule->level == LEVEL_READ
                   ? "leave it out: Windows opens it for reading to every program"
                   : "grant the directory below it that is needed");
}

static void check_deny(struct refusal *refusal, const struct bound_rule *rule)
{
    struct arena *arena = refusal->arena;
    const char *problem, *model = rule->at.path;
    bool reads = rule->rule->kind == RULE_DENY_EXEC ||
                 (rule->rule->kind == RULE_DENY && rule->rule->level == LEVEL_NONE);
    if (rule->at.pattern)
        model = pattern_plain(arena, model, pattern_fixed_prefix(model));
    const char *path = windows_place_name(arena, model, &problem);
    if (!reads || path == NULL)
        return;
    if (windows_path_is_of_system(path) || (path[1] == ':' && path[3] == '\0' && !rule->at.pattern))
        refuse(
            refusal, SBX316_WINDOWS_DENY, rule->rule,
            arena_format(
                arena,
                "%s cannot be closed (fs.deny): Windows opens its own directories to every program (\"%s\")",
                escape_windows(arena, path), said(refusal, rule)),
            "deny the settings or the data of the program instead, or put the rule under `when os linux` or "
            "`when os macos`");
}

/* ---- exceptions ---- */

static void refuse_exception(struct refusal *refusal, const struct rule *rule, const char *path)
{
    refuse(refusal, SBX315_WINDOWS_REOPENED, rule,
           arena_format(refusal->arena,
                        "Windows cannot leave %s open (fs.deny): what is inside a closed directory inherits "
                        "its deny (\"%s\")",
                        escape_windows(refusal->arena, path), rule_text(refusal->arena, rule)),
           "deny by name what should be closed in there, or move the exception out of it");
}

/* The place above that a deny lowered to less. */
static const struct windows_place *capped_above(const struct windows_places *places,
                                                const struct windows_place *place)
{
    for (int32_t up = place->above; up >= 0; up = places->items[up].above)
        if (places->items[up].capped && places->items[up].level < place->level)
            return &places->items[up];
    return NULL;
}

static void check_places(struct refusal *refusal)
{
    for (uint32_t i = 0; i < refusal->places.count; i++) {
        const struct windows_place *place = &refusal->places.items[i];
        const struct windows_place *above = place->below_deny ? capped_above(&refusal->places, place) : NULL;
        if (above != NULL)
            refuse_exception(refusal, above->why != NULL ? above->why->rule : NULL, place->path);
    }
}

static bool matches_above(struct arena *arena, const char *pattern, const char *path)
{
    const struct pattern *compiled = pattern_compile(arena, pattern, true);
    for (const char *slash = strchr(path, '/'); slash != NULL; slash = strchr(slash + 1, '/'))
        if (pattern_matches(compiled, path, (size_t)(slash - path)))
            return true;
    return false;
}

/* How grants of more than `cap` lie to what a path or pattern speaks of. */
enum opening { OPENS_NOTHING, OPENS_WHOLE, OPENS_PART };

static const char *fixed_part(struct refusal *refusal, const struct bound_path *at)
{
    const char *problem, *model = at->path;
    if (at->pattern)
        model = pattern_plain(refusal->arena, model, pattern_fixed_prefix(model));
    return windows_place_name(refusal->arena, model, &problem);
}

static enum opening opening_of(struct refusal *refusal, const struct bound_path *at, enum level cap)
{
    enum opening opening = OPENS_NOTHING;
    const char *fixed = fixed_part(refusal, at);
    for (uint32_t i = 0; i < refusal->bound->rules.count && opening < OPENS_PART && fixed != NULL; i++) {
        const struct bound_rule *rule = &refusal->bound->rules.items[i];
        const char *problem, *path;
        if (rule->dropped || rule->rule->kind != RULE_GRANT || rule->rule->level <= cap ||
            (path = windows_place_name(refusal->arena, rule->at.path, &problem)) == NULL)
            continue;
        if (windows_path_covers(path, fixed))
            opening = OPENS_WHOLE;
        else if (windows_path_covers(fixed, path) || windows_may_nest(path, fixed))
            opening = OPENS_PART;
    }
    return opening;
}

static const char *pattern_text(struct refusal *refusal, const struct bound_path *at)
{
    return at->pattern ? at->path : pattern_escape(refusal->arena, at->path, strlen(at->path));
}

/* Whether the deny takes something from a place around it, so that what it closes inherits its entry. */
static bool lowers(const struct refusal *refusal, const struct bound_rule *rule)
{
    const char *problem,
        *path = rule->at.pattern ? NULL : windows_place_name(refusal->arena, rule->at.path, &problem);
    const struct windows_place *place = path != NULL ? windows_places_at(&refusal->places, path) : NULL;
    return place != NULL && place->level < place->around && windows_path_equal(place->path, path);
}

/* What lies inside something that a deny closes only when the launcher looks, or is opened in part. */
static void note_exception(struct refusal *refusal, const struct bound_rule *rule,
                           const struct bound_path *except, bool opens)
{
    enum opening opening = opening_of(refusal, except, rule->rule->level);
    if (opening == OPENS_NOTHING ||
        (opening == OPENS_WHOLE && opens && !rule->at.pattern && !lowers(refusal, rule)) ||
        !windows_pattern_may_hold(refusal->arena, pattern_text(refusal, &rule->at),
                                  pattern_text(refusal, except)))
        return;
    note_add(refusal->notes,
             (struct note){.code = SBX320_WINDOWS_LESS,
                           .rule = rule->rule,
                           .text = arena_format(
                               refusal->arena,
                               "%s stays closed where it lies inside something else that \"%s\" closes",
                               escape_windows(refusal->arena, except->path), said(refusal, rule))});
}

/* An exception by pattern, or from a deny by pattern: it may lie inside something closed. */
static void check_exception(struct refusal *refusal, const struct bound_rule *rule,
                            const struct bound_path *except)
{
    struct arena *arena = refusal->arena;
    const char *problem,
        *sample = except->pattern ? windows_pattern_sample(arena, except->path) : except->path;
    if (!except->pattern && !rule->at.pattern)
        return;
    const char *name = sample != NULL ? windows_place_name(arena, sample, &problem) : NULL;
    const struct windows_place *around = name != NULL ? windows_places_at(&refusal->places, name) : NULL;
    bool inside = rule->at.pattern ? name != NULL && matches_above(arena, rule->at.path, sample)
                                   : around != NULL && around->capped;
    bool opens = sample != NULL && bound_level(refusal->bound, sample, strlen(sample)) > rule->rule->level;
    if (inside && opens)
        refuse_exception(refusal, rule->rule, except->path);
    else
        note_exception(refusal, rule, except, opens);
}

/* ---- spelling ---- */

struct spelled {
    const char *path, *model;
    const struct bound_rule *rule;
    int32_t above; /* the nearest that covers it, or -1 */
};

struct spelled_list {
    struct spelled *items;
    uint32_t count, capacity;
};

static int compare_spelled(const void *a, const void *b)
{
    const struct spelled *left = a, *right = b;
    int order = windows_path_compare(left->path, right->path);
    return order != 0 ? order : strcmp(left->model, right->model);
}

static void refuse_spelling(struct refusal *refusal, const struct spelled *above, const struct spelled *grant)
{
    const char *text = arena_format(
        refusal->arena, "\"%s\" spells a place of \"%s\" in another way, and Windows takes both for one",
        said(refusal, grant->rule), said(refusal, above->rule));
    if (grant->rule->rule->automatic || above->rule->rule->automatic)
        note_add(refusal->notes,
                 (struct note){.code = SBX320_WINDOWS_LESS,
                               .rule = grant->rule->rule,
                               .text = arena_format(refusal->arena, "%s; the lower level holds", text)});
    else
        refuse(refusal, SBX318_WINDOWS_SPELLING, grant->rule->rule, text, "write it alike in both");
}

/* Grants compare by bytes: a grant that lies in another one as Windows sees it must do so by its bytes. */
static void check_spelling(struct refusal *refusal)
{
    struct spelled_list grants = {0};
    const struct bound_policy *bound = refusal->bound;
    for (uint32_t i = 0; i < bound->rules.count; i++) {
        const struct bound_rule *rule = &bound->rules.items[i];
        const char *problem, *path;
        if (rule->dropped || rule->rule->kind != RULE_GRANT || path_of_variable(rule->at.path))
            continue;
        if ((path = windows_place_name(refusal->arena, rule->at.path, &problem)) != NULL)
            VECTOR_PUSH(refusal->arena, &grants, (struct spelled){path, rule->at.path, rule, -1});
    }
    if (grants.count > 1)
        qsort(grants.items, grants.count, sizeof *grants.items, compare_spelled);
    for (int32_t i = 1; i < (int32_t)grants.count; i++) {
        struct spelled *grant = &grants.items[i];
        int32_t above = i - 1;
        while (above >= 0 && !windows_path_covers(grants.items[above].path, grant->path))
            above = grants.items[above].above;
        grant->above = above;
        if (above >= 0 &&
            strncmp(grants.items[above].model, grant->model, strlen(grants.items[above].model)) != 0)
            refuse_spelling(refusal, &grants.items[above], grant);
    }
}

bool windows_refuse(const struct bound_policy *bound, struct note_list *notes)
{
    struct refusal refusal = {.arena = notes->arena,
                              .bound = bound,
                              .places = windows_places_of(notes->arena, bound),
                              .notes = notes,
                              .held = true};
    for (uint32_t i = 0; i < bound->rules.count; i++) {
        const struct bound_rule *rule = &bound->rules.items[i];
        enum rule_kind kind = rule->rule->kind;
        bool denies = kind == RULE_DENY || kind == RULE_DENY_EXEC;
        if (rule->dropped || rule->at.path == NULL || path_of_variable(rule->at.path) ||
            (kind != RULE_GRANT && !denies))
            continue;
        const char *path = named(&refusal, rule, &rule->at);
        if (path == NULL)
            continue;
        warn_short(&refusal, rule, path);
        if (kind == RULE_GRANT && !rule->holds_as_deny_write)
            check_grant(&refusal, rule, path);
        if (denies)
            check_deny(&refusal, rule);
        for (uint32_t j = 0; j < rule->except_count; j++)
            if (!path_of_variable(rule->except[j].path) && named(&refusal, rule, &rule->except[j]) != NULL)
                check_exception(&refusal, rule, &rule->except[j]);
    }
    check_places(&refusal);
    check_spelling(&refusal);
    return refusal.held;
}
