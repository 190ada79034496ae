#include "runtime/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
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

const char *own_call(void)
{
    return (const char *)(uintptr_t)getauxval(AT_EXECFN);
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
        (!helper->keep_errors && dup2(helper->errors_too ? output : null, STDERR_FILENO) < 0))
        _exit(127);
    if (helper->directory != NULL && chdir(helper->directory) != 0)
        _exit(127);
    fcntl(helper->program, F_SETFD, 0);
    syscall(SYS_execveat, helper->program, "", helper->argv, environment, AT_EMPTY_PATH);
    _exit(127);
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
