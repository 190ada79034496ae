#include "runtime/signals.h"

#include <stddef.h>
#include <sys/signalfd.h>
#include <unistd.h>

static const int forwarded[] = {SIGHUP,  SIGINT,   SIGQUIT, SIGTERM, SIGUSR1,
                                SIGUSR2, SIGWINCH, SIGCONT, SIGTSTP};

bool signals_take(struct signals *signals)
{
    sigset_t taken;

    sigemptyset(&taken);
    sigaddset(&taken, SIGCHLD);
    for (size_t i = 0; i < sizeof forwarded / sizeof forwarded[0]; i++) {
        struct sigaction action;
        if (sigaction(forwarded[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
            sigaddset(&taken, forwarded[i]);
    }
    if (signal(SIGCHLD, SIG_DFL) == SIG_ERR || sigaction(SIGPIPE, NULL, &signals->before_pipe) != 0 ||
        signal(SIGPIPE, SIG_IGN) == SIG_ERR || sigaction(SIGXFSZ, NULL, &signals->before_size) != 0 ||
        signal(SIGXFSZ, SIG_IGN) == SIG_ERR || sigprocmask(SIG_BLOCK, &taken, &signals->before) != 0)
        return false;
    signals->descriptor = signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK);
    return signals->descriptor >= 0;
}

bool signals_give_back(const struct signals *signals)
{
    return sigaction(SIGPIPE, &signals->before_pipe, NULL) == 0 &&
           sigaction(SIGXFSZ, &signals->before_size, NULL) == 0 &&
           sigprocmask(SIG_SETMASK, &signals->before, NULL) == 0;
}

int signals_next_end(const struct signals *signals)
{
    struct signalfd_siginfo information;

    while (read(signals->descriptor, &information, sizeof information) == (ssize_t)sizeof information)
        if (information.ssi_signo != SIGCHLD && information.ssi_signo != SIGWINCH &&
            information.ssi_signo != SIGCONT && information.ssi_signo != SIGTSTP)
            return (int)information.ssi_signo;
    return 0;
}
