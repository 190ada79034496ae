/* system.h - which Windows this is. */
#pragma once

#include "base/arena.h"

/* "10.0.19045", as the kernel says it: what other calls say depends on the program's manifest. */
const char *system_version(struct arena *arena);
