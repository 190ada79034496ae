/* output.h - bytes out: to standard output, or into a file that is replaced as a whole or not at all. */
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

/* Writes all of it to standard output; false with errno set if it cannot (closed, full). */
bool output_standard(const char *bytes, size_t length);

/* Writes all of it to standard error; what fails there has nowhere to be reported. */
void output_error(const char *bytes, size_t length);

/* Makes `path` hold exactly these bytes: a new file beside it, synced, takes its place in one step, so that a
 * reader sees the old bytes or the new. A symbolic link at `path` is refused: replacing /dev/stdout would break
 * the machine, and following a link would write where nobody said. So is a directory or a special file. The mode is 0666 less the umask, 0777 for a script. Returns NULL, or why it
 * could not be done, with what stood there left as it was. */
const char *output_replace(struct arena *arena, const char *path, const char *bytes, size_t length);
