#include "base/vector.h"

#include <string.h>

void *vector_reserve(struct arena *arena, void *items, uint32_t *capacity, uint32_t count, size_t wanted,
                     size_t size)
{
    if (wanted <= *capacity)
        return items;
    size_t larger = *capacity < 8 ? 8 : (size_t)*capacity * 2;
    if (larger < wanted)
        larger = wanted;
    if (larger >= UINT32_MAX)
        larger = SIZE_MAX / (size == 0 ? 1 : size) + 1; /* arena_array then reports exhaustion */
    void *moved = arena_array(arena, larger, size);
    if (count > 0)
        memcpy(moved, items, (size_t)count * size);
    *capacity = (uint32_t)larger;
    return moved;
}
