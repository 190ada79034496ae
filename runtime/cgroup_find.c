#include "runtime/cgroup_find.h"

#include "base/vector.h"
#include "runtime/small_file.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

const char *const cgroup_controller_names[CGROUP_CONTROLLERS] = {"pids", "memory"};

struct mount {
    const char *root, *point, *type, *options;
};

struct mount_list {
    struct mount *items;
    uint32_t count, capacity;
};

struct cgroup_view cgroup_view_read(struct arena *arena)
{
    return (struct cgroup_view){.mounts = small_file(arena, AT_FDCWD, "/proc/self/mountinfo"),
                                .own = small_file(arena, AT_FDCWD, "/proc/self/cgroup")};
}

/* Whether `word` is one of `list`, whose items are parted by any of `parting`. */
static bool list_has(const char *list, const char *word, const char *parting)
{
    size_t length = strlen(word);

    for (const char *at = list; *at != '\0'; at += strspn(at, parting)) {
        size_t here = strcspn(at, parting);
        if (here == length && strncmp(at, word, length) == 0)
            return true;
        at += here;
    }
    return false;
}

/* Splits off the next line of *rest; NULL at the end. */
static char *next_line(char **rest)
{
    char *line = *rest == NULL || **rest == '\0' ? NULL : strsep(rest, "\n");

    return line;
}

/* A line of mountinfo: number, parent, device, root, point, options, marks ..., "-", type, source, options.
 * Names with blanks are escaped there; a hierarchy at such a place is not used. */
static bool mount_parse(char *line, struct mount *mount)
{
    char *words[64], *dash;
    int count = 0;

    dash = strstr(line, " - ");
    if (dash == NULL)
        return false;
    *dash = '\0';
    for (char *word; count < 64 && (word = strsep(&line, " ")) != NULL;)
        words[count++] = word;
    char *after = dash + 3, *type = strsep(&after, " "), *source = strsep(&after, " ");
    if (count < 6 || type == NULL || source == NULL || after == NULL || strchr(words[4], '\\') != NULL)
        return false;
    *mount = (struct mount){.root = words[3], .point = words[4], .type = type, .options = after};
    return true;
}

static struct mount_list mounts_of(struct arena *arena, const struct cgroup_view *view)
{
    char *rest = arena_strdup(arena, view->mounts), *line;
    struct mount_list list = {0};
    struct mount mount;

    while ((line = next_line(&rest)) != NULL)
        if (mount_parse(line, &mount) &&
            (strcmp(mount.type, "cgroup") == 0 || strcmp(mount.type, "cgroup2") == 0))
            VECTOR_PUSH(arena, &list, mount);
    return list;
}

const char *const *cgroup_mounts(struct arena *arena, const struct cgroup_view *view)
{
    struct mount_list list = mounts_of(arena, view);
    const char **points = arena_array(arena, (size_t)list.count + 1, sizeof *points);

    for (uint32_t i = 0; i < list.count; i++)
        points[i] = list.items[i].point;
    return points;
}

/* The path of the launcher's own group: of version 1 in the hierarchy of `controller`, of version 2 with
 * NULL. */
static const char *own_path(struct arena *arena, const struct cgroup_view *view, const char *controller)
{
    char *rest = arena_strdup(arena, view->own), *line;

    while ((line = next_line(&rest)) != NULL) {
        char *path = line, *number = strsep(&path, ":"), *controllers = strsep(&path, ":");
        if (controllers == NULL || path == NULL)
            continue;
        if (controller == NULL ? strcmp(number, "0") == 0 && *controllers == '\0'
                               : list_has(controllers, controller, ","))
            return path;
    }
    return NULL;
}

/* Where group `path` is to be seen below `mount`, or NULL. */
static const char *below_mount(struct arena *arena, const struct mount *mount, const char *path)
{
    size_t root = strcmp(mount->root, "/") == 0 ? 0 : strlen(mount->root);

    /* A group outside this namespace's own begins with "/..". */
    if (strncmp(path, "/..", 3) == 0 || strncmp(path, mount->root, root) != 0 ||
        (path[root] != '/' && path[root] != '\0'))
        return NULL;
    return arena_format(arena, "%s%s", mount->point, strcmp(path + root, "/") == 0 ? "" : path + root);
}

static const struct mount *mount_of_version_2(const struct mount_list *mounts)
{
    for (uint32_t i = 0; i < mounts->count; i++)
        if (strcmp(mounts->items[i].type, "cgroup2") == 0)
            return &mounts->items[i];
    return NULL;
}

