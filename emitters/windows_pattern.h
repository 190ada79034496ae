/* windows_pattern.h - path patterns as a specification for Windows writes them. */
#pragma once

#include "base/arena.h"

#include <stdbool.h>

/* Canonical pattern text (policy/pattern.h) with backslashes for separators, or NULL with what is wrong. Nothing in it
 * is escaped: a bracket that means itself is written as a class of its own. */
const char *windows_pattern_name(struct arena *arena, const char *pattern, const char **problem);

/* A path that the pattern matches, or NULL if none was found. */
const char *windows_pattern_sample(struct arena *arena, const char *pattern);

/* Whether something that `inner` matches may lie strictly inside something that `outer` matches: false only if not.
 * Both are canonical pattern text; a plain path is one (pattern_escape). */
bool windows_pattern_may_hold(struct arena *arena, const char *outer, const char *inner);
