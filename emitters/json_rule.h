/* json_rule.h - one rule as a JSON object of the `json` target. */
#pragma once

#include "base/buffer.h"
#include "policy/bound.h"

/* Appends the object; false, and nothing appended, for rules that are not written (accept and expect, which
 * stand elsewhere, and those that were left out or added for a link or a service). */
bool json_rule(struct buffer *out, const struct policy *policy, const struct bound_rule *bound);
