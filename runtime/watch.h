/* watch.h - the launcher's side of what happens when the host replaces denied files during a run (keeper.h
 * does it).
 *
 * A mask that the host's rename took away is put back on the new file. Where nothing is there any more, the
 * command is stopped for WATCH_GRACE_MILLISECONDS, for most programs that remove a file make it anew at once;
 * then a placeholder is put there. What can be held no longer ends the run.
 */
#pragma once

#include "runtime/keeper.h"
#include "runtime/lease.h"
#include "runtime/placeholder.h"

#include <poll.h>

enum { WATCH_GRACE_MILLISECONDS = 200, WATCH_START_MILLISECONDS = 2000, WATCH_ECHO_MILLISECONDS = 100 };

/* What the watch needs of a run. */
struct watch_run {
    struct arena *arena;
    struct lease *lease;
    struct placeholder_set *placeholders;
    const char *state, *directory; /* for a turn (turn.h) */
};

struct watch {
    struct watch_run run;
    struct watch_list list;
    pid_t keeper;    /* 0: there is none */
    int socket;      /* to it; -1: none */
    bool holds;      /* it is there, and all of its directories are watched */
    const char *why; /* not; NULL: nothing needs to be watched */
    uint32_t directories;
    uint32_t missing;         /* places at which nothing is */
    int64_t deadline;         /* until when the command is stopped for that; 0: it is not */
    bool placed;              /* placeholders were put there, and are still to be covered */
    bool *gone;               /* of each place */
    struct keeper_stop *stop; /* shared with the keeper, or NULL */
    const char *lost;         /* why the run was ended, or NULL */
};

/* Starts the keeper if `plan` has anything to watch; `nested`: the command may make mount namespaces. A
 * failure is only why it does not hold. */
void watch_start(struct arena *arena, const struct plan *plan, const struct facts *facts, bool nested,
                 struct watch *watch);

/* Lets it into the sandbox whose mount namespace that is (or -1) and waits until it watches. False with
 * *error if a mask was gone before that and cannot be put back: the launch must not go on. */
bool watch_enter(struct watch *watch, const struct watch_run *run, int mount_namespace, const char **error);

/* How long poll may wait on its behalf, at most `milliseconds` (-1: for ever). */
int watch_timeout(const struct watch *watch, int milliseconds);

/* Hears what the keeper has to say, if `events` of its socket (poll) say so, and what is due by time. False
 * if the run has to end; `lost` then says why. */
bool watch_heed(struct watch *watch, short events);

/* Hears what the keeper has said up to now, when process 1 has ended: it may have killed it. As watch_heed. */
bool watch_heed_last(struct watch *watch);

/* Whether the keeper has stopped everything inside, or had until a moment ago: word of that comes later. */
bool watch_stopped(const struct watch *watch);

/* Kills the keeper and leaves waiting for it to watch_reap: the kernel takes some milliseconds to forget what was
 * watched, in which there is other work to do. Safe to call twice. */
void watch_end(struct watch *watch);

/* Waits for the end of a keeper that watch_end killed. Nobody else may ever do so: not every process 1 of a
 * container reaps what comes to it. */
void watch_reap(struct watch *watch);
