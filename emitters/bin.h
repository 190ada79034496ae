/* bin.h - the `bin` target: the policy for sbx-launch, every system's rules and symbolic roots
 * (policy/file.h). */
#pragma once

#include "emitters/target.h"

bool emit_bin(const struct emit_request *request, struct buffer *out);
