/* limit_group.h - a launch's control groups: they hold `limit memory`, and `limit processes` where
 * RLIMIT_NPROC does not. */
#pragma once

#include "runtime/cgroup.h"

struct launch;

struct limit_groups {
    struct cgroup items[CGROUP_CONTROLLERS];
    uint32_t count;
    const char *held[CGROUP_CONTROLLERS]; /* evidence, or NULL */
};

/* Puts process 1, which waits, under the limits that it could not set for itself. False with an error note
 * if one cannot be held and is not accepted. */
bool step_groups(struct launch *launch);

/* Records which limits were met, tells the caller if processes were ended for one, and removes the groups. */
void groups_end(struct launch *launch);
