/* measure.h - protective measures, each of which a test-only build can drop (tests/escape).
 *
 * In every other build each measure holds, and what asks is compiled to nothing.
 */
#pragma once

#include <stdbool.h>

enum measure {
#define MEASURE(name, purpose) MEASURE_##name,
#include "base/measures.def"
#undef MEASURE
    MEASURES
};

#ifdef SBX_TEST_ONLY

bool measure_holds(enum measure measure);

/* Whether the filter refuses what it otherwise refuses of the system call `name`. */
bool measure_refuses(const char *name);

/* The word by which the launcher's program knows that it is the stage inside, with what is dropped. */
const char *measure_stage_word(const char *word);

#else

static inline bool measure_holds(enum measure measure)
{
    (void)measure;
    return true;
}

static inline bool measure_refuses(const char *name)
{
    (void)name;
    return true;
}

static inline const char *measure_stage_word(const char *word)
{
    return word;
}

#endif
