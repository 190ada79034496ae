#include "runtime/state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int open_directory(const char *path)
{
    return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
}

static bool make_all(struct arena *arena, const char *path)
{
    char *copy = arena_strdup(arena, path);
    for (char *slash = strchr(copy + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(copy, 0700) != 0 && errno != EEXIST)
            return false;
        *slash = '/';
    }
    return mkdir(copy, 0700) == 0 || errno == EEXIST;
}

int state_open(struct arena *arena, const char *path)
{
    struct stat status;
    int directory = path == NULL ? -1 : open_directory(path);
    if (path != NULL && directory < 0 && errno == ENOENT && make_all(arena, path))
        directory = open_directory(path);
    if (directory < 0 || (fstat(directory, &status) == 0 && status.st_uid == geteuid() &&
                          (status.st_mode & (S_IWGRP | S_IWOTH)) == 0))
        return directory;
    close(directory);
    return -1;
}
