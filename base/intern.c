#include "base/intern.h"

#include <stdbool.h>
#include <string.h>

struct slot {
    const char *string;
    uint32_t length, hash;
};

struct intern_pool {
    struct arena *arena;
    struct slot *slots;
    size_t capacity, count; /* capacity is a power of two */
};

/* FNV-1a, 64 bits: http://www.isthe.com/chongo/tech/comp/fnv/ */
uint64_t hash_bytes(const char *bytes, size_t length)
{
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)bytes[i]) * 1099511628211u;
    return hash ^ (hash >> 29);
}

struct intern_pool *intern_create(struct arena *arena, size_t expected)
{
    struct intern_pool *pool = arena_alloc(arena, sizeof *pool);
    pool->arena = arena;
    pool->capacity = 64;
    while (pool->capacity < expected * 2)
        pool->capacity *= 2;
    pool->slots = arena_array(arena, pool->capacity, sizeof *pool->slots);
    return pool;
}

static struct slot *find(struct slot *slots, size_t capacity, const char *bytes, size_t length, uint32_t hash)
{
    for (size_t i = hash & (capacity - 1);; i = (i + 1) & (capacity - 1)) {
        struct slot *slot = &slots[i];
        if (slot->string == NULL)
            return slot;
        if (slot->hash == hash && slot->length == length && memcmp(slot->string, bytes, length) == 0)
            return slot;
    }
}

static void grow(struct intern_pool *pool)
{
    size_t capacity = pool->capacity * 2;
    struct slot *slots = arena_array(pool->arena, capacity, sizeof *slots);
    for (size_t i = 0; i < pool->capacity; i++) {
        const struct slot *old = &pool->slots[i];
        if (old->string != NULL)
            *find(slots, capacity, old->string, old->length, old->hash) = *old;
    }
    pool->slots = slots;
    pool->capacity = capacity;
}

const char *intern(struct intern_pool *pool, const char *bytes, size_t length)
{
    if (pool->count * 2 >= pool->capacity)
        grow(pool);
    if (length > UINT32_MAX)
        (void)arena_alloc(pool->arena, SIZE_MAX); /* counts as out of memory */
    uint32_t hash = (uint32_t)hash_bytes(bytes, length);
    struct slot *slot = find(pool->slots, pool->capacity, bytes, length, hash);
    if (slot->string == NULL) {
        *slot = (struct slot){arena_copy(pool->arena, bytes, length), (uint32_t)length, hash};
        pool->count++;
    }
    return slot->string;
}

const char *intern_string(struct intern_pool *pool, const char *string)
{
    return intern(pool, string, strlen(string));
}

const char *intern_find(const struct intern_pool *pool, const char *bytes, size_t length)
{
    return find(pool->slots, pool->capacity, bytes, length, (uint32_t)hash_bytes(bytes, length))->string;
}
