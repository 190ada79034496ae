#include "emitters/windows_places.h"

#include "base/vector.h"
#include "emitters/bwrap_text.h"
#include "emitters/windows_spec.h"

#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

const char *windows_place_name(struct arena *arena, const char *model, const char **problem)
{
    const char *path = windows_path_from_model(arena, model);
    *problem = path == NULL ? "holds a backslash, which no name has on Windows" : windows_path_problem(path);
    return *problem == NULL ? path : NULL;
}

/* ---- spellings ---- */

/* Of names no more is known than both spellings, which have the same length, and the level of their rule. */
static int compare_names(const void *a, const void *b)
{
    const struct windows_place *left = a, *right = b;
    int order = windows_path_compare(left->path, right->path);
    return order != 0 ? order : strcmp(left->path, right->path);
}

/* The plain paths of the grants, or of the denies, of which a lowering grant may be one. */
static struct windows_places rules_of(struct arena *arena, const struct bound_policy *bound, bool denies)
{
    struct windows_places names = {0};
    for (uint32_t i = 0; i < bound->rules.count; i++) {
        const struct bound_rule *rule = &bound->rules.items[i];
        const char *problem, *path;
        bool closes = rule->rule->kind == RULE_DENY || rule->holds_as_deny_write;
        if (rule->dropped || rule->at.pattern || closes != denies ||
            (!closes && rule->rule->kind != RULE_GRANT))
            continue;
        enum level level = rule->holds_as_deny_write ? LEVEL_READ : rule->rule->level;
        if ((path = windows_place_name(arena, rule->at.path, &problem)) != NULL)
            VECTOR_PUSH(arena, &names,
                        (struct windows_place){.path = path, .model = rule->at.path, .level = level});
    }
    if (names.count > 1)
        qsort(names.items, names.count, sizeof *names.items, compare_names);
    return names;
}

static const char *normal_form(struct arena *arena, const char *text, bool composed)
{
    const utf8proc_uint8_t *bytes = (const utf8proc_uint8_t *)text;
    utf8proc_uint8_t *made = composed ? utf8proc_NFC(bytes) : utf8proc_NFD(bytes);
    const char *copy = made != NULL ? arena_strdup(arena, (const char *)made) : text;
    free(made);
    return copy;
}

struct windows_forms windows_forms_of(struct arena *arena, const char *model)
{
    struct windows_forms forms = {0};
    VECTOR_PUSH(arena, &forms, model);
    for (const char *at = model; *at != '\0'; at++)
        if ((unsigned char)*at >= 0x80) {
            VECTOR_PUSH(arena, &forms, normal_form(arena, model, true));
            VECTOR_PUSH(arena, &forms, normal_form(arena, model, false));
            break;
        }
    return forms;
}

static void respell(struct arena *arena, struct windows_forms *out, const struct windows_places *grants,
                    const char *model)
{
    const char *problem, *path = windows_place_name(arena, model, &problem);
    if (path == NULL)
        return;
    char *above = arena_strdup(arena, path);
    for (size_t length = strlen(path); length > 0; length--) {
        if (path[length] != '\0' && path[length] != '\\')
            continue;
        above[length] = '\0';
        for (uint32_t i = windows_places_from(grants, above);
             i < grants->count && windows_path_equal(grants->items[i].path, above); i++)
            VECTOR_PUSH(arena, out, arena_join(arena, grants->items[i].model, model + length));
    }
}

/* ---- places ---- */

static bool about_level(const struct bound_rule *rule)
{
    enum rule_kind kind = rule->rule->kind;
    return !rule->dropped && rule->at.path != NULL &&
           (kind == RULE_GRANT || kind == RULE_DENY || kind == RULE_LIMIT_READ || kind == RULE_LIMIT_WRITE);
}

static void add_name(struct arena *arena, struct windows_places *names, const char *model)
{
    const char *problem, *path = windows_place_name(arena, model, &problem);
    if (path != NULL && !path_of_variable(model))
        VECTOR_PUSH(arena, names, (struct windows_place){.path = path, .model = model});
}

