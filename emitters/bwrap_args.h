/* bwrap_args.h - the `bwrap` target: NUL-separated words for `bwrap --args FD`, every path absolute. */
#pragma once

#include "emitters/target.h"

bool emit_bwrap_args(const struct emit_request *request, struct buffer *out);
