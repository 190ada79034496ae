/* watch_list.h - what the host could take away from under a sandbox by renaming or removing it.
 *
 * A mount stands on one file. If the host renames another file over that, removes it, or renames a directory
 * on the way, the mount goes with the old file, and the command sees the new one as the directory around it
 * is granted.
 */
#pragma once

#include "emitters/plan.h"
#include "runtime/facts.h"

enum watch_kind {
    WATCH_MASK, /* closed */
    WATCH_READ, /* read-only in a writable place */
    WATCH_PIN,  /* a directory mounted on itself, so that no rename of it moves what is below */
    WATCH_LINK, /* a symbolic link on the way to a denied path */
};

struct watch_place {
    enum watch_kind kind;
    const char *path; /* the same inside and on the host */
    const char *text; /* of WATCH_LINK: where it leads */
    bool directory;   /* it is one, as far as the plan knows */
    bool closed;      /* nothing on the way to it can be written by the command */
};

struct watch_list {
    struct watch_place *items; /* what lies above comes first */
    uint32_t count, capacity;
    bool nested; /* the command may have mount namespaces of its own, in which nothing can be put back */
    struct {
        const char **items; /* in which entries could change, what lies above first, each once */
        uint32_t count, capacity;
    } directories;
};

/* Every place of `plan` and every link of `facts` that the host could change so that the command could do
 * more. */
struct watch_list watch_list_make(struct arena *arena, const struct plan *plan, const struct facts *facts);
