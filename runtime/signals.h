/* signals.h - the signals that the launcher takes over while something of its own making exists. */
#pragma once

#include <signal.h>
#include <stdbool.h>

/* The signals that the launcher hands on, taken over from their default action. */
struct signals {
    sigset_t before; /* the mask that the command gets */
    /* Its actions on a broken pipe and on a file that grows too large, which must not end the launcher. */
    struct sigaction before_pipe, before_size;
    int descriptor; /* signalfd */
};

/* Blocks the forwarded signals (those that the caller had ignored stay so) and SIGCHLD, and ignores SIGPIPE and
 * SIGXFSZ. False on failure. */
bool signals_take(struct signals *signals);

/* In a child: undoes signals_take. Async-signal-safe. */
bool signals_give_back(const struct signals *signals);

/* The next signal that came and asks for the end of a launch in preparation, or 0; those before it that do
 * not are taken and forgotten. */
int signals_next_end(const struct signals *signals);
