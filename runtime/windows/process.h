/* process.h - processes in the sandbox: made suspended and inside a job, looked at, and only then let go. */
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>
#include <windows.h>

/* What every process of a run is made with: the command, and what tries the sandbox before it. */
struct process_ground {
    HANDLE token;                   /* a primary one; NULL: the launcher's own */
    SECURITY_CAPABILITIES *package; /* tier appcontainer alone, else NULL */
    const wchar_t *desktop;         /* "WinSta0\NAME", or NULL: the launcher's */
};

struct process_call {
    const wchar_t *program;      /* full path; nothing is searched for */
    const wchar_t *command_line; /* with the program's name as its first word */
    const wchar_t *environment;  /* NAME=VALUE, each with its NUL, and one more NUL */
    const wchar_t *directory;
    HANDLE streams[3]; /* standard input, output and error: inheritable, and the only handles that it gets */
    HANDLE job;        /* which it is in from its first moment */
};

struct process {
    HANDLE handle, thread;
    DWORD id;
};

/* Makes a process that does not run yet, with a hidden console of its own. Returns 0, or a Windows error. */
DWORD process_make(const struct process_ground *ground, const struct process_call *call,
                   struct process *process);

/* Lets it go. Returns 0, or a Windows error. */
DWORD process_resume(const struct process *process);

/* Ends it before it ran. */
void process_cancel(struct process *process);

void process_close(struct process *process);
