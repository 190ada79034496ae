/* sort.h - sorts byte strings by their bytes, as memcmp would: many of them, which often begin alike.
 *
 * What all of a group have in common is looked at once, and of the rest eight bytes at a time.
 */
#pragma once

#include "base/arena.h"

#include <stdint.h>

struct sort_item {
    const char *bytes;
    uint32_t length;
    uint32_t number; /* the caller's */
    uint64_t key;    /* used while sorting */
};

/* Sorts in place, with room of half the size in a part of `scratch`. A string that is the beginning of another comes before
 * it; equal ones stay in their order. Cost: each byte at most once, and count * log count comparisons of numbers for
 * every eight of them that go on alike. */
void sort_bytes(struct arena *scratch, struct sort_item *items, uint32_t count);
