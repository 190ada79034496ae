#include "runtime/native.h"

#include "base/escape.h"
#include "base/measure.h"
#include "base/vector.h"
#include "runtime/evidence.h"
#include "runtime/inner.h"
#include "runtime/native_confine.h"
#include "runtime/native_tree.h"
#include "runtime/probe.h"
#include "runtime/process.h"
#include "runtime/report.h"
#include "runtime/wiring.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What a call that the kernel has says to arguments that nothing can be done with. */
static const struct needed {
    const char *name;
    long number;
    long arguments[5];
    bool told; /* by EINVAL; else an older check of rights may come first */
} needed[] = {
    {"clone3", SYS_clone3, {0, 0}, true},
    {"openat2", SYS_openat2, {-1, 0, 0, 0}, true},
    {"open_tree", SYS_open_tree, {-1, 0, -1}, true},
    {"mount_setattr", SYS_mount_setattr, {-1, 0, 0, 0, 0}, true},
    {"move_mount", SYS_move_mount, {-1, 0, -1, 0, -1}, false},
    {"fsopen", SYS_fsopen, {0, -1}, false},
    {"fsconfig", SYS_fsconfig, {-1, -1, 0, 0, 0}, true},
    {"fsmount", SYS_fsmount, {-1, -1, 0}, false},
};

static bool file_begins(const char *path, const char *start)
{
    char text[64];
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = descriptor < 0 ? -1 : read(descriptor, text, sizeof text);

    if (descriptor >= 0)
        close(descriptor);
    return got >= (ssize_t)strlen(start) && memcmp(text, start, strlen(start)) == 0;
}

const char *native_missing(struct arena *arena)
{
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        const long *with = needed[i].arguments;
        long answer = syscall(needed[i].number, with[0], with[1], with[2], with[3], with[4]);
        if (answer >= 0 || errno == ENOSYS || (needed[i].told && errno != EINVAL))
            return arena_format(arena, "%s is not to be had: %s", needed[i].name,
                                answer >= 0 ? "it does nothing" : strerror(errno));
    }
    /* What became another user is not its owner's to look at, and then must not write its user map either. */
    if (prctl(PR_GET_DUMPABLE) != 1)
        return "this process has changed its user";
    /* Ubuntu lets bubblewrap make them, by a profile of its own. */
    if (geteuid() != 0 && file_begins("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1") &&
        file_begins("/proc/self/attr/current", "unconfined"))
        return "AppArmor limits user namespaces";
    return NULL;
}

/* It is part of this program, so nothing has to be found. */
static void seek(struct arena *arena, struct engine_use *use)
{
    (void)arena;
    use->version = SBX_VERSION;
}

static bool launcher_lives(const struct wiring *wiring)
{
    struct pollfd go = {.fd = wiring->go[0], .events = POLLIN};

    return poll(&go, 1, 0) == 0;
}

/* What was replaced is evidence like any other; all else is told as bubblewrap tells it, on standard
 * error. */
SBX_NORETURN static void give_up(const struct wiring *wiring, const struct native_problem *problem)
{
    struct status_message message = {.kind = STATUS_EVIDENCE};

    if (problem->replaced) {
        snprintf(message.evidence.problem, sizeof message.evidence.problem, "%s", problem->text);
        write_all(wiring->status[1], &message, sizeof message);
    } else {
        write_all(STDERR_FILENO, problem->text, strlen(problem->text));
    }
    _exit(EXIT_FAILURE);
}

static bool shares_network(const struct sandbox_request *request)
{
    return request->share_network || !measure_holds(MEASURE_OWN_NETWORK);
}

static uint64_t namespaces_of(const struct sandbox_request *request)
{
    static const struct {
        enum measure measure;
        uint64_t flag;
    } namespaces[] = {
        {MEASURE_OWN_USERS, CLONE_NEWUSER},    {MEASURE_OWN_PROCESSES, CLONE_NEWPID},
        {MEASURE_OWN_IPC, CLONE_NEWIPC},       {MEASURE_OWN_NAMES, CLONE_NEWUTS},
        {MEASURE_OWN_CGROUP, CLONE_NEWCGROUP},
    };
    uint64_t flags = CLONE_NEWNS;

    for (size_t i = 0; i < sizeof namespaces / sizeof namespaces[0]; i++)
        if (measure_holds(namespaces[i].measure))
            flags |= namespaces[i].flag;
    return flags | (shares_network(request) ? 0 : CLONE_NEWNET);
}