/* Each path that a rule or an exception names, and of those that are not ASCII both normal forms. */
static void add_names(struct arena *arena, struct windows_places *names, const struct bound_path *at)
{
    if (at->pattern)
        return;
    struct windows_forms forms = windows_forms_of(arena, at->path);
    for (uint32_t i = 0; i < forms.count; i++)
        add_name(arena, names, forms.items[i]);
}

static struct windows_places names_of(struct arena *arena, const struct bound_policy *bound)
{
    struct windows_places names = {0};
    const struct bound_path *last = NULL;
    for (uint32_t i = 0; i < bound->rules.count; i++) {
        const struct bound_rule *rule = &bound->rules.items[i];
        if (!about_level(rule))
            continue;
        add_names(arena, &names, &rule->at);
        for (uint32_t j = 0; j < rule->except_count && rule->except != last; j++)
            add_names(arena, &names, &rule->except[j]);
        last = rule->except;
    }
    if (names.count > 1)
        qsort(names.items, names.count, sizeof *names.items, compare_names);
    return names;
}

/* The lowest level of the place under any spelling that a grant gives it; without a grant it is closed. */
static struct windows_place place_at(struct arena *arena, const struct bound_policy *bound,
                                     const struct windows_places *grants, const struct windows_place *name)
{
    struct windows_place place = {.path = name->path, .model = name->model};
    struct windows_forms spellings = {0};
    respell(arena, &spellings, grants, name->model);
    for (uint32_t i = 0; i < spellings.count; i++) {
        const char *model = spellings.items[i];
        enum level level = bound_level(bound, model, strlen(model));
        if (i == 0 || level < place.level) {
            place.level = level;
            place.model = model;
        }
    }
    return place;
}

static bool is_capped(const struct windows_places *denies, const struct windows_place *place)
{
    if (place->level >= place->around)
        return false;
    for (uint32_t i = windows_places_from(denies, place->path);
         i < denies->count && windows_path_equal(denies->items[i].path, place->path); i++)
        if (denies->items[i].level <= place->level)
            return true;
    return place->why == NULL || place->why->rule->kind != RULE_GRANT;
}

struct windows_places windows_places_of(struct arena *arena, const struct bound_policy *bound)
{
    struct windows_places grants = rules_of(arena, bound, false), denies = rules_of(arena, bound, true);
    struct windows_places names = names_of(arena, bound);
    struct windows_places places = {0};
    int32_t above = -1;
    for (uint32_t i = 0; i < names.count; i++) {
        if (i > 0 && windows_path_equal(names.items[i - 1].path, names.items[i].path))
            continue;
        struct windows_place place = place_at(arena, bound, &grants, &names.items[i]);
        while (above >= 0 && !windows_path_covers(places.items[above].path, place.path))
            above = places.items[above].above;
        place.above = above;
        place.around = above >= 0 ? places.items[above].level : LEVEL_NONE;
        if (place.level == place.around)
            continue;
        place.why = bound_level_rule(arena, bound, place.model, strlen(place.model));
        place.capped = is_capped(&denies, &place);
        for (int32_t up = above; up >= 0; up = places.items[up].above)
            if (places.items[up].capped && places.items[up].level < place.level)
                place.below_deny = true;
        above = (int32_t)places.count;
        VECTOR_PUSH(arena, &places, place);
    }
    return places;
}

uint32_t windows_places_from(const struct windows_places *places, const char *path)
{
    uint32_t low = 0, high = places->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (windows_path_compare(places->items[middle].path, path) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct windows_place *windows_places_at(const struct windows_places *places, const char *path)
{
    uint32_t from = windows_places_from(places, path);
    if (from < places->count && windows_path_equal(places->items[from].path, path))
        return &places->items[from];
    for (int32_t at = (int32_t)from - 1; at >= 0; at = places->items[at].above)
        if (windows_path_covers(places->items[at].path, path))
            return &places->items[at];
    return NULL;
}
