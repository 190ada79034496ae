/* own_files.h - the policy's files, the launcher's programs and its records: nothing that the command may change. */
#pragma once

#include "runtime/link.h"
#include "runtime/prepare.h"

/* Finds them by the names under which they are used, each link on the way included. A source of the policy that is
 * not where it should be is a warning. */
void own_files_find(struct arena *arena, const struct options *options, struct prepared *prepared,
                    struct note_list *notes);

/* Caps them in `bound`, which is not sealed yet. */
void own_files_cap(const struct prepared *prepared, struct bound_policy *bound);

/* Whether no link that leads to one of them could be replaced: looks at final levels. False with error notes. */
bool own_files_hold(struct arena *arena, const struct prepared *prepared, struct note_list *notes);
