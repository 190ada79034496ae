/* managed_list.h - the managed policies of a machine as they were read, on any system. */
#pragma once

#include "policy/bound.h"

struct managed_file {
    const char *path;
    const struct policy *policy;
};

struct managed_list {
    struct managed_file *items;
    uint32_t count, capacity;
};

/* Refuses a --root (name without '$') that a managed layer of the merged `policy` uses. False with an error
 * note. */
bool managed_roots_are_free(struct arena *arena, const struct policy *policy, const struct variable *roots,
                            uint32_t count, struct note_list *notes);
