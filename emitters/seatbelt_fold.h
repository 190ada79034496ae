/* seatbelt_fold.h - text without regard to case, as a volume of macOS that ignores case compares names. */
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

/* The folded form of `length` bytes in `arena`, and its length. What is not UTF-8 stays as it is; composed
 * and decomposed characters stay different. */
const char *seatbelt_fold(struct arena *arena, const char *bytes, size_t length, size_t *folded);

/* The same with ASCII left as it is: for expressions, whose capital letters may be part of a range. */
const char *seatbelt_fold_beyond_ascii(struct arena *arena, const char *bytes, size_t length, size_t *folded);

/* Folds into `room` bytes at `out`; returns the length, or `room` + 1 if they are too few. */
size_t seatbelt_fold_into(char *out, size_t room, const char *bytes, size_t length, bool ascii);
