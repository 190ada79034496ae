/* descendants.h - the processes below this one, which must end before it does.
 *
 * A process that called prctl(PR_SET_CHILD_SUBREAPER) becomes the parent of every descendant whose own parent
 * ended.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { END_MILLISECONDS = 10000, ORPHAN_MILLISECONDS = 1000 };

/* Waits for the child `process` until `deadline` (by now_milliseconds); true once it is reaped or was no
 * child of ours. */
bool process_reap(pid_t process, int64_t deadline);

/* Kills and reaps every child but `spared` (0: none) until there is none, also those that come to this
 * process meanwhile; no longer than END_MILLISECONDS. Returns the last one that could not be ended, or 0. */
pid_t descendants_end(pid_t spared);
