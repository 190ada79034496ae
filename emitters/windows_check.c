#include "emitters/windows_spec.h"

#include "base/escape.h"
#include "base/vector.h"

#include <stdlib.h>
#include <string.h>

/* Whatever is wrong, said of the line and the path that it stands at. */
static const char *said(struct arena *arena, uint32_t line, const char *path, const char *problem)
{
    return arena_format(arena, "line %u: %s %s", (unsigned)line, escape_windows(arena, path), problem);
}

/* ---- paths ---- */

/* A pattern keeps the rules of a path, its signs put aside; brackets are part of names. */
static const char *pattern_problem(struct arena *arena, const char *pattern)
{
    char *plain = arena_strdup(arena, pattern);
    for (char *at = plain; *at != '\0'; at++)
        if (*at == '*' || *at == '?')
            *at = 'x';
    return windows_path_problem(plain);
}

static const char *match_path_problem(struct arena *arena, const struct windows_match *match)
{
    const char *problem = pattern_problem(arena, match->pattern);
    if (problem != NULL)
        return said(arena, match->line, match->pattern, problem);
    for (uint32_t i = 0; i < match->except_count; i++) {
        problem = pattern_problem(arena, match->excepts[i]);
        if (problem != NULL)
            return said(arena, match->line, match->excepts[i], problem);
    }
    return NULL;
}

static const char *check_paths(struct arena *arena, const struct windows_spec *spec)
{
    const char *problem = NULL;
    for (uint32_t i = 0; i < spec->object_count; i++) {
        const struct windows_object *object = &spec->objects[i];
        if ((problem = windows_path_problem(object->path)) != NULL)
            return said(arena, object->line, object->path, problem);
    }
    for (uint32_t i = 0; i < spec->require_count; i++) {
        const struct windows_require *require = &spec->requires[i];
        if ((problem = windows_path_problem(require->path)) != NULL)
            return said(arena, require->line, require->path, problem);
        if ((problem = windows_path_problem(require->below)) != NULL)
            return said(arena, require->line, require->below, problem);
    }
    for (uint32_t i = 0; i < spec->match_count; i++)
        if ((problem = match_path_problem(arena, &spec->matches[i])) != NULL)
            return problem;
    return NULL;
}

static const char *check_order(struct arena *arena, const struct windows_spec *spec)
{
    for (uint32_t i = 1; i < spec->object_count; i++) {
        int order = windows_path_compare(spec->objects[i - 1].path, spec->objects[i].path);
        if (order >= 0)
            return said(arena, spec->objects[i].line, spec->objects[i].path,
                        order == 0 ? "is named twice" : "does not come in the order of paths");
    }
    return NULL;
}

static const char *check_requires(struct arena *arena, const struct windows_spec *spec)
{
    for (uint32_t i = 0; i < spec->require_count; i++) {
        const struct windows_require *require = &spec->requires[i];
        if (windows_path_covers(require->below, require->path))
            return said(
                arena, require->line, require->path,
                arena_join(arena, "must not lie at or below ", escape_windows(arena, require->below)));
    }
    return NULL;
}

/* ---- entries ---- */

static bool mask_allows(uint32_t mask)
{
    return mask == WINDOWS_ALLOW_READ || mask == WINDOWS_ALLOW_WRITE;
}

static bool mask_denies(uint32_t mask)
{
    return mask == WINDOWS_DENY_ALL || mask == WINDOWS_DENY_WRITE || mask == WINDOWS_DENY_DELETE ||
           mask == WINDOWS_DENY_EXECUTE;
}

static const char *entry_problem(const struct windows_spec *spec, const struct windows_ace *ace)
{
    bool alone = ace->mask == WINDOWS_DENY_DELETE || ace->mask == WINDOWS_DENY_EXECUTE;
    if ((ace->principal == WINDOWS_PACKAGE) != (spec->tier == WINDOWS_APPCONTAINER))
        return "has an entry for whom this tier does not know";
    if (!(ace->deny ? mask_denies(ace->mask) : mask_allows(ace->mask)))
        return ace->deny ? "denies with a mask that allows" : "allows with a mask that denies";
    if (ace->inherit == alone)
        return alone ? "has an entry that must not be inherited" : "has an entry that must be inherited";
    return NULL;
}

