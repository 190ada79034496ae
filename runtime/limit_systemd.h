/* limit_systemd.h - limits by a scope of the user's own service manager, or of the machine's for root, asked
 * by busctl(1) where systemd runs. The scope ends with its processes. */
#pragma once

#include "runtime/cgroup_find.h"

#include <stdint.h>
#include <sys/types.h>

struct scope {
    const char *id;         /* of the lease */
    pid_t process;          /* to move there */
    uint64_t tasks, memory; /* 0: no limit */
    const char *path;       /* of its group's directory; set by scope_make */
};

/* Has the scope made and looks that the process is in it, limited. False if that cannot be had. */
bool scope_make(struct arena *arena, const struct cgroup_view *view, struct scope *scope);
