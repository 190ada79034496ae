/* keeper.h - the process that puts a mask back when the host replaced what it stood on.
 *
 * What it cannot hold ends the run: it kills process 1 of the sandbox itself, and it stops and continues the
 * command's processes itself, so that nothing depends on a launcher that is awake.
 *
 * It is a child of the launcher, in the sandbox's mount namespace and outside all of its other namespaces:
 * the command can neither see nor signal it. It looks at directories by inotify(7), through the sandbox's own
 * mounts, and walks no symbolic link. It ends with its launcher.
 */
#pragma once

#include "runtime/watch_list.h"

#include <stdatomic.h>

enum keeper_kind {
    KEEPER_READY,    /* it watches: `directories`, and `unwatched` more cannot be */
    KEEPER_UNABLE,   /* it cannot, for `error` in `step`; nothing is watched */
    KEEPER_PUT_BACK, /* the host replaced `place`, and it holds again */
    KEEPER_MISSING,  /* nothing is at `place` any more */
    KEEPER_LOST      /* `place` does not hold, for `error` (or 0) in `step`; process 1 was killed */
};

struct keeper_message {
    enum keeper_kind kind;
    uint32_t place; /* index in the list */
    uint32_t directories, unwatched;
    int error;
    char step[48];
};

/* Between the keeper and its launcher, in shared memory: since when nothing is stopped any more
 * (now_milliseconds), or INT64_MAX while everything is. */
struct keeper_stop {
    _Atomic int64_t until;
};

/* Waits on `socket` for a packet of one byte with a descriptor of the mount namespace, watches what `list`
 * says, and tells what happens by packets of struct keeper_message. Returns when the other end is closed. */
void keeper_run(struct arena *arena, const struct watch_list *list, struct keeper_stop *stop, int socket);
