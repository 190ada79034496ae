#include "emitters/control.h"

#include "emitters/control_bwrap.h"
#include "emitters/control_landlock.h"
#include "emitters/control_seatbelt.h"
#include "emitters/control_windows.h"
#include "emitters/windows_refuse.h"

#include <string.h>

const char *const control_names[CONTROLS] = {
    [CONTROL_FS_CLOSED] = "fs.closed",
    [CONTROL_FS_WRITE] = "fs.write",
    [CONTROL_FS_DENY] = "fs.deny",
    [CONTROL_FS_DENY_PATTERN] = "fs.deny.pattern",
    [CONTROL_FS_DENY_MISSING] = "fs.deny.missing",
    [CONTROL_NET_CLOSED] = "net.closed",
    [CONTROL_NET_HOST] = "net.host",
    [CONTROL_NET_ADDRESS] = "net.address",
    [CONTROL_NET_LOOPBACK] = "net.loopback",
    [CONTROL_LISTEN] = "listen",
    [CONTROL_SOCKET_PATH] = "socket.path",
    [CONTROL_IPC_ABSTRACT] = "ipc.abstract",
    [CONTROL_IPC_SIGNAL] = "ipc.signal",
    [CONTROL_TTY] = "tty",
    [CONTROL_ENV] = "env",
    [CONTROL_EXEC_DENY] = "exec.deny",
    [CONTROL_SYSCALL] = "syscall",
    [CONTROL_PROCESS_TREE] = "process.tree",
    [CONTROL_LIMIT_PROCESSES] = "limit.processes",
    [CONTROL_LIMIT_MEMORY] = "limit.memory",
    [CONTROL_LIMIT_TIME] = "limit.time",
    [CONTROL_LIMIT_FILES] = "limit.files",
    [CONTROL_SCRATCH] = "scratch",
    [CONTROL_SERVICE_SSH_AGENT] = "service.ssh-agent",
    [CONTROL_SERVICE_GPG_AGENT] = "service.gpg-agent",
    [CONTROL_SERVICE_KEYCHAIN] = "service.keychain",
    [CONTROL_SERVICE_TRUSTD] = "service.trustd",
    [CONTROL_SERVICE_DOCKER] = "service.docker",
    [CONTROL_SERVICE_DBUS] = "service.dbus",
    [CONTROL_SERVICE_DISPLAY] = "service.display",
    [CONTROL_SERVICE_GPU] = "service.gpu",
    [CONTROL_SERVICE_AUDIO] = "service.audio",
    [CONTROL_SERVICE_CLIPBOARD] = "service.clipboard",
    [CONTROL_SERVICE_PTY] = "service.pty",
    [CONTROL_SERVICE_GIT_CREDENTIALS] = "service.git-credentials",
    [CONTROL_SERVICE_GH] = "service.gh",
};

const char *const service_names[] = {
    "ssh-agent", "gpg-agent", "keychain",  "trustd", "docker",          "dbus", "display",
    "gpu",       "audio",     "clipboard", "pty",    "git-credentials", "gh",   NULL,
};

const char *const strength_names[] = {
    [STRENGTH_ENFORCED] = "enforced",
    [STRENGTH_SNAPSHOT] = "snapshot",
    [STRENGTH_BROKERED] = "brokered",
    [STRENGTH_UNENFORCEABLE] = "unenforceable",
};

const char *const control_target_names[CONTROL_TARGETS] = {
    [CONTROL_TARGET_BWRAP] = "bwrap",
    [CONTROL_TARGET_LANDLOCK] = "landlock",
    [CONTROL_TARGET_SEATBELT] = "seatbelt",
    [CONTROL_TARGET_WINDOWS] = "windows",
};

const struct control_entry *control_table_of(enum control_target target)
{
    static const struct control_entry *const tables[CONTROL_TARGETS] = {
        [CONTROL_TARGET_BWRAP] = control_bwrap,
        [CONTROL_TARGET_LANDLOCK] = control_landlock,
        [CONTROL_TARGET_SEATBELT] = control_seatbelt,
        [CONTROL_TARGET_WINDOWS] = control_windows,
    };
    return tables[target];
}

