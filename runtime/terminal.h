/* terminal.h - between the caller's terminal and the one inside: the launcher copies both ways, so that keys
 * and job control work and the command has no descriptor of the caller's terminal.
 *
 * The caller's terminal is raw only while the launcher is in its foreground; it gets its settings back
 * before the launcher stops or ends.
 */
#pragma once

#include "runtime/streams.h"

#include <poll.h>
#include <termios.h>

enum { TERMINAL_EVENTS = 2, TERMINAL_LOOK_MILLISECONDS = 200 };

struct terminal_piece {
    char bytes[4096];
    size_t from, to;
};

struct terminal {
    bool used;
    bool streams[3]; /* which of the command's are the terminal inside */
    int host;        /* the caller's terminal, not blocking; -1: it is gone */
    int master;      /* of the terminal inside; -1: it is gone */
    bool raw;
    struct termios before; /* the caller's settings */
    struct terminal_piece input, output;
};

/* Where standard input is a terminal: takes it and what else of 0 to 2 is the same terminal out of
 * `streams`, whose entries become /dev/null. Does nothing where it is none, or where it cannot be opened
 * anew. */
void terminal_prepare(struct terminal *terminal, struct streams *streams);

/* Begins, once the master has come from inside: gives the terminal inside the settings and the size of the
 * caller's. */
void terminal_begin(struct terminal *terminal);

/* Takes the caller's terminal if the launcher is in its foreground now. To be called again from time to
 * time: no signal tells. */
void terminal_take(struct terminal *terminal);

/* Gives the caller's terminal its settings back. */
void terminal_give_back(struct terminal *terminal);

/* What to wait for, and copies what is ready. */
void terminal_events(const struct terminal *terminal, struct pollfd events[TERMINAL_EVENTS]);
void terminal_copy(struct terminal *terminal, const struct pollfd events[TERMINAL_EVENTS]);

/* Hands the size of the caller's terminal on. */
void terminal_size(const struct terminal *terminal);

/* Stops the launcher and whatever shares its process group, as Ctrl-Z would; returns when it is continued,
 * or at once where nobody could continue it. */
void terminal_suspend(struct terminal *terminal);

/* Copies what was written last, gives the caller's terminal back and closes both. Nobody inside lives any
 * more. */
void terminal_end(struct terminal *terminal);
