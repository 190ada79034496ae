/* json_rule.h - one rule as a JSON object of the `json` target. */
#pragma once

#include "base/buffer.h"
#include "policy/bound.h"

/* Appends the object; false, and nothing appended, for rules that are not written (accept and expect, which
 * stand elsewhere, and those that were left out or added for a link or a service). */
bool json_rule(struct buffer *out, const struct policy *policy, const struct bound_rule *bound);

/* Appends ,"file":...,"line":... of `rule`, null where it has no text. `rule` may be NULL. */
void json_origin(struct buffer *out, const struct policy *policy, const struct rule *rule);

/* Appends a path as a JSON string; returns whether "raw" must be said. */
bool json_path(struct buffer *out, const char *path);

extern const char *const json_levels[];
