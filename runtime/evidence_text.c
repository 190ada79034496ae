#include "runtime/evidence_text.h"

#include "base/escape.h"
#include "base/measure.h"
#include "base/vector.h"
#include "emitters/control_landlock.h"
#include "runtime/landlock.h"
#include "runtime/landlock_text.h"
#include "runtime/limit_time.h"

#include <string.h>

/* Says by what a control holds; NULL if it does not. */
typedef const char *evidence_say(const struct launch *launch);

static uint32_t masks_of(const struct plan *plan)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < plan->count; i++)
        count += plan->items[i].kind == PLAN_MASK_DIRECTORY || plan->items[i].kind == PLAN_MASK_FILE;
    return count;
}

static const char *say_closed(const struct launch *launch)
{
    const struct evidence *evidence = &launch->evidence;

    return arena_format(launch->arena,
                        "/ is an own tmpfs, mounted read-only; %u of %u planned mounts are in the mount "
                        "table, %u of them the files "
                        "that were looked at, by device and inode",
                        evidence->mounts_found, evidence->mounts_expected, evidence->mounts_same);
}

/* What stands behind the mounts, also behind those that the host makes later. */
static const char *second_wall(const struct launch *launch)
{
    const struct evidence *evidence = &launch->evidence;
    const char *missing =
        launch->inner.no_rules != NULL ? launch->inner.no_rules : evidence->landlock.missing;

    if (evidence->landlock.rules > 0)
        return arena_format(launch->arena, "Landlock (ABI %u) says the same by %u rules",
                            evidence->landlock_abi, evidence->landlock.rules);
    return arena_format(launch->arena, "no second wall: %s", escape_string(launch->arena, missing));
}

static const char *say_write(const struct launch *launch)
{
    const struct evidence *evidence = &launch->evidence;

    return arena_format(launch->arena,
                        "%u of %u entries of the mount table are writable, all of them planned; %s",
                        evidence->mounts_writable, evidence->mounts, second_wall(launch));
}

/* What is done when the host replaces or removes what a mount of the plan stands on. */
static const char *against_replacing(const struct launch *launch)
{
    const struct watch *watch = &launch->watch;

    if (watch->holds && watch->list.nested)
        return arena_format(
            launch->arena,
            "%u directories are watched, and what the host replaces in them ends the run, for "
            "in a mount namespace of the command's own nothing can be covered again; until then "
            "it can be read and written",
            watch->directories);
    if (watch->holds)
        return arena_format(
            launch->arena,
            "%u directories are watched, and what the host replaces in them is covered again; "
            "until then it can be read and written, and what is kept open ends the run",
            watch->directories);
    if (watch->list.count == 0)
        return "the host can replace nothing below them";
    return arena_format(launch->arena,
                        "a mask goes if the host replaces or removes the file below it, for that is not "
                        "watched: %s",
                        watch->why);
}

static const char *say_deny(const struct launch *launch)
{
    return arena_format(launch->arena, "%u masks are in the mount table, read-only; %s",
                        masks_of(&launch->plan), against_replacing(launch));
}

static const char *say_pattern(const struct launch *launch)
{
    return arena_format(launch->arena, "%u matches present at launch are masked", launch->facts.match_count);
}

static const char *say_missing(const struct launch *launch)
{
    return arena_format(launch->arena, "%u missing paths are held by placeholders",
                        launch->facts.missing_count);
}

static const char *say_network(const struct launch *launch)
{
    const struct evidence *evidence = &launch->evidence;

    if (!launch->own_network)
        return NULL;
    return arena_format(launch->arena, "net:[%llu] is not the host's; interfaces: %s",
                        (unsigned long long)evidence->namespaces[NAMESPACE_NETWORK], evidence->interfaces);
}

static const char *say_abstract(const struct launch *launch)
{
    const struct evidence *evidence = &launch->evidence;

    if (launch->own_network)
        return arena_format(launch->arena, "net:[%llu] is not the host's; Landlock scope: %s",
                            (unsigned long long)evidence->namespaces[NAMESPACE_NETWORK],
                            evidence->landlock.scoped ? "yes" : "no");
    if (!launch->unix_sockets)
        return arena_format(launch->arena, "AF_UNIX is refused (Seccomp: %u)", evidence->seccomp_mode);
    return evidence->landlock.scoped
               ? arena_format(launch->arena, "Landlock scope (ABI %u)", evidence->landlock_abi)
               : NULL;
}