/* Only the tier that has labels holds some. A low one opens: it keeps nobody below it from reading. */
static const char *label_problem(const struct windows_spec *spec, const struct windows_label *label)
{
    if (!label->present)
        return NULL;
    if (spec->tier != WINDOWS_RESTRICTED_LOW)
        return "has a label, which this tier does not use";
    return label->level == WINDOWS_LOW && label->policy != WINDOWS_NO_WRITE_UP
               ? "has a low label that keeps from more than writing"
               : NULL;
}

/* Denies before allows; one allow and one inheriting deny at most, no mask twice. */
static const char *list_problem(const struct windows_object *object)
{
    uint32_t allows = 0, lasting = 0;
    for (uint32_t i = 0; i < object->ace_count; i++) {
        const struct windows_ace *ace = &object->aces[i];
        if (ace->deny && allows > 0)
            return "denies behind an entry that allows";
        allows += !ace->deny;
        lasting += ace->deny && ace->inherit;
        for (uint32_t j = 0; j < i; j++)
            if (object->aces[j].mask == ace->mask)
                return "has the same entry twice";
    }
    if (allows > 1 || lasting > 1)
        return "has two entries where one can hold";
    if (object->automatic && allows == 0)
        return "is automatic and allows nothing";
    return object->ace_count == 0 && !object->label.present ? "says nothing" : NULL;
}

static const char *kind_problem(const struct windows_object *object)
{
    bool file = object->kind == WINDOWS_FILE, directory = object->kind == WINDOWS_DIRECTORY;
    if ((object->missing == WINDOWS_CREATE_DIRECTORY && file) ||
        (object->missing == WINDOWS_CREATE_FILE && directory))
        return "would be made as what it must not be";
    for (uint32_t i = 0; i < object->ace_count; i++)
        if (object->aces[i].mask == WINDOWS_DENY_EXECUTE && !file)
            return "denies to execute what is not said to be a file";
    return NULL;
}

/* A deny of the policy that neither an entry nor a label holds would be lost in silence. */
static const char *cap_problem(const struct windows_object *object)
{
    bool held = object->label.present && object->label.level == WINDOWS_MEDIUM;
    for (uint32_t i = 0; i < object->ace_count; i++)
        held = held || (object->aces[i].deny && object->aces[i].mask != WINDOWS_DENY_DELETE);
    return object->cap && !held ? "is a deny that nothing holds" : NULL;
}

static const char *object_problem(const struct windows_spec *spec, const struct windows_object *object)
{
    const char *problem = label_problem(spec, &object->label);
    for (uint32_t i = 0; i < object->ace_count && problem == NULL; i++)
        problem = entry_problem(spec, &object->aces[i]);
    if (problem == NULL)
        problem = list_problem(object);
    if (problem == NULL)
        problem = kind_problem(object);
    return problem != NULL ? problem : cap_problem(object);
}

static const char *match_problem(const struct windows_spec *spec, const struct windows_match *match)
{
    if (match->ace.mask == 0)
        return match->label.present ? label_problem(spec, &match->label) : "says nothing";
    if (match->ace.mask == WINDOWS_DENY_DELETE)
        return "is a pin alone, which denies nothing";
    const char *problem = entry_problem(spec, &match->ace);
    return problem != NULL ? problem : label_problem(spec, &match->label);
}

static const char *check_entries(struct arena *arena, const struct windows_spec *spec)
{
    const char *problem = NULL;
    for (uint32_t i = 0; i < spec->object_count; i++)
        if ((problem = object_problem(spec, &spec->objects[i])) != NULL)
            return said(arena, spec->objects[i].line, spec->objects[i].path, problem);
    for (uint32_t i = 0; i < spec->match_count; i++)
        if ((problem = match_problem(spec, &spec->matches[i])) != NULL)
            return said(arena, spec->matches[i].line, spec->matches[i].pattern, problem);
    return NULL;
}

