#include "policy/prove_table.h"

#include <string.h>

struct slot {
    const char *bytes;
    uint64_t hash;
    uint32_t length, space, number; /* number + 1; 0: free */
};

struct prove_table {
    struct arena *arena;
    struct slot *slots;
    uint32_t mask, count;
};

enum { SMALLEST = 256 };

struct prove_table *prove_table_create(struct arena *arena)
{
    struct prove_table *table = arena_alloc(arena, sizeof *table);
    *table = (struct prove_table){
        .arena = arena, .slots = arena_array(arena, SMALLEST, sizeof *table->slots), .mask = SMALLEST - 1};
    return table;
}

uint64_t prove_hash_start(void)
{
    return 14695981039346656037u;
}

uint64_t prove_hash_add(uint64_t hash, char byte)
{
    return (hash ^ (unsigned char)byte) * 1099511628211u;
}

uint64_t prove_hash(const char *bytes, size_t length)
{
    uint64_t hash = prove_hash_start();
    for (size_t i = 0; i < length; i++)
        hash = prove_hash_add(hash, bytes[i]);
    return hash;
}

static struct slot *find(const struct prove_table *table, uint32_t space, const char *bytes, size_t length,
                         uint64_t hash)
{
    uint64_t mixed = (hash ^ space) * 0x9E3779B97F4A7C15u;
    for (uint32_t at = (uint32_t)(mixed >> 32);; at++) {
        struct slot *slot = &table->slots[at & table->mask];
        if (slot->number == 0 || (slot->hash == hash && slot->space == space && slot->length == length &&
                                  memcmp(slot->bytes, bytes, length) == 0))
            return slot;
    }
}

static void grow(struct prove_table *table)
{
    const struct slot *old = table->slots;
    uint32_t old_mask = table->mask;
    table->mask = old_mask * 2 + 1;
    table->slots = arena_array(table->arena, (size_t)table->mask + 1, sizeof *table->slots);
    for (uint32_t i = 0; i <= old_mask; i++)
        if (old[i].number != 0)
            *find(table, old[i].space, old[i].bytes, old[i].length, old[i].hash) = old[i];
}

uint32_t prove_table_put(struct prove_table *table, uint32_t space, const char *bytes, size_t length)
{
    uint64_t hash = prove_hash(bytes, length);
    if (table->count > table->mask / 2)
        grow(table);
    struct slot *slot = find(table, space, bytes, length, hash);
    if (slot->number == 0)
        *slot = (struct slot){bytes, hash, (uint32_t)length, space, ++table->count};
    return slot->number - 1;
}

uint32_t prove_table_get(const struct prove_table *table, uint32_t space, const char *bytes, size_t length,
                         uint64_t hash)
{
    return find(table, space, bytes, length, hash)->number - 1;
}

uint32_t prove_table_count(const struct prove_table *table)
{
    return table->count;
}
