/* vector.h - a growing array in an arena: `struct { T *items; uint32_t count, capacity; }`, items are plain values.
 *
 *   struct rules { struct rule *items; uint32_t count, capacity; } rules = {0};
 *   VECTOR_PUSH(arena, &rules, rule);
 *   VECTOR_RESERVE(arena, &rules, 1000);
 *
 * Growing moves the items: keep indices, not pointers, while it grows. More than 2^32-2 items count as out of memory.
 */
#pragma once

#include "base/arena.h"

#include <stdint.h>

#define VECTOR_RESERVE(arena, vector, wanted)                                                                \
    ((vector)->items =                                                                                       \
         vector_reserve((arena), (vector)->items, &(vector)->capacity, (wanted), sizeof *(vector)->items))

#define VECTOR_PUSH(arena, vector, ...)                                                                      \
    ((vector)->count < (vector)->capacity                                                                    \
         ? (void)0                                                                                           \
         : (void)VECTOR_RESERVE((arena), (vector), (size_t)(vector)->count + 1),                             \
     (vector)->items[(vector)->count++] = (__VA_ARGS__))

/* Room for `wanted` items of `size` bytes; the capacity is at least doubled, and new room is zeroed. */
void *vector_reserve(struct arena *arena, void *items, uint32_t *capacity, size_t wanted, size_t size);
