#include "policy/name_map.h"

#include "base/vector.h"

struct slot {
    const char *name;
    size_t length;
    uint32_t hash, first, last; /* links + 1 of the chain's ends; first 0: free */
};

struct link {
    uint32_t rule, next;
};

struct name_map {
    struct arena *arena;
    bool ignore_case;
    struct slot *slots;
    uint32_t mask, used;
    struct {
        struct link *items;
        uint32_t count, capacity;
    } links;
};

enum { SMALLEST = 16 };

struct name_map *name_map_create(struct arena *arena, bool ignore_case)
{
    struct name_map *map = arena_alloc(arena, sizeof *map);
    *map = (struct name_map){.arena = arena, .ignore_case = ignore_case, .mask = SMALLEST - 1};
    map->slots = arena_array(arena, SMALLEST, sizeof *map->slots);
    return map;
}

static unsigned char byte_at(const struct name_map *map, const char *name, size_t at)
{
    unsigned char byte = (unsigned char)name[at];
    return map->ignore_case && byte >= 'A' && byte <= 'Z' ? (unsigned char)(byte + ('a' - 'A')) : byte;
}

static uint32_t hash_of(const struct name_map *map, const char *name, size_t length)
{
    uint64_t hash = 14695981039346656037u; /* FNV-1a */
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ byte_at(map, name, i)) * 1099511628211u;
    return (uint32_t)(hash ^ hash >> 32);
}

static bool is_same(const struct name_map *map, const struct slot *slot, const char *name, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (byte_at(map, slot->name, i) != byte_at(map, name, i))
            return false;
    return true;
}

static struct slot *find(const struct name_map *map, const char *name, size_t length, uint32_t hash)
{
    for (uint32_t at = hash & map->mask;; at = (at + 1) & map->mask) {
        struct slot *slot = &map->slots[at];
        if (slot->first == 0 ||
            (slot->hash == hash && slot->length == length && is_same(map, slot, name, length)))
            return slot;
    }
}

static void grow(struct name_map *map)
{
    const struct slot *old = map->slots;
    uint32_t old_mask = map->mask;
    map->mask = old_mask * 2 + 1;
    map->slots = arena_array(map->arena, (size_t)map->mask + 1, sizeof *map->slots);
    for (uint32_t i = 0; i <= old_mask; i++)
        if (old[i].first != 0)
            *find(map, old[i].name, old[i].length, old[i].hash) = old[i];
}

void name_map_add(struct name_map *map, const char *name, size_t length, uint32_t rule)
{
    uint32_t hash = hash_of(map, name, length);
    if (map->used > map->mask / 2)
        grow(map);
    struct slot *slot = find(map, name, length, hash);
    VECTOR_PUSH(map->arena, &map->links, (struct link){rule, 0});
    if (slot->first != 0) {
        map->links.items[slot->last - 1].next = map->links.count;
        slot->last = map->links.count;
        return;
    }
    map->used++;
    *slot = (struct slot){name, length, hash, map->links.count, map->links.count};
}

uint32_t name_map_find(const struct name_map *map, const char *name, size_t length)
{
    return find(map, name, length, hash_of(map, name, length))->first;
}

uint32_t name_map_next(const struct name_map *map, uint32_t link)
{
    return map->links.items[link - 1].next;
}

uint32_t name_map_rule(const struct name_map *map, uint32_t link)
{
    return map->links.items[link - 1].rule;
}
