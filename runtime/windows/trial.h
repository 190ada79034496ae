/* trial.h - this program started as the command will be, for the canary to try what the sandbox holds (canary.h). */
#pragma once

#include "base/buffer.h"
#include "policy/note.h"
#include "runtime/windows/process.h"

struct trial {
    struct arena *arena;
    const struct process_ground *ground;
    const wchar_t *program, *directory, *environment;
};

/* The path of this program. NULL with GetLastError. */
const wchar_t *trial_own_program(struct arena *arena);

/* A canary_start: `context` is a struct trial. The process has a job of its own, no input, and 30 seconds. */
bool trial_start(void *context, const char *const *arguments, struct buffer *output, struct note_list *notes);
