/* mount_table.h - which file system is mounted where, from /proc/self/mountinfo. */
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct mount_entry {
    const char *path;
    const char *type; /* of the file system: "proc", "tmpfs" */
    dev_t device;     /* of the file system; on btrfs not what stat(2) says */
    bool read_only;   /* this mount, or the file system */
};

/* In the order of the table: of two mounts on one path the later one is seen. */
struct mount_table {
    struct mount_entry *items;
    uint32_t count, capacity;
};

/* False with errno. */
bool mount_table_read(struct arena *arena, struct mount_table *table);

/* Appends the entry that `line` of such a table says; nothing if it is none. `line` is changed. */
void mount_table_add(struct arena *arena, struct mount_table *table, char *line);

/* The mount that holds the canonical path `path`, or NULL. */
const struct mount_entry *mount_table_find(const struct mount_table *table, const char *path);

/* Whether something is mounted on `path` itself. */
bool mount_table_has(const struct mount_table *table, const char *path);
