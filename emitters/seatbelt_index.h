/* seatbelt_index.h - finds the rules of an operation whose filters can match a path, without looking at the
 * others.
 *
 * Each filter stands at a path that it never matches outside of: a literal or subpath at its own, an
 * expression or a composed filter at one that all it matches is below.
 */
#pragma once

#include "emitters/seatbelt_match.h"

/* A path that the filter matches nothing outside of; of no length if there is none. */
struct seatbelt_text seatbelt_guard(struct arena *arena, const struct seatbelt_filter *filter);

/* An index for up to `expected` filters; `folded`: of folded paths. */
struct seatbelt_index *seatbelt_index_create(struct arena *arena, uint64_t expected, bool folded);

/* Adds a filter of a rule; later rules must be added later. Returns false, and adds nothing, if it can match
 * anywhere. */
bool seatbelt_index_add(struct seatbelt_index *index, enum seatbelt_operation operation,
                        const struct seatbelt_entry *entry);

/* Considers all that stand at the subject's path or above it. O(components), and what composed filters there
 * cost. */
void seatbelt_index_consider(const struct seatbelt_index *index, enum seatbelt_operation operation,
                             const struct seatbelt_subject *subject, struct seatbelt_verdict *verdict);
