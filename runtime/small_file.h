/* small_file.h - the text of a file of the kernel (/proc, control groups), whose length is not known before
 * it is read. */
#pragma once

#include "base/arena.h"

/* The text of `path`, seen from `directory` (AT_FDCWD: the working directory); "" if it cannot be read. */
const char *small_file(struct arena *arena, int directory, const char *path);
