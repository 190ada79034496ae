/* state.h - the launcher's state directory: records, the turn and what holds missing paths are kept there. */
#pragma once

#include "base/arena.h"

/* Opens `path` (NULL: there is none), made with its parents and mode 0700 if need be. A descriptor, or -1 where it is
 * no directory of the caller's own that nobody else may write. */
int state_open(struct arena *arena, const char *path);
