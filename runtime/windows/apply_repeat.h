/* apply_repeat.h - where an inherited deny would not hold: Windows asks an object's own entries first. */
#pragma once

#include "runtime/windows/apply_place.h"

/* Looks through what lies in each denied place and adds the deny anew for every object that has entries of
 * its own for whom the command counts as, or further names. (Where nothing is inherited at all journal_spread
 * puts the deny.) False with an error note. */
bool denies_repeat(struct applying *applying);
