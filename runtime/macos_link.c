/* macos_link.c - where a path leads (link.h), by what POSIX has everywhere: each component is looked at by its path.
 *
 * What changes between two looks is the kernel's to judge: Seatbelt compares what a path leads to when it is used.
 */
#include "runtime/link.h"

#include "base/vector.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINKS_MOST = 32, REST_LONGEST = LINKS_MOST * PATH_MAX };

struct walk {
    struct arena *arena;
    struct resolved *found;
    const char *canonical; /* "" for / */
    const char *rest;      /* components still to be walked */
    struct {
        struct passed_link *items;
        uint32_t count, capacity;
    } links;
};

static const char *shown(const char *canonical)
{
    return *canonical == '\0' ? "/" : canonical;
}

static bool fail(struct walk *walk, int error)
{
    walk->found->kind = ENTRY_UNKNOWN;
    walk->found->error = error;
    return false;
}

/* `name` is not there, and neither is what follows it. */
static bool end_missing(struct walk *walk, const char *name, bool under_file, bool impossible)
{
    walk->found->ancestor = shown(walk->canonical);
    walk->found->kind = ENTRY_MISSING;
    walk->found->under_file = under_file;
    walk->found->impossible = impossible;
    while (*name != '\0') {
        size_t length = strcspn(name, "/");
        /* A ".." that follows a missing name has no meaning until that name exists. */
        if (length == 2 && memcmp(name, "..", 2) == 0)
            return fail(walk, ENOENT);
        if (length > 0 && !(length == 1 && *name == '.'))
            walk->canonical = arena_format(walk->arena, "%s/%.*s", walk->canonical, (int)length, name);
        name += length;
        name += strspn(name, "/");
    }
    return false;
}

static bool step_link(struct walk *walk, const char *path, const char *after)
{
    char text[PATH_MAX];
    ssize_t length = readlink(path, text, sizeof text - 1);

    if (walk->links.count == LINKS_MOST)
        return fail(walk, ELOOP);
    if (length <= 0)
        return fail(walk, length < 0 ? errno : ENOENT);
    text[length] = '\0';
    if ((size_t)length + strlen(after) > REST_LONGEST)
        return fail(walk, ENAMETOOLONG);
    VECTOR_PUSH(walk->arena, &walk->links,
                (struct passed_link){.path = path,
                                     .directory = shown(walk->canonical),
                                     .text = arena_strdup(walk->arena, text)});
    walk->rest = arena_format(walk->arena, "%s%s", text, after);
    if (text[0] == '/')
        walk->canonical = "";
    return true;
}

static void note_status(struct resolved *found, const struct stat *status)
{
    found->device = status->st_dev;
    found->inode = status->st_ino;
    found->hard_links = status->st_nlink;
    found->mode = status->st_mode;
    found->owner = status->st_uid;
    found->socket = S_ISSOCK(status->st_mode);
    found->kind = S_ISDIR(status->st_mode)   ? ENTRY_DIRECTORY
                  : S_ISREG(status->st_mode) ? ENTRY_FILE
                                             : ENTRY_OTHER;
}

/* Goes into the next component; returns whether there is more to walk. */
static bool step(struct walk *walk)
{
    const char *name = walk->rest + strspn(walk->rest, "/");
    size_t length = strcspn(name, "/");
    struct stat status;

    if (length == 0)
        return false;
    walk->rest = name + length;
    if (length == 1 && name[0] == '.')
        return true;
    if (length == 2 && memcmp(name, "..", 2) == 0) {
        const char *parent = path_parent(walk->arena, shown(walk->canonical));
        walk->canonical = strcmp(parent, "/") == 0 ? "" : parent;
        return true;
    }
    if (length > NAME_MAX)
        return end_missing(walk, name, false, true);
    const char *path = arena_format(walk->arena, "%s/%.*s", walk->canonical, (int)length, name);
    if (lstat(path, &status) != 0)
        return errno == ENOENT ? end_missing(walk, name, false, false) : fail(walk, errno);
    if (S_ISLNK(status.st_mode))
        return step_link(walk, path, name + length);
    walk->canonical = path;
    note_status(walk->found, &status);
    const char *rest = walk->rest + strspn(walk->rest, "/");
    if (S_ISDIR(status.st_mode) || *rest == '\0')
        return true;
    return end_missing(walk, rest, true, false);
}

const struct resolved *link_resolve(struct arena *arena, struct remote *remote, const char *path)
{
    struct resolved *found = arena_alloc(arena, sizeof *found);
    struct walk walk = {.arena = arena, .found = found, .canonical = "", .rest = path};
    struct stat root;

    (void)remote;
    if (stat("/", &root) == 0) {
        note_status(found, &root);
        while (step(&walk))
            continue;
    } else {
        fail(&walk, errno);
    }
    found->path = shown(walk.canonical);
    if (strlen(found->path) >= PATH_MAX)
        fail(&walk, ENAMETOOLONG);
    if (found->ancestor == NULL)
        found->ancestor = found->path;
    found->links = walk.links.items;
    found->link_count = walk.links.count;
    return found;
}

int directory_open(const char *path, int flags)
{
    char canonical[PATH_MAX];

    if (realpath(path, canonical) == NULL)
        return -1;
    if (strcmp(path, canonical) != 0) {
        errno = ELOOP;
        return -1;
    }
    return open(path, flags | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}
