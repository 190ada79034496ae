/* macos_process.c - descriptors and helper processes (process.h) by what POSIX has everywhere. */
#include "runtime/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of <mach-o/dyld.h>, which only macOS has. */
int _NSGetExecutablePath(char *path, uint32_t *size);

enum { DESCRIPTORS_MOST = 65536 };

static bool is_kept(int descriptor, const int *keep, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (keep[i] == descriptor)
            return true;
    return false;
}

/* What is open is listed in /dev/fd; where that cannot be seen, every number is tried. */
void descriptors_close(int first, const int *keep, size_t count)
{
    DIR *stream = opendir("/dev/fd");
    const struct dirent *entry;

    if (stream == NULL) {
        for (int descriptor = first; descriptor < DESCRIPTORS_MOST; descriptor++)
            if (!is_kept(descriptor, keep, count))
                close(descriptor);
        return;
    }
    /* One that is closed while the list is read may hide another, so the list is read until it holds none. */
    for (bool more = true; more;) {
        more = false;
        rewinddir(stream);
        while ((entry = readdir(stream)) != NULL) {
            char *end;
            long number = strtol(entry->d_name, &end, 10);
            if (end == entry->d_name || *end != '\0' || number < first || number > INT_MAX ||
                number == dirfd(stream) || is_kept((int)number, keep, count))
                continue;
            more = close((int)number) == 0 || more;
        }
    }
    closedir(stream);
}

const char *own_program(struct arena *arena)
{
    char path[PATH_MAX];
    uint32_t size = sizeof path;

    return _NSGetExecutablePath(path, &size) == 0 ? arena_strdup(arena, path) : NULL;
}

/* own_program says it, links and all. */
const char *own_call(void)
{
    return NULL;
}

SBX_NORETURN static void helper_become(const struct helper *helper, int output)
{
    char *const environment[] = {NULL};
    int null = open("/dev/null", O_RDWR);
    sigset_t none;

    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0 ||
        (!helper->keep_errors && dup2(helper->errors_too ? output : null, STDERR_FILENO) < 0))
        _exit(127);
    if (helper->directory != NULL && chdir(helper->directory) != 0)
        _exit(127);
    execve(helper->path, helper->argv, environment);
    _exit(127);
}

bool helper_start(const struct helper *helper, struct helper_process *process, const char **error)
{
    int ends[2];

    if (pipe(ends) != 0) {
        *error = strerror(errno);
        return false;
    }
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    *process = (struct helper_process){
        .child = fork(),
        .output = ends[0],
        .deadline = now_milliseconds() + (int64_t)helper->seconds * 1000,
    };
    if (process->child == 0)
        helper_become(helper, ends[1]);
    if (process->child < 0) {
        *error = strerror(errno);
        close(ends[0]);
    }
    close(ends[1]);
    return process->child > 0;
}
