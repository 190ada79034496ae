#include "runtime/limit_processes.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* How many of this program's processes may be counted: process 1, and the keeper where it goes into the same user
 * namespace. */
enum own { ALONE = 1, WITH_KEEPER = 2 };

/* A process that waits to be killed. */
static pid_t fork_waiting(void)
{
    pid_t child = fork();

    while (child == 0)
        pause();
    return child;
}

static void end_waiting(pid_t child)
{
    if (child < 0)
        return;
    kill(child, SIGKILL);
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
}

/* With a limit of two there must be room for one process beside this one, though the user has others
 * outside, and for no second. */
static bool counts_these_alone(const struct rlimit *before)
{
    const struct rlimit two = {2, before->rlim_max};

    if (before->rlim_max < two.rlim_cur || setrlimit(RLIMIT_NPROC, &two) != 0)
        return false;
    pid_t first = fork_waiting();
    pid_t second = first < 0 ? -1 : fork_waiting();
    bool refused = first > 0 && second < 0 && errno == EAGAIN;
    end_waiting(second);
    end_waiting(first);
    return refused;
}

/* The limit, soft and hard, that leaves room for `processes` beside those of this program. */
static struct rlimit at_most(uint64_t processes, enum own own, const struct rlimit *before)
{
    rlim_t limit =
        before->rlim_max > own && processes < before->rlim_max - own ? processes + own : before->rlim_max;

    return (struct rlimit){limit, limit};
}

uint64_t process_limit_set(uint64_t processes)
{
    struct rlimit limit, before;

    if (getrlimit(RLIMIT_NPROC, &before) != 0)
        return 0;
    bool alone = counts_these_alone(&before);
    limit = at_most(processes, WITH_KEEPER, &before);
    if (alone && setrlimit(RLIMIT_NPROC, &limit) == 0 && getrlimit(RLIMIT_NPROC, &limit) == 0)
        return limit.rlim_max - 1 < processes ? limit.rlim_max - 1 : processes;
    setrlimit(RLIMIT_NPROC, &before);
    return 0;
}

bool process_limit_settle(uint64_t processes)
{
    struct rlimit limit, before;

    if (getrlimit(RLIMIT_NPROC, &before) != 0)
        return false;
    const struct rlimit two = {2, before.rlim_max};
    if (setrlimit(RLIMIT_NPROC, &two) != 0)
        return false;
    pid_t child = fork_waiting();
    bool keeper = child < 0 && errno == EAGAIN;
    end_waiting(child);
    limit = at_most(processes, keeper ? WITH_KEEPER : ALONE, &before);
    return setrlimit(RLIMIT_NPROC, &limit) == 0;
}
