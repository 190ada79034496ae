#include "runtime/native_tree.h"

#include "base/escape.h"
#include "base/measure.h"
#include "base/vector.h"
#include "runtime/expected.h"
#include "runtime/native_confine.h"
#include "runtime/native_mount.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MODE_DIRECTORY = 0755, MODE_POINT = 0444 };

struct tree {
    struct arena *arena;
    struct native_problem *problem;
    const struct sandbox_request *request;
    int root; /* of the new tree */
    int mask; /* a file system with the empty directory and file that masks are clones of */
    /* File systems of the sandbox's own, in which directories and files may be made. */
    struct {
        dev_t *items;
        uint32_t count, capacity;
    } own;
};

static const char mask_directory[] = "directory", mask_file[] = "file", mask_readable[] = "readable";

static int place_open(const struct tree *tree, const char *path)
{
    return open_beneath(tree->root, path[1] == '\0' ? "." : path + 1);
}

static bool is_own(const struct tree *tree, int directory)
{
    struct stat status;

    if (fstat(directory, &status) != 0)
        return false;
    for (uint32_t i = tree->own.count; i > 0; i--)
        if (tree->own.items[i - 1] == status.st_dev)
            return true;
    return false;
}

/* The directory that holds `path`, if it is the sandbox's own; else -1 with a problem. */
static int parent_open(struct tree *tree, const char *path, const char **name)
{
    const char *slash = strrchr(path, '/');
    int parent =
        place_open(tree, slash == path ? "/" : arena_copy(tree->arena, path, (size_t)(slash - path)));

    *name = slash + 1;
    if (parent >= 0 && is_own(tree, parent))
        return parent;
    if (parent >= 0)
        close(parent);
    native_replaced(tree->problem, path);
    return -1;
}

static bool point_make(struct tree *tree, const char *path, bool directory)
{
    const char *name;
    int parent = parent_open(tree, path, &name);

    if (parent < 0)
        return false;
    bool made = directory ? mkdirat(parent, name, MODE_DIRECTORY) == 0
                          : mknodat(parent, name, S_IFREG | MODE_POINT, 0) == 0;
    if (!made)
        native_fail(tree->problem, "make a place for", path);
    close(parent);
    return made;
}

/* Opens the place at which something is to be mounted: a directory, or anything else. */
static int point_open(struct tree *tree, const char *path, bool directory)
{
    struct stat status;
    int point = place_open(tree, path);

    if (point < 0 && errno == ENOENT && point_make(tree, path, directory))
        point = place_open(tree, path);
    if (point < 0) {
        if (errno == ELOOP || errno == ENOTDIR || errno == ENOENT)
            native_replaced(tree->problem, path);
        else
            native_fail(tree->problem, "reach", path);
        return -1;
    }
    if (fstat(point, &status) == 0 && S_ISDIR(status.st_mode) == directory)
        return point;
    close(point);
    native_replaced(tree->problem, path);
    return -1;
}

/* Puts the detached mount `made` (-1: it could not be made) at `path`. Takes it. */
static bool put(struct tree *tree, int made, const char *path, bool directory)
{
    int point = made < 0 ? -1 : point_open(tree, path, directory);
    bool done = point >= 0 && mount_attach(made, point);

    if (!done)
        native_fail(tree->problem, "mount", path);
    if (made >= 0)
        close(made);
    if (point >= 0)
        close(point);
    return done;
}

/* Mounts a new tmpfs whose root has `mode`. */
static bool put_own(struct tree *tree, const char *path, uint32_t mode)
{
    struct stat status;
    int made = mount_new_tmpfs(mode);

    if (made >= 0 && fstat(made, &status) == 0)
        VECTOR_PUSH(tree->arena, &tree->own, status.st_dev);
    return put(tree, made, path, true);
}

static bool put_mask(struct tree *tree, const struct plan_operation *operation)
{
    bool directory = operation->kind == PLAN_MASK_DIRECTORY;
    const char *file = operation->mode == 0 ? mask_file : mask_readable;

    if (directory && operation->mode != 0)
        return put_own(tree, operation->path, operation->mode);
    return put(tree, mount_clone_below(tree->mask, directory ? mask_directory : file), operation->path,
               directory);
}

/* Whether what is open on `source` is what the launcher saw at `path`. */
static bool is_expected(const struct tree *tree, const char *path, const struct stat *source)
{
    const struct inner_config *inner = tree->request->inner;
    const struct expected_mount *mount = mount_expected_at(inner->mounts, inner->mount_count, path);

    return mount == NULL || !mount->known || !measure_holds(MEASURE_IDENTITY) ||
           (mount->device == source->st_dev && mount->inode == source->st_ino);
}