/* ---- what is allowed where ---- */

static const struct windows_ace *allow_of(const struct windows_object *object)
{
    for (uint32_t i = 0; i < object->ace_count; i++)
        if (!object->aces[i].deny)
            return &object->aces[i];
    return NULL;
}

static const struct windows_ace *match_allow(const struct windows_match *match)
{
    return match->ace.mask != 0 && !match->ace.deny ? &match->ace : NULL;
}

/* What the inheriting entries of an object deny. */
static uint32_t denied_by(const struct windows_object *object)
{
    uint32_t mask = 0;
    for (uint32_t i = 0; i < object->ace_count; i++)
        if (object->aces[i].deny && object->aces[i].inherit)
            mask |= object->aces[i].mask;
    return mask;
}

static const char *check_protected(struct arena *arena, const struct windows_spec *spec)
{
    for (uint32_t i = 0; i < spec->object_count; i++) {
        const struct windows_object *object = &spec->objects[i];
        if (allow_of(object) != NULL && windows_path_is_protected(object->path))
            return said(arena, object->line, object->path, "is a place where nothing may be granted");
    }
    return NULL;
}

/* A place on the walk: an object, or the directory below which an allowing match lies. */
struct place {
    const char *path;
    const struct windows_object *object; /* or NULL */
    const struct windows_match *match;   /* or NULL */
};

/* What the denies of the policy at a place and above it keep closed. */
struct cap {
    const char *path;
    uint32_t denied;
    uint32_t labelled; /* policy of a medium label; 0: none */
};

struct caps {
    struct cap *items;
    uint32_t count, capacity;
};

static const char *capped_problem(const struct cap *cap, const struct place *place)
{
    const struct windows_ace *allow =
        place->match != NULL ? match_allow(place->match) : allow_of(place->object);
    uint32_t own = place->object != NULL ? denied_by(place->object) : 0;
    const struct windows_label *label = place->match != NULL ? &place->match->label : &place->object->label;
    if (allow != NULL && (allow->mask & ~own & cap->denied) != 0)
        return "allows what a deny above it keeps closed";
    if (label->present && cap->labelled != 0 &&
        (label->level == WINDOWS_LOW || (cap->labelled & ~label->policy) != 0))
        return "has a label that opens what a label above it keeps closed";
    return NULL;
}

static struct cap cap_at(const struct cap *above, const struct windows_object *object)
{
    struct cap cap = {object->path, denied_by(object), 0};
    if (object->label.present && object->label.level == WINDOWS_MEDIUM)
        cap.labelled = object->label.policy;
    if (above != NULL) {
        cap.denied |= above->denied;
        cap.labelled |= above->labelled;
    }
    return cap;
}

/* One step of the walk from above: `caps` are those that the place lies below. */
static const char *step(struct arena *arena, struct caps *caps, const struct place *place)
{
    while (caps->count > 0 && !windows_path_covers(caps->items[caps->count - 1].path, place->path))
        caps->count--;
    const struct cap *above = caps->count > 0 ? &caps->items[caps->count - 1] : NULL;
    const char *problem = above != NULL ? capped_problem(above, place) : NULL;
    if (problem != NULL && place->match != NULL)
        return said(arena, place->match->line, place->match->pattern, problem);
    if (problem != NULL)
        return said(arena, place->object->line, place->object->path, problem);
    if (place->object != NULL && place->object->cap) {
        struct cap cap = cap_at(above, place->object);
        VECTOR_PUSH(arena, caps, cap);
    }
    return NULL;
}

/* The directory below which all matches lie: what stands before the first name with a sign. */
static const char *fixed_part(struct arena *arena, const char *pattern)
{
    size_t length = strcspn(pattern, "*?[");
    while (length > 0 && pattern[length] != '\\')
        length--;
    if (length == 2 && pattern[1] == ':')
        length++;
    return arena_copy(arena, pattern, length);
}

