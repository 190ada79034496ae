/* control.h - the named controls of language.md 8, which of them a policy needs, and how each target holds
 * them. */
#pragma once

#include "policy/bound.h"

enum control {
    CONTROL_FS_CLOSED,
    CONTROL_FS_WRITE,
    CONTROL_FS_DENY,
    CONTROL_FS_DENY_PATTERN,
    CONTROL_FS_DENY_MISSING,
    CONTROL_NET_CLOSED,
    CONTROL_NET_HOST,
    CONTROL_NET_ADDRESS,
    CONTROL_NET_LOOPBACK,
    CONTROL_LISTEN,
    CONTROL_SOCKET_PATH,
    CONTROL_IPC_ABSTRACT,
    CONTROL_IPC_SIGNAL,
    CONTROL_TTY,
    CONTROL_ENV,
    CONTROL_EXEC_DENY,
    CONTROL_SYSCALL,
    CONTROL_PROCESS_TREE,
    CONTROL_LIMIT_PROCESSES,
    CONTROL_LIMIT_MEMORY,
    CONTROL_LIMIT_TIME,
    CONTROL_LIMIT_FILES,
    CONTROL_SCRATCH,
    CONTROL_SERVICE_SSH_AGENT, /* the services, in the order of service_names */
    CONTROL_SERVICE_GPG_AGENT,
    CONTROL_SERVICE_KEYCHAIN,
    CONTROL_SERVICE_TRUSTD,
    CONTROL_SERVICE_DOCKER,
    CONTROL_SERVICE_DBUS,
    CONTROL_SERVICE_DISPLAY,
    CONTROL_SERVICE_GPU,
    CONTROL_SERVICE_AUDIO,
    CONTROL_SERVICE_CLIPBOARD,
    CONTROL_SERVICE_PTY,
    CONTROL_SERVICE_GIT_CREDENTIALS,
    CONTROL_SERVICE_GH,
    CONTROLS
};

/* "fs.closed", ..., "service.gh". */
extern const char *const control_names[CONTROLS];

/* The service names of language.md 6, NULL-terminated. */
extern const char *const service_names[];

enum strength { STRENGTH_ENFORCED, STRENGTH_SNAPSHOT, STRENGTH_BROKERED, STRENGTH_UNENFORCEABLE };
/* "enforced", ... */
extern const char *const strength_names[];

struct control_entry {
    enum strength strength;
    const char *reason; /* how it is held, or why it cannot be; one line */
    const char
        *instead; /* of STRENGTH_UNENFORCEABLE: the nearest thing that works; one line, never NULL there */
};

/* A target's table: one entry a control, in the order of enum control. */
typedef const struct control_entry control_table[CONTROLS];

enum control_target {
    CONTROL_TARGET_BWRAP,
    CONTROL_TARGET_LANDLOCK,
    CONTROL_TARGET_SEATBELT,
    CONTROL_TARGET_WINDOWS,
    CONTROL_TARGETS
};
extern const char *const control_target_names[CONTROL_TARGETS];

/* The table of a target; of Windows that of its strongest tier. */
const struct control_entry *control_table_of(enum control_target target);

/* How `target` holds `control` for this policy: the table's entry, narrowed where another part of the policy
 * takes away what holds it. */
struct control_entry control_entry_of(const struct bound_policy *bound, enum control_target target,
                                      enum control control);

/* The policy's own `accept` rule for `control` on `target`, or NULL. */
const struct rule *control_accept(const struct bound_policy *bound, enum control_target target,
                                  enum control control);

/* One control that the policy needs and the first rule (by layer, then origin) that needs it; rule is NULL
 * where the closed default itself needs it. `managed` is the first rule of a managed layer that needs it, or
 * NULL. */
struct control_need {
    bool needed;
    const struct rule *rule, *managed;
};

void controls_needed(const struct bound_policy *bound, struct control_need needs[CONTROLS]);

/* Checks needs against a table and the policy's own `accept` rules for `target` (language.md 8). Queues one
 * error note (SBX3xx) for each control that cannot be held, with rule, control, target and reason. `accepted`
 * receives, for each control, the accept rule that covers it, or NULL. Returns whether everything needed is
 * held or accepted. For Windows it also says what no table can: rules that Windows cannot carry out
 * (windows_refuse.h), and which tier holds the policy. */
bool controls_check(const struct bound_policy *bound, enum control_target target,
                    const struct control_need needs[CONTROLS], const struct rule *accepted[CONTROLS],
                    struct note_list *notes);

/* Checks one need against one entry, as controls_check does for each; `name` is what the notes call the
 * target. */
bool control_check(const struct bound_policy *bound, enum control_target target, const char *name,
                   enum control control, const struct control_need *need, const struct control_entry *entry,
                   const struct rule **accepted, struct note_list *notes);
