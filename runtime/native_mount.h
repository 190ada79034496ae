/* native_mount.h - mounts by descriptor: new ones, clones, and where they go. -1 or false with errno on
 * failure. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Opens what is at `path`, below `directory` if it is relative, to be referred to (O_PATH); no component
 * may be a symbolic link. */
int open_beneath(int directory, const char *path);

/* Detached mounts of new file systems, nosuid and nodev: a tmpfs whose root has `mode`, a devpts of its
 * own (devices can be opened), the procfs of the caller's process namespace. */
int mount_new_tmpfs(uint32_t mode);
int mount_new_terminals(void);
int mount_new_processes(void);

/* A detached clone of what `source` refers to with all mounts below, `attributes` (MOUNT_ATTR_x) added to
 * each. */
int mount_clone(int source, uint64_t attributes);

/* A detached clone of the entry `name` of the mount root `directory`, with that mount's attributes. */
int mount_clone_below(int directory, const char *name);

/* Adds `attributes` to the mount `place` itself, not to what is mounted below. */
bool mount_restrict(int place, uint64_t attributes);

/* Mounts the detached mount `made` on top of what `point` refers to. */
bool mount_attach(int made, int point);
