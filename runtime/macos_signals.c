/* macos_signals.c - the launcher's signals (signals.h) by sigwait, which POSIX has everywhere. */
#include "runtime/signals.h"

#include <stddef.h>
#include <unistd.h>

static const int forwarded[] = {SIGHUP,  SIGINT,   SIGQUIT, SIGTERM, SIGUSR1,
                                SIGUSR2, SIGWINCH, SIGCONT, SIGTSTP};
/* Signals that do nothing by default are forgotten, even while they are blocked, unless somebody handles them. */
static const int forgotten[] = {SIGCHLD, SIGWINCH, SIGCONT};

static void nothing(int number)
{
    (void)number;
}

static bool is_ignored(int number)
{
    struct sigaction action;
    return sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

bool signals_take(struct signals *signals)
{
    struct sigaction heard = {.sa_handler = nothing, .sa_flags = SA_RESTART};
    sigset_t taken;

    sigemptyset(&taken);
    sigemptyset(&heard.sa_mask);
    for (size_t i = 0; i < sizeof forwarded / sizeof forwarded[0]; i++)
        if (!is_ignored(forwarded[i]))
            sigaddset(&taken, forwarded[i]);
    for (size_t i = 0; i < sizeof forgotten / sizeof forgotten[0]; i++)
        if ((forgotten[i] == SIGCHLD || sigismember(&taken, forgotten[i])) &&
            sigaction(forgotten[i], &heard, NULL) != 0)
            return false;
    sigaddset(&taken, SIGCHLD);
    sigaddset(&taken, SIGALRM);
    sigaddset(&taken, SIGTTOU); /* whoever takes a terminal back from the background gets it */
    signals->descriptor = -1;
    return sigaction(SIGPIPE, NULL, &signals->before_pipe) == 0 && signal(SIGPIPE, SIG_IGN) != SIG_ERR &&
           sigprocmask(SIG_BLOCK, &taken, &signals->before) == 0;
}

bool signals_give_back(const struct signals *signals)
{
    return sigaction(SIGPIPE, &signals->before_pipe, NULL) == 0 &&
           sigprocmask(SIG_SETMASK, &signals->before, NULL) == 0;
}

int signals_next_end(const struct signals *signals)
{
    static const int ends[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
    sigset_t pending;

    (void)signals;
    if (sigpending(&pending) != 0)
        return 0;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        if (sigismember(&pending, ends[i]) == 1)
            return ends[i];
    return 0;
}
