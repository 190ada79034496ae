/* punycode.h - the ASCII form of a host name (RFC 3492), for hints. */
#pragma once

#include "base/arena.h"

#include <stddef.h>

/* `host` (valid UTF-8) in lower case with each non-ASCII label as xn--..., or NULL if it has no such form. */
const char *host_to_ascii(struct arena *arena, const char *host, size_t length);
