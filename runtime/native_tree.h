/* native_tree.h - carries out a plan's mount operations in a mount namespace of the caller's own, and
 * makes the result the root.
 *
 * Every source is opened without following a link, compared by device and inode with what the launcher
 * looked at, and cloned from that descriptor. Every mount point is reached from the new root's descriptor
 * without following a link, and made only where the new root's own directories lack it, never in a
 * directory of the host. The cost is linear.
 */
#pragma once

#include "runtime/engine.h"
#include "runtime/native_problem.h"

/* Builds the tree of `request` and goes into it; the old root is gone then. Needs all rights in the mount
 * and process namespace. On failure the process must end. */
bool native_build(const struct sandbox_request *request, struct native_problem *problem);

/* Appends what native_build does, one step a line. */
void native_describe(struct buffer *out, const struct sandbox_request *request);
