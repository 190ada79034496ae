/* seatbelt_pattern.h - patterns of the language as Seatbelt's regular expressions.
 *
 * Those are searched for in the path, so each is anchored. Only what every version of macOS reads alike is
 * used: no counted repetition, no groups but plain ones, no ^ but at the start.
 */
#pragma once

#include "base/buffer.h"

#include <stdbool.h>

/* Appends the regular expression, without its leading ^, that matches what canonical pattern text covers;
 * with `exact` only what it matches itself. `fold`: whatever case and normalisation form the name has. `?`
 * takes with it the bytes beyond ASCII that follow, so that it errs to matching more. */
void pattern_regex(struct buffer *out, const char *text, bool fold, bool exact);
