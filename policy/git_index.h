/* git_index.h - the submodules that a Git index names: entries of mode 160000.
 *
 * Format: gitformat-index(5), versions 2 to 4, SHA-1 or SHA-256 names. The index belongs to the command, so every length
 * is checked; what is read here may only ever add denies.
 */
#pragma once

#include "base/arena.h"

#include <stddef.h>
#include <stdint.h>

struct git_paths {
    const char **items; /* relative to the working tree, without `.`, `..` or empty components */
    uint32_t count, capacity;
};

/* The submodule paths in the `length` bytes of an index, in its order. NULL if they are no index of a known version. */
struct git_paths *git_index_submodules(struct arena *arena, const void *bytes, size_t length);
