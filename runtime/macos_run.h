/* macos_run.h - the command of a launch on macOS: started, given its signals, and ended with all of its process group.
 *
 * macOS binds no process to the end of another. So a guard, a child of the launcher's, waits for the launcher's end,
 * however it comes, and then ends the command's process group. What has left that group is not found; it stays in the
 * sandbox.
 */
#pragma once

#include "runtime/macos_scratch.h"
#include "runtime/signals.h"

#include <stdint.h>
#include <sys/types.h>

struct macos_run {
    const char *program; /* executed with these two: sandbox-exec, or the command itself without a sandbox */
    char *const *arguments;
    char *const *environment;
    const char *directory; /* where it starts */
    uint64_t files;        /* that it may have open, 0: as many as the launcher */
    uint64_t seconds;      /* that it may take, 0: any */
    const struct signals *signals;
    struct macos_scratch *scratch;
    /* Once it is started: */
    pid_t command, guard;
    int go, alive; /* one byte lets the command begin; one byte tells the guard that all is over */
    int failure;   /* from which an errno comes if it could not be executed */
    int terminal;  /* descriptor of the caller's, while the command has it; else -1 */
};

/* Makes the command's process and its guard; nothing is executed yet. False with errno. */
bool run_prepare(struct macos_run *run);

struct run_end {
    int status;     /* wait status */
    int error;      /* errno where nothing was executed, else 0 */
    bool time_over; /* its time was over, so it was ended */
};

/* Executes it, waits for its end, hands on signals meanwhile, and ends what is left of its process group. */
struct run_end run_finish(struct macos_run *run);

/* Ends a command that was prepared and shall not begin. Safe to call if none was. */
void run_cancel(struct macos_run *run);
