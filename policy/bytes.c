#include "policy/bytes.h"

void bytes_set(uint8_t *at, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        at[i] = (uint8_t)(value >> 8 * (size - 1 - i));
}

void bytes_put(struct buffer *out, uint64_t value, size_t size)
{
    bytes_set((uint8_t *)buffer_extend(out, size), value, size);
}

uint64_t bytes_get(const uint8_t *at, size_t size)
{
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++)
        value = value << 8 | at[i];
    return value;
}
