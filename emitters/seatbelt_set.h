/* seatbelt_set.h - sets of places, each once, and the directories above them. */
#pragma once

#include "emitters/seatbelt_path.h"

struct place_set {
    const char **items; /* as place_text has them */
    uint32_t count, capacity;
};

/* Adds every directory strictly above the place, up to the root that it hangs on and with that root; of an
 * absolute one up to, not with, "/". What lies above a parameter is added as "^$WORK". */
void place_set_above(struct arena *arena, struct place_set *set, struct place place);

/* Sorts the set and takes out what is in it twice. */
void place_set_finish(struct place_set *set);

/* Writes each member as a filter of the rule that is open, with `closes` in every case. */
void place_set_write(struct profile *profile, const struct place_set *set, bool closes);
