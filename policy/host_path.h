/* host_path.h - taking paths of this machine apart and together. Private to policy/. */
#pragma once

#include "base/arena.h"

#include <stddef.h>

/* How much of `path` is its top: of "/a" one byte, of "C:/a" three; 0 if it is relative. */
size_t host_top(const char *path);

/* What a file of Git calls a path, with slashes as separators. */
const char *host_slashes(struct arena *arena, const char *text);

/* "DIRECTORY/NAME". */
const char *host_join(struct arena *arena, const char *directory, const char *name);

/* The directory that holds the canonical `path`, or NULL above the top. */
const char *host_parent(struct arena *arena, const char *path);

/* `path` with all links followed, or NULL with errno set if that leads nowhere. */
const char *host_resolve(struct arena *arena, const char *path);
