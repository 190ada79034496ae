/* control_bwrap.c - how each control holds in Linux namespaces: as data, and what a policy itself takes away
 * again. */
#include "emitters/control_bwrap.h"

#include "base/escape.h"
#include "emitters/control_need.h"
#include "emitters/control_words.h"

#define SOCKET_SERVICE                                                                                       \
    AT_LAUNCH("its sockets that are there at launch are shown, what may be read can be, and its variables "  \
              "pass in")

control_table control_bwrap = {
    [CONTROL_FS_CLOSED] = HELD("the root starts empty and shows only what is granted"),
    [CONTROL_FS_WRITE] = HELD("everything not granted for writing is mounted read-only"),
    [CONTROL_FS_DENY] =
        HELD("an empty, sealed mount covers the path; directories above it cannot be renamed"),
    [CONTROL_FS_DENY_PATTERN] = AT_LAUNCH("every match present at launch is covered; later ones are not"),
    [CONTROL_FS_DENY_MISSING] = HELD("the launcher puts an empty placeholder there and covers it"),
    [CONTROL_NET_CLOSED] = HELD("a network namespace of its own without a way out"),
    [CONTROL_NET_HOST] = CANNOT(
        "a network namespace is open or closed; choosing by name takes a broker process as the only way out",
        "deny the network whole, or grant network any"),
    [CONTROL_NET_ADDRESS] = CANNOT("a network namespace is open or closed; choosing by address takes a "
                                   "broker process as the only way out",
                                   "deny the network whole, or grant network any"),
    [CONTROL_NET_LOOPBACK] =
        CANNOT("the host's loopback is in another network namespace; reaching some of its ports takes a "
               "broker process",
               "let the command use its own loopback, which is always open, or grant network any"),
    [CONTROL_LISTEN] = CANNOT(
        "ports inside the command's own network namespace are not reachable from outside without a broker "
        "process, and with the host's network they are reachable whole or not at all",
        "grant no listen (the command can still reach its own ports), or grant network any and listen any"),
    [CONTROL_SOCKET_PATH] = AT_LAUNCH(
        "Unix sockets are refused as a family unless a socket or scratch opens them; then every host "
        "socket in reach at launch is covered"),
    [CONTROL_IPC_ABSTRACT] = HELD("abstract names belong to the command's own network namespace; with the "
                                  "host's, Landlock scopes them"),
    [CONTROL_IPC_SIGNAL] = HELD("a process namespace of its own: no process outside can be named"),
    [CONTROL_TTY] = HELD("the command's terminal is its own, and nothing can be typed into any"),
    [CONTROL_ENV] = HELD("the environment starts empty and holds only what is granted or set"),
    [CONTROL_EXEC_DENY] =
        CANNOT("mounts refuse execution for a whole mount, and bubblewrap has no option for one file",
               "deny the file whole (deny PATH), so that it can be neither read nor started"),
    [CONTROL_SYSCALL] = HELD("a seccomp program, loaded before the command starts"),
    [CONTROL_PROCESS_TREE] =
        HELD("the process namespace ends with its first process, whatever was started in it"),
    [CONTROL_LIMIT_PROCESSES] =
        HELD("a limit of the sandbox's own user namespace, or for root a control group of its own"),
    [CONTROL_LIMIT_MEMORY] = HELD("a control group of its own, where the launcher may make one"),
    [CONTROL_LIMIT_TIME] =
        HELD("process 1 asks everything to end when the time is over, and ends it 5 seconds later"),
    [CONTROL_LIMIT_FILES] = HELD("RLIMIT_NOFILE, soft and hard, before the command starts"),
    [CONTROL_SCRATCH] = HELD("a private tmpfs on /tmp that is gone with the sandbox"),
    [CONTROL_SERVICE_SSH_AGENT] = SOCKET_SERVICE,
    [CONTROL_SERVICE_GPG_AGENT] = SOCKET_SERVICE,
    [CONTROL_SERVICE_KEYCHAIN] =
        OF_MACOS("grant it under `when os macos`; secret services of Linux are behind `grant service dbus`"),
    [CONTROL_SERVICE_TRUSTD] =
        OF_MACOS("grant it under `when os macos`; certificates are read from /etc/ssl/certs here"),
    [CONTROL_SERVICE_DOCKER] = SOCKET_SERVICE,
    [CONTROL_SERVICE_DBUS] = SOCKET_SERVICE,
    [CONTROL_SERVICE_DISPLAY] = SOCKET_SERVICE,
    [CONTROL_SERVICE_GPU] = AT_LAUNCH("its devices that are there at launch are shown"),
    [CONTROL_SERVICE_AUDIO] = SOCKET_SERVICE,
    [CONTROL_SERVICE_CLIPBOARD] = SOCKET_SERVICE,
    [CONTROL_SERVICE_PTY] = HELD("the sandbox has terminals of its own, and never the host's"),
    [CONTROL_SERVICE_GIT_CREDENTIALS] = SOCKET_SERVICE,
    [CONTROL_SERVICE_GH] = HELD("its configuration can be read and its variables pass in"),
};

