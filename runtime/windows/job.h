/* job.h - the job of a run: it holds every process that the command starts, and ends them all with its last handle. */
#pragma once

#include "policy/note.h"

#include <windows.h>

struct job {
    HANDLE handle, port; /* port: where Windows tells that it is empty */
};

/* What a run may use; 0: any. */
struct job_limits {
    uint64_t processes, memory; /* memory: bytes of all together */
};

/* Makes a job that nothing leaves and that ends with its last handle; reads back what Windows took. Unless the launcher is in
 * a job itself its processes also reach no clipboard, window, global atom or system setting outside of it. False with an error
 * note. */
bool job_make(struct job *job, const struct job_limits *limits, struct note_list *notes);

/* Whether `process` is in it. */
bool job_holds(const struct job *job, HANDLE process);

/* Ends whatever is in it, and waits for that, at most `milliseconds`. Returns how many processes are still there. */
uint32_t job_end(const struct job *job, unsigned code, uint32_t milliseconds);

void job_close(struct job *job);
