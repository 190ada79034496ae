#include "emitters/windows_objects.h"

#include "base/vector.h"
#include "emitters/windows_build.h"
#include "emitters/windows_refuse.h"

#include <stdlib.h>
#include <string.h>

/* ---- one object a path ---- */

/* Denies before allows, and of the denies the widest first. */
static int rank(const struct windows_ace *ace)
{
    static const uint32_t order[] = {WINDOWS_DENY_ALL,     WINDOWS_DENY_WRITE,  WINDOWS_DENY_DELETE,
                                     WINDOWS_DENY_EXECUTE, WINDOWS_ALLOW_WRITE, WINDOWS_ALLOW_READ};
    int at = 0;
    while (order[at] != ace->mask)
        at++;
    return at;
}

static int compare_aces(const void *a, const void *b)
{
    return rank(a) - rank(b);
}

/* Keeps of what says the same the entry that says more, and puts the rest in order. */
static uint32_t tidy(struct windows_ace *aces, uint32_t count)
{
    uint32_t kept = 0, denied = 0, allowed = 0;
    qsort(aces, count, sizeof *aces, compare_aces);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t *seen = aces[i].deny ? &denied : &allowed;
        if ((aces[i].mask & ~*seen) == 0)
            continue;
        *seen |= aces[i].mask;
        aces[kept++] = aces[i];
    }
    return kept;
}

static void merge(struct windows_object *into, const struct windows_object *from)
{
    struct windows_ace aces[6];
    memcpy(aces, into->aces, into->ace_count * sizeof *aces);
    memcpy(aces + into->ace_count, from->aces, from->ace_count * sizeof *aces);
    uint32_t count = tidy(aces, into->ace_count + from->ace_count);
    into->ace_count = count > 3 ? 3 : count;
    memcpy(into->aces, aces, into->ace_count * sizeof *aces);
    into->cap = into->cap || from->cap;
    into->automatic = into->automatic || from->automatic;
    if (into->kind == WINDOWS_ANY || from->missing > into->missing)
        into->kind = from->kind;
    if (into->missing == WINDOWS_SKIP || from->missing == WINDOWS_CREATE_DIRECTORY)
        into->missing = from->missing != WINDOWS_SKIP ? from->missing : into->missing;
    if (!into->label.present || (from->label.present && from->label.policy > into->label.policy))
        into->label = from->label;
}

static int compare_objects(const void *a, const void *b)
{
    const struct windows_object *left = a, *right = b;
    int order = windows_path_compare(left->path, right->path);
    /* Rules stand in a compiled policy in another order than in its text, and its specification is the same. */
    if (order == 0)
        order = left->cap != right->cap ? left->cap - right->cap
                : left->cap             ? strcmp(left->rule, right->rule)
                                        : 0;
    return order != 0 ? order : left->line < right->line ? -1 : 1;
}

static bool allows(const struct windows_object *object)
{
    return object->ace_count > 0 && !object->aces[object->ace_count - 1].deny;
}

/* A placeholder inside a directory that is missing too needs that directory, which what is granted is not made for; and
 * what has something to say of below it was meant as a directory. */
static void place_parents(struct arena *arena, struct windows_acl *acl)
{
    struct windows_object *objects = acl->objects.items;
    int64_t *above = arena_array(arena, acl->objects.count, sizeof *above);
    for (int64_t i = 0; i < acl->objects.count; i++) {
        above[i] = i - 1;
        while (above[i] >= 0 && !windows_path_covers(objects[above[i]].path, objects[i].path))
            above[i] = above[above[i]];
    }
    for (int64_t i = (int64_t)acl->objects.count - 1; i >= 0; i--) {
        struct windows_object *parent = above[i] >= 0 ? &objects[above[i]] : NULL;
        bool made = objects[i].missing != WINDOWS_SKIP;
        if (parent != NULL && (parent->missing == WINDOWS_CREATE_FILE || (made && !allows(parent))))
            parent->missing = WINDOWS_CREATE_DIRECTORY;
    }
}

