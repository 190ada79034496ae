#include "base/vector.h"

void *vector_reserve(struct arena *arena, void *items, uint32_t *capacity, size_t wanted, size_t size)
{
    if (wanted <= *capacity)
        return items;
    size_t larger = (size_t)*capacity * 2;
    if (larger < wanted)
        larger = wanted;
    if (larger >= UINT32_MAX || larger > SIZE_MAX / (size == 0 ? 1 : size))
        (void)arena_alloc(arena, SIZE_MAX); /* counts as out of memory */
    void *grown = arena_grow(arena, items, *capacity * size, larger * size);
    *capacity = (uint32_t)larger;
    return grown;
}