static int place_order(const void *a, const void *b)
{
    return windows_path_compare(((const struct place *)a)->path, ((const struct place *)b)->path);
}

struct places {
    struct place *items;
    uint32_t count, capacity;
};

static struct places matches_sorted(struct arena *arena, const struct windows_spec *spec)
{
    struct places places = {0};
    for (uint32_t i = 0; i < spec->match_count; i++) {
        const struct windows_match *match = &spec->matches[i];
        struct place place = {fixed_part(arena, match->pattern), NULL, match};
        VECTOR_PUSH(arena, &places, place);
    }
    if (places.count > 0)
        qsort(places.items, places.count, sizeof *places.items, place_order);
    return places;
}

/* An entry of a deeper object stands before what it inherits, so a deny of the policy has to be said again
 * there. Objects and matches are walked together in the order of their paths, so that what lies above a place
 * is what came before it and covers it. */
static const char *check_caps(struct arena *arena, const struct windows_spec *spec)
{
    struct caps caps = {0};
    struct places matches = matches_sorted(arena, spec);
    uint32_t object = 0, match = 0;
    while (object < spec->object_count || match < matches.count) {
        struct place place = {0};
        if (object < spec->object_count)
            place = (struct place){spec->objects[object].path, &spec->objects[object], NULL};
        if (place.path == NULL ||
            (match < matches.count && windows_path_compare(matches.items[match].path, place.path) < 0))
            place = matches.items[match++];
        else
            object++;
        const char *problem = step(arena, &caps, &place);
        if (problem != NULL)
            return problem;
    }
    return NULL;
}

/* ---- the rest ---- */

static const char *check_capabilities(struct arena *arena, const struct windows_spec *spec)
{
    (void)arena;
    return spec->capabilities != 0 && spec->tier != WINDOWS_APPCONTAINER
               ? "only an AppContainer has capabilities"
               : NULL;
}

static unsigned char upper(char byte)
{
    return (unsigned char)(byte >= 'a' && byte <= 'z' ? byte - ('a' - 'A') : byte);
}

static int variable_order(const void *a, const void *b)
{
    const char *left = ((const struct windows_variable *)a)->name;
    const char *right = ((const struct windows_variable *)b)->name;
    while (*left != '\0' && upper(*left) == upper(*right))
        left++, right++;
    return (upper(*left) > upper(*right)) - (upper(*left) < upper(*right));
}

static const char *check_variables(struct arena *arena, const struct windows_spec *spec)
{
    uint32_t count = spec->environment.set.count;
    if (count < 2)
        return NULL;
    struct windows_variable *sorted = arena_array(arena, count, sizeof *sorted);
    memcpy(sorted, spec->environment.set.items, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, variable_order);
    for (uint32_t i = 1; i < count; i++)
        if (variable_order(&sorted[i - 1], &sorted[i]) == 0)
            return arena_format(arena, "the variable %s is set twice", escape_windows(arena, sorted[i].name));
    return NULL;
}

static bool is_accepted(const struct windows_spec *spec, const char *control)
{
    for (uint32_t i = 0; i < spec->accepted_count; i++)
        if (strcmp(spec->accepted[i].control, control) == 0)
            return true;
    return false;
}

static const char *check_claims(struct arena *arena, const struct windows_spec *spec)
{
    for (uint32_t i = 0; i < spec->claim_count; i++)
        if (strcmp(spec->claims[i].strength, "unenforceable") == 0 &&
            !is_accepted(spec, spec->claims[i].control))
            return arena_format(arena, "%s is neither held nor accepted", spec->claims[i].control);
    return NULL;
}

const char *windows_spec_check(struct arena *arena, const struct windows_spec *spec)
{
    static const char *(*const checks[])(struct arena *, const struct windows_spec *) = {
        check_claims,   check_capabilities, check_variables, check_paths, check_order,
        check_requires, check_entries,      check_protected, check_caps,
    };
    const char *problem = NULL;
    for (size_t i = 0; i < sizeof checks / sizeof *checks && problem == NULL; i++)
        problem = checks[i](arena, spec);
    return problem;
}
