#include "runtime/cgroup.h"

#include "base/escape.h"
#include "runtime/process.h"
#include "runtime/small_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char prefix[] = "sbx-";

enum { ID_LENGTH = 32, MAKE_TRIES = 8, REMOVE_MILLISECONDS = 2000 };

static bool fail(struct arena *arena, const struct cgroup *group, const char *what, const char **why)
{
    *why = arena_format(arena, "%s/%s: %s", escape_string(arena, group->path), what, strerror(errno));
    return false;
}

static bool is_own_name(const char *name)
{
    return strncmp(name, prefix, sizeof prefix - 1) == 0 &&
           strspn(name + sizeof prefix - 1, "0123456789abcdef") == ID_LENGTH &&
           strlen(name) == sizeof prefix - 1 + ID_LENGTH;
}

static int open_locked(int parent, const char *name)
{
    int directory = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (directory >= 0 && flock(directory, LOCK_EX | LOCK_NB) == 0)
        return directory;
    if (directory >= 0)
        close(directory);
    return -1;
}

/* A group whose launcher lives is locked, and one with processes in it cannot be removed. */
static void remove_left(int parent)
{
    int copy = openat(parent, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = copy < 0 ? NULL : fdopendir(copy);

    if (list == NULL) {
        if (copy >= 0)
            close(copy);
        return;
    }
    for (struct dirent *entry; (entry = readdir(list)) != NULL;) {
        int directory = is_own_name(entry->d_name) ? open_locked(parent, entry->d_name) : -1;
        if (directory < 0)
            continue;
        unlinkat(parent, entry->d_name, AT_REMOVEDIR);
        close(directory);
    }
    closedir(list);
}

/* Another launch may take the new group for one that was left until it is locked. */
static bool make_locked(struct cgroup *group, const char *name)
{
    for (int i = 0; i < MAKE_TRIES; i++) {
        struct stat here, named;
        if (mkdirat(group->parent, name, 0755) != 0 && errno != EEXIST)
            return false;
        group->directory = open_locked(group->parent, name);
        if (group->directory >= 0 && fstat(group->directory, &here) == 0 &&
            fstatat(group->parent, name, &named, AT_SYMLINK_NOFOLLOW) == 0 && here.st_ino == named.st_ino)
            return true;
        if (group->directory >= 0)
            close(group->directory);
        group->directory = -1;
    }
    return false;
}

bool cgroup_make(struct arena *arena, const struct cgroup_place *place, const char *id, struct cgroup *group,
                 const char **why)
{
    const char *name = arena_format(arena, "%s%s", prefix, id);

    *group = (struct cgroup){.path = arena_format(arena, "%s/%s", place->parent, name),
                             .directory = -1,
                             .version = place->version};
    group->parent = open(place->parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (group->parent < 0)
        return fail(arena, group, "", why);
    remove_left(group->parent);
    if (make_locked(group, name))
        return true;
    fail(arena, group, "", why);
    cgroup_remove(group);
    return false;
}

/* Writes a limit and reads it back: the kernel may round it down, but never up or away. */
static bool limit_set(struct arena *arena, const struct cgroup *group, const char *name, uint64_t limit,
                      const char **why)
{
    if (!text_write(group->directory, name, arena_format(arena, "%llu", (unsigned long long)limit)))
        return fail(arena, group, name, why);
    const char *text = small_file(arena, group->directory, name);
    char *end;
    uint64_t holds = strtoull(text, &end, 10);
    if (end != text && holds <= limit)
        return true;
    *why = arena_format(arena, "%s/%s is %s after %llu was written", escape_string(arena, group->path), name,
                        escape_string(arena, text), (unsigned long long)limit);
    return false;
}

bool cgroup_limit_tasks(struct arena *arena, const struct cgroup *group, uint64_t tasks, const char **why)
{
    return limit_set(arena, group, "pids.max", tasks, why);
}

static bool has_file(const struct cgroup *group, const char *name)
{
    return faccessat(group->directory, name, F_OK, 0) == 0;
}

bool cgroup_limit_memory(struct arena *arena, const struct cgroup *group, uint64_t bytes, const char **why)
{
    if (group->version == 2) {
        /* One process without memory would leave the others in a state that nobody foresaw. */
        if (!text_write(group->directory, "memory.oom.group", "1"))
            return fail(arena, group, "memory.oom.group", why);
        return limit_set(arena, group, "memory.max", bytes, why) &&
               (!has_file(group, "memory.swap.max") || limit_set(arena, group, "memory.swap.max", 0, why));
    }
    if (!limit_set(arena, group, "memory.limit_in_bytes", bytes, why))
        return false;
    /* Memory and swap together; where the kernel does not count swap, none is used. */
    return has_file(group, "memory.memsw.limit_in_bytes")
               ? limit_set(arena, group, "memory.memsw.limit_in_bytes", bytes, why)
               : limit_set(arena, group, "memory.swappiness", 0, why);
}

bool cgroup_enter(struct arena *arena, const struct cgroup *group, pid_t process, const char **why)
{
    if (!text_write(group->directory, "cgroup.procs", arena_format(arena, "%ld", (long)process)))
        return fail(arena, group, "cgroup.procs", why);
    if (strtol(small_file(arena, group->directory, "cgroup.procs"), NULL, 10) == (long)process)
        return true;
    *why = arena_format(arena, "%s does not hold the process that was moved there",
                        escape_string(arena, group->path));
    return false;
}

/* The number after `name` in a file of lines "NAME NUMBER"; 0 if it is not there. */
static uint64_t count_in(struct arena *arena, const struct cgroup *group, const char *file, const char *name)
{
    const char *text = small_file(arena, group->directory, file);
    size_t length = strlen(name);

    for (const char *line = text; *line != '\0'; line += strcspn(line, "\n"), line += *line == '\n')
        if (strncmp(line, name, length) == 0 && line[length] == ' ')
            return strtoull(line + length, NULL, 10);
    return 0;
}

uint64_t cgroup_refused(struct arena *arena, const struct cgroup *group)
{
    return group->path == NULL ? 0 : count_in(arena, group, "pids.events", "max");
}

uint64_t cgroup_killed(struct arena *arena, const struct cgroup *group)
{
    if (group->path == NULL)
        return 0;
    return count_in(arena, group, group->version == 2 ? "memory.events" : "memory.oom_control", "oom_kill");
}

void cgroup_remove(struct cgroup *group)
{
    const struct timespec pause = {.tv_nsec = 2 * 1000 * 1000};
    int64_t deadline = now_milliseconds() + REMOVE_MILLISECONDS;

    if (group->path == NULL)
        return;
    const char *name = strrchr(group->path, '/') + 1;
    if (group->directory >= 0) {
        while (unlinkat(group->parent, name, AT_REMOVEDIR) != 0 && errno == EBUSY &&
               now_milliseconds() < deadline)
            nanosleep(&pause, NULL);
        close(group->directory);
    }
    if (group->parent >= 0)
        close(group->parent);
    *group = (struct cgroup){0};
}
