/* placeholder_record.h - what a run has put on the file system, on disk, so that any later launch can clean
 * up after one that was killed.
 *
 * A record is a file of the run's own in `placeholders` below the state directory, closed to commands. The launcher and what it starts hold an flock(2) on it, and the launcher alone a lock by fcntl(2): a
 * record without the second has lost its launcher, and without the first all of its run. Whoever calls holds
 * the turn (turn.h).
 */
#pragma once

#include "base/buffer.h"

#include <stdbool.h>
#include <sys/stat.h>

struct placeholder_record {
    int directory; /* of the records; -1: none can be kept */
    int file;      /* -1: nothing has been written yet */
    const char *name;
    const char *place; /* the directory's path */
    bool failed;       /* the last path could not be written */
};

/* Removes what dead runs left and nobody relies on or wrote to, and their records. `state` may be NULL. */
void placeholders_recover(struct arena *arena, const char *state);

/* A record below `state` named `name`; nothing is on disk before the first path. Where there is no state
 * directory that is the caller's own, none is kept. */
struct placeholder_record placeholder_record_begin(struct arena *arena, const char *state, const char *name);

/* Says that something is about to be put at `path`, or is relied on there. False with errno if it cannot be
 * written. */
bool placeholder_record_add(struct placeholder_record *record, const char *path);

/* The run has removed what it put there: `all` of it, or else the record is left to the next launch. Safe to
 * call twice; async-signal-safe. */
void placeholder_record_end(struct placeholder_record *record, bool all);

/* A placeholder says by its mode that it is one, from the moment at which it appears: nobody else sets the
 * sticky bit on an empty file or on a directory that others may not write. A file holds at most `largest` bytes. */
bool placeholder_is_marked(const struct stat *status, off_t largest);

/* What the living runs of the records in `directory` (-1: none), but for the one named `except`, have put
 * somewhere or rely on. */
struct buffer placeholder_claims(struct arena *arena, int directory, const char *except);

/* Whether `path` is among them. */
bool placeholder_is_claimed(const struct buffer *claims, const char *path);

/* Removes `name` in the directory `parent`. False with errno if it cannot be removed now, as while somebody
 * holds an flock(2) on it, of which `own` can tell: a run without records that relies on it, or a command. */
bool placeholder_unlink(int parent, const char *name, int own, bool directory);

enum { PLACEHOLDER_CONTENT = 2, PLACEHOLDER_HIDING = 64 };
