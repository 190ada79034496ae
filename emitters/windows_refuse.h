/* windows_refuse.h - rules that Windows cannot carry out as they are written, in whatever tier. */
#pragma once

#include "policy/bound.h"

/* Queues a note for each: names that Windows does not have, grants where nothing may be granted, denies in Windows' own
 * directories, exceptions inside what a deny closes, places spelled in two ways. False if there is an error. */
bool windows_refuse(const struct bound_policy *bound, struct note_list *notes);

/* Why nothing can be granted at `path` (as Windows writes it) for this rule, or NULL. Automatic grants are then left
 * out. */
const char *windows_grant_problem(const struct rule *rule, const char *path);