struct control_entry control_entry_of(const struct bound_policy *bound, enum control_target target,
                                      enum control control)
{
    if (target == CONTROL_TARGET_LANDLOCK)
        return control_landlock_entry(bound, control, LANDLOCK_SOCKETS_SINCE);
    if (target == CONTROL_TARGET_SEATBELT)
        return control_seatbelt_entry(bound, control);
    if (target == CONTROL_TARGET_BWRAP)
        return control_bwrap_entry(bound, control);
    struct windows_ground ground = windows_ground_of(bound);
    return control_windows_entry(&ground, windows_tier_of(bound), control);
}

const struct rule *control_accept(const struct bound_policy *bound, enum control_target target,
                                  enum control control)
{
    for (uint32_t i = 0; i < bound->rules.count; i++) {
        const struct rule *rule = bound->rules.items[i].rule;
        if (rule->kind == RULE_ACCEPT && rule->layer == 0 && !bound->rules.items[i].dropped &&
            rule->target != NULL && strcmp(rule->target, control_target_names[target]) == 0 &&
            strcmp(rule->name, control_names[control]) == 0)
            return rule;
    }
    return NULL;
}

/* "`deny ~/.ssh`", or where no rule says it, what does. */
static const char *needed_by(struct arena *arena, const struct rule *rule)
{
    return rule != NULL ? arena_format(arena, "\"%s\"", rule_text(arena, rule)) : "the closed default";
}

bool control_check(const struct bound_policy *bound, enum control_target target, const char *name,
                   enum control control, const struct control_need *need, const struct control_entry *entry,
                   const struct rule **accepted, struct note_list *notes)
{
    struct arena *arena = notes->arena;
    *accepted = NULL;
    if (!need->needed || entry->strength != STRENGTH_UNENFORCEABLE)
        return true;
    if (need->managed != NULL) {
        note_add(
            notes,
            (struct note){
                .code = SBX301_UNENFORCEABLE_MANAGED,
                .rule = need->managed,
                .text =
                    arena_format(arena, "%s cannot hold %s, which the managed layer \"%s\" needs for %s: %s",
                                 name, control_names[control], rule_layer_name(bound->policy, need->managed),
                                 needed_by(arena, need->managed), entry->reason),
                .help = arena_format(arena, "%s; an accept does not cover a managed layer", entry->instead),
            });
        return false;
    }
    *accepted = control_accept(bound, target, control);
    if (*accepted != NULL)
        return true;
    note_add(notes,
             (struct note){
                 .code = SBX300_UNENFORCEABLE,
                 .rule = need->rule,
                 .text = arena_format(arena, "%s cannot hold %s, which %s needs: %s", name,
                                      control_names[control], needed_by(arena, need->rule), entry->reason),
                 .help = arena_format(arena, "%s; or record the exception: accept %s on %s because \"...\"",
                                      entry->instead, control_names[control], control_target_names[target]),
             });
    return false;
}

/* On Windows the tier is chosen once for all controls. */
static bool check_on_windows(const struct bound_policy *bound, const struct control_need needs[CONTROLS],
                             const struct rule *accepted[CONTROLS], struct note_list *notes)
{
    struct windows_ground ground = windows_ground_of(bound);
    enum windows_tier tier = windows_tier_for(&ground, needs);
    bool held = true;
    for (int control = 0; control < CONTROLS; control++) {
        struct control_entry entry = control_windows_entry(&ground, tier, (enum control)control);
        if (!control_check(bound, CONTROL_TARGET_WINDOWS, control_target_names[CONTROL_TARGET_WINDOWS],
                           (enum control)control, &needs[control], &entry, &accepted[control], notes))
            held = false;
    }
    held = windows_refuse(bound, notes) && held;
    if (held)
        windows_tier_say(&ground, tier, notes);
    return held;
}

bool controls_check(const struct bound_policy *bound, enum control_target target,
                    const struct control_need needs[CONTROLS], const struct rule *accepted[CONTROLS],
                    struct note_list *notes)
{
    bool held = true;
    if (target == CONTROL_TARGET_WINDOWS)
        return check_on_windows(bound, needs, accepted, notes);
    for (int control = 0; control < CONTROLS; control++) {
        struct control_entry entry = control_entry_of(bound, target, (enum control)control);
        if (!control_check(bound, target, control_target_names[target], (enum control)control,
                           &needs[control], &entry, &accepted[control], notes))
            held = false;
    }
    return held;
}
