#include "runtime/inner.h"

#include "base/measure.h"
#include "runtime/descendants.h"
#include "runtime/evidence.h"
#include "runtime/inner_terminal.h"
#include "runtime/landlock.h"
#include "runtime/limit_processes.h"
#include "runtime/limit_time.h"
#include "runtime/pass.h"
#include "runtime/process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STAGE_FAILED = 1, EVENT_SOURCES = 4, REAPED_AT_ONCE = 64 };

struct stage {
    struct inner_config config;
    sigset_t command_mask; /* what the command gets */
    int children;          /* signalfd */
    struct inner_terminal terminal;
    int clock;      /* of limit_time.h */
    bool time_over; /* it went off once */
    int events;     /* epoll of go, status, children and clock, made before any limit holds */
    int failure[2]; /* pipe on which the command's errno comes, if it cannot be executed */
    pid_t command;
};

static bool config_load(struct arena *arena, const char *word, struct inner_config *config)
{
    char *end;
    long descriptor = strtol(word, &end, 10);
    struct stat status;

    if (*word == '\0' || *end != '\0' || descriptor < 3 || descriptor > INT_MAX ||
        fstat((int)descriptor, &status) != 0 || status.st_size <= 0)
        return false;
    size_t length = (size_t)status.st_size;
    char *bytes = arena_alloc(arena, length);
    bool whole = pread((int)descriptor, bytes, length, 0) == (ssize_t)length;
    close((int)descriptor);
    return whole && inner_config_read(arena, bytes, length, config);
}

