#include "runtime/launch_steps.h"

#include "base/escape.h"
#include "base/measure.h"
#include "emitters/control_need.h"
#include "policy/host.h"
#include "runtime/expectations.h"
#include "runtime/launch.h"
#include "runtime/owner.h"
#include "runtime/report.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

bool launch_refuse(struct launch *launch, enum code code, const char *text, const char *help)
{
    note_add(&launch->notes, (struct note){.code = code, .text = text, .help = help});
    return false;
}

bool step_directory(struct launch *launch)
{
    return prepare_directory(launch->arena, launch->options, &launch->prepared, &launch->notes) &&
           owner_settle(launch->arena, launch->prepared.work, launch->options->as_owner, &launch->notes);
}

bool step_policy(struct launch *launch)
{
    return prepare_policy(launch->arena, launch->options, &launch->prepared, &launch->notes);
}

bool step_bind(struct launch *launch)
{
    if (!prepare_bound(launch->arena, launch->options, &launch->prepared, &launch->notes))
        return false;
    launch->own_network = !network_is_shared(launch->prepared.bound);
    launch->unix_sockets = policy_opens_unix_sockets(launch->prepared.bound);
    return expectations_hold(launch->arena, launch->prepared.bound, false, &launch->notes);
}

bool step_bypass(struct launch *launch)
{
    if (bound_bypass(launch->prepared.bound)) {
        note_add(&launch->notes,
                 (struct note){.code = SBX422_UNSANDBOXED, .text = "the command runs without a sandbox"});
        return true;
    }
    note_add(&launch->notes,
             (struct note){.code = SBX419_BYPASS_REFUSED,
                           .text = "--unsandboxed is refused: the policy grants no bypass, or a "
                                   "managed layer does not permit it",
                           .help = "write grant bypass in the policy; every managed policy must say "
                                   "permit bypass"});
    return false;
}

int lease_descriptor(const char *text)
{
    char *end;
    long number;

    if (text == NULL || strncmp(text, "fd:", 3) != 0)
        return -1;
    errno = 0;
    number = strtol(text + 3, &end, 10);
    return errno == 0 && end != text + 3 && *end == '\0' && number >= 1 && number <= INT32_MAX ? (int)number
                                                                                               : -1;
}

/* Why the command could write what `descriptor` is open on, or NULL. What has no name on a file system is out of
 * its reach, whatever the policy says. */
static const char *lease_in_reach(struct launch *launch, int descriptor)
{
    char link[sizeof "/proc/self/fd/" + 3 * sizeof descriptor], path[PATH_MAX];
    struct stat own, named;

    if (fstat(descriptor, &own) != 0 || (!S_ISREG(own.st_mode) && !S_ISFIFO(own.st_mode)) ||
        own.st_nlink == 0)
        return NULL;
#ifdef F_GETPATH /* macOS, where no /proc tells */
    (void)link;
    ssize_t length = fcntl(descriptor, F_GETPATH, path) == 0 ? (ssize_t)strlen(path) : -1;
#else
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, sizeof path - 1);
#endif
    if (length > 0 && path[0] != '/')
        return NULL;
    if (own.st_nlink > 1)
        return "its file has further hard links";
    path[length > 0 ? length : 0] = '\0';
    if (lstat(path, &named) != 0 || named.st_dev != own.st_dev || named.st_ino != own.st_ino)
        return "its file is not where it was opened";
    if (bound_level(launch->prepared.bound, path, (size_t)length) != LEVEL_WRITE)
        return NULL;
    return arena_format(launch->arena, "it is open on %s", escape_string(launch->arena, path));
}

