#include "emitters/windows_build.h"

#include "base/escape.h"
#include "base/vector.h"
#include "emitters/bwrap_text.h"
#include "emitters/windows_pattern.h"
#include "policy/pattern.h"

#include <string.h>

/* The plain directory that a rule's path or pattern lies at or below. */
static const char *fixed_part(const struct windows_build *build, const struct bound_path *at)
{
    const char *problem, *model = at->path;
    if (at->pattern)
        model = pattern_plain(build->arena, model, pattern_fixed_prefix(model));
    return windows_place_name(build->arena, model, &problem);
}

static bool may_meet(const char *a, const char *b)
{
    return windows_path_covers(a, b) || windows_path_covers(b, a);
}

/* Roots that are found in the working directory, and so lie where its denies do. */
static bool is_found_root(const char *path)
{
    static const char *const roots[] = {"$REPO", "$GITDIR", "$GITDIRS", "$SUBMODULES"};
    size_t length = strcspn(path, "\\");
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++)
        if (strncmp(path, roots[i], length) == 0 && roots[i][length] == '\0')
            return true;
    return false;
}

static bool holds(const struct windows_excepts *excepts, const char *name)
{
    for (uint32_t i = 0; i < excepts->count; i++)
        if (strcmp(excepts->items[i], name) == 0)
            return true;
    return false;
}

struct windows_excepts windows_excepts_of(const struct windows_build *build, const struct bound_rule *rule)
{
    struct windows_excepts excepts = {0};
    const char *from = fixed_part(build, &rule->at);
    for (uint32_t i = 0; i < rule->except_count && from != NULL; i++) {
        const struct bound_path *except = &rule->except[i];
        const char *problem, *fixed = path_of_variable(except->path) ? NULL : fixed_part(build, except);
        if (fixed == NULL || (windows_same_root(fixed, from) && !may_meet(from, fixed)))
            continue;
        const char *name =
            except->pattern ? windows_pattern_name(build->arena, except->path, &problem) : fixed;
        if (name != NULL && !holds(&excepts, name))
            VECTOR_PUSH(build->arena, &excepts, name);
    }
    return excepts;
}

/* The path as a pattern whose fixed part is the directory that holds it: what is looked for is looked for in there. */
static const char *signed_name(struct arena *arena, const char *path)
{
    const char *letter = strrchr(path, '\\') + 1;
    letter += strcspn(letter, ".abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");
    return *letter == '\0'
               ? NULL
               : arena_format(arena, "%.*s[%c]%s", (int)(letter - path), path, *letter, letter + 1);
}

bool windows_deny_is_match(const struct windows_build *build, const struct bound_rule *rule)
{
    const char *from = fixed_part(build, &rule->at);
    struct windows_excepts excepts = windows_excepts_of(build, rule);
    if (from == NULL || !is_found_root(from) || rule->at.pattern || strchr(from, '\\') == NULL ||
        signed_name(build->arena, from) == NULL)
        return false;
    for (uint32_t i = 0; i < excepts.count; i++)
        if (!windows_same_root(from, excepts.items[i]) && is_found_root(excepts.items[i]))
            return true;
    return false;
}

/* Whether something that is open, or may turn out to lie there, is in reach of the pattern. */
static bool may_bite(const struct windows_build *build, const struct bound_rule *rule)
{
    const char *from = fixed_part(build, &rule->at);
    if (build->tier == WINDOWS_RESTRICTED_LOW && rule->rule->level == LEVEL_NONE)
        return true;
    const struct windows_place *around = windows_places_at(&build->places, from);
    return (around != NULL && around->level > rule->rule->level) ||
           windows_opens_below(build, from, rule->rule->level) ||
           windows_may_lie_in(build, from, rule->rule->level);
}

static struct windows_ace entry_for(const struct windows_build *build, bool deny, uint32_t mask)
{
    struct windows_object object = {0};
    windows_object_add(build, &object, deny, mask);
    return object.aces[0];
}