struct identity {
    uid_t user;
    gid_t group;
};

static bool become_sandbox(const struct sandbox_request *request, const struct identity *identity,
                           struct native_problem *problem)
{
    /* An own session: what a terminal sends goes to the launcher, which forwards it. */
    if (measure_holds(MEASURE_NEW_SESSION) && setsid() < 0)
        return native_fail(problem, "start a session", NULL);
    if (measure_holds(MEASURE_OWN_USERS) && !native_map_user(problem, identity->user, identity->group))
        return false;
    return native_build(request, problem) && (shares_network(request) || native_start_loopback(problem)) &&
           native_confine(problem, request->filter, false);
}

/* Process 1 of the new namespaces, a copy of the launcher until it executes the inner stage. */
SBX_NORETURN static void become_stage(struct arena *arena, const struct sandbox_request *request,
                                      const struct wiring *wiring, const struct identity *identity)
{
    struct native_problem problem = {.arena = arena};
    char *const argv[] = {(char *)"sbx-launch", (char *)INNER_STAGE_WORD,
                          arena_format(arena, "%d", wiring->config), NULL};

    arena_on_exhausted(arena, NULL);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || !wiring_keep_inner(wiring, request))
        _exit(EXIT_FAILURE);
    wiring_close_outer(wiring, request);
    char **environment = wiring_environment(arena, request);
    if (!launcher_lives(wiring))
        _exit(EXIT_FAILURE);
    if (!become_sandbox(request, identity, &problem))
        give_up(wiring, &problem);
    if (signals_give_back(request->signals))
        syscall(SYS_execveat, wiring->program, "", argv, environment, AT_EMPTY_PATH);
    native_fail(&problem, "execute the inner stage", NULL);
    give_up(wiring, &problem);
}

static bool refuse(struct arena *arena, struct note_list *notes)
{
    const char *cause, *remedy, *reason = strerror(errno), *help = wiring_remedy(errno);

    if (probe_diagnose(arena, &cause, &remedy))
        note_add(notes, (struct note){.code = SBX413_NO_NAMESPACES, .text = cause, .help = remedy});
    else
        note_add(notes,
                 (struct note){.code = SBX414_BACKEND_FAILED,
                               .text = arena_format(arena, "the sandbox could not be started: %s", reason),
                               .help = help});
    return false;
}

static bool start(struct arena *arena, struct engine_use *use, struct sandbox_request *request,
                  struct sandbox *sandbox, struct note_list *notes)
{
    const struct identity identity = {geteuid(), getegid()};
    struct clone_args how = {.flags = namespaces_of(request), .exit_signal = SIGCHLD};
    struct wiring wiring;

    (void)use;
    long child = wiring_make(arena, request, &wiring) ? syscall(SYS_clone3, &how, sizeof how) : -1;
    if (child == 0)
        become_stage(arena, request, &wiring, &identity);
    if (child < 0)
        return refuse(arena, notes);
    wiring_keep_outer(&wiring, sandbox);
    sandbox->process = (pid_t)child;
    return true;
}

static void print(struct buffer *out, const struct engine_use *use, const struct sandbox_request *request)
{
    (void)use;
    buffer_format(out, "# native engine (%u system call filter instructions, starts in %s)\n",
                  (unsigned)(request->filter->length / 8),
                  escape_string(out->arena, request->inner->directory));
    buffer_format(out, "new namespaces: user, process, mount, ipc, uts, cgroup%s\n",
                  request->share_network ? "" : ", network (loopback alone)");
    native_describe(out, request);
    buffer_string(out,
                  "give up every capability and new privileges, load the filter, execute the inner stage\n");
}

const struct engine engine_native = {
    .name = "native",
    .title = "the native engine",
    .seek = seek,
    .start = start,
    .print = print,
};
