#include "policy/host.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINKS_MOST = 40 };

/* A path on its way to being resolved by hand, so that each link can be judged where it lies. */
struct walk {
    struct arena *arena;
    const struct bound_policy *bound;
    const char *resolved; /* canonical, without links; "" is "/" */
    const char *pending;  /* what is still to walk */
    unsigned links;
};

enum step { STEP_ON, STEP_MISSING, STEP_WRITABLE };

static bool is_read_only(const struct walk *walk, const char *path, size_t length)
{
    return bound_level(walk->bound, length == 0 ? "/" : path, length == 0 ? 1 : length) < LEVEL_WRITE;
}

/* Whether the command can write neither `path` nor the directory that holds it. */
static bool is_out_of_reach(const struct walk *walk, const char *path)
{
    const char *slash = strrchr(path, '/');
    return is_read_only(walk, path, strlen(path)) && is_read_only(walk, path, (size_t)(slash - path));
}

static enum step follow_link(struct walk *walk, const char *link)
{
    char target[PATH_MAX];
    if (!is_out_of_reach(walk, link))
        return STEP_WRITABLE;
    ssize_t length = readlink(link, target, sizeof target);
    if (length <= 0 || length == sizeof target || ++walk->links > LINKS_MOST)
        return STEP_MISSING;
    if (*target == '/')
        walk->resolved = "";
    walk->pending = arena_format(walk->arena, "%.*s/%s", (int)length, target, walk->pending);
    return STEP_ON;
}

/* Walks the next component of walk->pending. */
static enum step walk_step(struct walk *walk)
{
    size_t length = strcspn(walk->pending, "/");
    const char *name = arena_copy(walk->arena, walk->pending, length);
    walk->pending += length;
    if (length == 0 || strcmp(name, ".") == 0)
        return STEP_ON;
    if (strcmp(name, "..") == 0) {
        const char *slash = strrchr(walk->resolved, '/');
        walk->resolved =
            slash == NULL ? "" : arena_copy(walk->arena, walk->resolved, (size_t)(slash - walk->resolved));
        return STEP_ON;
    }
    const char *path = arena_format(walk->arena, "%s/%s", walk->resolved, name);
    struct stat about;
    if (strlen(path) >= PATH_MAX || lstat(path, &about) != 0)
        return STEP_MISSING;
    if (S_ISLNK(about.st_mode))
        return follow_link(walk, path);
    walk->resolved = path;
    return STEP_ON;
}

/* Whether `path`, which exists, is a file that the command can neither write nor replace, whatever links lead
 * to it. */
static bool is_trusted(struct arena *arena, const struct bound_policy *bound, const char *path)
{
    struct walk walk = {.arena = arena, .bound = bound, .resolved = "", .pending = path};
    while (*walk.pending != '\0') {
        walk.pending += strspn(walk.pending, "/");
        if (walk_step(&walk) != STEP_ON)
            return false;
    }
    return *walk.resolved != '\0' && is_out_of_reach(&walk, walk.resolved);
}

static bool is_executable(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISREG(about.st_mode) &&
           faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0;
}

bool host_command_trusted(struct arena *arena, const struct bound_policy *bound, const char *command,
                          const char *path)
{
    if (command == NULL || *command == '\0' || strchr(command, '/') != NULL || path == NULL)
        return false;
    for (;;) {
        size_t length = strcspn(path, ":");
        /* An empty or relative item is searched wherever the command happens to be. */
        if (*path != '/')
            return false;
        const char *file = arena_format(arena, "%.*s/%s", (int)length, path, command);
        if (is_executable(file))
            return is_trusted(arena, bound, file);
        if (path[length] == '\0')
            return false;
        path += length + 1;
    }
}
