/* native_confine.h - what the first process of a new sandbox does to itself: its user map, its network,
 * and at last the rights that it gives up. */
#pragma once

#include "base/buffer.h"
#include "runtime/native_problem.h"

#include <sys/types.h>

/* Maps the caller's user and group, each to itself and alone, and forbids to change groups. */
bool native_map_user(struct native_problem *problem, uid_t user, gid_t group);

/* Starts the loopback interface of an own network namespace. */
bool native_start_loopback(struct native_problem *problem);

/* Forbids user namespaces below this one, for good: `processes` is open on the own procfs. */
bool native_forbid_nesting(struct native_problem *problem, int processes);

/* Gives up every capability in every set, and new privileges, and loads the system call filter (NULL:
 * none). An ordinary user outside a user namespace cannot empty the bounding set: with `keep_bounding` it
 * may stay, which gives nothing without new privileges. */
bool native_confine(struct native_problem *problem, const struct buffer *filter, bool keep_bounding);
