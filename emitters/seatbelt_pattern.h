/* seatbelt_pattern.h - patterns of the language as Seatbelt's regular expressions.
 *
 * Those are searched for in the path, so each is anchored. Only what every version of macOS reads alike is
 * used: no counted repetition, no groups but plain ones, no ^ but at the start.
 */
#pragma once

#include "base/buffer.h"

#include <stdbool.h>

/* Appends the regular expression, without its leading ^, that matches what canonical pattern text covers;
 * with `exact` only what it matches itself. Nobody says whether macOS matches bytes or characters, so one
 * character errs to the closed side. `closes`, for denies: whatever case and normalisation form the name has,
 * and `?` and [!...] take with them the bytes beyond ASCII that follow. Else, for exceptions: `?` matches ASCII
 * alone, and [!...] no more than one byte. */
void pattern_regex(struct buffer *out, const char *text, bool closes, bool exact);

/* Whether the pattern, as an exception, matches fewer names than the language says: those beyond ASCII. */
bool pattern_is_narrowed(const char *text);
