/* expectations.h - the `expect` statements of a policy, asked of what it came out as on this machine. */
#pragma once

#include "policy/bound.h"

/* Checks them against `bound`; with `denials_only` those that say deny. False with error notes. */
bool expectations_hold(struct arena *arena, const struct bound_policy *bound, bool denials_only,
                       struct note_list *notes);
