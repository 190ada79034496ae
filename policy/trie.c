#include "policy/trie.h"

#include "base/intern.h"
#include "base/vector.h"

#include <string.h>

struct name {
    const char *bytes;
    uint32_t length, hash;
};

struct node {
    uint32_t parent, name; /* TRIE_NONE: a root */
};

struct trie {
    struct arena *arena;
    struct {
        struct name *items;
        uint32_t count, capacity;
    } names;
    struct {
        struct node *items;
        uint32_t count, capacity;
    } nodes;
    uint32_t *name_slots;  /* name + 1; 0 is free */
    uint32_t *child_slots; /* node; 0 is free, for node 0 is never a child */
    uint32_t name_mask, child_mask;
};

enum { SMALLEST_TABLE = 64 };

static uint32_t table_size(uint32_t expected)
{
    uint32_t size = SMALLEST_TABLE;
    while (size < expected && size < UINT32_MAX / 4)
        size *= 2;
    return size * 2;
}

struct trie *trie_create(struct arena *arena, uint32_t expected)
{
    struct trie *trie = arena_alloc(arena, sizeof *trie);
    uint32_t size = table_size(expected);
    *trie = (struct trie){.arena = arena, .name_mask = size - 1, .child_mask = size - 1};
    trie->name_slots = arena_array(arena, size, sizeof *trie->name_slots);
    trie->child_slots = arena_array(arena, size, sizeof *trie->child_slots);
    VECTOR_RESERVE(arena, &trie->names, expected);
    VECTOR_RESERVE(arena, &trie->nodes, expected);
    trie_root(trie);
    return trie;
}

uint32_t trie_root(struct trie *trie)
{
    VECTOR_PUSH(trie->arena, &trie->nodes, (struct node){TRIE_NONE, TRIE_NONE});
    return trie->nodes.count - 1;
}

uint32_t trie_nodes(const struct trie *trie)
{
    return trie->nodes.count;
}

static uint64_t mix(uint64_t value)
{
    value *= 0x9E3779B97F4A7C15u; /* 2^64 divided by the golden ratio: spreads neighbours apart */
    return value ^ (value >> 32);
}

static uint32_t find_name(const struct trie *trie, const char *bytes, size_t length, uint32_t hash)
{
    for (uint32_t slot = hash & trie->name_mask; trie->name_slots[slot] != 0;
         slot = (slot + 1) & trie->name_mask) {
        uint32_t name = trie->name_slots[slot] - 1;
        const struct name *known = &trie->names.items[name];
        if (known->hash == hash && known->length == length && memcmp(known->bytes, bytes, length) == 0)
            return name;
    }
    return TRIE_NONE;
}

static void place_name(struct trie *trie, uint32_t name)
{
    uint32_t slot = trie->names.items[name].hash & trie->name_mask;
    while (trie->name_slots[slot] != 0)
        slot = (slot + 1) & trie->name_mask;
    trie->name_slots[slot] = name + 1;
}

static uint32_t add_name(struct trie *trie, const char *bytes, size_t length)
{
    uint32_t hash = (uint32_t)hash_bytes(bytes, length), name = find_name(trie, bytes, length, hash);
    if (name != TRIE_NONE)
        return name;
    name = trie->names.count;
    VECTOR_PUSH(trie->arena, &trie->names, (struct name){bytes, (uint32_t)length, hash});
    if (trie->names.count > trie->name_mask / 2) {
        trie->name_mask = trie->name_mask * 2 + 1;
        trie->name_slots = arena_array(trie->arena, (size_t)trie->name_mask + 1, sizeof *trie->name_slots);
        for (uint32_t i = 0; i < name; i++)
            place_name(trie, i);
    }
    place_name(trie, name);
    return name;
}

static uint32_t child_slot(const struct trie *trie, uint32_t parent, uint32_t name)
{
    return (uint32_t)mix((uint64_t)parent << 32 | name) & trie->child_mask;
}

