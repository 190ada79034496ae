#include "runtime/supervise.h"

#include "base/escape.h"
#include "runtime/descendants.h"
#include "runtime/limit_time.h"
#include "runtime/pass.h"
#include "runtime/process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ERROR_BYTES = 16384 };

static void close_once(int *descriptor)
{
    if (*descriptor >= 0)
        close(*descriptor);
    *descriptor = -1;
}

pid_t sandbox_end(struct sandbox *sandbox)
{
    pid_t left = 0;

    close_once(&sandbox->go);
    close_once(&sandbox->status);
    if (sandbox->process > 0) {
        /* End of file on the go pipe ends process 1 inside; bubblewrap follows. */
        if (!process_reap(sandbox->process, now_milliseconds() + ORPHAN_MILLISECONDS)) {
            kill(sandbox->process, SIGKILL);
            if (!process_reap(sandbox->process, now_milliseconds() + END_MILLISECONDS))
                left = sandbox->process;
        }
        pid_t orphan = descendants_end(sandbox->keeper);
        left = left != 0 ? left : orphan;
    }
    sandbox->process = 0;
    close_once(&sandbox->errors);
    return left;
}

/* Takes what is on the error pipe; returns false at its end. */
static bool errors_take(struct sandbox *sandbox, struct buffer *text)
{
    char chunk[4096];
    ssize_t got = read(sandbox->errors, chunk, sizeof chunk);

    if (got < 0)
        return errno == EAGAIN || errno == EINTR;
    if (text->length < ERROR_BYTES)
        buffer_bytes(text, chunk, (size_t)got);
    return got > 0;
}

static const char *errors_text(struct arena *arena, struct sandbox *sandbox, struct buffer *text)
{
    if (sandbox->errors >= 0) {
        fcntl(sandbox->errors, F_SETFL, O_NONBLOCK);
        int64_t deadline = now_milliseconds() + ORPHAN_MILLISECONDS;
        struct pollfd ready = {.fd = sandbox->errors, .events = POLLIN};
        while (now_milliseconds() < deadline && poll(&ready, 1, 100) > 0 && errors_take(sandbox, text))
            ;
    }
    size_t length = text->length;
    while (length > 0 && text->bytes[length - 1] == '\n')
        length--;
    return length == 0 ? NULL : escape_text(arena, text->bytes, length);
}

static struct outcome failed(struct arena *arena, struct sandbox *sandbox, struct buffer *text)
{
    struct outcome outcome = {.kind = OUTCOME_FAILED, .text = errors_text(arena, sandbox, text)};

    sandbox_end(sandbox);
    return outcome;
}

struct outcome sandbox_await(struct arena *arena, struct sandbox *sandbox, const struct signals *signals,
                             struct evidence *evidence, int *terminal)
{
    int64_t deadline = now_milliseconds() + (int64_t)START_SECONDS * 1000;
    struct buffer text = buffer_in(arena);
    struct status_message message;

    /* Whatever bubblewrap leaves behind comes to this process instead of process 1 of the machine. */
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    for (;;) {
        struct pollfd ready[] = {{.fd = sandbox->status, .events = POLLIN},
                                 {.fd = sandbox->errors, .events = POLLIN},
                                 {.fd = signals->descriptor, .events = POLLIN}};
        int64_t left = deadline - now_milliseconds();

        if (left <= 0) {
            sandbox_end(sandbox);
            return (struct outcome){.kind = OUTCOME_LATE, .text = errors_text(arena, sandbox, &text)};
        }
        if (poll(ready, 3, (int)left) < 0) {
            if (errno == EINTR)
                continue;
            return failed(arena, sandbox, &text);
        }
        if (ready[0].revents != 0) {
            int descriptor;
            if (!packet_take(sandbox->status, &message, sizeof message, &descriptor))
                return failed(arena, sandbox, &text);
            if (message.kind == STATUS_TERMINAL) {
                *terminal = descriptor;
                continue;
            }
            sandbox->mounts = descriptor;
            if (message.kind != STATUS_EVIDENCE)
                return failed(arena, sandbox, &text);
            *evidence = message.evidence;
            return (struct outcome){.kind = OUTCOME_READY};
        }
        if (ready[1].revents != 0 && !errors_take(sandbox, &text))
            return failed(arena, sandbox, &text);
        int number = ready[2].revents != 0 ? signals_next_end(signals) : 0;
        if (number != 0) {
            sandbox_end(sandbox);
            return (struct outcome){.kind = OUTCOME_INTERRUPTED, .number = number};
        }
    }
}

