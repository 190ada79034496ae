/* way.h - how one file's directory lies as seen from another's. */
#pragma once

#include "base/arena.h"

/* What to put before a name in the directory of `file` so that it is found from the directory of `from`: "", "../"
 * or "a/b/". "-" stands for a file in the current directory. Empty too if one of the directories is not there. */
const char *way_between(struct arena *arena, const char *from, const char *file);
