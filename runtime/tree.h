/* tree.h - visits what lies below a directory, by descriptor and without ever following a link. */
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

enum tree_answer { TREE_DESCEND, TREE_SKIP, TREE_STOP };

struct tree_walk {
    void *context;
    /* Called for each entry but the start, in no order. `path` is NUL-terminated and only lent; `type` is a
     * DT_ value, never DT_UNKNOWN. TREE_DESCEND means something for directories only; TREE_STOP ends the
     * walk. */
    enum tree_answer (*visit)(void *context, const char *path, size_t length, unsigned char type);
    /* Called for a directory, the start included, whose entries cannot be seen: `error` is an errno,
     * ENAMETOOLONG where paths below could be longer than the system's calls take. */
    void (*closed)(void *context, const char *path, int error);
    uint64_t remaining; /* entries that may still be visited, over all calls; set by the caller */
};

/* Walks from the directory `start` (canonical). A directory that vanishes meanwhile is no error. False if
 * `remaining` was used up. Memory: the names beside the current way. */
bool tree_visit(struct arena *arena, struct tree_walk *walk, const char *start);
