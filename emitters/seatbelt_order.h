/* seatbelt_order.h - the order of the configured grants in a profile, and where it is right.
 *
 * Of the configured grants that cover a path the deepest decides, and in a profile the last that matches. So
 * they stand from the shallow to the deep. How deep a path below a parameter lies is known only when the
 * profile is loaded; the order of the roots is fixed, and where two grants of different levels could lie in
 * each other the other way round, a condition in the profile's header says that they must not.
 */
#pragma once

#include "emitters/seatbelt_path.h"

struct placed_grant {
    const struct bound_rule *bound;
    struct place place;
    const char *key; /* its canonical path without case */
};

struct placed_grants {
    struct placed_grant *items;
    uint32_t count, capacity;
};

void grants_sort(struct profile *profile, struct placed_grants *grants);

/* Appends a header line for each condition under which the order of the sorted grants is right. */
void grants_conditions(struct profile *profile, const struct placed_grants *grants, struct buffer *out);
