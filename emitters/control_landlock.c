/* control_landlock.c - Landlock opens by path and takes nothing away again: as data, and what a policy
 * closes inside what it opens. */
#include "emitters/control_landlock.h"

#include "base/escape.h"
#include "emitters/control_bwrap.h"
#include "emitters/control_need.h"
#include "emitters/control_words.h"
#include "policy/pattern.h"

#include <string.h>

#define NAMESPACES "use a machine that lets user namespaces be made"
#define SOCKET_SERVICE                                                                                       \
    AT_LAUNCH("its sockets that are there at launch can be reached, what may be read can be, and its "       \
              "variables pass in")
#define NO_BROKER(text) CANNOT(text, "deny the network whole, or grant network any")

control_table control_landlock = {
    [CONTROL_FS_CLOSED] = CANNOT(
        "Landlock closes what is in files and directories, but not whether they exist, their size, owner "
        "and times; /proc shows every process, and a device node in an open place can be opened",

        NAMESPACES),
    [CONTROL_FS_WRITE] =
        CANNOT("Landlock does not refuse chmod, chown, utime and extended attributes, nor writing to "
               "what is open for reading only inside a writable place",
               NAMESPACES),
    [CONTROL_FS_DENY] = CANNOT("Landlock takes nothing away inside an open place", NAMESPACES),
    [CONTROL_FS_DENY_PATTERN] = CANNOT("Landlock takes nothing away inside an open place", NAMESPACES),
    [CONTROL_FS_DENY_MISSING] =
        CANNOT("Landlock lets everything be made in a writable directory, or nothing", NAMESPACES),
    [CONTROL_NET_CLOSED] =
        HELD("seccomp refuses sockets of the Internet families, so that the command has no "
             "loopback either"),
    [CONTROL_NET_HOST] = NO_BROKER("the network is open or closed; choosing by name takes a broker process"),
    [CONTROL_NET_ADDRESS] =
        NO_BROKER("the network is open or closed; choosing by address takes a broker process"),
    [CONTROL_NET_LOOPBACK] = NO_BROKER("the network is open or closed, the host's loopback with it"),
    [CONTROL_LISTEN] =
        CANNOT("ports are open whole or not at all", "grant no listen, or grant network any and listen any"),
    [CONTROL_SOCKET_PATH] =
        HELD("Unix sockets are refused as a family, or none but the granted ones can be reached"),
    [CONTROL_IPC_ABSTRACT] = HELD("Landlock scopes abstract names, or Unix sockets are refused as a family"),
    [CONTROL_IPC_SIGNAL] = HELD("Landlock scopes signals"),
    [CONTROL_TTY] = HELD("the command's terminal is its own, and nothing can be typed into any"),
    [CONTROL_ENV] = HELD("the environment starts empty and holds only what is granted or set"),
    [CONTROL_EXEC_DENY] =
        CANNOT("Landlock takes nothing away inside an open place",
               "deny the file whole (deny PATH), so that it can be neither read nor started"),
    [CONTROL_SYSCALL] = HELD("a seccomp program, loaded before the command starts"),
    [CONTROL_PROCESS_TREE] =
        CANNOT("nothing ends with the command but what the launcher finds: a descendant that starts "
               "others faster, or outlives a killed launcher, goes on",
               NAMESPACES),
    [CONTROL_LIMIT_PROCESSES] = HELD("a control group of its own, where the launcher may make one"),
    [CONTROL_LIMIT_MEMORY] = HELD("a control group of its own, where the launcher may make one"),
    [CONTROL_LIMIT_TIME] =
        CANNOT("what the command started may outlive it", "start the launcher under timeout(1)"),
    [CONTROL_LIMIT_FILES] = HELD("RLIMIT_NOFILE, soft and hard, before the command starts"),
    [CONTROL_SCRATCH] = CANNOT("/tmp stays the host's and closed; a directory of its own takes its place by "
                               "TMPDIR, TMP and TEMP, and a killed launcher leaves it behind",
                               "grant write to a directory, and set env TMPDIR to it"),
    [CONTROL_SERVICE_SSH_AGENT] = SOCKET_SERVICE,
    [CONTROL_SERVICE_GPG_AGENT] = SOCKET_SERVICE,
    [CONTROL_SERVICE_KEYCHAIN] =
        OF_MACOS("grant it under `when os macos`; secret services of Linux are behind `grant service dbus`"),
    [CONTROL_SERVICE_TRUSTD] =
        OF_MACOS("grant it under `when os macos`; certificates are read from /etc/ssl/certs here"),
    [CONTROL_SERVICE_DOCKER] = SOCKET_SERVICE,
    [CONTROL_SERVICE_DBUS] = SOCKET_SERVICE,
    [CONTROL_SERVICE_DISPLAY] = SOCKET_SERVICE,
    [CONTROL_SERVICE_GPU] = AT_LAUNCH("its devices that are there at launch can be opened"),
    [CONTROL_SERVICE_AUDIO] = SOCKET_SERVICE,
    [CONTROL_SERVICE_CLIPBOARD] = SOCKET_SERVICE,
    [CONTROL_SERVICE_PTY] = CANNOT("the host's terminals are one directory, open whole or not at all",
                                   "leave `grant service pty` out, or " NAMESPACES),
    [CONTROL_SERVICE_GIT_CREDENTIALS] = SOCKET_SERVICE,
    [CONTROL_SERVICE_GH] = HELD("its configuration can be read and its variables pass in"),
};

