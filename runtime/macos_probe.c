/* macos_probe.c - whether sandbox-exec can hold a policy here (probe.h): it is asked to. */
#include "runtime/macos_sandbox.h"
#include "runtime/probe.h"

#include <unistd.h>

struct probe_result probe_machine(struct arena *arena)
{
    static const char profile[] = "(version 1)\n(deny default)\n";
    struct probe_backend *backend;
    struct probe_result result = {0};
    const char *said;

    backend = &result.backends[0];
    *backend = (struct probe_backend){.name = "sandbox-exec", .version = macos_version(arena)};
    if (access(sandbox_exec_path(arena), X_OK) != 0) {
        backend->cause = arena_format(arena, "%s is not there", sandbox_exec_path(arena));
        backend->remedy = "it is a part of macOS; sbx-launch needs macOS 13 or later";
        return result;
    }
    switch (sandbox_try(arena, profile, NULL, &said)) {
    case TRIAL_TAKEN:
        backend->usable = result.usable = true;
        break;
    case TRIAL_NESTED:
        backend->cause = "this is inside another sandbox, and macOS allows no second one";
        backend->remedy = "start sbx-launch outside of it";
        break;
    case TRIAL_REFUSED:
        backend->cause = arena_format(arena, "sandbox-exec does not take a profile: %s", said);
        backend->remedy = "look into the log: log show --last 1m --predicate 'process == \"sandbox-exec\"'";
        break;
    }
    return result;
}
