/* cgroup.h - a control group for one run: made, limited, entered by process 1 inside, read and removed
 * again.
 *
 * Its name is sbx- and the lease's id. The launcher holds a lock on it, so that the next launch knows what a
 * killed one left behind and removes it.
 */
#pragma once

#include "runtime/cgroup_find.h"

#include <stdint.h>
#include <sys/types.h>

struct cgroup {
    const char *path; /* NULL: there is none */
    int parent, directory;
    int version;
};

/* Removes what killed launches left in `place`, and makes the group. False with *why set. */
bool cgroup_make(struct arena *arena, const struct cgroup_place *place, const char *id, struct cgroup *group,
                 const char **why);

/* At most this many tasks. False with *why set if the kernel did not take it or says something else. */
bool cgroup_limit_tasks(struct arena *arena, const struct cgroup *group, uint64_t tasks, const char **why);

/* At most this many bytes of memory, and none on swap devices. As above. */
bool cgroup_limit_memory(struct arena *arena, const struct cgroup *group, uint64_t bytes, const char **why);

/* Moves a process into it and looks that it is there. As above. */
bool cgroup_enter(struct arena *arena, const struct cgroup *group, pid_t process, const char **why);

/* How often a new task was refused, and how many processes were ended for want of memory. */
uint64_t cgroup_refused(struct arena *arena, const struct cgroup *group);
uint64_t cgroup_killed(struct arena *arena, const struct cgroup *group);

/* Removes the group, whose processes have ended or are about to. Safe to call twice. */
void cgroup_remove(struct cgroup *group);
