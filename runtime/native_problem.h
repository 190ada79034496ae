/* native_problem.h - why the native engine could not make a sandbox. */
#pragma once

#include "base/arena.h"

#include <stdbool.h>

struct native_problem {
    struct arena *arena;
    const char *text; /* escaped; NULL: nothing is wrong */
    bool replaced;    /* something else than what the launcher looked at stands at a path */
};

/* Notes "cannot DOING PATH: reason of errno", unless something was noted before; `path` may be NULL.
 * Always false. */
bool native_fail(struct native_problem *problem, const char *doing, const char *path);

/* Notes that something else stands at `path` than what was looked at. Always false. */
bool native_replaced(struct native_problem *problem, const char *path);
