/* apply_judge.h - whether places are as open and as closed as a specification says, by what their descriptors
 * say now. */
#pragma once

#include "runtime/windows/apply_place.h"

/* Judges every place that is there, and all that lies in a denied one. False with an error note SBX485. */
bool places_judge(struct applying *applying);

/* Whether nothing at the place and below it is open to the command that `denies` (a mask) would close:
 * *closed. False with an error note if that takes too long. */
bool place_find_closed(struct applying *applying, const struct place *place, uint32_t denies, bool *closed);
