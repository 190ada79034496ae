#include "runtime/macos_run.h"

#include "base/attributes.h"
#include "runtime/limit_time.h"
#include "runtime/process.h"
#include "runtime/report.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ALARM_LONGEST = 3600 };

/* Far beyond any run, and far from what the clock can hold. */
#define SECONDS_LONGEST (UINT64_C(1) << 32)

static bool pipe_make(int ends[2])
{
    return pipe(ends) == 0 && fcntl(ends[0], F_SETFD, FD_CLOEXEC) == 0 &&
           fcntl(ends[1], F_SETFD, FD_CLOEXEC) == 0;
}

static bool files_limit(uint64_t files)
{
    struct rlimit limit;

    if (files == 0)
        return true;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return false;
    if (limit.rlim_max == RLIM_INFINITY || files < limit.rlim_max)
        limit.rlim_max = (rlim_t)files;
    if (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur > limit.rlim_max)
        limit.rlim_cur = limit.rlim_max;
    return setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

SBX_NORETURN static void command_become(const struct macos_run *run, int go, int failure)
{
    char word;
    ssize_t got;
    bool ready = setpgid(0, 0) == 0 && chdir(run->directory) == 0 && files_limit(run->files);
    int error = errno;

    while ((got = read(go, &word, 1)) < 0 && errno == EINTR)
        continue;
    /* Without the word the launcher is gone, and nothing may run. */
    if (got != 1)
        _exit(EXIT_REFUSED);
    if (ready && signals_give_back(run->signals)) {
        execve(run->program, run->arguments, run->environment);
        error = errno;
    }
    (void)!write(failure, &error, sizeof error);
    _exit(EXIT_CANNOT_EXECUTE);
}

SBX_NORETURN static void guard_become(const struct macos_run *run, int alive)
{
    int null = open("/dev/null", O_RDWR);
    sigset_t all;
    char word;
    ssize_t got;

    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    setsid();
    for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++)
        dup2(null, i);
    close(run->go);
    close(run->alive);
    close(run->failure);
    while ((got = read(alive, &word, 1)) < 0 && errno == EINTR)
        continue;
    if (got != 1) {
        kill(-run->command, SIGKILL);
        scratch_remove(run->scratch);
    }
    _exit(0);
}

/* Only one descriptor of a terminal in whose foreground this is can be given away. */
static int terminal_of(void)
{
    for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++)
        if (isatty(i) && tcgetpgrp(i) == getpgrp())
            return i;
    return -1;
}

bool run_prepare(struct macos_run *run)
{
    int go[2], alive[2], failure[2];

    if (!pipe_make(go) || !pipe_make(alive) || !pipe_make(failure))
        return false;
    run->go = go[1];
    run->alive = alive[1];
    run->failure = failure[0];
    run->terminal = -1;
    run->command = fork();
    if (run->command == 0) {
        close(go[1]);
        command_become(run, go[0], failure[1]);
    }
    if (run->command > 0) {
        setpgid(run->command, run->command);
        run->guard = fork();
        if (run->guard == 0) {
            close(go[0]);
            close(failure[1]);
            guard_become(run, alive[0]);
        }
    }
    int error = errno;
    close(go[0]);
    close(alive[0]);
    close(failure[1]);
    errno = error;
    return run->command > 0 && run->guard > 0;
}

static void wait_for(pid_t process)
{
    while (process > 0 && waitpid(process, NULL, 0) < 0 && errno == EINTR)
        continue;
}

static void guard_dismiss(struct macos_run *run)
{
    (void)!write(run->alive, "", 1);
    close(run->alive);
    wait_for(run->guard);
    run->guard = 0;
}

void run_cancel(struct macos_run *run)
{
    if (run->command <= 0)
        return;
    kill(run->command, SIGKILL);
    wait_for(run->command);
    run->command = 0;
    guard_dismiss(run);
}

static void terminal_give(struct macos_run *run)
{
    run->terminal = terminal_of();
    if (run->terminal >= 0 && tcsetpgrp(run->terminal, run->command) != 0)
        run->terminal = -1;
}

static void terminal_take_back(struct macos_run *run)
{
    if (run->terminal >= 0)
        tcsetpgrp(run->terminal, getpgrp());
    run->terminal = -1;
}

/* The command was stopped: so is the launcher, until somebody continues it. */
static void stop_too(struct macos_run *run)
{
    terminal_take_back(run);
    kill(getpid(), SIGSTOP);
    terminal_give(run);
    kill(-run->command, SIGCONT);
}

/* The clock of a run: when it is next to be looked at, and what is due then. */
struct time_watch {
    int64_t due; /* 0: never */
    bool asked;
};

static void alarm_set(const struct time_watch *watch)
{
    int64_t left = (watch->due - now_milliseconds() + 999) / 1000;

    if (watch->due != 0)
        alarm(left < 1 ? 1 : left > ALARM_LONGEST ? ALARM_LONGEST : (unsigned)left);
}

static void time_heed(const struct macos_run *run, struct time_watch *watch)
{
    if (watch->due != 0 && now_milliseconds() >= watch->due) {
        kill(-run->command, watch->asked ? SIGKILL : SIGTERM);
        kill(-run->command, SIGCONT);
        watch->asked = true;
        watch->due = now_milliseconds() + GRACE_SECONDS * 1000;
    }
    alarm_set(watch);
}

/* Whether it has ended. */
static bool child_heed(struct macos_run *run, int *status)
{
    while (waitpid(run->command, status, WNOHANG | WUNTRACED) == run->command) {
        if (!WIFSTOPPED(*status))
            return true;
        stop_too(run);
    }
    return false;
}

static int wait_forwarding(struct macos_run *run, struct time_watch *watch)
{
    sigset_t heard;
    int number, status = 0;

    sigprocmask(SIG_SETMASK, NULL, &heard);
    for (int i = 1; i < 32; i++)
        if (sigismember(&run->signals->before, i) == 1 && i != SIGCHLD && i != SIGALRM)
            sigdelset(&heard, i);
    alarm_set(watch);
    while (!child_heed(run, &status)) {
        if (sigwait(&heard, &number) != 0)
            continue;
        if (number == SIGALRM)
            time_heed(run, watch);
        else if (number != SIGCHLD && number != SIGTTOU)
            kill(run->command, number);
    }
    alarm(0);
    return status;
}

struct run_end run_finish(struct macos_run *run)
{
    struct time_watch watch = {0};
    struct run_end end = {0};

    if (run->seconds != 0)
        watch.due = now_milliseconds() +
                    (int64_t)(run->seconds < SECONDS_LONGEST ? run->seconds : SECONDS_LONGEST) * 1000;
    terminal_give(run);
    (void)!write(run->go, "", 1);
    close(run->go);
    if (read(run->failure, &end.error, sizeof end.error) != (ssize_t)sizeof end.error)
        end.error = 0;
    close(run->failure);
    end.status = wait_forwarding(run, &watch);
    end.time_over = watch.asked;
    kill(-run->command, SIGKILL);
    terminal_take_back(run);
    guard_dismiss(run);
    return end;
}
