/* processes.c - reaching processes outside, and outliving the launcher. */
#include "tests/escape/attempt.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static void send_signal(char **arguments)
{
    kill(atoi(arguments[0]), SIGUSR1);
}

static void send_signal_by_descriptor(char **arguments)
{
    enum { PIDFD_SEND_SIGNAL = 424, PIDFD_OPEN = 434 };
    int process = (int)syscall(PIDFD_OPEN, atoi(arguments[0]), 0);

    syscall(PIDFD_SEND_SIGNAL, process, SIGUSR1, NULL, 0);
}

static void send_signal_to_group(char **arguments)
{
    kill(-atoi(arguments[0]), SIGUSR1);
}

static void send_signal_to_all(char **arguments)
{
    (void)arguments;
    signal(SIGUSR1, SIG_IGN);
    kill(-1, SIGUSR1);
}

static void stay(char **arguments)
{
    (void)arguments;
    say_text("holding");
    for (;;)
        pause();
}

/* Stays after the command has ended. */
static void stay_as_orphan(char **arguments)
{
    if (fork() == 0) {
        setsid();
        if (fork() == 0) {
            for (int i = 0; i < 3; i++)
                close(i);
            for (;;)
                pause();
        }
        _exit(0);
    }
    (void)arguments;
    usleep(20000);
}

/* Stops whoever would end this process. */
static void stop_parent_and_stay(char **arguments)
{
    kill(getppid(), SIGSTOP);
    stay(arguments);
}

static void execute_and_hold(char **arguments)
{
    if (fork() == 0) {
        execl(arguments[0], arguments[0], NULL);
        _exit(1);
    }
    usleep(100000);
    say_text("holding");
    for (;;)
        pause();
}

static void raise_priority(char **arguments)
{
    (void)arguments;
    setpriority(PRIO_PROCESS, 0, -15);
    hold();
}

static void fix_memory_layout(char **arguments)
{
    (void)arguments;
    personality(ADDR_NO_RANDOMIZE);
    hold();
}

const struct attempt process_attempts[] = {
    {"signal", send_signal},
    {"signal-by-descriptor", send_signal_by_descriptor},
    {"signal-group", send_signal_to_group},
    {"signal-all", send_signal_to_all},
    {"stay", stay},
    {"stay-as-orphan", stay_as_orphan},
    {"stop-parent-and-stay", stop_parent_and_stay},
    {"execute-and-hold", execute_and_hold},
    {"raise-priority", raise_priority},
    {"fix-memory-layout", fix_memory_layout},
    {NULL, NULL},
};
