/* patience.h - how long a launch looks at the machine: a deadline, signals that end it, and a word on the
 * terminal while it goes on. */
#pragma once

#include "runtime/signals.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    LOOK_SECONDS = 60, /* for all that is looked through before a launch */
    SHOW_SECONDS = 1   /* before a terminal hears of it */
};

/* Why looking ended before its time. */
enum patience_end { PATIENCE_LASTS, PATIENCE_LATE, PATIENCE_INTERRUPTED };

struct patience {
    const struct signals *signals; /* NULL: none are heeded */
    int terminal;                  /* where progress shows, or -1 */
    int64_t started;               /* milliseconds of the monotonic clock; 0: nothing was looked at */
    bool shown;
    int64_t shown_at; /* milliseconds since then */
    enum patience_end end;
    int number; /* of the signal */
};

/* Begins now; `quiet` shows nothing. Progress shows only if standard error is a terminal. */
void patience_begin(struct patience *patience, const struct signals *signals, bool quiet);

/* `context` is the patience: whether to stop now, after `entries` entries. Shows how far it came. */
bool patience_stop(void *context, uint64_t entries);

/* Takes what was shown off the terminal. */
void patience_over(struct patience *patience);
