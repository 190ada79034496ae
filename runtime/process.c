#include "runtime/process.h"

#include "base/escape.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void close_from(unsigned first, unsigned last)
{
    if (syscall(SYS_close_range, first, last, 0) == 0)
        return;
    /* Before Linux 5.9. */
    long limit = sysconf(_SC_OPEN_MAX);
    for (long descriptor = first; descriptor < limit && descriptor <= (long)last; descriptor++)
        close((int)descriptor);
}

void descriptors_close(int first, const int *keep, size_t count)
{
    unsigned from = (unsigned)first;

    for (size_t i = 0; i < count; i++) {
        if (keep[i] < first)
            continue;
        if ((unsigned)keep[i] > from)
            close_from(from, (unsigned)keep[i] - 1);
        from = (unsigned)keep[i] + 1;
    }
    close_from(from, ~0U);
}

int memory_file(const char *name, const void *bytes, size_t length)
{
    int descriptor = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    const char *at = bytes;

    if (descriptor < 0)
        return -1;
    while (length > 0) {
        ssize_t wrote = write(descriptor, at, length);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0) {
            close(descriptor);
            return -1;
        }
        at += wrote;
        length -= (size_t)wrote;
    }
    if (lseek(descriptor, 0, SEEK_SET) != 0 ||
        fcntl(descriptor, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
        close(descriptor);
        return -1;
    }
    return descriptor;
}

bool text_write(int directory, const char *path, const char *text)
{
    int descriptor = openat(directory, path, O_WRONLY | O_CLOEXEC);
    bool written = descriptor >= 0 && write(descriptor, text, strlen(text)) == (ssize_t)strlen(text);
    int error = errno;

    if (descriptor >= 0)
        close(descriptor);
    errno = error;
    return written;
}

const char *own_program(struct arena *arena)
{
    char path[4097];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);

    return length <= 0 ? NULL : arena_copy(arena, path, (size_t)length);
}

int64_t now_milliseconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

SBX_NORETURN static void helper_become(const struct helper *helper, int output, pid_t parent)
{
    char *const environment[] = {NULL};
    int null = open("/dev/null", O_RDWR);
    sigset_t none;

    /* A helper that outlives the launcher would be a survivor. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent || null < 0)
        _exit(127);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (dup2(null, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0 ||
        (!helper->keep_errors && dup2(null, STDERR_FILENO) < 0))
        _exit(127);
    if (helper->directory != NULL && chdir(helper->directory) != 0)
        _exit(127);
    fcntl(helper->program, F_SETFD, 0);
    syscall(SYS_execveat, helper->program, "", helper->argv, environment, AT_EMPTY_PATH);
    _exit(127);
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

bool helper_start(const struct helper *helper, struct helper_process *process, const char **error)
{
    int ends[2];
    pid_t parent = getpid();

    if (pipe2(ends, O_CLOEXEC) != 0) {
        *error = strerror(errno);
        return false;
    }
    *process = (struct helper_process){
        .child = fork(),
        .output = ends[0],
        .deadline = now_milliseconds() + (int64_t)helper->seconds * 1000,
    };
    if (process->child == 0)
        helper_become(helper, ends[1], parent);
    if (process->child < 0) {
        *error = strerror(errno);
        close(ends[0]);
    }
    close(ends[1]);
    return process->child > 0;
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
