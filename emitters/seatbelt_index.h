/* seatbelt_index.h - finds the last rule of an operation whose literal or subpath filters cover a path, without
 * looking at the other rules. */
#pragma once

#include "emitters/seatbelt_profile.h"

/* An index for up to `expected` filters; `folded`: of their folded text. */
struct seatbelt_index *seatbelt_index_create(struct arena *arena, uint64_t expected, bool folded);

/* Adds a filter of a rule; later rules must be added later. Returns false, and adds nothing, if it is neither literal
 * nor subpath. */
bool seatbelt_index_add(struct seatbelt_index *index, enum seatbelt_operation operation,
                        const struct seatbelt_entry *entry);

/* The number of the last such rule, + 1; 0: none. O(components). */
uint32_t seatbelt_index_last(const struct seatbelt_index *index, enum seatbelt_operation operation,
                             const struct seatbelt_text *path);