static const struct control_entry deny_beside =
    HELD("nothing is open around it: what no rule grants cannot be opened");
static const struct control_entry listen_refused =
    HELD("seccomp refuses bind and listen; a UDP socket that sends gets a port by itself, at which it can be "
         "answered");
static const struct control_entry sockets_unjudged =
    CANNOT("Landlock judges Unix sockets by path from version 9 on (Linux 7.1); before it every socket that "
           "the user can "
           "reach is open",
           "leave out what opens Unix sockets");
static const struct control_entry abstract_open = CANNOT(
    "Landlock scopes abstract names from version 6 on (Linux 6.12)", "leave out what opens Unix sockets");
static const struct control_entry signals_open =
    CANNOT("Landlock scopes signals from version 6 on (Linux 6.12)", NAMESPACES);

bool control_landlock_unix_sockets(const struct bound_policy *bound, uint32_t abi)
{
    return policy_opens_unix_sockets(bound) &&
           (abi >= LANDLOCK_SOCKETS_SINCE ||
            control_accept(bound, CONTROL_TARGET_LANDLOCK, CONTROL_SOCKET_PATH) != NULL);
}

/* What is open at the first `length` bytes of `path`, or above: Landlock gives all of it below too. */
static enum level given_around(const struct bound_policy *bound, const char *path, size_t length)
{
    enum level given = LEVEL_NONE;

    for (size_t end = 1; end <= length; end++)
        if (end == length || path[end] == '/') {
            enum level level = bound_level(bound, path, end);
            given = level > given ? level : given;
        }
    return given;
}

static size_t parent_length(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash == NULL ? 0 : (size_t)(slash - path);
}

/* Whether something that the deny's pattern could match is open, around it or below its fixed part. */
static bool pattern_meets_grants(const struct bound_policy *bound, const struct bound_rule *rule)
{
    size_t fixed = pattern_fixed_prefix(rule->at.path);
    const char *top = pattern_plain(bound->arena, rule->at.path, fixed);
    size_t length = strlen(top);

    if (given_around(bound, top, length) > rule->rule->level)
        return true;
    for (uint32_t i = 0; i < bound->rules.count; i++) {
        const struct bound_rule *other = &bound->rules.items[i];
        const char *path = other->at.path;
        if (other->rule->kind == RULE_GRANT && !other->dropped && path != NULL &&
            strncmp(path, top, length) == 0 && (length == 0 || path[length] == '/') &&
            bound_level(bound, path, strlen(path)) > rule->rule->level)
            return true;
    }
    return false;
}

/* Whether the deny takes nothing away from what is open around it. */
static bool holds_by_itself(const struct bound_policy *bound, const struct bound_rule *rule)
{
    const char *path = rule->at.path;

    if (path == NULL || path[0] != '/')
        return false;
    if (rule->at.pattern)
        return !pattern_meets_grants(bound, rule);
    return given_around(bound, path, parent_length(path)) <= bound_level(bound, path, strlen(path));
}

static struct control_entry deny_entry(const struct bound_policy *bound, enum control control)
{
    for (uint32_t i = 0; i < bound->rules.count; i++) {
        const struct bound_rule *rule = &bound->rules.items[i];
        if (rule->rule->kind != RULE_DENY || rule->dropped ||
            rule->at.pattern != (control == CONTROL_FS_DENY_PATTERN) || holds_by_itself(bound, rule))
            continue;
        return (struct control_entry){
            .strength = STRENGTH_UNENFORCEABLE,
            .reason =
                arena_format(bound->arena, "%s, and the policy opens one around %s",
                             control_landlock[control].reason, escape_string(bound->arena, rule->at.path)),
            .instead = "grant what lies beside it instead of the whole directory",
        };
    }
    return deny_beside;
}

struct control_entry control_landlock_entry(const struct bound_policy *bound, enum control control,
                                            uint32_t abi)
{
    bool sockets = control_landlock_unix_sockets(bound, abi);

    if (control == CONTROL_FS_DENY || control == CONTROL_FS_DENY_PATTERN)
        return deny_entry(bound, control);
    if (control == CONTROL_LISTEN && network_is_shared(bound) && listen_left(bound) == LEFT_NOTHING)
        return sockets ? control_bwrap_entry(bound, control) : listen_refused;
    if (control == CONTROL_SOCKET_PATH && abi < LANDLOCK_SOCKETS_SINCE &&
        (sockets || policy_grants_socket(bound)))
        return sockets_unjudged;
    if (control == CONTROL_IPC_ABSTRACT && abi < LANDLOCK_SCOPES_SINCE && sockets)
        return abstract_open;
    if (control == CONTROL_IPC_SIGNAL && abi < LANDLOCK_SCOPES_SINCE)
        return signals_open;
    return control_landlock[control];
}

bool control_landlock_check(const struct bound_policy *bound, uint32_t abi,
                            const struct control_need needs[CONTROLS], const struct rule *accepted[CONTROLS],
                            struct note_list *notes)
{
    const char *name = control_target_names[CONTROL_TARGET_LANDLOCK];
    bool held = true;

    for (int i = 0; i < CONTROLS; i++) {
        struct control_entry entry = control_landlock_entry(bound, (enum control)i, abi);
        if (!control_check(bound, CONTROL_TARGET_LANDLOCK, name, (enum control)i, &needs[i], &entry,
                           &accepted[i], notes))
            held = false;
    }
    return held;
}
