/* lease.h - the record of one run: which controls held, by what evidence, under which policy (commands.md,
 * Lease).
 *
 * Written before the command starts, so that it exists even after a crash, and replaced at the end.
 */
#pragma once

#include "emitters/control.h"

#include <sys/types.h>

enum { EVENTS_KEPT = 10000, LEASE_TIME = 32 };

/* Where the record goes. */
struct lease_place {
    int directory;    /* descriptor; -1: none */
    const char *name; /* of the file in it */
    int descriptor;   /* of --lease fd:N; -1: none */
    bool keep_few;    /* the state directory: old records are removed */
    const char *path; /* of the file, canonical, or NULL */
};

struct lease_control {
    enum control control;
    enum strength how;
    const char *evidence; /* what was measured */
};

struct lease_control_list {
    struct lease_control *items;
    uint32_t count, capacity;
};

/* Something that happened during the run. */
struct lease_event {
    char at[LEASE_TIME];
    const char *kind;     /* "mask.replaced" and so on: docs/launch.md */
    const char *argument; /* escaped by nobody: any bytes but NUL */
};

struct lease_event_list {
    struct lease_event *items;
    uint32_t count, capacity;
};

struct lease {
    char id[33];
    const struct policy *policy;
    const char *backend, *backend_version;
    struct lease_control_list controls;
    const struct rule *const *accepted; /* CONTROLS entries */
    const struct note_list *notes;
    struct lease_event_list events;
    char kernel[65];                             /* of this machine: its version */
    char started[LEASE_TIME], ended[LEASE_TIME]; /* ended "": it runs */
    int exit_signal;                             /* that ended it, or 0: */
    uint32_t exit_code;                          /* then this is how it ended */
    pid_t unterminated;                          /* 0: none */
};

/* Opens the directory of `file`, so that a later rename of a directory above does not move the record. False
 * with an error note if it does not exist. */
bool lease_place_file(struct arena *arena, const char *file, struct lease_place *place,
                      struct note_list *notes);

/* The default place: a file named by the lease's time and id below `state` (created, mode 0700, owned by
 * `uid`). False without a note if it cannot be used. */
bool lease_place_state(struct arena *arena, const char *state, const struct lease *lease,
                       struct lease_place *place);

/* The time of now as a record has it: UTC with milliseconds. */
void lease_now(char text[LEASE_TIME]);

/* The record as JSON, with a line end. */
struct buffer lease_text(struct arena *arena, const struct lease *lease);

/* Fills id, kernel and started. */
void lease_begin(struct lease *lease);

/* Fills ended. */
void lease_end(struct lease *lease, int status, pid_t unterminated);

/* Adds an event of now; `kind` and `argument` stay the caller's. After EVENTS_KEPT only a last one is added,
 * which says so. */
void lease_event(struct arena *arena, struct lease *lease, const char *kind, const char *argument);

/* Writes the record: atomically to a file; to a descriptor of a regular file in place of what was written
 * before, to any other as one more line. False with an error note on failure; true if there is no place. */
bool lease_write(struct arena *arena, const struct lease *lease, const struct lease_place *place,
                 struct note_list *notes);
