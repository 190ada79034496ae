/* pattern_place.h - the fixed start of a pattern as a place on the host, for patterns and plain paths
 * alike. */
#pragma once

#include "runtime/link.h"

/* Where a plain path, or a pattern's fixed start, leads. */
const struct resolved *place_find(struct resolver *resolver, struct arena *arena,
                                  const struct bound_path *at);

/* The path or pattern text that says the same as `at` with its start's links resolved as in `leads`. */
const char *place_without_links(struct arena *arena, const struct bound_path *at,
                                const struct resolved *leads);

/* The fixed start of canonical pattern text as a path, escapes undone; "/" if nothing is fixed. */
const char *pattern_start(struct arena *arena, const char *text);
