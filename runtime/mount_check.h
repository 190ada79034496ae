/* mount_check.h - whether a mount table is what a plan wanted: nothing missing, nothing more writable. */
#pragma once

#include "runtime/inner_config.h"
#include "runtime/mount_table.h"

struct mount_findings {
    uint32_t entries;    /* those that no later one covers */
    uint32_t writable;   /* of them, not read-only */
    uint32_t found;      /* expectations that an entry meets */
    const char *problem; /* the first one, or NULL */
};

struct mount_findings mounts_check(struct arena *arena, const struct mount_table *table,
                                   const struct expected_mount *expected, uint32_t count);
