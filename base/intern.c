#include "base/intern.h"

#include "base/vector.h"

#include <string.h>

struct string {
    const char *bytes;
    uint32_t length, hash;
};

struct intern_pool {
    struct arena *arena;
    struct {
        struct string *items;
        uint32_t count, capacity;
    } strings;
    uint32_t *slots; /* string + 1; 0 is free; at most half full */
    uint32_t mask;
};

enum { FEWEST_SLOTS = 64, MOST_SLOTS = 1 << 30 };

static uint64_t mix(uint64_t value)
{
    value *= 0x9E3779B97F4A7C15u; /* 2^64 divided by the golden ratio: spreads neighbours apart */
    return value ^ (value >> 32);
}

uint64_t hash_bytes(const char *bytes, size_t length)
{
    uint64_t hash = length, word;
    for (; length >= sizeof word; bytes += sizeof word, length -= sizeof word) {
        memcpy(&word, bytes, sizeof word);
        hash = mix(hash ^ word);
    }
    word = 0;
    for (size_t i = 0; i < length; i++)
        word = word << 8 | (unsigned char)bytes[i];
    return mix(hash ^ word);
}

struct intern_pool *intern_create(struct arena *arena, size_t expected)
{
    struct intern_pool *pool = arena_alloc(arena, sizeof *pool);
    uint32_t size = FEWEST_SLOTS;
    while (size / 2 < expected && size < MOST_SLOTS)
        size *= 2;
    *pool = (struct intern_pool){
        .arena = arena, .slots = arena_array(arena, size, sizeof *pool->slots), .mask = size - 1};
    return pool;
}

/* The slot of a string, or the free one where it belongs. */
static uint32_t *find(const struct intern_pool *pool, const char *bytes, size_t length, uint32_t hash)
{
    for (uint32_t at = hash & pool->mask;; at = (at + 1) & pool->mask) {
        uint32_t *slot = &pool->slots[at];
        if (*slot == 0)
            return slot;
        const struct string *string = &pool->strings.items[*slot - 1];
        if (string->hash == hash && string->length == length && memcmp(string->bytes, bytes, length) == 0)
            return slot;
    }
}

static void grow(struct intern_pool *pool)
{
    pool->mask = pool->mask * 2 + 1;
    pool->slots = arena_array(pool->arena, (size_t)pool->mask + 1, sizeof *pool->slots);
    for (uint32_t i = 0; i < pool->strings.count; i++) {
        uint32_t at = pool->strings.items[i].hash & pool->mask;
        while (pool->slots[at] != 0)
            at = (at + 1) & pool->mask;
        pool->slots[at] = i + 1;
    }
}

const char *intern(struct intern_pool *pool, const char *bytes, size_t length)
{
    if (pool->strings.count > pool->mask / 2)
        grow(pool);
    if (length > UINT32_MAX)
        (void)arena_alloc(pool->arena, SIZE_MAX); /* counts as out of memory */
    uint32_t hash = (uint32_t)hash_bytes(bytes, length), *slot = find(pool, bytes, length, hash);
    if (*slot == 0) {
        const char *copy = arena_copy(pool->arena, bytes, length);
        VECTOR_PUSH(pool->arena, &pool->strings, (struct string){copy, (uint32_t)length, hash});
        *slot = pool->strings.count;
    }
    return pool->strings.items[*slot - 1].bytes;
}

const char *intern_string(struct intern_pool *pool, const char *string)
{
    return intern(pool, string, strlen(string));
}

const char *intern_find(const struct intern_pool *pool, const char *bytes, size_t length)
{
    uint32_t slot = *find(pool, bytes, length, (uint32_t)hash_bytes(bytes, length));
    return slot == 0 ? NULL : pool->strings.items[slot - 1].bytes;
}
