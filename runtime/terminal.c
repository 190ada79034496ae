#include "runtime/terminal.h"

#include "runtime/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DRAIN_MILLISECONDS = 1000 };

/* The terminal of `stream` by a description of its own, whose flags are nobody else's. By its name it opens
 * only for its owner; /dev/tty opens for whoever has it as controlling terminal. Where neither does, the
 * caller's description must serve, and what is copied may block. */
static int open_again(int stream, unsigned device)
{
    char name[sizeof "/proc/self/fd/0"];
    const char *const names[] = {name, "/dev/tty"};

    snprintf(name, sizeof name, "/proc/self/fd/%d", stream);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        unsigned number = 0;
        int terminal = open(names[i], O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
        if (terminal >= 0 && ioctl(terminal, TIOCGDEV, &number) == 0 && number == device)
            return terminal;
        if (terminal >= 0)
            close(terminal);
    }
    return fcntl(stream, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
}

/* Makes the command's terminal; returns its other side, the one for the command, or -1. */
static int pair_make(struct terminal *terminal)
{
    int locked = 0;

    terminal->master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (terminal->master < 0 || ioctl(terminal->master, TIOCSPTLCK, &locked) != 0)
        return -1;
    return ioctl(terminal->master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
}

static bool is_device(int stream, unsigned device)
{
    unsigned number = 0;

    return ioctl(stream, TIOCGDEV, &number) == 0 && number == device;
}

static bool streams_take(struct terminal *terminal, struct streams *streams, unsigned device, int inside)
{
    for (int i = 0; i < 3; i++) {
        if (!isatty(i))
            continue;
        terminal->streams[i] = is_device(i, device);
        if (terminal->streams[i] ? dup3(inside, streams->inside[i], O_CLOEXEC) < 0
                                 : !streams_pipe(streams, i))
            return false;
    }
    return true;
}

bool terminal_prepare(struct terminal *terminal, struct streams *streams, enum terminal_place place)
{
    unsigned device = 0;
    int first = 0;

    *terminal = (struct terminal){.host = -1, .master = -1};
    while (first < 3 && !isatty(first))
        first++;
    if (first == 3)
        return true;
    int inside = place == TERMINAL_OUTSIDE ? pair_make(terminal) : open("/dev/null", O_RDWR | O_CLOEXEC);
    if (inside < 0 || ioctl(first, TIOCGDEV, &device) != 0 ||
        (terminal->host = open_again(first, device)) < 0 ||
        tcgetattr(terminal->host, &terminal->before) != 0 || !streams_take(terminal, streams, device, inside))
        return false;
    close(inside);
    terminal->used = true;
    terminal->keys = terminal->streams[STDIN_FILENO];
    return true;
}

void terminal_size(const struct terminal *terminal)
{
    struct winsize size;

    if (terminal->host >= 0 && ioctl(terminal->host, TIOCGWINSZ, &size) == 0)
        ioctl(terminal->master, TIOCSWINSZ, &size);
}

void terminal_begin(struct terminal *terminal)
{
    int master = terminal->master;
    struct termios settings = terminal->before;

    if (!terminal->used)
        return;
    /* The caller's terminal, which is not raw then, makes of the output what it makes of any. */
    if (!terminal->keys)
        settings.c_oflag &= ~(tcflag_t)OPOST;
    fcntl(master, F_SETFL, O_RDWR | O_NONBLOCK);
    tcsetattr(master, TCSANOW, &settings);
    terminal_size(terminal);
}

static bool in_foreground(const struct terminal *terminal)
{
    pid_t group = terminal->host < 0 ? 0 : tcgetpgrp(terminal->host);

    /* A terminal that is not this session's own, handed in by a program, has no foreground here. */
    return group == getpgrp() || (group < 0 && errno == ENOTTY);
}

/* A background process that sets a terminal is stopped, unless it blocks the signal for that. */
static bool set_quietly(int terminal, const struct termios *settings)
{
    sigset_t output, before;

    sigemptyset(&output);
    sigaddset(&output, SIGTTOU);
    sigprocmask(SIG_BLOCK, &output, &before);
    bool set = tcsetattr(terminal, TCSANOW, settings) == 0;
    sigprocmask(SIG_SETMASK, &before, NULL);
    return set;
}

bool terminal_waits(const struct terminal *terminal)
{
    return terminal->used && terminal->keys && !terminal->raw && terminal->host >= 0;
}

void terminal_take(struct terminal *terminal)
{
    if (!terminal_waits(terminal) || !in_foreground(terminal))
        return;
    /* The caller may have changed them while the launcher was stopped. */
    tcgetattr(terminal->host, &terminal->before);
    struct termios raw = terminal->before;
    cfmakeraw(&raw);
    terminal->raw = set_quietly(terminal->host, &raw);
    terminal_size(terminal);
}

void terminal_give_back(struct terminal *terminal)
{
    if (terminal->raw && terminal->host >= 0)
        set_quietly(terminal->host, &terminal->before);
    terminal->raw = false;
}

static bool is_empty(const struct terminal_piece *piece)
{
    return piece->from == piece->to;
}

void terminal_events(const struct terminal *terminal, struct pollfd events[TERMINAL_EVENTS])
{
    short host = 0, master = 0;

    if (terminal->raw && is_empty(&terminal->input) && terminal->master >= 0)
        host |= POLLIN;
    if (!is_empty(&terminal->output))
        host |= POLLOUT;
    else
        master |= POLLIN;
    if (!is_empty(&terminal->input))
        master |= POLLOUT;
    events[0] = (struct pollfd){.fd = host == 0 ? -1 : terminal->host, .events = host};
    events[1] = (struct pollfd){.fd = master == 0 ? -1 : terminal->master, .events = master};
}

/* Fills an empty piece; false when nothing will ever come again. */
static bool piece_fill(struct terminal_piece *piece, int from)
{
    ssize_t got = read(from, piece->bytes, sizeof piece->bytes);

    if (got <= 0)
        return got < 0 && (errno == EAGAIN || errno == EINTR);
    piece->from = 0;
    piece->to = (size_t)got;
    return true;
}

/* Writes what goes in; false when nothing can be written any more. */
static bool piece_pour(struct terminal_piece *piece, int to)
{
    ssize_t put = write(to, piece->bytes + piece->from, piece->to - piece->from);

    if (put < 0)
        return errno == EAGAIN || errno == EINTR;
    piece->from += (size_t)put;
    return true;
}

static void close_once(int *descriptor)
{
    if (*descriptor >= 0)
        close(*descriptor);
    *descriptor = -1;
}

/* The caller's terminal is gone: so must be the one inside, and what runs in its foreground hears of it. */
static void hang_up(struct terminal *terminal)
{
    terminal->raw = false;
    terminal->input.from = terminal->input.to = 0;
    terminal->output.from = terminal->output.to = 0;
    close_once(&terminal->host);
    close_once(&terminal->master);
}

void terminal_copy(struct terminal *terminal, const struct pollfd events[TERMINAL_EVENTS])
{
    bool host = terminal->host >= 0, master = terminal->master >= 0;

    if ((events[1].revents & POLLOUT) != 0)
        master = piece_pour(&terminal->input, terminal->master);
    if (events[1].revents != 0 && is_empty(&terminal->output) && master)
        master = piece_fill(&terminal->output, terminal->master);
    if (!is_empty(&terminal->output) && host)
        host = piece_pour(&terminal->output, terminal->host);
    if ((events[0].revents & (POLLIN | POLLHUP | POLLERR)) != 0 && is_empty(&terminal->input) && host) {
        /* To read in the background would stop the launcher, with the terminal still raw. */
        if (terminal->keys && in_foreground(terminal))
            host = piece_fill(&terminal->input, terminal->host);
        else if ((events[0].revents & POLLHUP) == 0)
            terminal->raw = false;
        else
            host = false;
    }
    if (!host && terminal->used)
        hang_up(terminal);
    if (!master)
        close_once(&terminal->master);
}

/* What was written before, as far as it goes out within time. */
static void drain(struct terminal *terminal)
{
    int64_t deadline = now_milliseconds() + DRAIN_MILLISECONDS;

    while (terminal->host >= 0 && (terminal->master >= 0 || !is_empty(&terminal->output))) {
        struct pollfd events[TERMINAL_EVENTS];
        terminal_events(terminal, events);
        events[0].events &= POLLOUT;
        events[0].fd = events[0].events == 0 ? -1 : events[0].fd;
        int64_t left = deadline - now_milliseconds();
        /* All of it is there already. */
        int wait = events[0].fd >= 0 ? (int)left : 0;
        if (left <= 0 || poll(events, TERMINAL_EVENTS, wait) <= 0)
            return;
        terminal_copy(terminal, events);
    }
}

void terminal_suspend(struct terminal *terminal)
{
    sigset_t stop, before;

    if (!terminal->used)
        return;
    drain(terminal);
    terminal_give_back(terminal);
    sigemptyset(&stop);
    sigaddset(&stop, SIGTSTP);
    sigprocmask(SIG_UNBLOCK, &stop, &before);
    /* By its default action, which the kernel leaves out in a group that nobody could continue. */
    kill(0, SIGTSTP);
    sigprocmask(SIG_SETMASK, &before, NULL);
    terminal_take(terminal);
}

void terminal_end(struct terminal *terminal)
{
    if (!terminal->used)
        return;
    drain(terminal);
    terminal_give_back(terminal);
    close_once(&terminal->host);
    close_once(&terminal->master);
    terminal->used = false;
}
