#include "runtime/managed.h"

#include "base/escape.h"
#include "base/vector.h"
#include "policy/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MANAGED_BYTES = 256 << 20 };

/* The system's own directory, and the way to it from one that only root can write. */
#ifdef __APPLE__
#define MANAGED_TOP "/Library"
#define MANAGED_STEPS "Application Support", "sbx", "managed.d"
#else
#define MANAGED_TOP "/etc"
#define MANAGED_STEPS "sbx", "managed.d"
#endif

/* Who may own what is read: root, and for --managed the caller. */
struct managed_walk {
    struct arena *arena;
    uid_t also;
    struct managed_list *list;
    struct note_list *notes;
};

static bool refuse(const struct managed_walk *walk, const char *path, const char *reason)
{
    note_add(walk->notes,
             (struct note){.code = SBX404_MANAGED_UNSAFE,
                           .text = arena_format(walk->arena, "managed policy %s: %s",
                                                escape_string(walk->arena, path), reason),
                           .help = walk->also == 0
                                       ? "it must be a regular file in a regular directory, both owned by "
                                         "root and writable by nobody else"
                                       : "it must be a regular file in a regular directory, each owned by "
                                         "root or you and writable by nobody else"});
    return false;
}

/* Opens `name` in `directory` (AT_FDCWD) without following a link, and checks owner and mode. -1 after a
 * note. */
static int open_safe(const struct managed_walk *walk, int directory, const char *name, const char *path,
                     mode_t type)
{
    int flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | (type == S_IFDIR ? O_DIRECTORY : 0);
    int descriptor = openat(directory, name, flags);
    const char *reason = NULL;
    struct stat status;

    if (descriptor < 0) {
        refuse(walk, path,
               errno == ELOOP || errno == ENOTDIR ? "it is a symbolic link or of another type"
                                                  : strerror(errno));
        return -1;
    }
    if (fstat(descriptor, &status) != 0)
        reason = strerror(errno);
    else if ((status.st_mode & S_IFMT) != type)
        reason = type == S_IFDIR ? "it is no directory" : "it is no regular file";
    else if (status.st_uid != 0 && status.st_uid != walk->also)
        reason = "it belongs to another user";
    else if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        reason = "others may write it";
    if (reason == NULL)
        return descriptor;
    refuse(walk, path, reason);
    close(descriptor);
    return -1;
}

static char *read_whole(struct arena *arena, int descriptor, size_t *length)
{
    struct buffer bytes = buffer_in(arena);
    char chunk[65536];
    ssize_t got;

    buffer_string(&bytes, "");
    while ((got = read(descriptor, chunk, sizeof chunk)) > 0 && bytes.length <= MANAGED_BYTES)
        buffer_bytes(&bytes, chunk, (size_t)got);
    *length = bytes.length;
    return got != 0 ? NULL : bytes.bytes;
}

static bool read_policy(const struct managed_walk *walk, int directory, const char *name, const char *path)
{
    int descriptor = open_safe(walk, directory, name, path, S_IFREG);
    const struct policy *policy = NULL;
    const char *error = "it cannot be read";
    size_t length;

    if (descriptor < 0)
        return false;
    char *bytes = read_whole(walk->arena, descriptor, &length);
    close(descriptor);
    if (bytes != NULL)
        policy = policy_read(walk->arena, bytes, length, &error);
    if (policy != NULL && policy->layers[0].kind != LAYER_MANAGED) {
        policy = NULL;
        error = "it holds a policy, not a managed one";
    }
    if (policy == NULL) {
        note_add(walk->notes, (struct note){.code = SBX405_MANAGED_UNREADABLE,
                                            .text = arena_format(walk->arena, "managed policy %s: %s",
                                                                 escape_string(walk->arena, path), error),
                                            .help = "compile it again with sbxc and put it there anew"});
        return false;
    }
    VECTOR_PUSH(walk->arena, walk->list, (struct managed_file){.path = path, .policy = policy});
    return true;
}

static int name_order(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Takes over `directory`, an open descriptor. */
static bool read_directory(const struct managed_walk *walk, int directory, const char *path)
{
    struct {
        const char **items;
        uint32_t count, capacity;
    } names = {0};
    DIR *stream = fdopendir(directory);
    const struct dirent *entry;
    bool good = true;

    if (stream == NULL) {
        close(directory);
        return refuse(walk, path, strerror(errno));
    }
    errno = 0;
    while ((entry = readdir(stream)) != NULL) {
        size_t length = strlen(entry->d_name);
        if (length > 4 && strcmp(entry->d_name + length - 4, ".bin") == 0)
            VECTOR_PUSH(walk->arena, &names, arena_strdup(walk->arena, entry->d_name));
    }
    if (errno != 0)
        good = refuse(walk, path, strerror(errno));
    if (names.count > 0)
        qsort(names.items, names.count, sizeof *names.items, name_order);
    for (uint32_t i = 0; i < names.count && good; i++)
        good = read_policy(walk, dirfd(stream), names.items[i],
                           arena_format(walk->arena, "%s/%s", path, names.items[i]));
    closedir(stream);
    return good;
}

bool managed_system(struct arena *arena, struct managed_list *list, struct note_list *notes)
{
    static const char *const steps[] = {MANAGED_STEPS};
    struct managed_walk walk = {.arena = arena, .also = 0, .list = list, .notes = notes};
    const char *path = MANAGED_TOP;
    /* Whoever can write it owns the machine; in a user namespace it may seem to be nobody's. */
    int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

    if (directory < 0)
        return errno == ENOENT || refuse(&walk, path, strerror(errno));
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        struct stat status;
        path = arena_format(arena, "%s/%s", path, steps[i]);
        if (fstatat(directory, steps[i], &status, AT_SYMLINK_NOFOLLOW) != 0 && errno == ENOENT) {
            close(directory);
            return true;
        }
        int next = open_safe(&walk, directory, steps[i], path, S_IFDIR);
        close(directory);
        directory = next;
        if (directory < 0)
            return false;
    }
    return read_directory(&walk, directory, path);
}

bool managed_directory(struct arena *arena, const char *directory, uid_t uid, struct managed_list *list,
                       struct note_list *notes)
{
    struct managed_walk walk = {.arena = arena, .also = uid, .list = list, .notes = notes};
    char *path = arena_strdup(arena, directory);
    size_t length = strlen(path);

    /* With a slash at its end a link would be followed. */
    while (length > 1 && path[length - 1] == '/')
        path[--length] = '\0';
    int descriptor = open_safe(&walk, AT_FDCWD, path, path, S_IFDIR);
    return descriptor >= 0 && read_directory(&walk, descriptor, path);
}