const char *cgroup_directory(struct arena *arena, const struct cgroup_view *view, const char *path)
{
    struct mount_list mounts = mounts_of(arena, view);
    const struct mount *mount = mount_of_version_2(&mounts);

    return mount == NULL ? NULL : below_mount(arena, mount, path);
}

static bool find_version_1(struct arena *arena, const struct cgroup_view *view, const char *controller,
                           const struct mount_list *mounts, struct cgroup_place *place)
{
    const char *path = own_path(arena, view, controller);

    for (uint32_t i = 0; path != NULL && i < mounts->count; i++) {
        const struct mount *mount = &mounts->items[i];
        if (strcmp(mount->type, "cgroup") != 0 || !list_has(mount->options, controller, ","))
            continue;
        place->parent = below_mount(arena, mount, path);
        place->version = 1;
        if (place->parent != NULL && access(place->parent, W_OK) == 0)
            return true;
    }
    return false;
}

static const char *group_file(struct arena *arena, const char *directory, const char *name)
{
    return small_file(arena, AT_FDCWD, arena_format(arena, "%s/%s", directory, name));
}

/* A sandbox beside a limited group would be free of that limit. */
static bool is_limited(struct arena *arena, const char *directory)
{
    static const char *const limits[] = {"memory.max", "memory.high", "memory.swap.max", "pids.max",
                                         "cpu.max",    "cpuset.cpus", "io.max"};

    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        const char *value = group_file(arena, directory, limits[i]);
        if (*value != '\0' && *value != '\n' && strncmp(value, "max", 3) != 0)
            return true;
    }
    return false;
}

static bool is_of_systemd(const char *directory)
{
    size_t length = strlen(directory);

    return length > 6 && strcmp(directory + length - 6, ".slice") == 0;
}

/* Whether groups below `directory` have the controller; the root group of the machine is told to hand it
 * down. */
static bool hands_down(struct arena *arena, const char *directory, const char *controller)
{
    if (list_has(group_file(arena, directory, "cgroup.subtree_control"), controller, " \n"))
        return true;
    /* Only the machine's root group has no type. */
    if (access(arena_format(arena, "%s/cgroup.type", directory), F_OK) == 0 ||
        !list_has(group_file(arena, directory, "cgroup.controllers"), controller, " \n"))
        return false;
    const char *word = arena_format(arena, "+%s", controller);
    int file = open(arena_format(arena, "%s/cgroup.subtree_control", directory), O_WRONLY | O_CLOEXEC);
    bool told = file >= 0 && write(file, word, strlen(word)) == (ssize_t)strlen(word);
    if (file >= 0)
        close(file);
    return told;
}

static bool may_make(struct arena *arena, const char *directory)
{
    return access(directory, W_OK | X_OK) == 0 &&
           access(arena_format(arena, "%s/cgroup.procs", directory), W_OK) == 0;
}

static bool find_version_2(struct arena *arena, const struct cgroup_view *view, const char *controller,
                           const struct mount_list *mounts, struct cgroup_place *place)
{
    const struct mount *mount = mount_of_version_2(mounts);
    const char *path = own_path(arena, view, NULL);
    const char *own = mount == NULL || path == NULL ? NULL : below_mount(arena, mount, path);
    size_t top = mount == NULL ? 0 : strlen(mount->point);

    if (own == NULL)
        return false;
    for (char *at = arena_strdup(arena, own);; *strrchr(at, '/') = '\0') {
        if (is_of_systemd(at))
            return false;
        if (may_make(arena, at) && hands_down(arena, at, controller)) {
            *place = (struct cgroup_place){.version = 2, .parent = at};
            return true;
        }
        if (strlen(at) <= top || is_limited(arena, at))
            return false;
    }
}

bool cgroup_own_is_limited(struct arena *arena, const struct cgroup_view *view)
{
    const char *path = own_path(arena, view, NULL);
    const char *own = path == NULL ? NULL : cgroup_directory(arena, view, path);

    return own == NULL || is_limited(arena, own);
}

bool cgroup_find(struct arena *arena, const struct cgroup_view *view, enum cgroup_controller controller,
                 struct cgroup_place *place, const char **why)
{
    struct mount_list mounts = mounts_of(arena, view);
    const char *name = cgroup_controller_names[controller];

    if (find_version_1(arena, view, name, &mounts, place) ||
        find_version_2(arena, view, name, &mounts, place))
        return true;
    *why = mounts.count == 0
               ? "no control groups are mounted here"
               : arena_format(arena, "no control group with the controller %s may be made by this user here",
                              name);
    return false;
}
