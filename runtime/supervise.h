/* supervise.h - the launcher while a sandbox runs: evidence, the go byte, signals, streams, the end. */
#pragma once

#include "runtime/engine.h"
#include "runtime/evidence.h"
#include "runtime/signals.h"
#include "runtime/streams.h"
#include "runtime/terminal.h"
#include "runtime/watch.h"

enum {
    START_SECONDS = 20,        /* until the evidence must be there */
    ANSWER_MILLISECONDS = 5000 /* until process 1 must have handed a signal on */
};

/* Why a sandbox came to nothing, or how its command ended. */
enum outcome_kind {
    OUTCOME_READY,       /* evidence arrived; the command has not been started */
    OUTCOME_FAILED,      /* the backend ended or said nonsense; `text` is what it printed, escaped */
    OUTCOME_LATE,        /* no evidence in time */
    OUTCOME_INTERRUPTED, /* signal `number` reached the launcher first */
    OUTCOME_SILENT,      /* process 1 took no notice of a signal that asks for the end */
    OUTCOME_OVERDUE,     /* `limit time` was over long ago, and process 1 did not end everything */
    OUTCOME_UNHELD,      /* the watch says that something cannot be held any more */
    OUTCOME_NOT_STARTED, /* execve failed: `number` is errno */
    OUTCOME_ENDED        /* `number` is the wait status */
};

struct outcome {
    enum outcome_kind kind;
    int number;
    const char *text;
    bool time_over; /* process 1 asked everything to end because the time was over */
};

/* Waits until the inner stage says what it measured; *terminal receives the terminal's other side, or -1. Anything else than
 * OUTCOME_READY: the sandbox has been ended. */
struct outcome sandbox_await(struct arena *arena, struct sandbox *sandbox, const struct signals *signals,
                             struct evidence *evidence, int *terminal);

/* Gives the go byte and waits for the end, but for process 1's answer to a signal no longer than
 * ANSWER_MILLISECONDS, and for the end of a command that has `time_seconds` (0: any time) no longer than
 * time_limit_latest; `streams` are pumped, `terminal` is copied and `watch` is heard meanwhile. */
struct outcome sandbox_run(struct arena *arena, struct sandbox *sandbox, const struct signals *signals,
                           struct streams *streams, struct terminal *terminal, uint64_t time_seconds,
                           struct watch *watch);

/* Ends everything in the sandbox and waits for it; returns the process that could not be ended in time, or 0.
 * Safe to call twice. */
pid_t sandbox_end(struct sandbox *sandbox);

/* Copies what the command wrote last, after sandbox_end: nobody writes any more. */
void streams_drain(struct streams *streams);
