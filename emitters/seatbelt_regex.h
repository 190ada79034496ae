/* seatbelt_regex.h - the regular expressions of Seatbelt filters, matched in time linear in the subject.
 *
 * The dialect: . [] [^] () | * + ? {} \x, ^ at the very beginning, $. An expression is found anywhere in its
 * subject unless anchored. Bytes are compared, not characters.
 */
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct seatbelt_regex;

/* Compiles `length` bytes; NULL, with `*error` set, if macOS refuses the expression or it is too large.
 * `fold`: the subjects will be folded text (seatbelt_fold.h), which is compared without regard to case. */
struct seatbelt_regex *seatbelt_regex_compile(struct arena *arena, const char *text, size_t length, bool fold,
                                              const char **error);

/* Whether nobody can tell what the expression means to macOS: it uses (?, \w and its like, [:alpha:], or
 * repeats nothing. */
bool seatbelt_regex_is_uncertain(const struct seatbelt_regex *regex);

/* Whether the expression is found in `subject`. O(length x size of the expression). Uses working memory of
 * its own, so one thread at a time. */
bool seatbelt_regex_search(const struct seatbelt_regex *regex, const char *subject, size_t length);
