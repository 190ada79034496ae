#include "policy/prove_table.h"

#include "base/vector.h"

#include <string.h>

struct slot {
    uint32_t hash, number; /* number + 1; 0: free */
};

struct text {
    const char *bytes;
    uint32_t length, hash, space;
};

struct prove_table {
    struct arena *arena;
    struct slot *slots;
    uint32_t mask;
    struct {
        struct text *items;
        uint32_t count, capacity;
    } texts;
};

enum { SMALLEST = 64 };

struct prove_table *prove_table_create(struct arena *arena, uint32_t expected)
{
    struct prove_table *table = arena_alloc(arena, sizeof *table);
    uint32_t size = SMALLEST;
    while (size / 2 < expected && size < UINT32_MAX / 2)
        size *= 2;
    *table = (struct prove_table){
        .arena = arena, .slots = arena_array(arena, size, sizeof *table->slots), .mask = size - 1};
    VECTOR_RESERVE(arena, &table->texts, expected);
    return table;
}

uint64_t prove_hash_start(void)
{
    return 0x243F6A8885A308D3u; /* digits of pi */
}

uint64_t prove_hash_add(uint64_t hash, const char *bytes, size_t length)
{
    const uint64_t factor = 0xFF51AFD7ED558CCDu;
    uint64_t word = length;
    hash = (hash ^ word) * factor;
    for (; length >= sizeof word; bytes += sizeof word, length -= sizeof word) {
        memcpy(&word, bytes, sizeof word);
        hash = (hash ^ word) * factor;
        hash ^= hash >> 33;
    }
    word = 0;
    memcpy(&word, bytes, length);
    hash = (hash ^ word) * factor;
    return hash ^ hash >> 29;
}

/* The slot of a string, or the free one where it belongs. */
static uint32_t find(const struct prove_table *table, const struct text *wanted)
{
    uint32_t at = wanted->hash & table->mask;
    for (; table->slots[at].number != 0; at = (at + 1) & table->mask) {
        if (table->slots[at].hash != wanted->hash)
            continue;
        const struct text *text = &table->texts.items[table->slots[at].number - 1];
        if (text->space == wanted->space && text->length == wanted->length &&
            memcmp(text->bytes, wanted->bytes, text->length) == 0)
            break;
    }
    return at;
}

static void grow(struct prove_table *table)
{
    table->mask = table->mask * 2 + 1;
    table->slots = arena_array(table->arena, (size_t)table->mask + 1, sizeof *table->slots);
    for (uint32_t i = 0; i < table->texts.count; i++) {
        uint32_t at = table->texts.items[i].hash & table->mask;
        while (table->slots[at].number != 0)
            at = (at + 1) & table->mask;
        table->slots[at] = (struct slot){table->texts.items[i].hash, i + 1};
    }
}

static struct text text_of(uint32_t space, const char *bytes, size_t length, uint64_t hash)
{
    hash = (hash ^ space) * 0x9E3779B97F4A7C15u;
    return (struct text){bytes, (uint32_t)length, (uint32_t)(hash >> 32), space};
}

uint32_t prove_table_put(struct prove_table *table, uint32_t space, const char *bytes, size_t length,
                         uint64_t hash)
{
    struct text text = text_of(space, bytes, length, hash);
    if (table->texts.count >= table->mask / 2)
        grow(table);
    struct slot *slot = &table->slots[find(table, &text)];
    if (slot->number == 0) {
        VECTOR_PUSH(table->arena, &table->texts, text);
        *slot = (struct slot){text.hash, table->texts.count};
    }
    return slot->number - 1;
}

uint32_t prove_table_get(const struct prove_table *table, uint32_t space, const char *bytes, size_t length,
                         uint64_t hash)
{
    struct text text = text_of(space, bytes, length, hash);
    return table->slots[find(table, &text)].number - 1;
}
