/* host_path.h - taking paths of this machine apart and together. Private to policy/. */
#pragma once

#include "base/arena.h"

/* "DIRECTORY/NAME". */
const char *host_join(struct arena *arena, const char *directory, const char *name);

/* The directory that holds the canonical `path`, or NULL above "/". */
const char *host_parent(struct arena *arena, const char *path);

/* `path` with all links followed, or NULL with errno set if that leads nowhere. */
const char *host_resolve(struct arena *arena, const char *path);
