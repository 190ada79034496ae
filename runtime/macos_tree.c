/* macos_tree.c - looks through trees (tree.h) by what POSIX has everywhere, one directory after the other. */
#include "runtime/tree.h"

#include "runtime/link.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ASK_ENTRIES = 2048 }; /* between two questions whether to go on */

/* A directory still to be listed: its state, then its path. */
struct pending {
    struct pending *next;
    size_t length;
    max_align_t state[];
};

struct visit {
    struct tree_walk *walk;
    struct pending *first;
    size_t state_room;
    uint64_t entries;
    enum tree_end end;
};

static char *pending_path(const struct visit *visit, struct pending *pending)
{
    return (char *)pending->state + visit->state_room;
}

static bool pending_add(struct visit *visit, const char *path, const void *state)
{
    size_t length = strlen(path);
    struct pending *pending = malloc(sizeof *pending + visit->state_room + length + 1);

    if (pending == NULL) {
        visit->end = TREE_NO_MEMORY;
        return false;
    }
    pending->next = visit->first;
    pending->length = length;
    if (visit->walk->state_size > 0)
        memcpy(pending->state, state, visit->walk->state_size);
    memcpy(pending_path(visit, pending), path, length + 1);
    visit->first = pending;
    return true;
}

static unsigned char type_of(mode_t mode)
{
    return S_ISDIR(mode)    ? DT_DIR
           : S_ISREG(mode)  ? DT_REG
           : S_ISLNK(mode)  ? DT_LNK
           : S_ISSOCK(mode) ? DT_SOCK
           : S_ISFIFO(mode) ? DT_FIFO
           : S_ISBLK(mode)  ? DT_BLK
                            : DT_CHR;
}

/* Whether the walk goes on. */
static bool entry_counts(struct visit *visit)
{
    struct tree_walk *walk = visit->walk;

    if (walk->remaining == 0)
        visit->end = TREE_TOO_MANY;
    else if (++visit->entries % ASK_ENTRIES == 0 && walk->stop != NULL &&
             walk->stop(walk->keeper, visit->entries))
        visit->end = TREE_STOPPED;
    else
        walk->remaining--;
    return visit->end == TREE_DONE;
}

static bool entry_visit(struct visit *visit, DIR *stream, struct pending *directory, const char *name,
                        void *below)
{
    struct tree_walk *walk = visit->walk;
    char path[PATH_MAX];
    struct stat status;
    size_t length = strlen(name);
    size_t above = strcmp(pending_path(visit, directory), "/") == 0 ? 0 : directory->length;

    if (fstatat(dirfd(stream), name, &status, AT_SYMLINK_NOFOLLOW) != 0)
        return true; /* it has vanished */
    memcpy(path, pending_path(visit, directory), above);
    path[above] = '/';
    memcpy(path + above + 1, name, length + 1);
    memset(below, 0, visit->state_room);
    struct tree_entry entry = {.path = path,
                               .length = above + 1 + length,
                               .name = path + above + 1,
                               .name_length = length,
                               .type = type_of(status.st_mode),
                               .state = directory->state,
                               .below = below};
    enum tree_answer answer = walk->visit(walk->context, &entry);
    if (answer == TREE_FAIL)
        visit->end = TREE_NO_MEMORY;
    else if (answer == TREE_DESCEND && S_ISDIR(status.st_mode))
        return pending_add(visit, path, below);
    return visit->end == TREE_DONE;
}

/* What cannot be seen of a directory; one that has vanished is none. */
static void directory_closed(struct visit *visit, struct pending *directory, int error)
{
    if (error == ENOENT || error == ENOTDIR)
        return;
    if (!visit->walk->closed(visit->walk->context, pending_path(visit, directory), directory->state, error))
        visit->end = TREE_NO_MEMORY;
}

static void directory_visit(struct visit *visit, struct pending *directory, void *below)
{
    struct tree_walk *walk = visit->walk;
    const char *path = pending_path(visit, directory);
    int refused = walk->admit != NULL ? walk->admit(walk->keeper, path) : 0;
    int descriptor = -1;

    if (refused == 0 && directory->length >= PATH_MAX - NAME_MAX - 2)
        refused = ENAMETOOLONG;
    if (refused == 0 && (descriptor = directory_open(path, O_RDONLY)) < 0)
        refused = errno;
    DIR *stream = descriptor < 0 ? NULL : fdopendir(descriptor);
    if (stream == NULL) {
        directory_closed(visit, directory, refused != 0 ? refused : errno);
        if (descriptor >= 0)
            close(descriptor);
        return;
    }
    const struct dirent *entry;
    errno = 0;
    while (visit->end == TREE_DONE && (entry = readdir(stream)) != NULL) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 && entry_counts(visit))
            entry_visit(visit, stream, directory, entry->d_name, below);
        errno = 0;
    }
    if (visit->end == TREE_DONE && errno != 0)
        directory_closed(visit, directory, errno);
    closedir(stream);
}

enum tree_end tree_visit(struct tree_walk *walk, const char *start, const void *state)
{
    size_t unit = sizeof(max_align_t);
    struct visit visit = {
        .walk = walk, .state_room = (walk->state_size + unit - 1) / unit * unit, .end = TREE_DONE};
    void *below = malloc(visit.state_room + 1);

    if (below == NULL)
        return TREE_NO_MEMORY;
    pending_add(&visit, start, state);
    while (visit.first != NULL) {
        struct pending *directory = visit.first;
        visit.first = directory->next;
        if (visit.end == TREE_DONE)
            directory_visit(&visit, directory, below);
        free(directory);
    }
    free(below);
    return visit.end;
}
