/* run.h - the command of a launch: made, looked at before its first instruction, and followed to its end. */
#pragma once

#include "runtime/windows/identity.h"
#include "runtime/windows/job.h"
#include "runtime/windows/process.h"
#include "runtime/windows/pump.h"

struct run {
    struct arena *arena;
    const struct windows_spec *spec;
    const struct windows_identity *identity;
    const struct process_ground *ground;
    const char *program; /* "C:\a\b.exe": what is executed */
    const wchar_t *line, *environment, *directory;
    struct job job;
    struct pumps pumps;
    struct process process;
    void *
        image; /* the program, open from before the process is made until it is verified; nobody can write or replace it */
    void *interrupted; /* interrupt_take's */
    bool denied;       /* the token may not execute the program: found by run_verify */
};

/* Makes the process; it does not run. Returns 0, or the error with which Windows refused the program. Any other failure is
 * an error note, and *failed. */
DWORD run_make(struct run *run, bool *failed, struct note_list *notes);

/* Whether it is in the job and carries the token that was asked for; looks whether that may execute the program too. False
 * with an error note. */
bool run_verify(struct run *run, struct note_list *notes);

enum run_outcome { RUN_ENDED, RUN_TIME_OVER, RUN_INTERRUPTED };

struct run_end {
    enum run_outcome outcome;
    uint32_t code; /* the command's own */
    uint32_t left; /* processes that could not be ended */
};

/* Lets it go, waits for its end, and ends what is left in the job. False with an error note if it could not be let go. */
bool run_finish(struct run *run, struct run_end *end, struct note_list *notes);

/* Ends what was made, whether it runs or not. */
void run_cancel(struct run *run);
