/* file.h - the .bin file: a policy for sbx-launch; versioned, canonical bytes, with its own SHA-256.
 *
 * docs/bin-format.md describes the layout. Reading checks everything: a damaged, truncated or future file is
 * refused with a reason and never crashes.
 */
#pragma once

#include "policy/policy.h"

/* Canonical bytes of `policy`: the same policy gives the same bytes, whatever made it. */
void policy_write(struct buffer *out, const struct policy *policy);

/* Whether `length` bytes begin like a .bin file. */
bool policy_is_compiled(const void *bytes, size_t length);

/* Reads `length` bytes into a new policy in `arena` (strings are copied). Returns NULL and sets *error if
 * they are not a whole, undamaged policy of a version that this build knows. */
struct policy *policy_read(struct arena *arena, const void *bytes, size_t length, const char **error);
