#include "base/diagnostic.h"
#include "base/vector.h"
#include "policy/policy.h"

#include <stdlib.h>
#include <string.h>

struct merge {
    struct arena *arena;
    struct {
        struct layer *items;
        uint32_t count, capacity;
    } layers;
    struct {
        struct policy_source *items;
        uint32_t count, capacity;
    } sources;
    struct {
        struct rule *items;
        uint32_t count, capacity;
    } rules;
};

/* Adds layer `number` of `part` with its rules; the part's sources stand from `first_source` on. */
static void merge_layer(struct merge *merge, const struct policy *part, uint32_t number,
                        uint32_t first_source)
{
    uint32_t layer = merge->layers.count;
    VECTOR_PUSH(merge->arena, &merge->layers, part->layers[number]);
    for (uint32_t i = 0; i < part->rule_count; i++) {
        if (part->rules[i].layer != number)
            continue;
        struct rule rule = part->rules[i];
        rule.layer = layer;
        if (rule.origin.source != SOURCE_NONE)
            rule.origin.source += first_source;
        VECTOR_PUSH(merge->arena, &merge->rules, rule);
    }
}

static uint32_t merge_sources(struct merge *merge, const struct policy *part)
{
    uint32_t first = merge->sources.count;
    for (uint32_t i = 0; i < part->source_count; i++)
        VECTOR_PUSH(merge->arena, &merge->sources, part->sources[i]);
    return first;
}

static void merge_managed(struct merge *merge, const struct policy *part)
{
    uint32_t first_source = merge_sources(merge, part);
    for (uint32_t i = 0; i < part->layer_count; i++) {
        merge_layer(merge, part, i, first_source);
        /* Whatever it was, a layer that comes as managed may only narrow. */
        merge->layers.items[merge->layers.count - 1].kind = LAYER_MANAGED;
    }
}

struct numbered_layer {
    struct layer layer;
    uint32_t number; /* before sorting */
};

static int compare_layers(const void *left, const void *right)
{
    const struct numbered_layer *a = left, *b = right;
    int order = strcmp(a->layer.name, b->layer.name);
    return order != 0 ? order : memcmp(a->layer.hash, b->layer.hash, sizeof a->layer.hash);
}

/* Sorts the layers after the first, since the order in which managed files are named decides nothing, and
 * keeps equal ones once. The hashes are known by now and stay as they are. */
static void layers_settle(struct policy *policy, struct rule *rules)
{
    enum { GONE = UINT32_MAX };
    uint32_t count = policy->layer_count, kept = 0;
    struct numbered_layer *sorted = arena_array(policy->arena, count, sizeof *sorted);
    struct layer *layers = arena_array(policy->arena, count, sizeof *layers);
    uint32_t *moved = arena_array(policy->arena, count, sizeof *moved);
    for (uint32_t i = 0; i < count; i++)
        sorted[i] = (struct numbered_layer){policy->layers[i], i};
    qsort(sorted + 1, count - 1, sizeof *sorted, compare_layers);
    for (uint32_t i = 0; i < count; i++) {
        bool repeated =
            (i > 1 && compare_layers(&sorted[i - 1], &sorted[i]) == 0) ||
            (i > 0 && sorted[0].layer.kind == LAYER_MANAGED && compare_layers(sorted, &sorted[i]) == 0);
        moved[sorted[i].number] = repeated ? GONE : kept;
        if (!repeated)
            layers[kept++] = sorted[i].layer;
    }
    policy->layers = layers;
    policy->layer_count = kept;

    uint32_t rule_count = 0;
    for (uint32_t i = 0; i < policy->rule_count; i++) {
        uint32_t layer = moved[rules[i].layer];
        if (layer == GONE)
            continue;
        rules[rule_count] = rules[i];
        rules[rule_count++].layer = layer;
    }
    policy->rule_count = rule_count;
}

struct policy *policy_merge(struct arena *arena, const struct policy *base,
                            const struct policy *const *managed, uint32_t managed_count)
{
    struct merge merge = {.arena = arena};
    uint32_t first_source = merge_sources(&merge, base);
    for (uint32_t i = 0; i < base->layer_count; i++)
        merge_layer(&merge, base, i, first_source);
    for (uint32_t i = 0; i < managed_count; i++)
        merge_managed(&merge, managed[i]);

    struct policy *merged = arena_alloc(arena, sizeof *merged);
    *merged = *base;
    merged->arena = arena;
    merged->layers = merge.layers.items;
    merged->layer_count = merge.layers.count;
    merged->sources = merge.sources.items;
    merged->source_count = merge.sources.count;
    merged->rules = merge.rules.items;
    merged->rule_count = merge.rules.count;
    policy_hash(merged);
    layers_settle(merged, merge.rules.items);
    return merged;
}