static int descriptor_order(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* Nothing but the configuration's own descriptors lives on, and none of them reaches the command. */
static bool descriptors_keep(const struct inner_config *config)
{
    int kept[] = {config->status, config->go, config->streams[0], config->streams[1], config->streams[2]};
    const size_t count = sizeof kept / sizeof kept[0];

    qsort(kept, count, sizeof kept[0], descriptor_order);
    for (size_t i = 0; i < count; i++)
        if (kept[i] < 3 || fcntl(kept[i], F_SETFD, FD_CLOEXEC) != 0)
            return false;
    if (measure_holds(MEASURE_DESCRIPTORS))
        descriptors_close(3, kept, count);
    return true;
}

static bool say(const struct stage *stage, const struct status_message *message)
{
    return send(stage->config.status, message, sizeof *message, MSG_NOSIGNAL) == (ssize_t)sizeof *message;
}

/* The stream that is to be the command's terminal, or -1. */
static int terminal_stream(const struct inner_config *config)
{
    for (int i = 0; i < 3; i++)
        if (config->terminal[i])
            return config->streams[i];
    return -1;
}

/* Without keys nobody is to wait for any: then it is the terminal of no session. */
static bool terminal_prepare(struct stage *stage)
{
    const struct inner_config *config = &stage->config;
    int stream = terminal_stream(config);

    if (stream < 0)
        return true;
    if (config->landlock_alone)
        stage->terminal.slave = fcntl(stream, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    else if (!inner_terminal_make(&stage->terminal))
        return false;
    return stage->terminal.slave >= 0 &&
           (!config->terminal[STDIN_FILENO] || inner_terminal_control(&stage->terminal));
}

/* Hands the terminal's other side to the launcher: so it hangs up when that ends. */
static bool terminal_hand_over(struct stage *stage)
{
    struct status_message message = {.kind = STATUS_TERMINAL};
    int *master = &stage->terminal.master;

    if (*master < 0)
        return true;
    bool sent = packet_send(stage->config.status, &message, sizeof message, *master);
    close(*master);
    *master = -1;
    return sent;
}

static bool wait_for_go(const struct stage *stage)
{
    char byte;
    ssize_t got;

    do
        got = read(stage->config.go, &byte, 1);
    while (got < 0 && errno == EINTR);
    return got == 1;
}

SBX_NORETURN static void become_command(const struct stage *stage)
{
    const struct inner_config *config = &stage->config;
    bool ready = true;

    /* An own group in a session whose leader is its parent: job control signals then act as they do under a
     * shell. */
    setpgid(0, 0);
    /* Process 1 of a namespace hears no signal of the others; this one must be out of their reach. */
    if (config->landlock_alone)
        ready = prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && landlock_scope_again();
    for (int i = 0; i < 3; i++)
        ready = ready && dup2(config->terminal[i] ? stage->terminal.slave : config->streams[i], i) == i;
    if (config->terminal[STDIN_FILENO])
        ready = ready && inner_terminal_take(&stage->terminal);
    own_limits_give_back(&config->before);
    if (ready && sigprocmask(SIG_SETMASK, &stage->command_mask, NULL) == 0)
        execvp(config->arguments[0], config->arguments);
    int reason = errno;
    ssize_t ignored = write(stage->failure[1], &reason, sizeof reason);
    (void)ignored;
    _exit(STAGE_FAILED);
}

/* Starts the command and says whether it could be executed. */
static bool command_start(struct stage *stage)
{
    struct status_message message = {.kind = STATUS_STARTED};
    int reason = 0;

    stage->command = fork();
    if (stage->command == 0)
        become_command(stage);
    close(stage->failure[1]);
    ssize_t got = stage->command < 0 ? -1 : read(stage->failure[0], &reason, sizeof reason);
    if (got != 0) {
        message.kind = STATUS_NOT_STARTED;
        message.number = stage->command < 0 ? errno : reason;
    }
    close(stage->failure[0]);
    /* Else a reader of the command's output would wait for this process too. */
    for (int i = 0; i < 3; i++)
        close(stage->config.streams[i]);
    return say(stage, &message) && message.kind == STATUS_STARTED;
}

/* What Ctrl-Z stops inside, the launcher stops outside: only its caller can continue both. */
static void say_stopped(const struct stage *stage, pid_t child, int number)
{
    struct status_message stopped = {.kind = STATUS_STOPPED, .number = number};

    if (child == stage->command)
        send(stage->config.status, &stopped, sizeof stopped, MSG_NOSIGNAL | MSG_DONTWAIT);
}

enum reaping { REAPED_ALL, REAPED_SOME, REAPED_COMMAND };

/* Reaps what ended; at the command itself with its wait status. A command can start orphans faster than they
 * can be reaped, so that this must come to an end before they do. */
static enum reaping children_reap(const struct stage *stage, int *status)
{
    struct signalfd_siginfo information;
    ssize_t ignored = read(stage->children, &information, sizeof information);

    (void)ignored;
    for (int i = 0; i < REAPED_AT_ONCE; i++) {
        int one;
        pid_t child = waitpid(-1, &one, stage->config.terminal[STDIN_FILENO] ? WNOHANG | WUNTRACED : WNOHANG);
        if (child <= 0)
            return REAPED_ALL;
        if (WIFSTOPPED(one)) {
            say_stopped(stage, child, WSTOPSIG(one));
            continue;
        }
        if (child == stage->command) {
            *status = one;
            return REAPED_COMMAND;
        }
    }
    return REAPED_SOME;
}

/* Hands a signal on and says so; false when the launcher is gone. */
static bool forward_signal(const struct stage *stage)
{
    struct status_message message, done = {.kind = STATUS_SIGNALLED};
    ssize_t got = recv(stage->config.status, &message, sizeof message, MSG_DONTWAIT);

    if (got < 0)
        return errno == EAGAIN || errno == EINTR;
    if (got != (ssize_t)sizeof message)
        return false;
    if (message.kind == STATUS_SIGNAL)
        kill(stage->command, message.number);
    if (message.kind == STATUS_SIGNAL_GROUP)
        kill(-stage->command, message.number);
    /* A launcher that does not read has no use for it. */
    send(stage->config.status, &done, sizeof done, MSG_NOSIGNAL | MSG_DONTWAIT);
    return true;
}

/* Without a process namespace -1 would mean all that the user runs. */
static void ask_to_end(const struct stage *stage)
{
    kill(-stage->command, SIGTERM);
    kill(-stage->command, SIGCONT);
}

/* Asks everything to end; false when that was done long enough ago. */
static bool end_in_time(struct stage *stage)
{
    struct status_message over = {.kind = STATUS_TIME_OVER};

    if (stage->time_over)
        return false;
    uint64_t times;
    ssize_t ignored = read(stage->clock, &times, sizeof times);
    (void)ignored;
    stage->time_over = true;
    /* The launcher may be stopped and not read: that must not hold the end up. */
    send(stage->config.status, &over, sizeof over, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (stage->config.landlock_alone)
        ask_to_end(stage);
    else
        time_limit_ask();
    return true;
}

/* Waits for the launcher, a signal, the end of the time or a child. Whatever goes wrong here ends process
 * 1, and so everything: nothing could end it any more if it went on without hearing. */
static int watch(struct stage *stage)
{
    struct status_message message = {.kind = STATUS_ENDED};
    bool children = false;

    for (;;) {
        struct epoll_event ready[EVENT_SOURCES];
        int count = epoll_wait(stage->events, ready, EVENT_SOURCES, children ? 0 : -1);
        if (count < 0 && errno != EINTR)
            return STAGE_FAILED;
        for (int i = 0; i < count; i++) {
            /* The launcher writes one byte in all, so anything here is its end. */
            if (ready[i].data.fd == stage->config.go)
                return STAGE_FAILED;
            if (ready[i].data.fd == stage->config.status && !forward_signal(stage))
                return STAGE_FAILED;
            if (ready[i].data.fd == stage->clock && !end_in_time(stage))
                return STAGE_FAILED;
            children = children || ready[i].data.fd == stage->children;
        }
        if (!children)
            continue;
        enum reaping reaping = children_reap(stage, &message.number);
        if (reaping == REAPED_COMMAND)
            return say(stage, &message) ? 0 : STAGE_FAILED;
        children = reaping == REAPED_SOME;
    }
}

/* Unlike poll, epoll does not ask how many files may be open, which may be fewer than are waited for. */
static bool events_prepare(struct stage *stage)
{
    const int sources[EVENT_SOURCES] = {stage->config.go, stage->config.status, stage->children,
                                        stage->clock};

    stage->events = epoll_create1(EPOLL_CLOEXEC);
    for (int i = measure_holds(MEASURE_LAUNCHER_DEATH) ? 0 : EVENT_SOURCES - 1; i < EVENT_SOURCES; i++) {
        struct epoll_event event = {.events = EPOLLIN, .data.fd = sources[i]};
        if (epoll_ctl(stage->events, EPOLL_CTL_ADD, sources[i], &event) != 0)
            return false;
    }
    return true;
}

static bool signals_prepare(struct stage *stage)
{
    sigset_t all, children;

    sigfillset(&all);
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    signal(SIGCHLD, SIG_DFL);
    if (sigprocmask(SIG_SETMASK, &all, &stage->command_mask) != 0)
        return false;
    stage->children = signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
    stage->clock = time_limit_clock();
    return stage->children >= 0 && stage->clock >= 0;
}

/* Nobody in the sandbox may run before process 1, whatever the caller may do. */
static bool priorities_close(void)
{
    const struct rlimit none = {0, 0};

    return !measure_holds(MEASURE_PRIORITIES) ||
           (setrlimit(RLIMIT_NICE, &none) == 0 && setrlimit(RLIMIT_RTPRIO, &none) == 0);
}

/* No file of a crash, and no program that the machine's core_pattern names: the kernel starts one whatever
 * the limit is, 0 included, but for the value 1, by which it tells such a program's own crash (do_coredump
 * in fs/coredump.c). A file needs room for a page, so that 1 makes none either. A caller whose hard limit
 * is 0 leaves no choice. */
static bool core_close(void)
{
    const struct rlimit one = {1, 1}, none = {0, 0};

    return !measure_holds(MEASURE_NO_CORE) || setrlimit(RLIMIT_CORE, &one) == 0 ||
           setrlimit(RLIMIT_CORE, &none) == 0;
}

/* The last limits: they hold for this process too, so that what it measures is what the command gets. A
 * limit of open files leaves no room for more, hence the pipe first. */
static bool limits_set(struct stage *stage, struct evidence *evidence)
{
    const struct inner_config *config = &stage->config;
    struct rlimit files = {config->files_soft, config->files_hard};

    if (pipe2(stage->failure, O_CLOEXEC) != 0 || !core_close() || !priorities_close() ||
        (measure_holds(MEASURE_LIMIT_FILES) && setrlimit(RLIMIT_NOFILE, &files) != 0) ||
        getrlimit(RLIMIT_NOFILE, &files) != 0)
        return false;
    if (config->processes != 0)
        evidence->processes = process_limit_set(config->processes);
    /* Set and read back like the others, and set anew when the command starts. */
    if (!time_limit_start(stage->clock, config->time_seconds))
        return false;
    evidence->time_seconds = time_limit_left(stage->clock);
    evidence->files_soft = files.rlim_cur;
    evidence->files_hard = files.rlim_max;
    return true;
}

static bool variables_prepare(const struct inner_config *config)
{
    /* bubblewrap sets PWD for itself. */
    return config->working_variable ? setenv("PWD", config->directory, 1) == 0 : unsetenv("PWD") == 0;
}

/* Process 1 cannot see its parent's number; that the launcher still lives is what the go pipe says.
 * Without a process namespace this process must itself end what it started, and so must live until it has. */
static bool place_take(const struct inner_config *config)
{
    if (config->landlock_alone)
        return prctl(PR_SET_CHILD_SUBREAPER, 1) == 0;
    return prctl(PR_SET_PDEATHSIG, measure_holds(MEASURE_LAUNCHER_DEATH) ? SIGKILL : 0) == 0 &&
           (!measure_holds(MEASURE_OWN_PROCESSES) || getpid() == 1);
}

int inner_stage(const char *descriptor)
{
    struct arena *arena = arena_create(0);
    struct stage stage = {.terminal = {-1, -1}};
    struct status_message message = {.kind = STATUS_EVIDENCE};

    /* Before anything secret is read. */
    if (prctl(PR_SET_DUMPABLE, measure_holds(MEASURE_HIDDEN_PROCESS) ? 0 : 1) != 0)
        return STAGE_FAILED;
    prctl(PR_SET_NAME, "sbx-launch");
    if (arena == NULL || !config_load(arena, descriptor, &stage.config) || !place_take(&stage.config) ||
        !descriptors_keep(&stage.config) || !signals_prepare(&stage) || !events_prepare(&stage) ||
        !variables_prepare(&stage.config) || !terminal_prepare(&stage))
        return STAGE_FAILED;
    /* For the launcher's keeper. */
    int mounts = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
    struct landlock_result landlock;
    landlock_restrict(stage.config.rules, stage.config.rule_count, stage.config.streams, &landlock);
    evidence_measure(arena, &stage.config, &landlock, &message.evidence);
    if (!limits_set(&stage, &message.evidence) || !terminal_hand_over(&stage) ||
        !packet_send(stage.config.status, &message, sizeof message, mounts))
        return STAGE_FAILED;
    close(mounts);
    if (stage.config.arguments[0] == NULL)
        return 0;
    int code = STAGE_FAILED;
    if (wait_for_go(&stage) && time_limit_start(stage.clock, stage.config.time_seconds) &&
        (message.evidence.processes == 0 || process_limit_settle(stage.config.processes)) &&
        command_start(&stage))
        code = watch(&stage);
    if (stage.config.landlock_alone)
        descendants_end(0);
    return code;
}
