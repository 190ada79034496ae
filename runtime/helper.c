/* helper.c - waiting for helper processes (process.h), on every system alike. */
#include "runtime/process.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int64_t now_milliseconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Reads until the end, the limit or the deadline; returns what went wrong, or NULL. */
static const char *collect(const struct helper_process *process, size_t limit, struct buffer *output)
{
    char chunk[16384];

    for (;;) {
        int64_t left = process->deadline - now_milliseconds();
        struct pollfd ready = {.fd = process->output, .events = POLLIN};
        /* What it said in time counts, however late this is asked. */
        int count = poll(&ready, 1, left <= 0 ? 0 : (int)left);

        if (count == 0)
            return "took too long";
        if (count < 0 && errno != EINTR)
            return strerror(errno);
        if (count < 0)
            continue;
        ssize_t got = read(process->output, chunk, sizeof chunk);
        if (got == 0)
            return NULL;
        if (got < 0 && errno != EINTR)
            return strerror(errno);
        if (got > 0)
            buffer_bytes(output, chunk, (size_t)got);
        if (output->length > limit)
            return "said too much";
    }
}

int helper_finish(const struct helper *helper, struct helper_process *process, struct buffer *output,
                  const char **error)
{
    int status;

    *error = collect(process, helper->limit, output);
    close(process->output);
    if (*error != NULL)
        kill(process->child, SIGKILL);
    while (waitpid(process->child, &status, 0) < 0 && errno == EINTR)
        ;
    if (*error == NULL && !WIFEXITED(status))
        *error = "was ended by a signal";
    return *error == NULL ? WEXITSTATUS(status) : -1;
}

int helper_run(const struct helper *helper, struct buffer *output, const char **error)
{
    struct helper_process process;

    return helper_start(helper, &process, error) ? helper_finish(helper, &process, output, error) : -1;
}
