#include "policy/bound.h"

#include "base/vector.h"
#include "policy/explain.h"
#include "policy/index.h"
#include "policy/pattern.h"

#include <stdlib.h>
#include <string.h>

struct places {
    struct arena *arena;
    const char **items;
    uint32_t count, capacity;
};

/* By bytes with '/' lowest, so that whatever lies below a path follows it at once. */
static int compare_paths(const char *a, const char *b)
{
    while (*a != '\0' && *a == *b) {
        a++;
        b++;
    }
    unsigned left = *a == '/' ? 1 : *a == '\0' ? 0 : (unsigned)(unsigned char)*a + 1;
    unsigned right = *b == '/' ? 1 : *b == '\0' ? 0 : (unsigned)(unsigned char)*b + 1;
    return (left > right) - (left < right);
}

static int compare_places(const void *a, const void *b)
{
    return compare_paths(*(const char *const *)a, *(const char *const *)b);
}

static bool is_below(const char *path, const char *ancestor)
{
    size_t length = strlen(ancestor);
    if (length > 0 && ancestor[length - 1] == '/')
        length--;
    return strncmp(path, ancestor, length) == 0 && path[length] == '/';
}

/* A pattern's level changes nowhere in particular; the place that it starts from is looked at, no more. */
static void add_place(struct places *places, const struct bound_path *at)
{
    const char *path = at->path;
    if (at->pattern)
        path = pattern_plain(places->arena, path, pattern_fixed_prefix(path));
    VECTOR_PUSH(places->arena, places, path);
}

static void add_rule(struct places *places, const struct bound_rule *rule, const struct bound_path **last)
{
    if (rule->dropped || !bound_rule_has_path(rule))
        return;
    add_place(places, &rule->at);
    if (rule->except == *last)
        return; /* shared with the rule before, whose exceptions are there already */
    *last = rule->except;
    for (uint32_t i = 0; i < rule->except_count; i++)
        add_place(places, &rule->except[i]);
}

static void sort_places(struct places *places)
{
    uint32_t kept = 0;
    if (places->count > 1)
        qsort(places->items, places->count, sizeof *places->items, compare_places);
    for (uint32_t i = 0; i < places->count; i++)
        if (kept == 0 || strcmp(places->items[kept - 1], places->items[i]) != 0)
            places->items[kept++] = places->items[i];
    places->count = kept;
}

struct region_list bound_regions(struct arena *arena, const struct bound_policy *bound,
                                 const char *const *extra, uint32_t extra_count)
{
    struct places places = {.arena = arena};
    struct region_list regions = {0};
    struct entry_list entries = {.arena = arena};
    struct {
        uint32_t *items;
        uint32_t count, capacity;
    } above = {0}; /* the listed ancestors of the current place, nearest last */
    const struct bound_path *last = NULL;

    VECTOR_RESERVE(arena, &places, (size_t)bound->rules.count + extra_count);
    for (uint32_t i = 0; i < bound->rules.count; i++)
        add_rule(&places, &bound->rules.items[i], &last);
    for (uint32_t i = 0; i < extra_count; i++)
        VECTOR_PUSH(arena, &places, extra[i]);
    sort_places(&places);

    for (uint32_t i = 0; i < places.count; i++) {
        const char *path = places.items[i];
        size_t length = strlen(path);
        while (above.count > 0 && !is_below(path, regions.items[above.items[above.count - 1]].path))
            above.count--;
        enum level level = bound_level(bound, path, length);
        enum level around = above.count > 0 ? regions.items[above.items[above.count - 1]].level : LEVEL_NONE;
        if (level == around)
            continue;
        entries.count = 0;
        explain_level(bound, path, length, &entries);
        VECTOR_PUSH(arena, &above, regions.count);
        VECTOR_PUSH(arena, &regions, (struct region){path, level, entries.items[0].rule});
    }
    return regions;
}
