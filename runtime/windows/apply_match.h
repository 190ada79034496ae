/* apply_match.h - what the patterns of a specification match now. */
#pragma once

#include "runtime/windows/apply_place.h"

/* Adds a denied place for each match, looked for where the pattern's fixed part ends and, in a tier that
 * closes reads, only in what is opened. A match that is a link is an error: what it leads to cannot be held
 * by its name. What matches an exception that opens is opened, unless it is a link, another deny closes it,
 * or nothing may be granted there (windows_path_is_protected). False with an error note. */
bool matches_find(struct applying *applying);