static const char *say_signal(const struct launch *launch)
{
    const struct evidence *evidence = &launch->evidence;

    return arena_format(launch->arena, "process %lld of pid:[%llu]; Landlock scope: %s",
                        (long long)evidence->process_id,
                        (unsigned long long)evidence->namespaces[NAMESPACE_PROCESS],
                        evidence->landlock.scoped ? "yes" : "no");
}

static const char *say_tty(const struct launch *launch)
{
    const struct evidence *evidence = &launch->evidence;

    return evidence->session_id != evidence->process_id
               ? NULL
               : arena_format(
                     launch->arena,
                     "a session of its own (%lld), and no descriptor of the caller's terminal; Seccomp: %u",
                     (long long)evidence->session_id, evidence->seccomp_mode);
}

static const char *say_env(const struct launch *launch)
{
    return arena_format(launch->arena, "%u variables inside, %u set by the launcher",
                        launch->evidence.variables, launch->variables.count);
}

static const char *say_syscall(const struct launch *launch)
{
    const struct evidence *evidence = &launch->evidence;

    return arena_format(launch->arena, "Seccomp: %u, NoNewPrivs: %u, capabilities in any set: %llx",
                        evidence->seccomp_mode, evidence->no_new_privileges,
                        (unsigned long long)evidence->capabilities);
}

static const char *say_listen(const struct launch *launch)
{
    return arena_format(
        launch->arena,
        "bind and listen are refused (Seccomp: %u); a UDP socket that sends gets a port by itself",
        launch->evidence.seccomp_mode);
}

static const char *say_tree(const struct launch *launch)
{
    return arena_format(launch->arena,
                        "process 1 of pid:[%llu] ends with the launcher's pipe, and everything with it",
                        (unsigned long long)launch->evidence.namespaces[NAMESPACE_PROCESS]);
}

static const char *say_files(const struct launch *launch)
{
    return arena_format(launch->arena, "RLIMIT_NOFILE %llu, at most %llu",
                        (unsigned long long)launch->evidence.files_soft,
                        (unsigned long long)launch->evidence.files_hard);
}

/* By the kernel, and by path: also those that the host makes later. */
static bool sockets_are_judged(const struct launch *launch)
{
    return launch->evidence.landlock.rules > 0 && launch->evidence.landlock_abi >= LANDLOCK_ABI_SOCKETS;
}

static const char *say_processes(const struct launch *launch)
{
    if (launch->evidence.processes == 0)
        return launch->groups.held[CGROUP_PIDS];
    return arena_format(launch->arena,
                        "RLIMIT_NPROC leaves room for %llu beside process 1: set to 2, it gave room for one "
                        "process beside it, "
                        "not for a second",
                        (unsigned long long)launch->evidence.processes);
}

static const char *say_memory(const struct launch *launch)
{
    return launch->groups.held[CGROUP_MEMORY];
}

static const char *say_time(const struct launch *launch)
{
    const struct evidence *evidence = &launch->evidence;

    if (evidence->time_seconds == 0 || evidence->time_seconds != launch->inner.time_seconds)
        return NULL;
    return arena_format(
        launch->arena, "the clock of process 1 is set to %llu s; then SIGTERM to all, and SIGKILL %d s later",
        (unsigned long long)evidence->time_seconds, GRACE_SECONDS);
}

static const char *say_socket(const struct launch *launch)
{
    if (!launch->unix_sockets)
        return arena_format(launch->arena, "AF_UNIX is refused (Seccomp: %u)", launch->evidence.seccomp_mode);
    return arena_format(
        launch->arena, "%u host sockets in reach at launch are masked%s", launch->facts.masked_socket_count,
        sockets_are_judged(launch) ? "; Landlock lets none but the granted ones be reached" : "");
}

