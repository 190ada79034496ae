#include "runtime/keeper_mount.h"

#include "runtime/inmates.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <linux/nsfs.h>
#include <linux/openat2.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { CLOSED = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC };

static bool same_namespace(int a, const char *b)
{
    struct stat first, second;
    return fstat(a, &first) == 0 && stat(b, &second) == 0 && first.st_ino == second.st_ino &&
           first.st_dev == second.st_dev;
}

bool keeper_enter(int mount_namespace, const char **step)
{
    /* What is mounted there would be mounted for everybody. */
    *step = "its mounts are the launcher's own";
    errno = EINVAL;
    if (same_namespace(mount_namespace, "/proc/self/ns/mnt"))
        return false;
    int owner = ioctl(mount_namespace, NS_GET_USERNS);
    *step = "finding the user namespace";
    if (owner < 0)
        return false;
    *step = "entering the user namespace";
    bool entered = same_namespace(owner, "/proc/self/ns/user") || setns(owner, CLONE_NEWUSER) == 0;
    close(owner);
    if (!entered)
        return false;
    *step = "entering the mount namespace";
    return setns(mount_namespace, CLONE_NEWNS) == 0;
}

static int tree_open(int directory, const char *path, unsigned flags)
{
    return (int)syscall(SYS_open_tree, directory, path,
                        OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH | flags);
}

static bool tree_restrict(int tree, uint64_t attributes, bool below)
{
    struct mount_attr change = {.attr_set = attributes};
    return syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH | (below ? AT_RECURSIVE : 0), &change,
                   sizeof change) == 0;
}

static int closed_tree(int directory, const char *name)
{
    int tree = tree_open(directory, name, 0);
    if (tree < 0 || tree_restrict(tree, CLOSED, false))
        return tree;
    int error = errno;
    close(tree);
    errno = error;
    return -1;
}

/* An own tmpfs that is mounted nowhere; -1 with errno. */
static int own_files(void)
{
    int configuration = (int)syscall(SYS_fsopen, "tmpfs", FSOPEN_CLOEXEC);
    if (configuration < 0 || syscall(SYS_fsconfig, configuration, FSCONFIG_CMD_CREATE, NULL, NULL, 0) != 0)
        return -1;
    int files = (int)syscall(SYS_fsmount, configuration, FSMOUNT_CLOEXEC, 0);
    close(configuration);
    return files;
}

/* A copy of a mask of that kind that the sandbox was made with; -1 if there is none. */
static int mask_copy(const struct watch_list *list, bool directory)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (list->items[i].kind == WATCH_MASK && list->items[i].directory == directory) {
            int entry = keeper_open(list->items[i].path);
            int tree = entry < 0 ? -1 : closed_tree(entry, "");
            if (entry >= 0)
                close(entry);
            return tree;
        }
    return -1;
}

bool keeper_masks_make(struct keeper_masks *masks, const struct watch_list *list, const char **step)
{
    int files = own_files();
    *masks = (struct keeper_masks){-1, -1};
    *step = "making masks";
    if (files < 0)
        return false;
    int file = openat(files, "file", O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0);
    bool made = file >= 0 && mkdirat(files, "directory", 0) == 0;
    if (file >= 0)
        close(file);
    if (made) {
        masks->file = closed_tree(files, "file");
        masks->directory = closed_tree(files, "directory");
    }
    close(files);
    /* Before Linux 6.15 only what is mounted can be copied. */
    if (masks->file < 0)
        masks->file = mask_copy(list, false);
    if (masks->directory < 0)
        masks->directory = mask_copy(list, true);
    /* Where there is none of a kind, a path that becomes of this kind is lost. But read-only binds need
     * mount_setattr. */
    return made && (masks->file >= 0 || masks->directory >= 0 || errno != ENOSYS);
}

int keeper_open(const char *path)
{
    struct open_how how = {.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS};
    return (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
}

/* What belongs on what `entry` is: a mask that is kept for later, or a copy of the mount that shows it. */
static int cover_of(struct keeper_masks *masks, const struct watch_place *place, int entry, bool directory)
{
    if (place->kind == WATCH_MASK)
        return directory ? masks->directory : masks->file;
    int tree = tree_open(entry, "", directory ? AT_RECURSIVE : 0);
    if (tree < 0 || place->kind == WATCH_PIN ||
        tree_restrict(tree, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, directory))
        return tree;
    int error = errno;
    close(tree);
    errno = error;
    return -1;
}

/* The mask is mounted now, and can be cloned for the next time. */
static void mask_renew(int *mask)
{
    int next = tree_open(*mask, "", 0);
    close(*mask);
    *mask = next;
}

uint64_t keeper_cover(struct keeper_masks *masks, const struct watch_place *place, int *below,
                      const char **step)
{
    struct stat status;
    bool top;

    *below = -1;
    *step = "opening it";
    int entry = keeper_open(place->path);
    if (entry < 0 || fstat(entry, &status) != 0)
        return 0;
    if (S_ISLNK(status.st_mode)) {
        close(entry);
        errno = ELOOP;
        return 0;
    }
    bool directory = S_ISDIR(status.st_mode);
    *step = "making what covers it";
    int tree = cover_of(masks, place, entry, directory);
    uint64_t number = tree < 0 ? 0 : mount_of(tree, "", AT_EMPTY_PATH, &top);
    *step = "covering it";
    if (number != 0 &&
        syscall(SYS_move_mount, tree, "", entry, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) != 0)
        number = 0;
    int error = errno;
    if (number != 0)
        *below = entry;
    else
        close(entry);
    if (place->kind == WATCH_MASK && number != 0)
        mask_renew(directory ? &masks->directory : &masks->file);
    else if (place->kind != WATCH_MASK && tree >= 0)
        close(tree);
    errno = error;
    return number;
}
