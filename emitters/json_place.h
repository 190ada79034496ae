/* json_place.h - paths and patterns as a reader of the `json` target compares them (language.md 3):
 * written anew from the language, apart from policy/, so that one can judge the other. */
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

/* A path as it is compared: its bytes, and where denies ignore case and form its folded spelling, else
 * NULL. */
struct json_path_text {
    const char *exact, *folded;
};

/* The folded spelling of a path, component by component. */
const char *json_fold(struct arena *arena, const char *path);

/* Whether the directory `path` is `below` or above it. */
bool json_is_above(const char *path, const char *below);

/* Whether canonical pattern text covers the path: matches it or a directory above it, by bytes or, with
 * `folds`, by folded names. */
bool json_pattern_covers(struct arena *arena, const char *pattern, const struct json_path_text *path,
                         bool folds);

/* The plain path at the start of pattern text, up to the first component with a sign. */
const char *json_pattern_start(struct arena *arena, const char *pattern);

/* Whether a name matches a pattern in which * is any run; `fold`: ASCII case does not matter. */
bool json_name_matches(const char *pattern, const char *name, bool fold);
