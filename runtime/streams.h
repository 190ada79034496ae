/* streams.h - the launcher's own descriptors 0 to 2 and what the command gets instead.
 *
 * A directory on 0 to 2 is refused. A regular file there is handed on only if the policy lets the command
 * write it, since any descriptor of a file can be opened again for writing through /proc; any other regular
 * file is replaced by a pipe that the launcher pumps. A closed descriptor becomes /dev/null. Terminals are
 * terminal.h's.
 */
#pragma once

#include "policy/bound.h"

struct streams {
    int inside[3];                /* what becomes the command's 0, 1, 2; close-on-exec, above 2 */
    int pump_from[3], pump_to[3]; /* pairs that streams_pump copies, or -1 */
    int lost[3];                  /* errno with which output could not be written; 0: none was lost */
};

/* Opens /dev/null in the place of each closed descriptor from 0 to 2, so that nothing else is opened there.
 * To be called first of all. False if that fails. */
bool streams_reserve(void);

/* Judges the streams by `bound`, whose levels must be final. False with an error note (SBX4xx) if one is
 * refused. */
bool streams_prepare(struct streams *streams, const struct bound_policy *bound, struct note_list *notes);

/* Puts a pipe in the place of what the command would get as `i`. False with errno on failure. */
bool streams_pipe(struct streams *streams, int i);

/* "standard input" and so on. */
const char *stream_name(int i);

/* Notes that stream `i` cannot be handed on (SBX464); always false. */
bool stream_refuse(int i, const char *why, struct note_list *notes);

/* Copies what is ready on pair `i` without blocking: of pair 0 when pump_to[0] takes more (POLLOUT), of 1
 * and 2 when pump_from has something (POLLIN, POLLHUP). Returns false when the pair is finished and was
 * closed. */
bool streams_pump(struct streams *streams, int i);
