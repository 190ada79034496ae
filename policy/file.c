#include "policy/file.h"

#include "base/sha256.h"
#include "policy/bytes.h"
#include "policy/canonical.h"
#include "policy/file_format.h"

static void put_body(struct buffer *out, const struct policy *policy, struct canonical *canonical)
{
    canonical_tables(out, canonical);
    bytes_put(out, canonical_string(canonical, policy->name), 4);
    buffer_bytes(out, policy->requested_hash, sizeof policy->requested_hash);
    bytes_put(out, policy->layer_count, 4);
    for (uint32_t i = 0; i < policy->layer_count; i++) {
        bytes_put(out, policy->layers[i].kind, 1);
        bytes_put(out, canonical_string(canonical, policy->layers[i].name), 4);
    }
    canonical_sources(out, canonical);
    canonical_rules(out, canonical);
}

void policy_write(struct buffer *out, const struct policy *policy)
{
    struct arena *scratch = arena_child(out->arena);
    size_t start = out->length, length_at = start + FILE_MAGIC_SIZE + 4;
    buffer_bytes(out, FILE_MAGIC, FILE_MAGIC_SIZE);
    bytes_put(out, FILE_VERSION, 4);
    bytes_put(out, 0, 8); /* the length, once it is known */
    struct canonical *canonical = canonical_gather(scratch, policy, ALL_LAYERS);
    buffer_reserve(out, canonical_size(canonical) + FILE_HASH_SIZE);
    put_body(out, policy, canonical);
    bytes_set((uint8_t *)out->bytes + length_at, out->length - start + FILE_HASH_SIZE, 8);
    unsigned char hash[FILE_HASH_SIZE];
    sha256(hash, out->bytes + start, out->length - start);
    buffer_bytes(out, hash, sizeof hash);
    arena_destroy(scratch);
}
