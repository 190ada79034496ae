/* apply_judge.h - whether places are as open and as closed as a specification says, by what their descriptors
 * say now. */
#pragma once

#include "runtime/windows/apply_place.h"

/* Judges every place that is there, and all that lies in a denied one. False with an error note SBX485. */
bool places_judge(struct applying *applying);

/* Whether nothing at the place is open to the command that `denies` (a mask) would close. */
bool place_is_closed(const struct applying *applying, struct place *place, uint32_t denies);
