/* owner.h - who the command runs as: root only for root's own work, else the owner of the working directory.
 */
#pragma once

#include "policy/bound.h"

#include <sys/types.h>

/* As uid 0: refuses (false, with an error note) if `directory` belongs to somebody else, or, with `become`,
 * turns this process into that account for good: user, groups, HOME, USER and LOGNAME; XDG variables of root
 * are taken away. For everybody else: true, nothing happens. */
bool owner_settle(struct arena *arena, const char *directory, bool become, struct note_list *notes);
