#include "runtime/descendants.h"

#include "base/measure.h"
#include "runtime/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

bool process_reap(pid_t process, int64_t deadline)
{
    enum {
        LOOK_AGAIN = 2
    }; /* milliseconds; where there are no descriptors of processes (before Linux 5.3) */
    struct pollfd ended = {.fd = (int)syscall(SYS_pidfd_open, process, 0), .events = POLLIN};
    pid_t got;
    int64_t left;

    while ((got = waitpid(process, NULL, WNOHANG)) == 0 && (left = deadline - now_milliseconds()) > 0)
        poll(&ended, 1, ended.fd < 0 ? LOOK_AGAIN : (int)left);
    if (ended.fd >= 0)
        close(ended.fd);
    return got == process || (got < 0 && errno == ECHILD);
}

pid_t descendants_end(pid_t spared)
{
    int64_t deadline = now_milliseconds() + END_MILLISECONDS;
    char path[64], list[4096];
    pid_t last = 0;

    snprintf(path, sizeof path, "/proc/self/task/%ld/children", (long)syscall(SYS_gettid));
    while (now_milliseconds() < deadline && measure_holds(MEASURE_ORPHANS)) {
        int descriptor = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t got = descriptor < 0 ? -1 : read(descriptor, list, sizeof list - 1);
        char *at = list, *end;

        if (descriptor >= 0)
            close(descriptor);
        if (got <= 0)
            return 0;
        list[got] = '\0';
        bool others = false;
        for (long child; (child = strtol(at, &end, 10)) > 0; at = end) {
            if (child == spared)
                continue;
            others = true;
            last = (pid_t)child;
            kill(last, SIGKILL);
            process_reap(last, now_milliseconds() + ORPHAN_MILLISECONDS);
        }
        if (!others)
            return 0;
    }
    return last;
}
