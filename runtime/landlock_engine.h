/* landlock_engine.h - the engine without namespaces: Landlock, the system call filter, and nothing else
 * (engine.h).
 *
 * It makes no mounts and so cannot close a place inside an open one, and it cannot hide that a file exists.
 * It runs only policies that accept by name what it does not hold (landlock_launch.h).
 */
#pragma once

#include "runtime/engine.h"

extern const struct engine engine_landlock;

/* Why this kernel has too little of Landlock for it, or NULL. */
const char *landlock_engine_missing(void);
