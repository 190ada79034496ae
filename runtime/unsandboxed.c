#include "runtime/unsandboxed.h"

#include "runtime/launch_steps.h"
#include "runtime/report.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

static bool step_record(struct launch *launch)
{
    launch->lease.policy = launch->prepared.policy;
    launch->lease.backend = "none";
    launch->lease.backend_version = "";
    launch->lease.notes = &launch->notes;
    return lease_write(launch->arena, &launch->lease, &launch->place, &launch->notes);
}

SBX_NORETURN static void become_command(const struct launch *launch, int failure, pid_t parent)
{
    bool ready = prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent &&
                 chdir(launch->prepared.directory) == 0 && signals_give_back(&launch->signals);

    own_limits_give_back(&launch->inner.before);
    if (ready)
        execvp(launch->options->command[0], launch->options->command);
    int reason = errno;
    ssize_t ignored = write(failure, &reason, sizeof reason);
    (void)ignored;
    _exit(EXIT_CANNOT_EXECUTE);
}

/* Starts the command; its errno if it could not be executed, else 0. */
static int start(const struct launch *launch, pid_t *command)
{
    pid_t parent = getpid();
    int ends[2], reason = 0;

    if (pipe2(ends, O_CLOEXEC) != 0)
        return errno;
    *command = fork();
    if (*command == 0)
        become_command(launch, ends[1], parent);
    close(ends[1]);
    if (*command < 0 || read(ends[0], &reason, sizeof reason) < 0)
        reason = errno;
    close(ends[0]);
    return reason;
}

/* What a terminal sends reaches the command without help: it is in the same process group. */
static int wait_forwarding(const struct launch *launch, pid_t command)
{
    struct signalfd_siginfo information;
    int status = 0;

    fcntl(launch->signals.descriptor, F_SETFL, 0);
    while (waitpid(command, &status, WNOHANG) != command)
        if (read(launch->signals.descriptor, &information, sizeof information) ==
                (ssize_t)sizeof information &&
            information.ssi_signo != SIGCHLD && information.ssi_code != SI_KERNEL)
            kill(command, (int)information.ssi_signo);
    return status;
}

static bool (*const steps[])(struct launch *launch) = {
    step_directory, step_policy, step_bind, step_bypass, step_lease, step_record, step_signals,
};

int launch_unsandboxed(struct launch *launch)
{
    bool ready = true;
    pid_t command = -1;

    for (size_t i = 0; ready && i < sizeof steps / sizeof steps[0]; i++)
        ready = steps[i](launch);
    report_notes(launch->arena, launch->prepared.policy, &launch->notes, REPORT_WARNINGS);
    if (!ready)
        return EXIT_REFUSED;
    int reason = start(launch, &command);
    int status = command > 0 ? wait_forwarding(launch, command) : 0;
    return launch_ended(launch, reason == 0 ? status : launch_not_executed(launch, reason), 0);
}
