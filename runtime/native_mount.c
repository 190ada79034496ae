#include "runtime/native_mount.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

int open_beneath(int directory, const char *path)
{
    uint64_t beneath = directory == AT_FDCWD ? 0 : RESOLVE_BENEATH;
    struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS | beneath};

    return (int)syscall(SYS_openat2, directory, path, &how, sizeof how);
}

struct setting {
    const char *name, *value;
};

static int mount_new(const char *type, const struct setting *settings, unsigned attributes)
{
    int context = fsopen(type, FSOPEN_CLOEXEC), made = -1;
    /* What the mount table says of it. */
    bool ready = context >= 0 && fsconfig(context, FSCONFIG_SET_STRING, "source", type, 0) == 0;

    for (; ready && settings->name != NULL; settings++)
        ready = fsconfig(context, FSCONFIG_SET_STRING, settings->name, settings->value, 0) == 0;
    if (ready && fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
        made = fsmount(context, FSMOUNT_CLOEXEC, attributes);
    if (context >= 0)
        close(context);
    return made;
}

int mount_new_tmpfs(uint32_t mode)
{
    char text[16];
    const struct setting settings[] = {{"mode", text}, {NULL, NULL}};

    snprintf(text, sizeof text, "%o", (unsigned)mode);
    return mount_new("tmpfs", settings, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
}

int mount_new_terminals(void)
{
    static const struct setting settings[] = {{"ptmxmode", "0666"}, {"mode", "0620"}, {NULL, NULL}};

    return mount_new("devpts", settings, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC);
}

int mount_new_processes(void)
{
    static const struct setting none[] = {{NULL, NULL}};

    return mount_new("proc", none, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
}

int mount_clone(int source, uint64_t attributes)
{
    struct mount_attr change = {.attr_set = attributes};
    int made = open_tree(source, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH | AT_RECURSIVE);

    if (made >= 0 && mount_setattr(made, "", AT_EMPTY_PATH | AT_RECURSIVE, &change, sizeof change) != 0) {
        close(made);
        return -1;
    }
    return made;
}

int mount_clone_below(int directory, const char *name)
{
    return open_tree(directory, name, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
}

bool mount_restrict(int place, uint64_t attributes)
{
    struct mount_attr change = {.attr_set = attributes};

    return mount_setattr(place, "", AT_EMPTY_PATH, &change, sizeof change) == 0;
}

bool mount_attach(int made, int point)
{
    return move_mount(made, "", point, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) == 0;
}
