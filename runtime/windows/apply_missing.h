/* apply_missing.h - what has to lie at a denied path where nothing is: placeholders, made without following
 * links and written down before they are there. */
#pragma once

#include "runtime/windows/apply_place.h"

/* Puts a placeholder, and missing directories above it, at the place; nothing where the specification says
 * `skip` or where the command can make nothing anyway. Sets place->there and `is`. False with an error
 * note. */
bool missing_make(struct applying *applying, struct place *place);