/* With the host's network its ports are in reach too; what is granted of `listen` is then everything or
 * refused whole. */
static const struct control_entry listen_refused = HELD(
    "the network is the host's, and seccomp refuses bind and listen; a UDP socket that sends gets a port "
    "by itself, at which it can be answered");

/* A rule that opens Unix sockets, or NULL. */
static const struct rule *opener_of_sockets(const struct bound_policy *bound)
{
    bool scratch = bound_scratch(bound);
    for (uint32_t i = 0; i < bound->rules.count; i++) {
        const struct bound_rule *rule = &bound->rules.items[i];
        if (rule->dropped)
            continue;
        if ((scratch && rule->rule->kind == RULE_GRANT_SCRATCH) || bound_rule_opens_socket(bound, rule))
            return rule->service != NULL ? rule->service : rule->rule;
    }
    return NULL;
}

static struct control_entry listen_open(const struct bound_policy *bound)
{
    const struct policy *policy = bound->policy;
    const struct rule *opener = opener_of_sockets(bound);
    const char *who = "the policy";
    if (opener != NULL && opener->origin.source < policy->source_count)
        who = arena_format(bound->arena, "\"%s\" (%s:%u)", rule_text(bound->arena, opener),
                           escape_string(bound->arena, policy->sources[opener->origin.source].name),
                           opener->origin.line);
    return (struct control_entry){
        .strength = STRENGTH_UNENFORCEABLE,
        .reason = arena_format(bound->arena,
                               "the network is the host's, and bind and listen cannot be refused because the "
                               "Unix sockets that %s opens need them",
                               who),
        .instead = opener != NULL && opener->kind == RULE_GRANT_SCRATCH
                       ? "grant listen any, or deny scratch"
                       : "grant listen any, or leave out what opens Unix sockets",
    };
}

static bool refuses_listen(const struct bound_policy *bound, enum control control)
{
    return control == CONTROL_LISTEN && network_is_shared(bound) && listen_left(bound) == LEFT_NOTHING;
}

struct control_entry control_bwrap_entry(const struct bound_policy *bound, enum control control)
{
    if (refuses_listen(bound, control))
        return policy_opens_unix_sockets(bound) ? listen_open(bound) : listen_refused;
    return control_bwrap[control];
}

#define LAUNCHER_ONLY(text) CANNOT(text, "start the command with sbx-launch")

static const struct control_entry text_missing = LAUNCHER_ONLY(
    "a denied path in a writable area may be missing; only the launcher can put a placeholder there");
static const struct control_entry text_pattern =
    LAUNCHER_ONLY("a pattern's matches are found at launch, and this artifact looks at no file system");
static const struct control_entry text_sockets = LAUNCHER_ONLY(
    "the policy opens Unix sockets, and only the launcher finds and covers the host's sockets in reach");
static const struct control_entry text_no_sockets =
    HELD("the seccomp program refuses Unix sockets as a family");
static const struct control_entry text_abstract = LAUNCHER_ONLY(
    "the policy opens the network and Unix sockets, and only the launcher keeps the host's abstract names "
    "apart then");
static const struct control_entry text_service = LAUNCHER_ONLY(
    "the service's sockets and devices are found at launch, and this artifact looks at no file system");
static const struct control_entry text_files =
    LAUNCHER_ONLY("bubblewrap has no option for a limit of open files");

static const struct control_entry text_group =
    LAUNCHER_ONLY("only the launcher puts the command under a limit that counts all its processes");
static const struct control_entry text_time =
    LAUNCHER_ONLY("nothing of ours runs beside the command and could end it");

bool text_opens_unix_sockets(const struct bound_policy *bound)
{
    return policy_opens_unix_sockets(bound) &&
           control_accept(bound, CONTROL_TARGET_BWRAP, CONTROL_SOCKET_PATH) != NULL;
}

static bool is_service(enum control control)
{
    return control >= CONTROL_SERVICE_SSH_AGENT && control <= CONTROL_SERVICE_GH;
}

struct control_entry control_entry_in_text(const struct bound_policy *bound, enum control control,
                                           bool can_limit)
{
    bool sockets = text_opens_unix_sockets(bound);
    if (control == CONTROL_FS_DENY_MISSING)
        return text_missing;
    if (control == CONTROL_FS_DENY_PATTERN)
        return text_pattern;
    if (control == CONTROL_SOCKET_PATH)
        return sockets || policy_grants_socket(bound) ? text_sockets : text_no_sockets;
    if (control == CONTROL_IPC_ABSTRACT && network_is_shared(bound) && sockets)
        return text_abstract;
    if (control == CONTROL_LIMIT_FILES && !can_limit)
        return text_files;
    if (control == CONTROL_LIMIT_TIME)
        return text_time;
    if (control == CONTROL_LIMIT_PROCESSES || control == CONTROL_LIMIT_MEMORY)
        return text_group;
    if (is_service(control) && control_bwrap[control].strength == STRENGTH_SNAPSHOT)
        return text_service;
    if (refuses_listen(bound, control))
        return sockets ? listen_open(bound) : listen_refused;
    return control_bwrap[control];
}
