/* chance.h - chance that a test can repeat, and how often it tries. */
#pragma once

#include <stdint.h>
#include <stdlib.h>

/* Anything but 0. */
struct chance {
    uint64_t state;
};

static inline uint32_t below(struct chance *chance, uint32_t limit)
{
    chance->state ^= chance->state << 13;
    chance->state ^= chance->state >> 7;
    chance->state ^= chance->state << 17;
    return (uint32_t)((chance->state >> 16) % limit);
}

/* `most`, or the part of it that SBX_DIVISOR says: a slower build tries less. */
static inline uint32_t rounds_of(uint32_t most)
{
    const char *divisor = getenv("SBX_DIVISOR");
    int by = divisor != NULL ? atoi(divisor) : 1;
    return most / (uint32_t)(by > 0 ? by : 1);
}
