/* windows_pattern.h - path patterns as a specification for Windows writes them. */
#pragma once

#include "base/arena.h"

/* Canonical pattern text (policy/pattern.h) with backslashes for separators, or NULL with what is wrong. Nothing in it
 * is escaped: a bracket that means itself is written as a class of its own. */
const char *windows_pattern_name(struct arena *arena, const char *pattern, const char **problem);

/* A path that the pattern matches, or NULL if none was found. */
const char *windows_pattern_sample(struct arena *arena, const char *pattern);
