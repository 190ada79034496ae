/* control_need.h - what is left of a policy's wishes after its denies and limits, as far as controls depend
 * on it. */
#pragma once

#include "emitters/control.h"

/* Whether Unix sockets must be open as a family: scratch, or a socket grant of which something is left. */
bool policy_opens_unix_sockets(const struct bound_policy *bound);

/* Whether `rule` is a socket grant of which something is left; whether there is one. */
bool bound_rule_opens_socket(const struct bound_policy *bound, const struct bound_rule *rule);
bool policy_grants_socket(const struct bound_policy *bound);

enum left { LEFT_NOTHING, LEFT_SOMETHING, LEFT_EVERYTHING };

/* What is left of the `listen` grants. */
enum left listen_left(const struct bound_policy *bound);

/* Whether the command gets the host's network: only if the policy opens it whole, since a namespace knows no
 * half. */
bool network_is_shared(const struct bound_policy *bound);
