/* turn.h - launches of one user take turns while they look at denied paths and make or remove placeholders.
 *
 * Without turns one run could remove a placeholder between another's look at it and its own claim on it. A turn is an
 * flock(2) on a file in the launcher's state directory, closed to commands: whoever reads a file can lock it. Where there
 * is none it is on the working directory, which a command may lock for as long as it runs. A launcher that dies gives its turn back.
 */
#pragma once

#include "policy/note.h"

enum { TURN_SECONDS = 20 };

/* Waits for a turn: a descriptor to give to turn_end, or -1 with an error note. `state` may be NULL. */
int turn_begin(struct arena *arena, const char *state, const char *directory, struct note_list *notes);

/* Gives the turn back; -1 is allowed. */
void turn_end(int turn);