static void add_deny(struct windows_build *build, const struct bound_rule *rule, const char *pattern)
{
    struct windows_excepts excepts = windows_excepts_of(build, rule);
    struct windows_match match = {
        .pattern = pattern,
        .excepts = excepts.items,
        .except_count = excepts.count,
        .ace =
            entry_for(build, true, rule->rule->level == LEVEL_NONE ? WINDOWS_DENY_ALL : WINDOWS_DENY_WRITE),
        .label = windows_label_for(build, rule->rule->level),
        .rule = bound_statement_text(build->arena, build->bound->policy, rule),
    };
    VECTOR_PUSH(build->arena, &build->acl.matches, match);
}

enum level windows_exception_level(const struct windows_build *build, const struct bound_path *except)
{
    const char *problem, *sample = windows_pattern_sample(build->arena, except->path);
    const char *name = sample != NULL ? windows_place_name(build->arena, sample, &problem) : NULL;
    const struct windows_place *around = name != NULL ? windows_places_at(&build->places, name) : NULL;
    enum level level = name != NULL ? bound_level(build->bound, sample, strlen(sample)) : LEVEL_NONE;
    return level > (around != NULL ? around->level : LEVEL_NONE) ? level : LEVEL_NONE;
}

static void note_closed(struct windows_build *build, const struct bound_rule *rule,
                        const struct bound_path *except)
{
    bool reads = build->tier == WINDOWS_APPCONTAINER;
    note_add(build->notes,
             (struct note){.code = SBX320_WINDOWS_LESS,
                           .rule = rule->rule,
                           .text = arena_format(build->arena,
                                                reads ? "what matches %s cannot be written on Windows (%s)"
                                                      : "what matches %s stays closed on Windows (%s)",
                                                escape_windows(build->arena, except->path),
                                                bound_rule_text(build->arena, rule))});
}

/* What an exception by pattern opens: nothing above it grants the places that it matches. What could be written would
 * have to keep its name as well, and labels know no exception. */
static void add_exception(struct windows_build *build, const struct bound_rule *rule,
                          const struct bound_path *except)
{
    const char *problem, *pattern = windows_pattern_name(build->arena, except->path, &problem);
    enum level level = windows_exception_level(build, except);
    if (level == LEVEL_NONE || pattern == NULL)
        return;
    if (build->tier != WINDOWS_APPCONTAINER || level == LEVEL_WRITE)
        note_closed(build, rule, except);
    if (build->tier != WINDOWS_APPCONTAINER)
        return;
    for (uint32_t i = 0; i < build->acl.matches.count; i++)
        if (strcmp(build->acl.matches.items[i].pattern, pattern) == 0 &&
            !build->acl.matches.items[i].ace.deny)
            return;
    struct windows_match match = {
        .pattern = pattern,
        .ace = entry_for(build, false, WINDOWS_ALLOW_READ),
        .rule = bound_statement_text(build->arena, build->bound->policy, rule),
    };
    VECTOR_PUSH(build->arena, &build->acl.matches, match);
}

void windows_build_matches(struct windows_build *build)
{
    for (uint32_t i = 0; i < build->bound->rules.count; i++) {
        const struct bound_rule *rule = &build->bound->rules.items[i];
        const char *problem, *name;
        if (rule->dropped || rule->rule->kind != RULE_DENY || path_of_variable(rule->at.path))
            continue;
        if (rule->at.pattern || windows_deny_is_match(build, rule)) {
            name = rule->at.pattern ? windows_pattern_name(build->arena, rule->at.path, &problem)
                                    : signed_name(build->arena, fixed_part(build, &rule->at));
            if (name != NULL && may_bite(build, rule))
                add_deny(build, rule, name);
        }
        for (uint32_t j = 0; j < rule->except_count && !rule->at.pattern; j++)
            if (rule->except[j].pattern && !path_of_variable(rule->except[j].path))
                add_exception(build, rule, &rule->except[j]);
    }
}
