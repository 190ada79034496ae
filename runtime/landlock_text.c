#include "runtime/landlock_text.h"

static const char *say_rules(const struct launch *launch)
{
    return arena_format(launch->arena,
                        "nothing is open around it: Landlock (ABI %u) opens %u places, and / was refused",
                        launch->evidence.landlock_abi, launch->evidence.landlock.rules);
}

static const char *say_network(const struct launch *launch)
{
    return !launch->evidence.internet_closed
               ? NULL
               : arena_format(launch->arena, "a socket of the Internet families was refused (Seccomp: %u)",
                              launch->evidence.seccomp_mode);
}

static const char *say_family(const struct launch *launch)
{
    return arena_format(launch->arena, "AF_UNIX is refused (Seccomp: %u)", launch->evidence.seccomp_mode);
}

static const char *say_sockets(const struct launch *launch)
{
    if (!launch->unix_sockets)
        return say_family(launch);
    return launch->evidence.landlock_abi < LANDLOCK_ABI_SOCKETS
               ? NULL
               : arena_format(launch->arena, "Landlock (ABI %u) lets none but the granted sockets be reached",
                              launch->evidence.landlock_abi);
}

static const char *say_abstract(const struct launch *launch)
{
    if (!launch->unix_sockets)
        return say_family(launch);
    return !launch->evidence.landlock.scoped
               ? NULL
               : arena_format(launch->arena, "Landlock scope (ABI %u)", launch->evidence.landlock_abi);
}

static const char *say_signal(const struct launch *launch)
{
    return !launch->evidence.landlock.scoped || !launch->evidence.launcher_closed
               ? NULL
               : arena_format(launch->arena, "Landlock scope (ABI %u); signalling the launcher was refused",
                              launch->evidence.landlock_abi);
}

static const char *say_syscall(const struct launch *launch)
{
    return arena_format(launch->arena,
                        "Seccomp: %u, NoNewPrivs: %u, capabilities but in the bounding set: %llx",
                        launch->evidence.seccomp_mode, launch->evidence.no_new_privileges,
                        (unsigned long long)launch->evidence.capabilities);
}

const char *landlock_evidence(const struct launch *launch, enum control control, const char *shared)
{
    static const char *(*const says[CONTROLS])(const struct launch *launch) = {
        [CONTROL_FS_DENY] = say_rules,         [CONTROL_FS_DENY_PATTERN] = say_rules,
        [CONTROL_NET_CLOSED] = say_network,    [CONTROL_SOCKET_PATH] = say_sockets,
        [CONTROL_IPC_ABSTRACT] = say_abstract, [CONTROL_IPC_SIGNAL] = say_signal,
        [CONTROL_SYSCALL] = say_syscall,
    };

    return says[control] != NULL ? says[control](launch) : shared;
}
