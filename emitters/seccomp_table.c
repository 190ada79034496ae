#include "emitters/seccomp_table.h"

#include "emitters/seccomp.h"

#include <stdlib.h>
#include <string.h>

const struct system_call system_calls[] = {
#define SYSCALL(name, x86_64, aarch64) {#name, {x86_64, aarch64}},
#include "emitters/syscalls.def"
#undef SYSCALL
};
const uint32_t system_call_count = sizeof system_calls / sizeof *system_calls;

/* Linux's numbers: the machine that compiles a policy may be another system. */
enum { EPERM = 1, ENOSYS = 38 };
enum { CLOSED = false, REOPENABLE = true };

const struct baseline_entry baseline_entries[] = {
#define DENY(name, error, reopenable, reason) {#name, error, reopenable, reason},
#include "emitters/syscall_baseline.def"
#undef DENY
};
const uint32_t baseline_entry_count = sizeof baseline_entries / sizeof *baseline_entries;

static const char *const names[] = {
#define SYSCALL(name, x86_64, aarch64) #name,
#include "emitters/syscalls.def"
#undef SYSCALL
    NULL,
};

static int compare_name(const void *name, const void *call)
{
    return strcmp(name, ((const struct system_call *)call)->name);
}

const struct system_call *system_call_named(const char *name)
{
    return bsearch(name, system_calls, system_call_count, sizeof *system_calls, compare_name);
}

const struct baseline_entry *baseline_entry_named(const char *name)
{
    for (uint32_t i = 0; i < baseline_entry_count; i++)
        if (strcmp(baseline_entries[i].name, name) == 0)
            return &baseline_entries[i];
    return NULL;
}

bool syscall_known(const char *name)
{
    return system_call_named(name) != NULL;
}

bool syscall_denied_by_baseline(const char *name)
{
    return baseline_entry_named(name) != NULL || syscall_checked_by_argument(name);
}

const char *const *syscall_list(void)
{
    return names;
}
