/* expect.h - whether what a policy's `expect` statements say holds of the merged policy. */
#pragma once

#include "compiler/compile.h"
#include "policy/bound.h"

/* Checks every `expect` for each system that its `when os` allows, without a command unless under `when
 * command`. `selected` holds the bindings of one system; on the others every root is symbolic. `bound`: the
 * policy bound with them and sealed, or NULL if that is not at hand. Queues an error for each that does not
 * hold, with the rules that decided, and a note for each under `when command` whose root is unset (without a
 * command binding itself queues that note). */
void expectations_check(struct compilation *compilation, const struct policy *policy,
                        const struct bindings *selected, const struct bound_policy *bound,
                        struct diagnostic_list *diagnostics);
