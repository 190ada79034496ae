/* terminal.h - between the caller's terminal and the command's own: the launcher copies, so that keys and job
 * control work and the command has no descriptor of the caller's terminal.
 *
 * Keys go in only where standard input is the terminal. Then the caller's is raw while the launcher is in its
 * foreground, and gets its settings back before the launcher stops or ends; else it is written and nothing
 * more.
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
    bool keys;       /* standard input is the terminal */
    bool streams[3]; /* which of the command's are the terminal inside */
    int host;        /* the caller's terminal, not blocking; -1: it is gone */
    int master;      /* of the terminal inside; -1: it is gone */
    bool raw;
    struct termios before; /* the caller's settings */
    struct terminal_piece input, output;
};

enum terminal_place {
    TERMINAL_INSIDE, /* process 1 makes the command's terminal, in the sandbox's own /dev/pts */
    TERMINAL_OUTSIDE /* the launcher makes it, where there is no such place */
};

/* Takes every terminal on 0 to 2 out of `streams`: what is the same one as the first becomes the command's
 * terminal (/dev/null until process 1 has made it), any further one a pipe. Does nothing where none is a
 * terminal. False with errno on failure. */
bool terminal_prepare(struct terminal *terminal, struct streams *streams, enum terminal_place place);

/* Begins, once the master is there: gives the command's terminal the settings and the size of the caller's. */
void terminal_begin(struct terminal *terminal);

/* Takes the caller's terminal for the keys if the launcher is in its foreground now. To be called again from
 * time to time while terminal_waits: no signal tells. */
void terminal_take(struct terminal *terminal);

/* Whether the keys wait for the foreground. */
bool terminal_waits(const struct terminal *terminal);

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
