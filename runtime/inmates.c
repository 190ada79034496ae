#include "runtime/inmates.h"

#include "base/vector.h"
#include "runtime/keeper_mount.h"
#include "runtime/link.h"
#include "runtime/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#ifndef STATX_MNT_ID_UNIQUE
#define STATX_MNT_ID_UNIQUE 0x4000U
#endif

uint64_t mount_of(int directory, const char *name, int flags, bool *top)
{
    struct statx status;
    bool known =
        statx(directory, name, flags | AT_NO_AUTOMOUNT, STATX_MNT_ID | STATX_MNT_ID_UNIQUE, &status) == 0;
    if (known && (status.stx_mask & (STATX_MNT_ID | STATX_MNT_ID_UNIQUE)) == 0) {
        errno = ENOSYS;
        known = false;
    }
    *top = known && (status.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
    return known ? status.stx_mnt_id : 0;
}

bool own_mounts_have(const struct own_mounts *own, uint64_t number)
{
    for (uint32_t i = 0; i < own->count; i++)
        if (own->items[i] == number)
            return true;
    return false;
}

bool inmates_find(struct inmates *inmates, struct arena *arena)
{
    struct statfs system;
    char self[32];

    *inmates = (struct inmates){.arena = arena, .proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    if (inmates->proc < 0 || fstatfs(inmates->proc, &system) != 0)
        return false;
    /* This process has no number in the sandbox's, and one in its own. */
    errno = EXDEV;
    return system.f_type == PROC_SUPER_MAGIC && readlinkat(inmates->proc, "self", self, sizeof self) < 0 &&
           errno == ENOENT && faccessat(inmates->proc, "1/stat", F_OK, 0) == 0;
}

static DIR *directory_list(int directory, const char *name)
{
    int own = openat(directory, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = own < 0 ? NULL : fdopendir(own);
    if (list == NULL && own >= 0)
        close(own);
    return list;
}

/* The next entry that is a number; its text, or NULL at the end. */
static const char *number_next(DIR *list)
{
    const struct dirent *entry = NULL;
    do
        entry = readdir(list);
    while (entry != NULL && (entry->d_name[0] < '0' || entry->d_name[0] > '9'));
    return entry == NULL ? NULL : entry->d_name;
}

static ssize_t text_read(int directory, const char *name, char *text, size_t size)
{
    int file = openat(directory, name, O_RDONLY | O_CLOEXEC);
    ssize_t got = file < 0 ? -1 : read(file, text, size - 1);
    if (file >= 0)
        close(file);
    text[got < 0 ? 0 : got] = '\0';
    return got;
}

/* As ps shows it; 'X' of one that is gone. */
static char state_of(int directory, const char *name)
{
    char text[512];
    const char *end = text_read(directory, name, text, sizeof text) <= 0 ? NULL : strrchr(text, ')');
    return end == NULL || end[1] != ' ' ? 'X' : end[2];
}

/* A parent that waits for its vfork child cannot be stopped before that has gone on, and does nothing. */
static bool waits_for_child(int directory, const char *name)
{
    char text[256];
    if (text_read(directory, name, text, sizeof text) <= 0)
        return false;
    long call = strtol(text, NULL, 10);
#ifdef SYS_vfork
    if (call == SYS_vfork)
        return true;
#endif
    return call == SYS_clone || call == SYS_clone3;
}

static bool thread_rests(int threads, const char *thread)
{
    char name[64];
    snprintf(name, sizeof name, "%.20s/stat", thread);
    char state = state_of(threads, name);
    snprintf(name, sizeof name, "%.20s/syscall", thread);
    return strchr("TtZX", state) != NULL || (state == 'D' && waits_for_child(threads, name));
}

static bool process_rests(int process)
{
    DIR *threads = directory_list(process, "task");
    const char *thread = NULL;
    bool rests = true;

    while (threads != NULL && rests && (thread = number_next(threads)) != NULL)
        rests = thread_rests(dirfd(threads), thread);
    if (threads != NULL)
        closedir(threads);
    return rests;
}

static void process_signal(int process, int number)
{
    syscall(SYS_pidfd_send_signal, process, number, NULL, 0);
}

static bool is_asleep(const struct inmates *inmates, pid_t process)
{
    for (uint32_t i = 0; i < inmates->asleep.count; i++)
        if (inmates->asleep.items[i] == process)
            return true;
    return false;
}

/* What is done with each process, by a descriptor of its directory; false ends the walk. */
typedef bool process_visit(struct inmates *inmates, int process, pid_t number, void *context);

static bool processes_visit(struct inmates *inmates, process_visit *visit, void *context)
{
    DIR *list = directory_list(inmates->proc, ".");
    const char *name = NULL;
    bool all = list != NULL;

    while (all && (name = number_next(list)) != NULL) {
        pid_t number = (pid_t)strtol(name, NULL, 10);
        int process = number <= 1 ? -1 : openat(inmates->proc, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (process < 0)
            continue;
        all = visit(inmates, process, number, context);
        close(process);
    }
    if (list != NULL)
        closedir(list);
    return all;
}

static bool visit_first(struct inmates *inmates, int process, pid_t number, void *context)
{
    (void)context;
    if (state_of(process, "stat") == 'T')
        VECTOR_PUSH(inmates->arena, &inmates->asleep, number);
    else
        process_signal(process, SIGSTOP);
    return true;
}

struct rest {
    uint32_t count;
    bool all;
};

static bool visit_again(struct inmates *inmates, int process, pid_t number, void *context)
{
    struct rest *rest = context;
    rest->count++;
    if (process_rests(process))
        return true;
    rest->all = false;
    if (!is_asleep(inmates, number))
        process_signal(process, SIGSTOP);
    return true;
}

bool inmates_stop(struct inmates *inmates)
{
    const struct timespec shortly = {.tv_nsec = 50 * 1000};
    int64_t deadline = now_milliseconds() + STOP_MILLISECONDS;
    struct rest before = {0};

    if (inmates->stopped)
        return true;
    inmates->asleep.count = 0;
    if (!processes_visit(inmates, visit_first, NULL))
        return false;
    /* Twice the same: what was made while the first look went on is seen by the second. */
    for (;;) {
        struct rest now = {.all = true};
        if (!processes_visit(inmates, visit_again, &now))
            return false;
        if (now.all && before.all && now.count == before.count)
            break;
        if (now_milliseconds() > deadline)
            return false;
        if (!now.all)
            nanosleep(&shortly, NULL);
        before = now;
    }
    inmates->stopped = true;
    return true;
}

static bool visit_rest(struct inmates *inmates, int process, pid_t number, void *context)
{
    (void)inmates;
    (void)number;
    (void)context;
    return process_rests(process);
}

bool inmates_rest(const struct inmates *inmates)
{
    struct inmates look = *inmates;
    return processes_visit(&look, visit_rest, NULL);
}

static bool visit_continue(struct inmates *inmates, int process, pid_t number, void *context)
{
    (void)context;
    if (!is_asleep(inmates, number))
        process_signal(process, SIGCONT);
    return true;
}

void inmates_continue(struct inmates *inmates)
{
    if (inmates->stopped)
        processes_visit(inmates, visit_continue, NULL);
    inmates->stopped = false;
}

void inmates_kill(const struct inmates *inmates)
{
    int process = openat(inmates->proc, "1", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (process < 0)
        return;
    process_signal(process, SIGKILL);
    close(process);
}

struct search {
    const struct watch_place *place;
    const struct own_mounts *own;
};

/* Takes the kernel's mark of what has no name any more off `text`. */
static bool deleted_strip(char *text)
{
    static const char deleted[] = " (deleted)";
    size_t length = strlen(text), ending = sizeof deleted - 1;
    bool gone = length > ending && strcmp(text + length - ending, deleted) == 0;
    if (gone)
        text[length - ending] = '\0';
    return gone;
}

/* Whether the descriptor (or working directory) `name`, which leads to `text`, is another way than the one that
 * leads there now. */
static bool is_other_way(const struct search *search, int directory, const char *name, char *text)
{
    bool gone = deleted_strip(text), top;
    struct stat status;

    if (!path_covers(search->place->path, text))
        return false;
    /* Through a directory that may be used, only a way to what lies in it matters. */
    if (search->place->kind == WATCH_PIN &&
        (fstatat(directory, name, &status, 0) != 0 || !S_ISDIR(status.st_mode)))
        return false;
    uint64_t way = mount_of(directory, name, 0, &top);
    if (way != 0 && own_mounts_have(search->own, way))
        return false;
    int entry = gone ? -1 : keeper_open(text);
    uint64_t now = entry < 0 ? 0 : mount_of(entry, "", AT_EMPTY_PATH, &top);
    if (entry >= 0)
        close(entry);
    return way == 0 || way != now;
}

/* Descriptors that wait in a socket are not seen, but counted. */
static bool has_waiting(int descriptors, const char *name)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "../fdinfo/%.20s", name);
    const char *count =
        text_read(descriptors, path, text, sizeof text) <= 0 ? NULL : strstr(text, "scm_fds:");
    return count != NULL && strtol(count + 8, NULL, 10) != 0;
}

static bool link_holds(const struct search *search, int directory, const char *name)
{
    char text[8192];
    ssize_t length = readlinkat(directory, name, text, sizeof text - 1);
    if (length < 0)
        return errno != ENOENT && errno != ESRCH;
    text[length] = '\0';
    if (text[0] == '/')
        return is_other_way(search, directory, name, text);
    return strncmp(text, "socket:", 7) == 0 && has_waiting(directory, name);
}

static bool descriptors_hold(const struct search *search, int thread)
{
    DIR *list = directory_list(thread, "fd");
    const char *name = NULL;
    bool hold = list == NULL && errno != ENOENT && errno != ESRCH;

    while (list != NULL && !hold && (name = number_next(list)) != NULL)
        hold = link_holds(search, dirfd(list), name);
    if (list != NULL)
        closedir(list);
    return hold;
}

static bool thread_holds(const struct search *search, int threads, const char *name)
{
    int thread = openat(threads, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (thread < 0)
        return errno != ENOENT && errno != ESRCH;
    bool hold = link_holds(search, thread, "cwd") || link_holds(search, thread, "root") ||
                descriptors_hold(search, thread);
    close(thread);
    return hold;
}

/* A mapping of what may be read matters only if it is shared: by such a one the file can be written. */
static bool mapping_holds(const struct watch_place *place, char *line)
{
    char *path = strchr(line, '/'), *rights = strchr(line, ' ');
    if (path == NULL || rights == NULL || rights > path)
        return false;
    deleted_strip(path);
    if (!path_covers(place->path, path))
        return false;
    return place->kind == WATCH_MASK || (place->kind == WATCH_READ && rights[4] == 's');
}

static bool mappings_hold(const struct search *search, int process)
{
    int descriptor = openat(process, "maps", O_RDONLY | O_CLOEXEC);
    FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "r");
    char *line = NULL;
    size_t size = 0;
    ssize_t length = 0;
    bool hold = file == NULL && errno != ENOENT && errno != ESRCH;

    while (file != NULL && !hold && (length = getline(&line, &size, file)) > 0) {
        line[length - 1] = '\0';
        hold = mapping_holds(search->place, line);
    }
    free(line);
    if (file != NULL)
        fclose(file);
    else if (descriptor >= 0)
        close(descriptor);
    return hold;
}

static bool visit_clean(struct inmates *inmates, int process, pid_t number, void *context)
{
    const struct search *search = context;
    DIR *threads = directory_list(process, "task");
    const char *thread = NULL;
    bool hold = threads == NULL && errno != ENOENT && errno != ESRCH;

    (void)inmates;
    (void)number;
    while (threads != NULL && !hold && (thread = number_next(threads)) != NULL)
        hold = thread_holds(search, dirfd(threads), thread);
    if (threads != NULL)
        closedir(threads);
    return !hold && !mappings_hold(search, process);
}

bool inmates_hold(const struct inmates *inmates, const struct watch_place *place,
                  const struct own_mounts *own)
{
    struct inmates look = *inmates;
    struct search search = {.place = place, .own = own};
    return !processes_visit(&look, visit_clean, &search);
}
