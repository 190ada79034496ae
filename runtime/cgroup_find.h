/* cgroup_find.h - where on this machine the launcher can make a control group of its own, below which
 * nothing escapes what already limits the launcher. */
#pragma once

#include "base/arena.h"

#include <stdbool.h>

enum cgroup_controller { CGROUP_PIDS, CGROUP_MEMORY, CGROUP_CONTROLLERS };
/* "pids", "memory" */
extern const char *const cgroup_controller_names[CGROUP_CONTROLLERS];

/* What the kernel says of control groups. Tests put tables of their own here. */
struct cgroup_view {
    const char *mounts; /* /proc/self/mountinfo */
    const char *own;    /* /proc/self/cgroup */
};

struct cgroup_place {
    int version;        /* 1 or 2 */
    const char *parent; /* the directory in which to make a group */
};

/* Reads both files; members are "" where that fails. */
struct cgroup_view cgroup_view_read(struct arena *arena);

/* The directory of group `path` (as /proc/PID/cgroup says) of version 2, or NULL if it is not to be seen. */
const char *cgroup_directory(struct arena *arena, const struct cgroup_view *view, const char *path);

/* The place nearest to the launcher's own group where a group with this controller can be made: in version 1
 * the own group; in version 2 that or one above it, below systemd's slices, that hands the controller down,
 * is the caller's to write in, and has no limit set between it and the launcher. False with *why set if
 * there is none. */
bool cgroup_find(struct arena *arena, const struct cgroup_view *view, enum cgroup_controller controller,
                 struct cgroup_place *place, const char **why);

/* Whether the launcher's own group of version 2 has a limit of any kind, or is not to be seen. */
bool cgroup_own_is_limited(struct arena *arena, const struct cgroup_view *view);

/* The directories on which any hierarchy of control groups is mounted, NULL-terminated. */
const char *const *cgroup_mounts(struct arena *arena, const struct cgroup_view *view);
