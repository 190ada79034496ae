/* tree.h - looks through what lies below a directory on all processors, by descriptor and without ever
 * following a link. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tree_answer {
    TREE_DESCEND,
    TREE_SKIP,
    TREE_FAIL /* out of memory: the walk ends */
};

struct tree_entry {
    const char *path; /* NUL-terminated, only lent */
    size_t length;
    const char *name; /* its end */
    size_t name_length;
    unsigned char type; /* a DT_ value, never DT_UNKNOWN */
    const void *state;  /* of the directory that holds the entry */
    void *below;        /* zeroed; the state for what lies below it, to be filled in before TREE_DESCEND */
};

/* The callbacks but `stop` run in several threads at once, in no order. None may use an arena. */
struct tree_walk {
    void *context;
    size_t state_size; /* bytes that go from a directory to what lies below it */
    /* Called for each entry but the start. TREE_DESCEND means something for directories only. */
    enum tree_answer (*visit)(void *context, const struct tree_entry *entry);
    /* Called for a directory, the start included, whose entries cannot be seen: `error` is an errno,
     * ENAMETOOLONG where paths below could be longer than the system's calls take. False: out of memory. */
    bool (*closed)(void *context, const char *path, const void *state, int error);
    void *keeper; /* what the two below get */
    /* Whether the directory may be opened: 0, or an errno to close it with. NULL: every one may. */
    int (*admit)(void *keeper, const char *path);
    /* Called in the calling thread about ten times a second while a walk goes on, with the number of entries
     * so far; true ends it. NULL: nothing does. */
    bool (*stop)(void *keeper, uint64_t entries);
    uint64_t remaining; /* entries that may still be visited, over all calls; set by the caller */
};

enum tree_end { TREE_DONE, TREE_TOO_MANY, TREE_STOPPED, TREE_NO_MEMORY };

/* Walks from the directory `start` (canonical) with `state` as its state. A directory that vanishes meanwhile
 * is no error. Memory: the names beside the ways in hand. After TREE_STOPPED threads may be left that a file
 * system holds up; they touch nothing of the caller's any more. */
enum tree_end tree_visit(struct tree_walk *walk, const char *start, const void *state);