void windows_acl_finish(struct arena *arena, struct windows_acl *acl)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < acl->objects.count; i++) {
        struct windows_object *object = &acl->objects.items[i];
        object->ace_count = tidy(object->aces, object->ace_count);
        object->line = i;
    }
    if (acl->objects.count > 1)
        qsort(acl->objects.items, acl->objects.count, sizeof *acl->objects.items, compare_objects);
    for (uint32_t i = 0; i < acl->objects.count; i++) {
        const struct windows_object *object = &acl->objects.items[i];
        if (kept > 0 && windows_path_equal(acl->objects.items[kept - 1].path, object->path))
            merge(&acl->objects.items[kept - 1], object);
        else
            acl->objects.items[kept++] = *object;
    }
    acl->objects.count = kept;
    place_parents(arena, acl);
}

/* ---- conditions ---- */

static int compare_requires(const void *a, const void *b)
{
    const struct windows_require *left = a, *right = b;
    int order = windows_path_compare(left->path, right->path);
    return order != 0 ? order : windows_path_compare(left->below, right->below);
}

static void finish_requires(struct windows_acl *acl)
{
    uint32_t kept = 0;
    if (acl->requires.count > 1)
        qsort(acl->requires.items, acl->requires.count, sizeof *acl->requires.items, compare_requires);
    for (uint32_t i = 0; i < acl->requires.count; i++)
        if (kept == 0 || compare_requires(&acl->requires.items[kept - 1], &acl->requires.items[i]) != 0)
    acl->requires.items[kept++] = acl->requires.items[i];
    acl->requires.count = kept;
}

static bool is_left_out(struct arena *arena, const struct bound_rule *rule)
{
    const char *problem, *path;
    return !rule->dropped && rule->rule->kind == RULE_GRANT && rule->rule->automatic &&
           (path = windows_place_name(arena, rule->at.path, &problem)) != NULL &&
           windows_grant_problem(rule->rule, path) != NULL && !windows_path_is_of_system(path);
}

/* The policy without the automatic grants that windows_refuse leaves out: nothing below them is open through them. */
static const struct bound_policy *bound_as_held(struct arena *arena, const struct bound_policy *bound)
{
    struct bound_policy *held = NULL;
    for (uint32_t i = 0; i < bound->rules.count; i++) {
        if (!is_left_out(arena, &bound->rules.items[i]))
            continue;
        if (held == NULL) {
            held = arena_alloc(arena, sizeof *held);
            *held = *bound;
            held->rules.items = arena_array(arena, bound->rules.count, sizeof *held->rules.items);
            memcpy(held->rules.items, bound->rules.items, bound->rules.count * sizeof *held->rules.items);
        }
        held->rules.items[i].dropped = true;
    }
    if (held == NULL)
        return bound;
    bound_seal(held, NULL);
    return held;
}

static int compare_matches(const void *a, const void *b)
{
    const struct windows_match *left = a, *right = b;
    int order = strcmp(left->pattern, right->pattern);
    return order != 0 ? order : strcmp(left->rule, right->rule);
}

static void finish_matches(struct windows_acl *acl)
{
    if (acl->matches.count > 1)
        qsort(acl->matches.items, acl->matches.count, sizeof *acl->matches.items, compare_matches);
}

struct windows_acl windows_acl_of(const struct emit_request *request, enum windows_tier tier)
{
    const struct bound_policy *bound = bound_as_held(request->arena, request->bound);
    struct windows_build build = {
        .arena = request->arena,
        .bound = bound,
        .notes = request->notes,
        .tier = tier,
        .places = windows_places_of(request->arena, bound),
    };
    windows_build_roots(&build);
    windows_build_places(&build);
    windows_build_denies(&build);
    windows_build_pins(&build);
    windows_build_matches(&build);
    windows_build_requires(&build);
    windows_acl_finish(build.arena, &build.acl);
    finish_matches(&build.acl);
    finish_requires(&build.acl);
    return build.acl;
}