/* What the service of `control` brought; the mounts among it are compared like all others. */
static const char *say_service(const struct launch *launch, const char *service)
{
    const struct bound_policy *bound = launch->prepared.bound;
    unsigned sockets = 0, paths = 0, variables = 0;
    for (uint32_t i = 0; i < bound->rules.count; i++) {
        const struct bound_rule *rule = &bound->rules.items[i];
        if (rule->dropped || rule->service == NULL || rule->service->kind != RULE_GRANT_SERVICE ||
            strcmp(rule->service->name, service) != 0)
            continue;
        sockets += rule->rule->kind == RULE_GRANT_SOCKET &&
                   bound_socket(bound, rule->at.path, strlen(rule->at.path));
        paths += rule->rule->kind == RULE_GRANT &&
                 bound_level(bound, rule->at.path, strlen(rule->at.path)) > LEVEL_NONE;
        variables += rule->rule->kind == RULE_GRANT_ENV && bound_env(bound, rule->rule->name);
    }
    return arena_format(launch->arena, "%u of its sockets, %u of its paths and %u of its variables are open",
                        sockets, paths, variables);
}

static const char *say_scratch(const struct launch *launch)
{
    (void)launch;
    return "a writable tmpfs is mounted on /tmp";
}

static evidence_say *const says[CONTROLS] = {
    [CONTROL_FS_CLOSED] = say_closed,
    [CONTROL_FS_WRITE] = say_write,
    [CONTROL_FS_DENY] = say_deny,
    [CONTROL_FS_DENY_PATTERN] = say_pattern,
    [CONTROL_FS_DENY_MISSING] = say_missing,
    [CONTROL_NET_CLOSED] = say_network,
    [CONTROL_SOCKET_PATH] = say_socket,
    [CONTROL_IPC_ABSTRACT] = say_abstract,
    [CONTROL_IPC_SIGNAL] = say_signal,
    [CONTROL_TTY] = say_tty,
    [CONTROL_ENV] = say_env,
    [CONTROL_SYSCALL] = say_syscall,
    [CONTROL_PROCESS_TREE] = say_tree,
    [CONTROL_LIMIT_FILES] = say_files,
    [CONTROL_LIMIT_TIME] = say_time,
    [CONTROL_LIMIT_PROCESSES] = say_processes,
    [CONTROL_LIMIT_MEMORY] = say_memory,
    [CONTROL_SCRATCH] = say_scratch,
    [CONTROL_LISTEN] = say_listen,
    [CONTROL_SERVICE_PTY] = say_tty,
};

static enum strength strength_here(const struct launch *launch, enum control control, enum strength strength)
{
    if (control == CONTROL_SOCKET_PATH && strength == STRENGTH_SNAPSHOT && sockets_are_judged(launch))
        return STRENGTH_ENFORCED;
    /* Other names of a denied file are not known, nor are mounts of the command's own changed. */
    bool once = launch->facts.hard_links || (launch->watch.list.nested && launch->watch.list.count > 0);
    return control == CONTROL_FS_DENY && once && strength == STRENGTH_ENFORCED ? STRENGTH_SNAPSHOT : strength;
}

bool evidence_controls(struct launch *launch, struct lease_control_list *list)
{
    bool good = true;

    for (int i = 0; i < CONTROLS; i++) {
        enum control control = (enum control)i;
        if (!launch->needs[i].needed || launch->accepted[i] != NULL)
            continue;
        struct control_entry entry =
            launch->alone
                ? control_landlock_entry(launch->prepared.bound, control, launch->evidence.landlock_abi)
                : control_entry_of(launch->prepared.bound, CONTROL_TARGET_BWRAP, control);
        const char *evidence = says[i] == NULL ? NULL : says[i](launch);
        if (evidence == NULL && control >= CONTROL_SERVICE_SSH_AGENT && control <= CONTROL_SERVICE_GH)
            evidence = say_service(launch, service_names[control - CONTROL_SERVICE_SSH_AGENT]);
        if (launch->alone)
            evidence = landlock_evidence(launch, control, evidence);
        if (evidence == NULL || entry.strength == STRENGTH_UNENFORCEABLE) {
            note_add(&launch->notes,
                     (struct note){.code = SBX416_EVIDENCE,
                                   .rule = launch->needs[i].rule,
                                   .text = arena_format(launch->arena, "%s was not found to hold inside",
                                                        control_names[i])});
            good = good && !measure_holds(MEASURE_EVIDENCE);
            continue;
        }
        VECTOR_PUSH(launch->arena, list,
                    (struct lease_control){.control = control,
                                           .how = strength_here(launch, control, entry.strength),
                                           .evidence = evidence});
    }
    return good;
}
