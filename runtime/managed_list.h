/* managed_list.h - the managed policies of a machine as they were read, on any system. */
#pragma once

#include "policy/policy.h"

struct managed_file {
    const char *path;
    const struct policy *policy;
};

struct managed_list {
    struct managed_file *items;
    uint32_t count, capacity;
};
