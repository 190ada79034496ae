#include "policy/host_look.h"

#include "base/vector.h"
#include "policy/host_path.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

uint32_t look_user(void)
{
    return geteuid();
}

static struct look look_of(const struct stat *about)
{
    enum look_kind kind = S_ISREG(about->st_mode)   ? LOOK_FILE
                          : S_ISDIR(about->st_mode) ? LOOK_DIRECTORY
                          : S_ISLNK(about->st_mode) ? LOOK_LINK
                                                    : LOOK_OTHER;
    return (struct look){.kind = kind, .owner = about->st_uid, .open = (about->st_mode & S_IWOTH) != 0};
}

static struct look look_failed(struct arena *arena, int error)
{
    if (error == ENOENT || error == ENOTDIR)
        return (struct look){.kind = LOOK_MISSING};
    return (struct look){.kind = LOOK_UNKNOWN, .problem = arena_strdup(arena, strerror(error))};
}

struct look look_at(struct arena *arena, const char *path)
{
    struct stat about;
    return lstat(path, &about) == 0 ? look_of(&about) : look_failed(arena, errno);
}

struct look look_behind(struct arena *arena, const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 ? look_of(&about) : look_failed(arena, errno);
}

bool look_into(struct arena *arena, const char *path, const char *name, struct look *holder,
               struct look *inside)
{
    struct stat outer, inner;
    (void)arena;
    int file = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (file < 0)
        return false;
    bool there = fstat(file, &outer) == 0 && fstatat(file, name, &inner, AT_SYMLINK_NOFOLLOW) == 0;
    close(file);
    if (!there)
        return false;
    *holder = look_of(&outer);
    *inside = look_of(&inner);
    return true;
}

char *look_text(struct arena *arena, const char *path, size_t limit, size_t *length, struct look *file)
{
    struct stat about;
    ssize_t got = -1;
    /* Without O_NONBLOCK opening a FIFO would wait for whoever made it. */
    int descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (descriptor < 0)
        return NULL;
    char *text = arena_alloc(arena, limit + 1);
    if (fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode))
        got = read(descriptor, text, limit);
    close(descriptor);
    if (got < 0 || (size_t)got == limit)
        return NULL;
    *file = look_of(&about);
    *length = (size_t)got;
    return text;
}

static bool is_directory(const char *path, unsigned char type)
{
    struct stat about;
    if (type != DT_UNKNOWN)
        return type == DT_DIR;
    return lstat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

enum look_kind look_directories(struct arena *arena, const char *path, struct look_names *names)
{
    DIR *directory = opendir(path);
    if (directory == NULL)
        return look_failed(arena, errno).kind;
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        const char *name = entry->d_name;
        if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0 &&
            is_directory(host_join(arena, path, name), entry->d_type))
            VECTOR_PUSH(arena, names, arena_strdup(arena, name));
    }
    closedir(directory);
    return LOOK_DIRECTORY;
}

const char *host_resolve(struct arena *arena, const char *path)
{
    char *resolved = realpath(path, NULL);
    if (resolved == NULL)
        return NULL;
    const char *copy = arena_strdup(arena, resolved);
    free(resolved);
    return copy;
}

const char *host_slashes(struct arena *arena, const char *text)
{
    (void)arena;
    return text;
}
