/* control_bwrap.h - how each control holds in Linux namespaces. */
#pragma once

#include "emitters/control.h"

extern control_table control_bwrap;

/* control_entry_of for CONTROL_TARGET_BWRAP. */
struct control_entry control_bwrap_entry(const struct bound_policy *bound, enum control control);

/* The same for its text artifacts, which look at no machine and are started without the launcher.
 * `can_limit`: the artifact can set a limit of open files before the command starts. */
struct control_entry control_entry_in_text(const struct bound_policy *bound, enum control control,
                                           bool can_limit);

/* Whether a text artifact opens Unix sockets: a grant or scratch asks for it, and the policy accepts that the
 * host's sockets in reach are then not covered. Without the accept, scratch comes without Unix sockets. */
bool text_opens_unix_sockets(const struct bound_policy *bound);
