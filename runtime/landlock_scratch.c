#include "runtime/landlock_scratch.h"

#include "runtime/link.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Each level takes a descriptor; a deeper tree than this stays. */
enum { LEVELS = 512 };

static const char *name_of(const char *path)
{
    return strrchr(path, '/') + 1;
}

static int parent_open(const char *path)
{
    char *parent = strndup(path, (size_t)(name_of(path) - path));
    int descriptor = parent == NULL ? -1 : open(parent, OPEN_TO_LOOK | O_DIRECTORY | O_CLOEXEC);

    free(parent);
    return descriptor;
}

bool landlock_scratch_make(struct landlock_scratch *scratch, struct stat *status)
{
    const char *name = name_of(scratch->path);

    scratch->parent = parent_open(scratch->path);
    if (scratch->parent < 0 || mkdirat(scratch->parent, name, S_IRWXU) != 0)
        return false;
    scratch->made = true;
    scratch->directory = openat(scratch->parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return scratch->directory >= 0 && fstat(scratch->directory, status) == 0;
}

bool landlock_scratch_find(struct landlock_scratch *scratch)
{
    struct stat status;

    scratch->parent = parent_open(scratch->path);
    scratch->directory = scratch->parent < 0 ? -1
                                             : openat(scratch->parent, name_of(scratch->path),
                                                      O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    scratch->made =
        scratch->directory >= 0 && fstat(scratch->directory, &status) == 0 && status.st_uid == geteuid();
    if (scratch->made)
        return true;
    if (scratch->directory >= 0)
        close(scratch->directory);
    if (scratch->parent >= 0)
        close(scratch->parent);
    return false;
}

static void empty(int directory, int levels);

/* A file, or a directory with what is in it. */
static void entry_remove(int directory, const char *name, int levels)
{
    if (unlinkat(directory, name, 0) == 0 || (errno != EISDIR && errno != EPERM))
        return;
    int below = levels == 0 ? -1 : openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    /* The command may have closed it to itself. */
    if (below < 0 && levels > 0 && errno == EACCES &&
        fchmodat(directory, name, S_IRWXU, AT_SYMLINK_NOFOLLOW) == 0)
        below = openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (below >= 0)
        empty(below, levels - 1);
    unlinkat(directory, name, AT_REMOVEDIR);
}

/* Closes `directory`. */
static void empty(int directory, int levels)
{
    DIR *list = fdopendir(directory);
    struct dirent *entry;

    if (list == NULL) {
        close(directory);
        return;
    }
    fchmod(directory, S_IRWXU);
    while ((entry = readdir(list)) != NULL)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            entry_remove(directory, entry->d_name, levels);
    closedir(list);
}

void landlock_scratch_remove(struct landlock_scratch *scratch)
{
    if (!scratch->made)
        return;
    scratch->made = false;
    if (scratch->directory >= 0)
        empty(scratch->directory, LEVELS);
    unlinkat(scratch->parent, name_of(scratch->path), AT_REMOVEDIR);
    close(scratch->parent);
}
