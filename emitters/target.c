#include "emitters/target.h"

#include "emitters/bin.h"
#include "emitters/bwrap_args.h"
#include "emitters/bwrap_sh.h"
#include "emitters/json.h"
#include "emitters/seatbelt.h"
#include "emitters/seccomp.h"
#include "emitters/windows.h"

#include <string.h>

const struct target targets[] = {
    {"bin", ".bin", -1, CONTROL_TARGET_BWRAP, emit_bin},
    {"bwrap", ".args", SYSTEM_LINUX, CONTROL_TARGET_BWRAP, emit_bwrap_args},
    {"bwrap-sh", ".sh", SYSTEM_LINUX, CONTROL_TARGET_BWRAP, emit_bwrap_sh},
    {"seatbelt", ".sb", SYSTEM_MACOS, CONTROL_TARGET_SEATBELT, emit_seatbelt},
    {"seccomp", ".bpf", SYSTEM_LINUX, -1, emit_seccomp},
    {"windows", ".xml", SYSTEM_WINDOWS, CONTROL_TARGET_WINDOWS, emit_windows},
    {"json", ".json", -1, -1, emit_json},
    {NULL, NULL, -1, -1, NULL},
};

const struct target *target_named(const char *name)
{
    for (const struct target *target = targets; target->name != NULL; target++)
        if (strcmp(target->name, name) == 0)
            return target;
    return NULL;
}

const struct target *target_for_suffix(const char *file_name)
{
    size_t length = strlen(file_name);
    for (const struct target *target = targets; target->name != NULL; target++) {
        size_t suffix = strlen(target->suffix);
        if (length > suffix && strcmp(file_name + length - suffix, target->suffix) == 0)
            return target;
    }
    return NULL;
}

int target_exit(enum code code)
{
    return code >= 300 && code < 350 ? 3 : 2;
}