static bool put_bind(struct tree *tree, const struct plan_operation *operation, unsigned attributes)
{
    const char *path = operation->source != NULL ? operation->source : operation->path;
    int source = open_beneath(AT_FDCWD, path);
    struct stat status = {0};

    if (source < 0 && errno == ENOENT && operation->optional)
        return true;
    if (source < 0)
        return errno == ENOENT || errno == ELOOP || errno == ENOTDIR
                   ? native_replaced(tree->problem, path)
                   : native_fail(tree->problem, "open", path);
    bool same = fstat(source, &status) == 0 && is_expected(tree, operation->path, &status);
    int made = same ? mount_clone(source, attributes) : -1;
    if (!same)
        native_replaced(tree->problem, path);
    else if (made < 0)
        native_fail(tree->problem, "clone the mount of", path);
    close(source);
    return put(tree, made, operation->path, S_ISDIR(status.st_mode));
}

static bool make_directory(struct tree *tree, const struct plan_operation *operation)
{
    const char *name;
    struct stat status;
    int parent = parent_open(tree, operation->path, &name);

    if (parent < 0)
        return false;
    bool made = mkdirat(parent, name, operation->mode) == 0 ||
                (errno == EEXIST && fstatat(parent, name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
                 S_ISDIR(status.st_mode));
    if (!made)
        native_fail(tree->problem, "make the directory", operation->path);
    close(parent);
    return made;
}

static bool make_link(struct tree *tree, const char *path, const char *text)
{
    const char *name;
    int parent = parent_open(tree, path, &name);

    if (parent < 0)
        return false;
    bool made = symlinkat(text, parent, name) == 0;
    if (!made)
        native_fail(tree->problem, "make the link", path);
    close(parent);
    return made;
}

/* One of the host's device nodes that are always there. */
static bool put_device(struct tree *tree, const char *directory, const char *name)
{
    const char *path = arena_format(tree->arena, "%s/%s", directory, name);
    const char *host = arena_format(tree->arena, "/dev/%s", name);
    int source = open_beneath(AT_FDCWD, host);
    struct stat status;
    bool device = source >= 0 && fstat(source, &status) == 0 && S_ISCHR(status.st_mode);
    int made = device ? mount_clone(source, MOUNT_ATTR_NOSUID) : -1;

    if (made < 0)
        native_fail(tree->problem, "use the device", host);
    if (source >= 0)
        close(source);
    return put(tree, made, path, false);
}

static bool put_devices(struct tree *tree, const char *path)
{
    static const char *const devices[] = {"null", "zero", "full", "random", "urandom", "tty"};
    static const char *const links[][2] = {{"fd", "/proc/self/fd"},       {"stdin", "/proc/self/fd/0"},
                                           {"stdout", "/proc/self/fd/1"}, {"stderr", "/proc/self/fd/2"},
                                           {"core", "/proc/kcore"},       {"ptmx", "pts/ptmx"}};

    if (!put_own(tree, path, MODE_DIRECTORY))
        return false;
    for (size_t i = 0; i < sizeof devices / sizeof devices[0]; i++)
        if (!put_device(tree, path, devices[i]))
            return false;
    for (size_t i = 0; i < sizeof links / sizeof links[0]; i++)
        if (!make_link(tree, arena_format(tree->arena, "%s/%s", path, links[i][0]), links[i][1]))
            return false;
    return put(tree, mount_new_terminals(), arena_format(tree->arena, "%s/pts", path), true);
}

/* Root inside owns what is below /proc/1 (the chance to be killed for memory, for one), this process. */
static bool first_process_cover(struct tree *tree, const char *path)
{
    int source = measure_holds(MEASURE_OWN_PROCESSES) ? place_open(tree, path) : -1;

    if (!measure_holds(MEASURE_OWN_PROCESSES))
        return true;
    int made = source < 0 ? -1
                          : mount_clone(source, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC |
                                                    MOUNT_ATTR_RDONLY);
    if (source >= 0)
        close(source);
    return put(tree, made, path, true);
}

static bool put_processes(struct tree *tree, const char *path)
{
    int made = mount_new_processes();
    bool ready =
        made >= 0 && (tree->request->nested || !measure_holds(MEASURE_NAMESPACE_CALLS) ||
                      !measure_holds(MEASURE_OWN_USERS) || native_forbid_nesting(tree->problem, made));

    if (made >= 0 && !ready) {
        close(made);
        return false;
    }
    return put(tree, made, path, true) && first_process_cover(tree, arena_format(tree->arena, "%s/1", path));
}

static bool seal(struct tree *tree, const char *path)
{
    int place = place_open(tree, path);
    bool sealed = place >= 0 && mount_restrict(place, MOUNT_ATTR_RDONLY);

    if (!sealed)
        native_fail(tree->problem, "seal", path);
    if (place >= 0)
        close(place);
    return sealed;
}

static bool carry_out(struct tree *tree, const struct plan_operation *operation)
{
    switch (operation->kind) {
    case PLAN_BIND_READ:
        return put_bind(tree, operation, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_RDONLY);
    case PLAN_BIND_WRITE:
        return put_bind(tree, operation, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
    case PLAN_BIND_DEVICE:
        return put_bind(tree, operation, MOUNT_ATTR_NOSUID);
    case PLAN_MASK_DIRECTORY:
    case PLAN_MASK_FILE:
        return put_mask(tree, operation);
    case PLAN_SCRATCH:
        return put_own(tree, operation->path, operation->mode);
    case PLAN_DIRECTORY:
        return make_directory(tree, operation);
    case PLAN_LINK:
        return make_link(tree, operation->path, operation->source);
    case PLAN_DEV:
        return put_devices(tree, operation->path);
    case PLAN_PROC:
        return put_processes(tree, operation->path);
    case PLAN_SEAL:
        return seal(tree, operation->path);
    }
    return false;
}

/* The new root and the source of masks lie on top of the old root, which stays what this process sees at /
 * until it goes into the new one: only what is mounted can be cloned or mounted on. */
static bool begin(struct tree *tree)
{
    struct stat status;
    int old = open_beneath(AT_FDCWD, "/");
    bool ready = old >= 0 && mount(NULL, "/", NULL, MS_SLAVE | MS_REC, NULL) == 0;

    if (!ready)
        return native_fail(tree->problem, "make the mount table private", NULL);
    tree->mask = mount_new_tmpfs(MODE_DIRECTORY);
    tree->root = mount_new_tmpfs(MODE_DIRECTORY);
    ready = tree->mask >= 0 && tree->root >= 0 && mkdirat(tree->mask, mask_directory, 0) == 0 &&
            mknodat(tree->mask, mask_file, S_IFREG, 0) == 0 &&
            mknodat(tree->mask, mask_readable, S_IFREG | MODE_POINT, 0) == 0 &&
            (!measure_holds(MEASURE_SEALS) || mount_restrict(tree->mask, MOUNT_ATTR_RDONLY)) &&
            mount_attach(tree->mask, old) && mount_attach(tree->root, old) && fstat(tree->root, &status) == 0;
    close(old);
    if (!ready)
        return native_fail(tree->problem, "mount a new directory", NULL);
    VECTOR_PUSH(tree->arena, &tree->own, status.st_dev);
    return true;
}

/* The old root ends up on top of the new one, and on it what masks were made of. */
static bool enter(struct tree *tree)
{
    return (fchdir(tree->root) == 0 && syscall(SYS_pivot_root, ".", ".") == 0 &&
            umount2(".", MNT_DETACH) == 0 && umount2(".", MNT_DETACH) == 0 && chdir("/") == 0) ||
           native_fail(tree->problem, "change to the new root", NULL);
}

bool native_build(const struct sandbox_request *request, struct native_problem *problem)
{
    struct tree tree = {
        .arena = problem->arena, .problem = problem, .request = request, .root = -1, .mask = -1};

    /* The command's own mask is set when it starts. */
    umask(0);
    if (!begin(&tree))
        return false;
    for (uint32_t i = 0; i < request->plan->count; i++)
        if (!carry_out(&tree, &request->plan->items[i]))
            return false;
    return enter(&tree);
}

static const char *words_of(enum plan_kind kind)
{
    switch (kind) {
    case PLAN_BIND_READ:
        return "clone with all mounts below, read-only, nosuid, nodev:";
    case PLAN_BIND_WRITE:
        return "clone with all mounts below, nosuid, nodev:";
    case PLAN_BIND_DEVICE:
        return "clone with all mounts below, nosuid:";
    case PLAN_MASK_DIRECTORY:
        return "cover by an empty directory, read-only:";
    case PLAN_MASK_FILE:
        return "cover by an empty file, read-only:";
    case PLAN_SCRATCH:
        return "new tmpfs, nosuid, nodev:";
    case PLAN_DIRECTORY:
        return "make a directory in the new root:";
    case PLAN_LINK:
        return "make a link in the new root:";
    case PLAN_DEV:
        return "new tmpfs with null, zero, full, random, urandom, tty and an own pts:";
    case PLAN_PROC:
        return "new procfs, nosuid, nodev, noexec, process 1 read-only:";
    case PLAN_SEAL:
        return "make the mount read-only:";
    }
    return "";
}

void native_describe(struct buffer *out, const struct sandbox_request *request)
{
    buffer_string(out, "make every mount a slave of the host's\nnew tmpfs, the new root\n");
    for (uint32_t i = 0; i < request->plan->count; i++) {
        const struct plan_operation *operation = &request->plan->items[i];
        const char *text = operation->source;
        buffer_format(out, "%s %s", words_of(operation->kind), escape_string(out->arena, operation->path));
        if (text != NULL)
            buffer_format(out, operation->kind == PLAN_LINK ? " -> %s" : " from %s",
                          escape_string(out->arena, text));
        buffer_byte(out, '\n');
        if (operation->kind == PLAN_PROC && !request->nested)
            buffer_string(out, "forbid further user namespaces\n");
    }
    buffer_string(out, "change to the new root, detach the old one\n");
}
