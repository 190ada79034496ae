/* seccomp_table.h - system calls as data: their numbers and what the baseline says of them. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum seccomp_architecture { ARCHITECTURE_X86_64, ARCHITECTURE_AARCH64, ARCHITECTURES };

struct system_call {
    const char *name;
    int16_t numbers[ARCHITECTURES]; /* -1 where it does not exist */
};

/* Every known call, sorted by name. */
extern const struct system_call system_calls[];
extern const uint32_t system_call_count;

/* What the baseline says of a call that it denies whatever its arguments are. */
struct baseline_entry {
    const char *name;
    uint16_t error; /* errno of Linux, the same on both architectures */
    bool reopenable;
    const char *reason;
};

/* The baseline's entries, in the order of their table. */
extern const struct baseline_entry baseline_entries[];
extern const uint32_t baseline_entry_count;

/* The entry of `name`, or NULL. */
const struct system_call *system_call_named(const char *name);
const struct baseline_entry *baseline_entry_named(const char *name);
