#include "runtime/link.h"

#include "base/buffer.h"
#include "base/vector.h"
#include "runtime/remote.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LINKS_MOST = 40, REST_LONGEST = LINKS_MOST * PATH_MAX };

/* One walk from / to an end. */
struct walk {
    struct arena *arena;
    struct remote *remote;
    struct resolved *found;
    int directory;           /* O_PATH descriptor of `canonical` */
    struct buffer canonical; /* "" for / */
    const char *rest;        /* components still to be walked */
    struct {
        struct passed_link *items;
        uint32_t count, capacity;
    } links;
};

static const char *canonical_path(const struct walk *walk)
{
    return walk->canonical.length == 0
               ? "/"
               : arena_copy(walk->arena, walk->canonical.bytes, walk->canonical.length);
}

static void canonical_append(struct walk *walk, const char *name, size_t length)
{
    buffer_byte(&walk->canonical, '/');
    buffer_bytes(&walk->canonical, name, length);
}

static void directory_replace(struct walk *walk, int directory)
{
    close(walk->directory);
    walk->directory = directory;
}

static bool fail(struct walk *walk, int error)
{
    walk->found->kind = ENTRY_UNKNOWN;
    walk->found->error = error;
    return false;
}

/* A ".." that follows a missing name has no meaning until that name exists. */
static bool has_parent_component(const char *rest)
{
    for (const char *at = rest; (at = strstr(at, "..")) != NULL; at += 2)
        if ((at == rest || at[-1] == '/') && (at[2] == '/' || at[2] == '\0'))
            return true;
    return false;
}

static bool end_missing(struct walk *walk, const char *name, bool under_file, bool impossible)
{
    if (has_parent_component(name))
        return fail(walk, ENOENT);
    walk->found->ancestor = canonical_path(walk);
    walk->found->kind = ENTRY_MISSING;
    walk->found->under_file = under_file;
    walk->found->impossible = impossible;
    while (*name != '\0') {
        size_t length = strcspn(name, "/");
        if (length > 0 && !(length == 1 && *name == '.'))
            canonical_append(walk, name, length);
        name += length;
        name += strspn(name, "/");
    }
    return false;
}