static bool lease_take_descriptor(struct launch *launch, struct lease_place *place)
{
    place->descriptor = fcntl(lease_descriptor(launch->options->lease), F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (place->descriptor < 0)
        return launch_refuse(launch, SBX411_LEASE_UNWRITABLE, "the descriptor of --lease is not open", NULL);
    const char *reach = lease_in_reach(launch, place->descriptor);
    return reach == NULL || !measure_holds(MEASURE_LEASE_PLACE) ||
           launch_refuse(launch, SBX410_LEASE_IN_REACH,
                         arena_format(launch->arena, "the command could write its own lease: %s", reach),
                         "open a file outside what the policy grants for writing, or a pipe");
}

/* Where the record goes; a file that the command could write would be no record. */
bool step_lease(struct launch *launch)
{
    const char *text = launch->options->lease;
    struct lease_place *place = &launch->place;

    lease_begin(&launch->lease);
    *place = (struct lease_place){.directory = -1, .descriptor = -1};
    if (launch->options->dry_run)
        return true;
    if (text == NULL) {
        if (launch->prepared.state == NULL ||
            !lease_place_state(launch->arena, launch->prepared.state, &launch->lease, place)) {
            *place = (struct lease_place){.directory = -1, .descriptor = -1};
            note_add(&launch->notes,
                     (struct note){.code = SBX428_NO_RECORD,
                                   .text = "no record of this run is kept: the state directory cannot "
                                           "be used"});
        }
        return true;
    }
    if (strncmp(text, "fd:", 3) == 0)
        return lease_take_descriptor(launch, place);
    if (!lease_place_file(launch->arena, text, place, &launch->notes))
        return false;
    return bound_level(launch->prepared.bound, place->path, strlen(place->path)) != LEVEL_WRITE ||
           !measure_holds(MEASURE_LEASE_PLACE) ||
           launch_refuse(launch, SBX410_LEASE_IN_REACH,
                         arena_format(launch->arena, "the command could write its own lease %s",
                                      escape_string(launch->arena, place->path)),
                         "name a file outside what the policy grants for writing");
}

/* From here on something may have to be removed again, so that signals must not end the launcher at once. */
bool step_signals(struct launch *launch)
{
    return signals_take(&launch->signals) ||
           launch_refuse(launch, SBX414_BACKEND_FAILED, "signals cannot be taken over", NULL);
}

/* The kernel says "no such file" too of a file whose interpreter is missing. */
static bool command_is_inside(const struct launch *launch)
{
    const char *command = launch->options->command[0];
    const char *path = command[0] == '/'
                           ? command
                           : arena_format(launch->arena, "%s/%s", launch->prepared.directory, command);
    const char *found = strchr(command, '/') == NULL ? NULL : host_canonical(launch->arena, path);

    return found != NULL && access(found, X_OK) == 0 &&
           bound_level(launch->prepared.bound, found, strlen(found)) != LEVEL_NONE;
}

int launch_not_executed(struct launch *launch, int error)
{
    bool missing = error == ENOENT || error == ENOTDIR;

    report_line(launch->arena, "%s: %s", launch->options->command[0],
                !missing ? strerror(error)
                : command_is_inside(launch)
                    ? "it is there, but the interpreter that it names is not found inside"
                    : "not found");
    return W_EXITCODE(missing ? EXIT_NOT_FOUND : EXIT_CANNOT_EXECUTE, 0);
}

/* The caller must not take it for the command's own end, whatever that made of SIGTERM. */
int launch_time_over(struct launch *launch, const struct outcome *outcome)
{
    unsigned long long seconds = launch->inner.time_seconds;

    lease_event(launch->arena, &launch->lease, "limit.time", arena_format(launch->arena, "%llus", seconds));
    report_line(launch->arena, "the command was ended: its %llu seconds (limit time) are over", seconds);
    return outcome->kind == OUTCOME_ENDED ? SIGTERM : SIGKILL;
}

bool launch_output_whole(struct launch *launch)
{
    bool whole = true;

    for (int i = STDOUT_FILENO; i <= STDERR_FILENO; i++) {
        if (launch->streams.lost[i] == 0)
            continue;
        const char *text =
            arena_format(launch->arena, "%s: %s", stream_name(i), strerror(launch->streams.lost[i]));
        lease_event(launch->arena, &launch->lease, "output.lost", text);
        report_line(launch->arena, "output of the command could not be written to %s", text);
        whole = false;
    }
    return whole;
}

int launch_ended(struct launch *launch, int status, pid_t unterminated)
{
    lease_end(&launch->lease, status, unterminated);
    lease_write(launch->arena, &launch->lease, &launch->place, &launch->notes);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