static bool asks_for_the_end(uint32_t number)
{
    return number == SIGTERM || number == SIGINT || number == SIGHUP || number == SIGQUIT;
}

/* Stops the launcher, and continues the command when it is continued itself. */
static void suspend(const struct sandbox *sandbox, struct terminal *terminal)
{
    struct status_message message = {.kind = STATUS_SIGNAL_GROUP, .number = SIGCONT};

    terminal_suspend(terminal);
    send(sandbox->status, &message, sizeof message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* One signal on its way to the command. From a terminal it is meant for everything in the foreground. Returns
 * whether process 1 has to answer within time. */
static bool signal_forward(const struct sandbox *sandbox, const struct signals *signals,
                           struct terminal *terminal)
{
    struct signalfd_siginfo information;
    struct status_message message = {.kind = STATUS_SIGNAL};

    if (read(signals->descriptor, &information, sizeof information) != (ssize_t)sizeof information ||
        information.ssi_signo == SIGCHLD)
        return false;
    if (information.ssi_signo == SIGWINCH && terminal->used) {
        terminal_size(terminal);
        /* The kernel tells the foreground of a terminal that has one. */
        if (terminal->keys)
            return false;
    }
    message.number = (int)information.ssi_signo;
    if (information.ssi_code == SI_KERNEL || information.ssi_signo == SIGTSTP ||
        information.ssi_signo == SIGCONT)
        message.kind = STATUS_SIGNAL_GROUP;
    send(sandbox->status, &message, sizeof message, MSG_NOSIGNAL | MSG_DONTWAIT);
    /* With keys the launcher stops when the command has stopped. */
    if (information.ssi_signo == SIGTSTP && !terminal->keys)
        raise(SIGSTOP);
    return asks_for_the_end(information.ssi_signo);
}

void streams_drain(struct streams *streams)
{
    for (int i = 1; i < 3; i++)
        while (streams->pump_from[i] >= 0) {
            struct pollfd ready = {.fd = streams->pump_from[i], .events = POLLIN};
            if (poll(&ready, 1, ORPHAN_MILLISECONDS) <= 0 || !streams_pump(streams, i))
                break;
        }
}

/* What to wait for on behalf of pair `i`: room in the pipe to the command, bytes in the one from it. */
static struct pollfd pump_event(const struct streams *streams, int i)
{
    if (streams->pump_from[i] < 0)
        return (struct pollfd){.fd = -1};
    return i == 0 ? (struct pollfd){.fd = streams->pump_to[0], .events = POLLOUT}
                  : (struct pollfd){.fd = streams->pump_from[i], .events = POLLIN};
}

/* Puts the message on the outcome; false when nothing more will come. */
static bool message_heed(const struct status_message *message, struct outcome *outcome)
{
    outcome->number = message->number;
    if (message->kind == STATUS_ENDED)
        outcome->kind = OUTCOME_ENDED;
    if (message->kind == STATUS_NOT_STARTED)
        outcome->kind = OUTCOME_NOT_STARTED;
    outcome->time_over = outcome->time_over || message->kind == STATUS_TIME_OVER;
    return message->kind == STATUS_STARTED || message->kind == STATUS_SIGNALLED ||
           message->kind == STATUS_TIME_OVER || message->kind == STATUS_STOPPED;
}

/* How long poll may wait. Process 1 answers a signal at once, whatever the command makes of it. */
static int wait_milliseconds(bool answer_owed, int64_t latest, const struct terminal *terminal)
{
    int64_t left = latest - now_milliseconds();

    if (terminal_waits(terminal))
        return TERMINAL_LOOK_MILLISECONDS;
    if (answer_owed)
        return ANSWER_MILLISECONDS / 10;
    if (latest == INT64_MAX)
        return -1;
    return left < 0 ? 0 : left < INT_MAX ? (int)left : INT_MAX;
}

struct outcome sandbox_run(struct arena *arena, struct sandbox *sandbox, const struct signals *signals,
                           struct streams *streams, struct terminal *terminal, uint64_t time_seconds,
                           struct watch *watch)
{
    enum {
        STATUS,
        SIGNALS,
        ERRORS,
        WATCH,
        PUMP,
        TERMINAL = PUMP + 3,
        WAITED_FOR = TERMINAL + TERMINAL_EVENTS
    };
    struct buffer text = buffer_in(arena);
    struct outcome outcome = {.kind = OUTCOME_FAILED};
    struct status_message message;
    int unwanted;
    bool started = false;
    int64_t deadline = 0; /* 0: process 1 owes no answer */
    int64_t latest = time_limit_latest(time_seconds);
    bool running = write(sandbox->go, "g", 1) == 1;

    while (running) {
        struct pollfd ready[WAITED_FOR] = {{.fd = sandbox->status, .events = POLLIN},
                                           {.fd = signals->descriptor, .events = POLLIN},
                                           {.fd = sandbox->errors, .events = POLLIN},
                                           {.fd = watch->socket, .events = POLLIN}};
        for (int i = 0; i < 3; i++)
            ready[PUMP + i] = pump_event(streams, i);
        /* Before, a key that means a signal would find nobody inside. */
        if (started)
            terminal_take(terminal);
        terminal_events(terminal, &ready[TERMINAL]);
        int most = wait_milliseconds(deadline != 0, latest, terminal);
        int count = poll(ready, WAITED_FOR, watch_timeout(watch, most));
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            break;
        if (deadline != 0 && ready[STATUS].revents == 0 && now_milliseconds() > deadline)
            return (struct outcome){.kind = OUTCOME_SILENT, .time_over = outcome.time_over};
        /* What the watch cannot hold ends the run at once, whatever else there is to say. */
        if (!watch_heed(watch, ready[WATCH].revents))
            return (struct outcome){.kind = OUTCOME_UNHELD};
        if (ready[STATUS].revents == 0 && now_milliseconds() > latest)
            return (struct outcome){.kind = OUTCOME_OVERDUE, .time_over = true};
        if (ready[SIGNALS].revents != 0 && signal_forward(sandbox, signals, terminal) && deadline == 0)
            deadline = now_milliseconds() + ANSWER_MILLISECONDS;
        for (int i = 0; i < 3; i++)
            if (ready[PUMP + i].revents != 0)
                streams_pump(streams, i);
        terminal_copy(terminal, &ready[TERMINAL]);
        if (ready[ERRORS].revents != 0 && !errors_take(sandbox, &text))
            close_once(&sandbox->errors);
        if (ready[STATUS].revents == 0)
            continue;
        if (!packet_take(sandbox->status, &message, sizeof message, &unwanted)) {
            if (!watch_heed_last(watch))
                return (struct outcome){.kind = OUTCOME_UNHELD};
            break;
        }
        /* What the watch stops for a moment goes on by itself. */
        if (message.kind == STATUS_STOPPED && !(message.number == SIGSTOP && watch_stopped(watch)))
            suspend(sandbox, terminal);
        started = started || message.kind == STATUS_STARTED;
        running = message_heed(&message, &outcome);
        deadline = message.kind == STATUS_SIGNALLED ? 0 : deadline;
    }
    if (outcome.kind == OUTCOME_FAILED)
        outcome.text = errors_text(arena, sandbox, &text);
    return outcome;
}
