#include "base/sort.h"

#include <stdbool.h>
#include <string.h>

enum { KEY_SIZE = 8, FEW = 12 };

/* The eight bytes from `at` on, so that numbers compare as the bytes do; missing ones are zeros. */
static uint64_t key_at(const struct sort_item *item, size_t at)
{
    unsigned char bytes[KEY_SIZE] = {0};
    uint64_t key = 0;
    if (at < item->length) {
        size_t rest = item->length - at;
        memcpy(bytes, item->bytes + at, rest < KEY_SIZE ? rest : KEY_SIZE);
    }
    for (int i = 0; i < KEY_SIZE; i++)
        key = key << 8 | bytes[i];
    return key;
}

/* The bytes behind `at` that all items share. */
static size_t shared_from(const struct sort_item *items, uint32_t count, size_t at)
{
    const struct sort_item *first = &items[0];
    size_t shared = first->length - at;
    for (uint32_t i = 1; i < count && shared > 0; i++) {
        const struct sort_item *item = &items[i];
        size_t same = 0;
        if (item->length - at < shared)
            shared = item->length - at;
        while (same < shared && item->bytes[at + same] == first->bytes[at + same])
            same++;
        shared = same;
    }
    return shared;
}

/* By key; of equal keys, which zeros may have filled, the shorter string first. */
static bool comes_before(const struct sort_item *a, const struct sort_item *b)
{
    return a->key != b->key ? a->key < b->key : a->length < b->length;
}

static void sort_few(struct sort_item *items, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        struct sort_item moved = items[i];
        uint32_t to = i;
        for (; to > 0 && comes_before(&moved, &items[to - 1]); to--)
            items[to] = items[to - 1];
        items[to] = moved;
    }
}

static void sort_by_key(struct sort_item *items, uint32_t count, struct sort_item *room)
{
    uint32_t half = count / 2, left = 0, right = half, to = 0;
    if (count <= FEW) {
        sort_few(items, count);
        return;
    }
    sort_by_key(items, half, room);
    sort_by_key(items + half, count - half, room);
    if (!comes_before(&items[half], &items[half - 1]))
        return;
    memcpy(room, items, half * sizeof *items);
    while (left < half && right < count)
        items[to++] = comes_before(&items[right], &room[left]) ? items[right++] : room[left++];
    memcpy(items + to, room + left, (half - left) * sizeof *items);
}

/* Sorts items that are alike up to `at`. */
static void sort_from(struct sort_item *items, uint32_t count, size_t at, struct sort_item *room)
{
    at += shared_from(items, count, at);
    for (uint32_t i = 0; i < count; i++)
        items[i].key = key_at(&items[i], at);
    sort_by_key(items, count, room);
    at += KEY_SIZE;
    for (uint32_t start = 0, end; start < count; start = end) {
        for (end = start + 1; end < count && items[end].key == items[start].key;)
            end++;
        while (start < end && items[start].length <= at)
            start++; /* these are over, and are in order by their lengths */
        if (end - start > 1)
            sort_from(items + start, end - start, at, room);
    }
}

void sort_bytes(struct arena *scratch, struct sort_item *items, uint32_t count)
{
    if (count < 2)
        return;
    struct arena *room = arena_child(scratch);
    sort_from(items, count, 0, arena_array(room, count / 2, sizeof *items));
    arena_destroy(room);
}
