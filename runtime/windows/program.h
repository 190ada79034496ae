/* program.h - which file a command's first word means. */
#pragma once

#include "base/arena.h"

/* The full path of the program, in `arena`, or NULL if there is none. A word with a separator is a path, relative to
 * `directory` ("C:\a"); any other is looked for along `path` (a PATH value, or NULL), never in the current directory nor in
 * Windows' own places, and in no item but those that are absolute on a drive. A word without one of the endings .com, .exe,
 * .bat and .cmd is tried with each of them, a path also as it is. */
const char *program_find(struct arena *arena, const char *word, const char *directory, const char *path);
