/* git_index.h - the submodules that a Git index names: entries of mode 160000.
 *
 * Format: gitformat-index(5), versions 2 to 4, SHA-1 or SHA-256 names. The index belongs to the command, so every
 * length is checked; what is read here may only ever add denies.
 */
#pragma once

#include "base/arena.h"

#include <stddef.h>
#include <stdint.h>

struct git_paths {
    const char **items; /* relative to the working tree, without `.`, `..` or empty components */
    uint32_t count, capacity;
};

struct git_index {
    struct git_paths submodules; /* in the index's order */
    const char *shared; /* of a split index: the name, in hexadecimal, of the one it stands on; or NULL */
    /* Places of entries in the shared index that became submodules and have no path of their own here. */
    struct {
        uint32_t *items;
        uint32_t count, capacity;
    } replaced;
    const void *bytes; /* what was read, with its length and the size of its object names */
    size_t length, name_bytes;
};

/* Reads the `length` bytes of an index, which must outlive the result. NULL if they are no index of a known
 * version, or not whole. */
const struct git_index *git_index_read(struct arena *arena, const void *bytes, size_t length);

/* The paths in `shared` that `split` makes submodules without naming them. */
struct git_paths git_index_replaced(struct arena *arena, const struct git_index *shared,
                                    const struct git_index *split);
