/* host_follow.h - what links on this machine make of a bound policy, for answers about it.
 *
 * The launcher looks at more (runtime/follow.c): patterns, hard links, what is missing. Here plain paths
 * are followed, so that an answer and a launch agree on them.
 */
#pragma once

#include "policy/bound.h"

/* Repeats each plain deny at the place that links lead to; each plain grant and exception too, unless the
 * command could have placed a link on the way: such a grant is dropped. Seals the policy on the way, so it
 * must be sealed again after other edits. Does nothing if the host is not looked at. */
void host_follow(struct bound_policy *bound);
