/* apply_repeat.h - where an inherited deny would not hold: Windows asks an object's own entries first. */
#pragma once

#include "runtime/windows/apply_place.h"

/* Looks through what lies in each denied place and adds the deny anew for every object that has entries of
 * its own for whom the command counts as, whose DACL takes no inheritance or is absent, or that has further
 * names. False with an error note. */
bool denies_repeat(struct applying *applying);
