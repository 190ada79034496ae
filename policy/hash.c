#include "policy/canonical.h"

#include "base/sha256.h"

#include <stdlib.h>
#include <string.h>

enum { HASH_SIZE = 32, ENTRY_SIZE = 1 + HASH_SIZE };

/* What is hashed begins with what it is, so that a layer and a policy never share a hash by accident. */
static const char layer_title[] = "sbx layer 1\n", policy_title[] = "sbx policy 1\n";

static void layer_hash(struct layer *layer, const struct policy *policy, uint32_t number)
{
    struct arena *scratch = arena_child(policy->arena);
    struct buffer bytes = buffer_in(scratch);
    struct canonical *canonical = canonical_gather(scratch, policy, number);
    buffer_string(&bytes, layer_title);
    canonical_tables(&bytes, canonical);
    canonical_rules(&bytes, canonical);
    sha256(layer->hash, bytes.bytes, bytes.length);
    arena_destroy(scratch);
}

static int compare_entries(const void *a, const void *b)
{
    return memcmp(a, b, ENTRY_SIZE);
}

/* Layers narrow, each by itself: their order and a repeated one change nothing. */
static void effective_hash(struct policy *policy)
{
    uint8_t(*entries)[ENTRY_SIZE] = arena_array(policy->arena, policy->layer_count, ENTRY_SIZE);
    for (uint32_t i = 0; i < policy->layer_count; i++) {
        entries[i][0] = (uint8_t)policy->layers[i].kind;
        memcpy(entries[i] + 1, policy->layers[i].hash, HASH_SIZE);
    }
    qsort(entries, policy->layer_count, ENTRY_SIZE, compare_entries);
    struct buffer bytes = buffer_in(policy->arena);
    buffer_string(&bytes, policy_title);
    for (uint32_t i = 0; i < policy->layer_count; i++)
        if (i == 0 || compare_entries(entries[i - 1], entries[i]) != 0)
            buffer_bytes(&bytes, entries[i], ENTRY_SIZE);
    sha256(policy->effective_hash, bytes.bytes, bytes.length);
}

void policy_hash(struct policy *policy)
{
    struct layer *layers = arena_array(policy->arena, policy->layer_count, sizeof *layers);
    for (uint32_t i = 0; i < policy->layer_count; i++) {
        layers[i] = policy->layers[i];
        layer_hash(&layers[i], policy, i);
    }
    policy->layers = layers;
    effective_hash(policy);
}
