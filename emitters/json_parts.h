/* json_parts.h - what the `json` target and `sbxc show --json` write alike, each value appended to a buffer. */
#pragma once

#include "base/buffer.h"
#include "policy/bound.h"

/* "none", "read" and "write". */
extern const char *const json_levels[];

/* A text as a JSON string. */
void json_text(struct buffer *out, const char *text);

/* A path as a JSON string: a backslash doubled and an invalid byte as \xHH. Returns whether either was there, so
 * that "raw" must be said. */
bool json_path(struct buffer *out, const char *path);

/* "sha256:HEX", in quotes. */
void json_hash(struct buffer *out, const uint8_t hash[32]);

/* ,"file":...,"line":... of `rule`, null where it has no text. `rule` may be NULL. */
void json_origin(struct buffer *out, const struct policy *policy, const struct rule *rule);

/* An object of all roots: the path, a list where a root stands for several, its name where it is symbolic, null
 * where it is unset. */
void json_roots(struct buffer *out, const struct bindings *bindings);

/* An object of the variables that the policy sets, after managed layers removed theirs. */
void json_sets(struct buffer *out, const struct bound_policy *bound);

/* An object of the limits that hold. */
void json_limits(struct buffer *out, const struct bound_policy *bound);
