/* inmates.h - the sandbox's processes as its keeper (keeper.h) sees and holds them: all but process 1, through
 * the /proc of the sandbox. Nothing here waits for the launcher or for process 1. */
#pragma once

#include "runtime/watch_list.h"

#include <sys/types.h>

enum { STOP_MILLISECONDS = 2000 };

struct inmates {
    struct arena *arena;
    int proc;     /* the sandbox's /proc */
    bool stopped; /* all of them, by inmates_stop */
    struct {
        pid_t *items; /* what the command had stopped itself */
        uint32_t count, capacity;
    } asleep;
};

/* The mounts that the keeper made at one place, and the first. */
struct own_mounts {
    uint64_t *items;
    uint32_t count, capacity;
};

/* From the mount namespace that this process has entered. False with errno if its /proc is not that of another
 * process namespace. */
bool inmates_find(struct inmates *inmates, struct arena *arena);

/* Stops all, and returns when none runs any more; false if that did not come to be in STOP_MILLISECONDS. */
bool inmates_stop(struct inmates *inmates);

/* Whether all are still stopped. */
bool inmates_rest(const struct inmates *inmates);

/* Lets those go on that inmates_stop stopped. */
void inmates_continue(struct inmates *inmates);

/* Kills process 1, and so all. */
void inmates_kill(const struct inmates *inmates);

/* Whether one of them, which are stopped, has open or mapped what is at or below `place`, by another way than
 * leads there now. What cannot be looked at counts as such. */
bool inmates_hold(const struct inmates *inmates, const struct watch_place *place,
                  const struct own_mounts *own);

/* The number of the mount on which `name` in `directory` lies (of `directory` itself: "" and AT_EMPTY_PATH),
 * one that is never given again where the kernel has such; `*top` whether it is the mount's own top. 0 with
 * errno. */
uint64_t mount_of(int directory, const char *name, int flags, bool *top);

bool own_mounts_have(const struct own_mounts *own, uint64_t number);
