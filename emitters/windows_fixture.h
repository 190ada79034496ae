/* windows_fixture.h - a machine as Windows sets it up, and the tokens of each tier on it: what specifications are tried
 * on.
 */
#pragma once

#include "emitters/windows_access.h"
#include "emitters/windows_spec.h"
#include "emitters/windows_tree.h"

/* C:\ with Windows, Program Files, ProgramData and the profile C:\Users\me with its AppData; D:\, where whoever has
 * logged on may change things; D:\share, which is open to everyone. Roots that have a name lie in the profile.
 * Whatever else is asked for in C:\Users is a profile of the user too, and any other drive is like D:\. */
struct windows_tree *windows_fixture(struct arena *arena);

/* What a specification's principals stand for here. */
struct windows_sid windows_fixture_sid(enum windows_principal principal);

/* The user's own token with what the tier takes from it. */
struct windows_token windows_fixture_token(struct arena *arena, enum windows_tier tier,
                                           unsigned capabilities);
