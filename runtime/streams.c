#include "runtime/streams.h"

#include "base/measure.h"
#include "runtime/link.h"
#include "runtime/report.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool stream_refuse(int i, const char *why, struct note_list *notes)
{
    note_add(notes, (struct note){
                        .code = SBX464_STREAM_REFUSED,
                        .text = arena_format(notes->arena, "%s %s", stream_name(i), why),
                        .help = "redirect it, for example to /dev/null",
                    });
    return false;
}

/* Whether the command may have the descriptor itself. Through /proc/self/fd it could be opened again for
 * writing, however it was opened here, so reading alone is not enough. */
static bool is_granted(struct arena *arena, const struct bound_policy *bound, int i,
                       const struct stat *status)
{
    char link[sizeof "/proc/self/fd/0"], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", i);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length <= 0)
        return false;
    path[length] = '\0';
    /* A file without a name here ("... (deleted)", "/memfd:...") is not what stands at that path. */
    const struct resolved *leads = resolver_find(resolver_create(arena), path);
    return path[0] == '/' && leads->kind == ENTRY_FILE && leads->link_count == 0 &&
           leads->device == status->st_dev && leads->inode == status->st_ino &&
           bound_level(bound, path, (size_t)length) == LEVEL_WRITE;
}

static bool stream_pass(struct streams *streams, int i)
{
    streams->inside[i] = fcntl(i, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    return streams->inside[i] >= 0;
}

/* Output and errors that go to one file keep their order in one pipe. */
static bool stream_join(struct streams *streams, int i, const struct stat *status)
{
    struct stat output;
    if (i != STDERR_FILENO || streams->pump_to[STDOUT_FILENO] < 0 || fstat(STDOUT_FILENO, &output) != 0 ||
        output.st_dev != status->st_dev || output.st_ino != status->st_ino)
        return false;
    streams->inside[i] = fcntl(streams->inside[STDOUT_FILENO], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    return streams->inside[i] >= 0;
}

bool streams_pipe(struct streams *streams, int i)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    if (streams->inside[i] >= 0)
        close(streams->inside[i]);
    int ours = ends[i == STDIN_FILENO ? 1 : 0];
    int file = fcntl(i, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    streams->inside[i] = ends[i == STDIN_FILENO ? 0 : 1];
    streams->pump_from[i] = i == STDIN_FILENO ? file : ours;
    streams->pump_to[i] = i == STDIN_FILENO ? ours : file;
    return file >= 0 && fcntl(ours, F_SETFL, fcntl(ours, F_GETFL) | O_NONBLOCK) == 0;
}

static bool stream_prepare(struct streams *streams, const struct bound_policy *bound, int i,
                           struct note_list *notes)
{
    struct stat status;
    if (fstat(i, &status) != 0)
        return stream_refuse(i, "is closed", notes);
    if (S_ISDIR(status.st_mode))
        return stream_refuse(i, "is a directory", notes);
    if ((fcntl(i, F_GETFL) & O_PATH) != 0)
        return stream_refuse(i, "is a descriptor that opens no file", notes);
    bool stored = S_ISREG(status.st_mode) || S_ISBLK(status.st_mode);
    if (!stored || is_granted(notes->arena, bound, i, &status) || !measure_holds(MEASURE_STREAM_PIPES))
        return stream_pass(streams, i) ||
               stream_refuse(i, arena_format(notes->arena, "cannot be handed on: %s", strerror(errno)),
                             notes);
    if (!stream_join(streams, i, &status) && !streams_pipe(streams, i))
        return stream_refuse(i, arena_format(notes->arena, "cannot be handed on: %s", strerror(errno)),
                             notes);
    note_add(notes, (struct note){
                        .code = SBX465_STREAM_PIPED,
                        .text = arena_format(notes->arena,
                                             "%s is a file that the policy does not let the command write; "
                                             "it passes through a pipe",
                                             stream_name(i)),
                    });
    return true;
}

bool streams_prepare(struct streams *streams, const struct bound_policy *bound, struct note_list *notes)
{
    *streams = (struct streams){.inside = {-1, -1, -1}, .pump_from = {-1, -1, -1}, .pump_to = {-1, -1, -1}};
    for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++)
        if (!stream_prepare(streams, bound, i, notes))
            return false;
    return true;
}

/* How often one call copies before the other streams have their turn. */
enum { PUMP_ROUNDS = 64 };

static bool pump_finish(struct streams *streams, int i)
{
    close(streams->pump_from[i]);
    close(streams->pump_to[i]);
    streams->pump_from[i] = streams->pump_to[i] = -1;
    return false;
}

/* From a file into the pipe. A write of at most PIPE_BUF bytes goes in whole or not at all, and what did
 * not go in is read again next time, so that the file's position is what the command has been given. */
static bool pump_in(struct streams *streams, int i)
{
    char bytes[PIPE_BUF];
    for (int round = 0; round < PUMP_ROUNDS; round++) {
        ssize_t length = read(streams->pump_from[i], bytes, sizeof bytes);
        if (length < 0 && errno == EINTR)
            continue;
        if (length <= 0)
            return pump_finish(streams, i);
        ssize_t written = write(streams->pump_to[i], bytes, (size_t)length);
        if (written == length)
            continue;
        bool full = written < 0 && (errno == EAGAIN || errno == EINTR);
        if (lseek(streams->pump_from[i], -length, SEEK_CUR) < 0 || !full)
            return pump_finish(streams, i);
        break;
    }
    return true;
}

/* A command that stops reading must not end the launcher: the signal of a broken pipe is taken back before
 * it counts. */
static bool pump_in_quietly(struct streams *streams, int i)
{
    sigset_t broken, before, pending;
    sigemptyset(&broken);
    sigaddset(&broken, SIGPIPE);
    sigprocmask(SIG_BLOCK, &broken, &before);
    sigpending(&pending);
    bool more = pump_in(streams, i);
    if (!more && !sigismember(&pending, SIGPIPE))
        sigtimedwait(&broken, NULL, &(struct timespec){0});
    sigprocmask(SIG_SETMASK, &before, NULL);
    return more;
}

static bool pump_out(struct streams *streams, int i)
{
    char bytes[1 << 14];
    for (int round = 0; round < PUMP_ROUNDS; round++) {
        ssize_t length = read(streams->pump_from[i], bytes, sizeof bytes);
        if (length < 0 && errno == EINTR)
            continue;
        if (length < 0 && errno == EAGAIN)
            return true;
        if (length <= 0)
            return pump_finish(streams, i);
        /* The command hears of it by the broken pipe. */
        if (!write_all(streams->pump_to[i], bytes, (size_t)length)) {
            streams->lost[i] = errno;
            return pump_finish(streams, i);
        }
    }
    return true;
}

bool streams_pump(struct streams *streams, int i)
{
    if (streams->pump_from[i] < 0)
        return false;
    return i == STDIN_FILENO ? pump_in_quietly(streams, i) : pump_out(streams, i);
}
