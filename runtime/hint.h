/* hint.h - what the caller may not expect of a launch, as far as the command line shows it. */
#pragma once

#include "policy/bound.h"

/* Queues one warning that names each argument of `command` (NULL-terminated) that is an existing path of the
 * host which scratch hides: below /tmp or below `temporary` (NULL: none), and not granted. */
void hint_hidden(struct arena *arena, const struct bound_policy *bound, char *const *command,
                 const char *temporary, struct note_list *notes);

/* Queues one warning where the command's own cache is missing and so was left out: the first place that a
 * `when command` grants it bears its name, none that bears it or comes from a variable is held, and nothing else
 * opens the place for writing. */
void hint_cache(struct arena *arena, const struct bound_policy *bound, struct note_list *notes);
