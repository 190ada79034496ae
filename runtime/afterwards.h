/* afterwards.h - what a run leaves that programs outside of the sandbox would obey: Git directories, their
 * hooks, settings and half-done work, and autorun files that appeared or changed while it lasted.
 *
 * Nothing is looked at before the run: what the kernel has dated (ctime) since its start is new, and a date
 * cannot be forged by a command. A look is bounded: at each directory that the command may write, the names
 * of autorun.def and a Git directory; below $WORK Git directories in the nearest GIT_DIRECTORIES directories,
 * at most GIT_DEPTH down; AFTERWARDS_ENTRIES entries in all.
 */
#pragma once

#include "emitters/plan.h"
#include "runtime/lease.h"
#include "runtime/remote.h"

#include <time.h>

enum { GIT_DEPTH = 2, GIT_DIRECTORIES = 300, AFTERWARDS_ENTRIES = 4000, AFTERWARDS_EVENTS = 200 };

/* The moment from which on things are new; asked for before the command is started. */
struct timespec afterwards_start(void);

/* Looks, and adds events to `lease`: git.created, git.hook, git.settings, git.pending, autorun.changed; afterwards.bounded
 * where the look ended early, also for a file system of `remote` (may be NULL) that does not answer. `work`
 * is $WORK. Whoever else changed such things meanwhile is not told apart. */
void afterwards_look(struct arena *arena, const struct plan *plan, const char *work,
                     const struct timespec *start, struct remote *remote, struct lease *lease);
