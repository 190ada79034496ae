#include "policy/bound.h"

#include "base/vector.h"
#include "policy/explain.h"
#include "policy/pattern.h"
#include "policy/question.h"

#include <stdlib.h>
#include <string.h>

struct place {
    const char *path;
    size_t length;
};

struct places {
    struct arena *arena;
    struct place *items;
    uint32_t count, capacity;
};

static int rank(const struct place *place, size_t at)
{
    return at == place->length ? 0 : place->path[at] == '/' ? 1 : (unsigned char)place->path[at] + 1;
}

/* By bytes with '/' lowest, so that whatever lies below a path follows it at once. */
static int compare_places(const void *a, const void *b)
{
    const struct place *left = a, *right = b;
    size_t at = 0, shorter = left->length < right->length ? left->length : right->length;
    uint64_t left_word, right_word;
    /* Paths begin alike for long: go on by words while they do. */
    for (; at + sizeof left_word <= shorter; at += sizeof left_word) {
        memcpy(&left_word, left->path + at, sizeof left_word);
        memcpy(&right_word, right->path + at, sizeof right_word);
        if (left_word != right_word)
            break;
    }
    while (at < shorter && left->path[at] == right->path[at])
        at++;
    return rank(left, at) - rank(right, at);
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
    VECTOR_PUSH(places->arena, places, (struct place){path, strlen(path)});
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
        if (kept == 0 || compare_places(&places->items[kept - 1], &places->items[i]) != 0)
            places->items[kept++] = places->items[i];
    places->count = kept;
}

struct region_list bound_regions(struct arena *arena, const struct bound_policy *bound,
                                 const char *const *extra, uint32_t extra_count)
{
    struct places places = {.arena = arena};
    struct region_list regions = {0};
    struct entry_list entries = {.arena = arena};
    struct question question;
    struct {
        uint32_t *items;
        uint32_t count, capacity;
    } above = {0}; /* the listed ancestors of the current place, nearest last */
    const struct bound_path *last = NULL;

    VECTOR_RESERVE(arena, &places, (size_t)bound->rules.count + extra_count);
    for (uint32_t i = 0; i < bound->rules.count; i++)
        add_rule(&places, &bound->rules.items[i], &last);
    for (uint32_t i = 0; i < extra_count; i++)
        VECTOR_PUSH(arena, &places, (struct place){extra[i], strlen(extra[i])});
    sort_places(&places);

    for (uint32_t i = 0; i < places.count; i++) {
        const char *path = places.items[i].path;
        while (above.count > 0 && !is_below(path, regions.items[above.items[above.count - 1]].path))
            above.count--;
        index_ask(bound->index, path, places.items[i].length, &question);
        enum level level = question_level(bound, &question);
        enum level around = above.count > 0 ? regions.items[above.items[above.count - 1]].level : LEVEL_NONE;
        if (level == around)
            continue;
        entries.count = 0;
        explain_level(bound, &question, &entries);
        VECTOR_PUSH(arena, &above, regions.count);
        VECTOR_PUSH(arena, &regions, (struct region){path, level, entries.items[0].rule});
    }
    return regions;
}

const struct bound_rule *bound_level_rule(struct arena *arena, const struct bound_policy *bound,
                                          const char *path, size_t length)
{
    struct entry_list entries = {.arena = arena};
    struct question question;
    index_ask(bound->index, path, length, &question);
    explain_level(bound, &question, &entries);
    return entries.items[0].rule;
}