static uint32_t find_child(const struct trie *trie, uint32_t parent, uint32_t name)
{
    for (uint32_t slot = child_slot(trie, parent, name);; slot = (slot + 1) & trie->child_mask) {
        uint32_t child = trie->child_slots[slot];
        if (child == 0)
            return TRIE_NONE;
        const struct node *node = &trie->nodes.items[child];
        if (node->parent == parent && node->name == name)
            return child;
    }
}

static void place_child(struct trie *trie, uint32_t child)
{
    const struct node *node = &trie->nodes.items[child];
    uint32_t slot = child_slot(trie, node->parent, node->name);
    while (trie->child_slots[slot] != 0)
        slot = (slot + 1) & trie->child_mask;
    trie->child_slots[slot] = child;
}

static uint32_t add_child(struct trie *trie, uint32_t parent, uint32_t name)
{
    uint32_t child = find_child(trie, parent, name);
    if (child != TRIE_NONE)
        return child;
    child = trie->nodes.count;
    VECTOR_PUSH(trie->arena, &trie->nodes, (struct node){parent, name});
    if (child > trie->child_mask / 2) {
        trie->child_mask = trie->child_mask * 2 + 1;
        trie->child_slots = arena_array(trie->arena, (size_t)trie->child_mask + 1, sizeof *trie->child_slots);
        for (uint32_t i = 0; i < child; i++)
            if (trie->nodes.items[i].parent != TRIE_NONE)
                place_child(trie, i);
    }
    place_child(trie, child);
    return child;
}

static const char *path_end(const char *path, size_t length)
{
    return path + (length > 0 && path[length - 1] == '/' ? length - 1 : length);
}

static const char *component_end(const char *at, const char *end)
{
    const char *slash = memchr(at, '/', (size_t)(end - at));
    return slash != NULL ? slash : end;
}

uint32_t trie_insert(struct trie *trie, uint32_t root, const char *path, size_t length)
{
    const char *end = path_end(path, length), *at = path, *stop;
    uint32_t node = root, depth = 0;
    do {
        if (depth++ == TRIE_DEPTH)
            return TRIE_NONE;
        stop = component_end(at, end);
        node = add_child(trie, node, add_name(trie, at, (size_t)(stop - at)));
        at = stop + 1;
    } while (stop != end);
    return node;
}

bool trie_cut_on(const struct trie *trie, const char *path, size_t length, bool whole, uint32_t known,
                 struct trie_path *cut)
{
    const char *end = path_end(path, length), *at = known == 0 ? path : path + cut->ends[known - 1] + 1,
               *stop;
    bool named = true;
    cut->count = cut->total = known;
    while (at <= end) {
        stop = component_end(at, end);
        size_t size = (size_t)(stop - at);
        uint32_t name = named ? find_name(trie, at, size, (uint32_t)hash_bytes(at, size)) : TRIE_NONE;
        named = name != TRIE_NONE;
        if (!named && !whole)
            return true;
        if (cut->total == TRIE_DEPTH || (uint64_t)(stop - path) > UINT32_MAX)
            return !whole;
        if (named)
            cut->names[cut->count++] = name;
        cut->ends[cut->total++] = (uint32_t)(stop - path);
        at = stop + 1;
    }
    return true;
}

bool trie_cut(const struct trie *trie, const char *path, size_t length, bool whole, struct trie_path *cut)
{
    return trie_cut_on(trie, path, length, whole, 0, cut);
}

void trie_walk(const struct trie *trie, uint32_t root, const struct trie_path *path, struct trie_way *way)
{
    if (way->root != root)
        way->count = 0;
    way->root = root;
    uint32_t node = way->count == 0 ? root : way->nodes[way->count - 1];
    while (way->count < path->count) {
        node = find_child(trie, node, path->names[way->count]);
        if (node == TRIE_NONE)
            return;
        way->nodes[way->count++] = node;
    }
}

uint32_t trie_child(const struct trie *trie, uint32_t node, const struct trie_path *path, uint32_t depth)
{
    return depth < path->count ? find_child(trie, node, path->names[depth]) : TRIE_NONE;
}