static bool step_up(struct walk *walk)
{
    int parent = openat(walk->directory, "..", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (parent < 0)
        return fail(walk, errno);
    directory_replace(walk, parent);
    while (walk->canonical.length > 0 && walk->canonical.bytes[--walk->canonical.length] != '/')
        continue;
    return true;
}

static bool step_link(struct walk *walk, int link, const char *name, size_t length)
{
    if (walk->links.count == LINKS_MOST)
        return fail(walk, ELOOP);
    char text[PATH_MAX];
    ssize_t got = readlinkat(link, "", text, sizeof text - 1);
    if (got <= 0)
        return fail(walk, got < 0 ? errno : ENOENT);
    text[got] = '\0';

    const char *directory = canonical_path(walk);
    const char *separator = strcmp(directory, "/") == 0 ? "" : "/";
    VECTOR_PUSH(walk->arena, &walk->links,
                (struct passed_link){
                    .path = arena_format(walk->arena, "%s%s%.*s", directory, separator, (int)length, name),
                    .directory = directory,
                    .text = arena_strdup(walk->arena, text),
                });
    if ((size_t)got + strlen(name + length) > REST_LONGEST)
        return fail(walk, ENAMETOOLONG);
    walk->rest = arena_format(walk->arena, "%s%s", text, name + length);
    if (text[0] != '/')
        return true;

    int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (root < 0)
        return fail(walk, errno);
    directory_replace(walk, root);
    walk->canonical.length = 0;
    return true;
}

static bool step_end(struct walk *walk, const struct stat *status)
{
    struct resolved *found = walk->found;
    found->kind = S_ISREG(status->st_mode) ? ENTRY_FILE : ENTRY_OTHER;
    found->socket = S_ISSOCK(status->st_mode);
    return false;
}

static void note_status(struct resolved *found, const struct stat *status)
{
    found->device = status->st_dev;
    found->inode = status->st_ino;
    found->hard_links = status->st_nlink;
    found->mode = status->st_mode;
    found->owner = status->st_uid;
}

/* Goes into the entry `name` of the current directory, opened as `entry`; returns whether there is more to
 * walk. Takes `entry`. */
static bool step_into(struct walk *walk, int entry, const char *name, size_t length)
{
    struct stat status;
    if (fstat(entry, &status) != 0) {
        int error = errno;
        close(entry);
        return fail(walk, error);
    }
    if (S_ISLNK(status.st_mode)) {
        bool more = step_link(walk, entry, name, length);
        close(entry);
        return more;
    }
    canonical_append(walk, name, length);
    note_status(walk->found, &status);
    if (S_ISDIR(status.st_mode)) {
        directory_replace(walk, entry);
        walk->rest = name + length;
        return true;
    }
    close(entry);
    const char *rest = name + length + strspn(name + length, "/");
    return *rest == '\0' ? step_end(walk, &status) : end_missing(walk, rest, true, false);
}

/* Links of procfs lead where their text does not say, and the command gets a procfs of its own. */
static bool at_process(const struct walk *walk)
{
    return walk->canonical.length == strlen("/proc") &&
           memcmp(walk->canonical.bytes, "/proc", strlen("/proc")) == 0;
}

static int ask_remote(const struct walk *walk, const char *component)
{
    if (walk->remote == NULL)
        return 0;
    return remote_ask(walk->remote,
                      arena_format(walk->arena, "%s/%s",
                                   walk->canonical.length == 0 ? "" : canonical_path(walk), component));
}

static bool step(struct walk *walk)
{
    const char *name = walk->rest + strspn(walk->rest, "/");
    size_t length = strcspn(name, "/");
    if (length == 0) {
        walk->found->kind = ENTRY_DIRECTORY;
        return false;
    }
    if (at_process(walk)) {
        end_missing(walk, name, false, false);
        walk->found->process = true;
        walk->found->kind = ENTRY_OTHER;
        return false;
    }
    walk->rest = name + length;
    if (length == 1 && name[0] == '.')
        return true;
    if (length == 2 && memcmp(name, "..", 2) == 0)
        return step_up(walk);

    char component[NAME_MAX + 1];
    if (length >= sizeof component)
        return end_missing(walk, name, false, true);
    memcpy(component, name, length);
    component[length] = '\0';
    int error = ask_remote(walk, component);
    if (error != 0)
        return fail(walk, error);
    int entry = openat(walk->directory, component, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (entry < 0)
        return errno == ENOENT ? end_missing(walk, name, false, false) : fail(walk, errno);
    return step_into(walk, entry, name, length);
}

static int open_without_links(const char *path, int flags)
{
    struct open_how how = {.flags = (unsigned)(flags | O_CLOEXEC), .resolve = RESOLVE_NO_SYMLINKS};
    return (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
}

/* Whether every component is a name. */
static bool is_normalised(const char *path)
{
    for (const char *at = path; *at == '/';) {
        size_t length = strcspn(++at, "/");
        bool dots = (length == 1 && at[0] == '.') || (length == 2 && memcmp(at, "..", 2) == 0);
        if (length == 0 || dots)
            return strcmp(path, "/") == 0;
        at += length;
    }
    return true;
}

/* Most paths exist and hold no link: the system finds that out at once. False if it takes a walk to tell. */
static bool resolve_at_once(const char *path, struct resolved *found)
{
    struct stat status;
    bool told = is_normalised(path) && !path_covers("/proc", path);
    int entry = told ? open_without_links(path, O_PATH | O_NOFOLLOW) : -1;
    if (entry < 0)
        return false;
    bool plain = fstat(entry, &status) == 0 && !S_ISLNK(status.st_mode);
    close(entry);
    if (!plain)
        return false;
    note_status(found, &status);
    found->path = found->ancestor = path;
    found->kind = S_ISDIR(status.st_mode)   ? ENTRY_DIRECTORY
                  : S_ISREG(status.st_mode) ? ENTRY_FILE
                                            : ENTRY_OTHER;
    found->socket = S_ISSOCK(status.st_mode);
    return true;
}

const struct resolved *link_resolve(struct arena *arena, struct remote *remote, const char *path)
{
    struct resolved *found = arena_alloc(arena, sizeof *found);
    /* Where something does not answer, the walk finds out at which component. */
    if (remote_ask(remote, path) == 0 && resolve_at_once(path, found))
        return found;
    struct walk walk = {
        .arena = arena,
        .remote = remote,
        .found = found,
        .directory = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC),
        .canonical = buffer_in(arena),
        .rest = path,
    };
    struct stat root;
    if (walk.directory >= 0 && fstat(walk.directory, &root) == 0) {
        note_status(found, &root);
        while (step(&walk))
            continue;
    } else {
        fail(&walk, errno);
    }
    if (walk.directory >= 0)
        close(walk.directory);
    found->path = canonical_path(&walk);
    if (walk.canonical.length >= PATH_MAX) {
        fail(&walk, ENAMETOOLONG);
        for (found->ancestor = found->path; strlen(found->ancestor) >= PATH_MAX;)
            found->ancestor = path_parent(arena, found->ancestor);
    }
    if (found->ancestor == NULL)
        found->ancestor = found->path;
    found->process = found->process || path_covers("/proc", found->path);
    found->links = walk.links.items;
    found->link_count = walk.links.count;
    return found;
}

/* Kernels before 5.6 lack openat2. */
static int directory_open_by_components(const char *path, int flags)
{
    int directory = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    const char *name = path + strspn(path, "/");
    while (directory >= 0) {
        size_t length = strcspn(name, "/");
        const char *next = name + length + strspn(name + length, "/");
        char component[NAME_MAX + 1];
        if (length >= sizeof component) {
            close(directory);
            errno = ENAMETOOLONG;
            return -1;
        }
        memcpy(component, length > 0 ? name : ".", length > 0 ? length : 1);
        component[length > 0 ? length : 1] = '\0';
        int how = *next == '\0' ? flags : O_PATH;
        int entry = openat(directory, component, how | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        int error = errno;
        close(directory);
        errno = error;
        directory = entry;
        if (*next == '\0')
            break;
        name = next;
    }
    return directory;
}

int directory_open(const char *path, int flags)
{
    int directory = open_without_links(path, flags | O_DIRECTORY);
    if (directory < 0 && (errno == ENOSYS || errno == EPERM))
        return directory_open_by_components(path, flags);
    return directory;
}
