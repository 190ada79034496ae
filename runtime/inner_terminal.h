/* inner_terminal.h - the command's terminal: made by process 1 in the sandbox's own /dev/pts, or by the
 * launcher, so that the command has job control without any hold on the caller's terminal. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

struct inner_terminal {
    int master, slave; /* close-on-exec; -1: there is none */
};

/* Makes the terminal. False on failure. */
bool inner_terminal_make(struct inner_terminal *terminal);

/* Takes it as this session's. False on failure. */
bool inner_terminal_control(const struct inner_terminal *terminal);

/* In the command: puts its process group, which must be its own, into the foreground. Signals must be
 * blocked. */
bool inner_terminal_take(const struct inner_terminal *terminal);
