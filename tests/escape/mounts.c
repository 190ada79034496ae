/* mounts.c - taking away what mounts hold, and namespaces in which that could be done. */
#include "tests/escape/attempt.h"

#include <fcntl.h>
#include <linux/mount.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void unmount_and_read(char **arguments)
{
    umount2(arguments[0], MNT_DETACH);
    say_file(arguments[0]);
}

static void remount_and_write(char **arguments)
{
    mount(NULL, arguments[0], NULL, MS_REMOUNT | MS_BIND, NULL);
    put_text(arguments[1], O_WRONLY, arguments[2]);
}

static void set_writable_and_write(char **arguments)
{
    struct mount_attr writable = {.attr_clr = MOUNT_ATTR_RDONLY};

    syscall(SYS_mount_setattr, AT_FDCWD, arguments[0], 0, &writable, sizeof writable);
    put_text(arguments[1], O_WRONLY, arguments[2]);
}

/* A copy of a directory's mount without what is mounted in it. */
static void clone_and_read(char **arguments)
{
    int tree = (int)syscall(SYS_open_tree, AT_FDCWD, arguments[0], OPEN_TREE_CLONE);

    say_all(openat(tree, arguments[1], O_RDONLY));
}

static void bind_and_read(char **arguments)
{
    mount(arguments[0], arguments[1], NULL, MS_BIND, NULL);
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", arguments[1], arguments[2]);
    say_file(path);
}

static void unshare_and_hold(char **arguments)
{
    unshare(CLONE_NEWUSER | atoi(arguments[0]));
    hold();
}

static void clone_and_hold(char **arguments)
{
    (void)arguments;
    if (syscall(SYS_clone, CLONE_NEWUSER | CLONE_NEWNET | SIGCHLD, NULL, NULL, NULL, NULL) == 0)
        hold();
    wait(NULL);
}

static void clone3_and_hold(char **arguments)
{
    struct clone_args how = {.flags = CLONE_NEWUSER, .exit_signal = SIGCHLD};

    (void)arguments;
    if (syscall(SYS_clone3, &how, sizeof how) == 0)
        hold();
    wait(NULL);
}

const struct attempt mount_attempts[] = {
    {"unmount-and-read", unmount_and_read},
    {"remount-and-write", remount_and_write},
    {"set-writable-and-write", set_writable_and_write},
    {"clone-and-read", clone_and_read},
    {"bind-and-read", bind_and_read},
    {"unshare-and-hold", unshare_and_hold},
    {"clone-and-hold", clone_and_hold},
    {"clone3-and-hold", clone3_and_hold},
    {NULL, NULL},
};
