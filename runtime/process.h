/* process.h - descriptors and short helper processes: what the launcher needs of the system besides the
 * sandbox itself. */
#pragma once

#include "base/buffer.h"

#include <stdbool.h>
#include <sys/types.h>

/* Closes every descriptor from `first` up but those of `keep` (`count`, rising). */
void descriptors_close(int first, const int *keep, size_t count);

/* A sealed, read-only-from-now-on memory file that holds `length` bytes, its offset at 0, close-on-exec; -1
 * on failure. */
int memory_file(const char *name, const void *bytes, size_t length);

/* Writes `text` into the existing file `path` below `directory`, at once, as files of /proc and control
 * groups want it. False with errno. Async-signal-safe. */
bool text_write(int directory, const char *path, const char *text);

/* The path of this program's own file, or NULL. */
const char *own_program(struct arena *arena);

/* The path by which the kernel was told to start it, links and all, or NULL where that is not known. */
const char *own_call(void);

/* A helper program: executed by descriptor with an empty environment, standard input from /dev/null. */
struct helper {
    int program;       /* descriptor of the executable */
    const char *path;  /* by which it was opened */
    char *const *argv; /* argv[0] included */
    const char *directory;
    bool keep_errors; /* standard error goes to the caller's; else to /dev/null */
    bool errors_too;  /* or, with this, into the output */
    int seconds;      /* then it is killed */
    size_t limit;     /* more output than this is a failure */
};

/* A helper that was started. */
struct helper_process {
    pid_t child;
    int output;       /* the reading end of its standard output */
    int64_t deadline; /* by now_milliseconds */
};

/* Starts it; false with *error set if that failed. */
bool helper_start(const struct helper *helper, struct helper_process *process, const char **error);

/* Collects the standard output of a started helper in `output` and waits for its end. Returns its exit
 * code; -1 with *error set if it could not run, was ended by a signal, took too long or said too much. */
int helper_finish(const struct helper *helper, struct helper_process *process, struct buffer *output,
                  const char **error);

/* Both, one after the other. */
int helper_run(const struct helper *helper, struct buffer *output, const char **error);

/* Milliseconds of the monotonic clock. */
int64_t now_milliseconds(void);
