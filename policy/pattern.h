/* pattern.h - path patterns: *, ?, [a-z] inside one component, ** for whole components (language.md 3). */
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pattern;

enum { PATTERN_DEPTH = 2050 };

/* Compiles canonical pattern text such as "/w/a?/b" (`\` escapes a byte). Never NULL; the text was checked
 * by the compiler (pattern_check). `fold`: compare as macOS and Windows denies do (case, NFC/NFD) besides
 * comparing bytes: what the pattern matches byte by byte it matches with `fold` too. */
struct pattern *pattern_compile(struct arena *arena, const char *text, bool fold);

/* Whether the pattern covers `path`: matches it or a directory above it. O(path length x pattern length),
 * whatever the pattern. No allocation. Like the functions below, true for a path of more than
 * PATTERN_DEPTH components, which no system call takes. */
bool pattern_covers(const struct pattern *pattern, const char *path, size_t length);

/* A path cut into components: number i ends before offset ends[i], number i + 1 starts behind the '/'
 * there. */
struct pattern_path {
    const char *path;
    const uint32_t *ends;
    uint32_t count;
};

/* The same for a path whose first `fixed` components are known to be the pattern's fixed prefix. `folded`
 * is the folded path (fold.h), used only if the pattern was compiled with `fold`. */
bool pattern_covers_cut(const struct pattern *pattern, const struct pattern_path *path,
                        const struct pattern_path *folded, uint32_t fixed);

/* Whether the pattern matches exactly `path`, not only something above it. */
bool pattern_matches(const struct pattern *pattern, const char *path, size_t length);

/* Whether some path strictly below the directory `path` could match: a walk need not go where this is
 * false. */
bool pattern_may_match_below(const struct pattern *pattern, const char *path, size_t length);

/* How far a pattern has come on the way down a path: the set of its components that may match the next
 * name. With it a walk judges an entry by its name alone. */
typedef uint64_t pattern_progress;

enum { PATTERN_NOWHERE = 0 }; /* nothing at this place or below it can match any more */

/* Whether the pattern can be followed so: it does not fold and has at most 62 components. */
bool pattern_can_follow(const struct pattern *pattern);

/* How far the pattern has come at `path`. */
pattern_progress pattern_follow(const struct pattern *pattern, const char *path, size_t length);

/* How far it has come at the entry `name` of a directory where it had come to `progress`. */
pattern_progress pattern_step(const struct pattern *pattern, pattern_progress progress, const char *name,
                              size_t length);

/* Whether the place itself matches; whether something below it may. */
bool pattern_has_arrived(const struct pattern *pattern, pattern_progress progress);
bool pattern_goes_on(const struct pattern *pattern, pattern_progress progress);

/* Length of the fixed part of canonical pattern text before the first component with a sign, and without
 * the final '/': of "/w/a/x?" that of "/w/a". */
size_t pattern_fixed_prefix(const char *text);

/* The plain path of the first `length` bytes of canonical pattern text, which hold no sign: escapes taken
 * away. */
char *pattern_plain(struct arena *arena, const char *text, size_t length);

/* `length` bytes of a plain path as canonical pattern text: escapes added. */
char *pattern_escape(struct arena *arena, const char *path, size_t length);

/* Checks canonical pattern text: NULL if it is a pattern of the language, else what is wrong (a static
 * string); `*at` then is the offset of the offending byte. */
const char *pattern_check(const char *text, size_t *at);
