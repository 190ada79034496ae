#include "policy/host.h"

#ifdef __APPLE__

#include <pwd.h>

const char *account_home(struct arena *arena, uint32_t uid)
{
    enum { ENTRY_LARGEST = 16 * 1024 };
    char *bytes = arena_alloc(arena, ENTRY_LARGEST);
    struct passwd entry, *found = NULL;
    if (getpwuid_r(uid, &entry, bytes, ENTRY_LARGEST, &found) != 0 || found == NULL)
        return NULL;
    return *entry.pw_dir == '/' ? arena_strdup(arena, entry.pw_dir) : NULL;
}

#else

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { DATABASE_LARGEST = 16 * 1024 * 1024, ANSWER_LARGEST = 4096, ANSWER_SECONDS = 10 };

/* Field number `number` of a line NAME:PASSWORD:UID:GID:GECOS:HOME:SHELL, or NULL. */
static const char *line_field(struct arena *arena, const char *line, size_t length, unsigned number)
{
    const char *end = line + length;
    for (; number > 0; number--) {
        const char *before = memchr(line, ':', (size_t)(end - line));
        if (before == NULL)
            return NULL;
        line = before + 1;
    }
    const char *colon = memchr(line, ':', (size_t)(end - line));
    return arena_copy(arena, line, (size_t)((colon != NULL ? colon : end) - line));
}

/* The home that the lines of `text` give for `uid`, or NULL. */
static const char *home_in(struct arena *arena, const char *text, size_t length, uid_t uid)
{
    enum { FIELD_UID = 2, FIELD_HOME = 5 };
    const char *wanted = arena_format(arena, "%llu", (unsigned long long)uid);
    for (const char *end = text + length; text < end;) {
        const char *line_end = memchr(text, '\n', (size_t)(end - text));
        size_t line = (size_t)((line_end != NULL ? line_end : end) - text);
        const char *number = line_field(arena, text, line, FIELD_UID);
        if (number != NULL && strcmp(number, wanted) == 0) {
            const char *home = line_field(arena, text, line, FIELD_HOME);
            return home != NULL && *home == '/' ? home : NULL;
        }
        text += line + (line_end != NULL);
    }
    return NULL;
}

static bool actions_prepare(posix_spawn_file_actions_t *actions, int out)
{
    return posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0) == 0 &&
           posix_spawn_file_actions_addopen(actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0) == 0 &&
           posix_spawn_file_actions_adddup2(actions, out, STDOUT_FILENO) == 0;
}

static pid_t getent_start(struct arena *arena, uid_t uid, int out)
{
    static const char *const programs[] = {"/usr/bin/getent", "/bin/getent"};
    char *arguments[] = {arena_strdup(arena, "getent"), arena_strdup(arena, "passwd"),
                         arena_format(arena, "%llu", (unsigned long long)uid), NULL};
    char *environment[] = {NULL};
    posix_spawn_file_actions_t actions;
    pid_t child = -1;
    if (posix_spawn_file_actions_init(&actions) != 0)
        return -1;
    bool prepared = actions_prepare(&actions, out);
    for (size_t i = 0; prepared && child < 0 && i < sizeof programs / sizeof *programs; i++)
        if (posix_spawn(&child, programs[i], &actions, NULL, arguments, environment) != 0)
            child = -1;
    posix_spawn_file_actions_destroy(&actions);
    return child;
}

static int milliseconds_left(const struct timespec *deadline)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    long long left = (deadline->tv_sec - now.tv_sec) * 1000LL + (deadline->tv_nsec - now.tv_nsec) / 1000000;
    return left > 0 ? (int)left : 0;
}

/* What arrives at `in` until its end. False if it is too much or takes too long: a name service may hang. */
static bool answer_read(int in, char answer[ANSWER_LARGEST], size_t *length)
{
    struct timespec deadline;
    clock_gettime(CLOCK_MONOTONIC, &deadline);
    deadline.tv_sec += ANSWER_SECONDS;
    *length = 0;
    while (*length < ANSWER_LARGEST) {
        struct pollfd wait = {.fd = in, .events = POLLIN};
        int ready = poll(&wait, 1, milliseconds_left(&deadline));
        if (ready < 0 && errno == EINTR)
            continue;
        if (ready <= 0)
            return false;
        ssize_t size = read(in, answer + *length, ANSWER_LARGEST - *length);
        if (size == 0)
            return true;
        if (size < 0 && errno != EINTR)
            return false;
        *length += size > 0 ? (size_t)size : 0;
    }
    return false;
}

static const char *home_from_getent(struct arena *arena, uid_t uid)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return NULL;
    pid_t child = getent_start(arena, uid, ends[1]);
    close(ends[1]);
    char *answer = arena_alloc(arena, ANSWER_LARGEST);
    size_t length = 0;
    int status = -1;
    bool answered = child > 0 && answer_read(ends[0], answer, &length);
    close(ends[0]);
    if (child > 0) {
        if (!answered)
            kill(child, SIGKILL);
        while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
        }
    }
    return answered && status == 0 ? home_in(arena, answer, length, uid) : NULL;
}

const char *account_home(struct arena *arena, uint32_t uid)
{
    const char *error = NULL, *home = NULL;
    size_t length = 0;
    const char *text = file_read(arena, "/etc/passwd", DATABASE_LARGEST, &length, &error);
    if (text != NULL)
        home = home_in(arena, text, length, uid);
    return home != NULL ? home : home_from_getent(arena, uid);
}

#endif
