/* streams.h - the launcher's own descriptors 0 to 2 and what the command gets instead.
 *
 * Every other descriptor is closed at start. A directory on 0 to 2 is refused. A regular file there that the policy does
 * not grant (for reading on 0, for writing on 1 and 2, as it was opened) is replaced by a pipe that the launcher pumps. A
 * closed descriptor becomes /dev/null.
 */
#pragma once

#include "policy/bound.h"

struct streams {
    int inside[3];                /* what becomes the command's 0, 1, 2; close-on-exec */
    int pump_from[3], pump_to[3]; /* pairs that streams_pump copies, or -1 */
};

/* False with an error note (SBX4xx) if one is refused. */
bool streams_prepare(struct streams *streams, const struct bound_policy *bound, struct note_list *notes);

/* Copies what is ready on pair `i` without blocking. Returns false when the pair is finished and was closed. */
bool streams_pump(struct streams *streams, int i);
