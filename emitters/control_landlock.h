/* control_landlock.h - how each control holds by Landlock and seccomp alone, where no namespace can be
 * made. */
#pragma once

#include "emitters/control.h"

enum {
    LANDLOCK_SCOPES_SINCE = 6, /* Linux 6.12: signals and abstract sockets stay inside */
    LANDLOCK_SOCKETS_SINCE = 9 /* Linux 7.1: Unix sockets by path */
};

/* As with the newest version that is known; see control_landlock_entry for a policy on a machine. */
extern control_table control_landlock;

/* How it holds for this policy, sealed, on a kernel of this Landlock version. */
struct control_entry control_landlock_entry(const struct bound_policy *bound, enum control control,
                                            uint32_t abi);

/* controls_check for this target and version. */
bool control_landlock_check(const struct bound_policy *bound, uint32_t abi,
                            const struct control_need needs[CONTROLS], const struct rule *accepted[CONTROLS],
                            struct note_list *notes);

/* Whether the command gets Unix sockets as a family: the policy asks for them, and they can be judged by
 * path or the policy accepts that they are not. Else scratch comes without them. */
bool control_landlock_unix_sockets(const struct bound_policy *bound, uint32_t abi);
