/* files.c - reading and writing what the policy does not open. */
#include "tests/escape/attempt.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <unistd.h>

static void read_file(char **arguments)
{
    say_file(arguments[0]);
}

/* PATH below the root, reached by climbing up from here. */
static void climb(char **arguments)
{
    int here = open(".", O_PATH | O_DIRECTORY);
    char path[4096];

    snprintf(path, sizeof path, "../../../../../../../../../../../..%s", arguments[0]);
    int file = openat(here, path, O_RDONLY);
    say_all(file);
}

/* By the root directories that /proc shows of each process. */
static void read_by_roots(char **arguments)
{
    static const char *const roots[] = {"/proc/1/root", "/proc/self/root", "/proc/1/cwd/../../../../../../..",
                                        "/oldroot", "/newroot"};
    char path[4096];

    for (size_t i = 0; i < sizeof roots / sizeof roots[0]; i++) {
        snprintf(path, sizeof path, "%s%s", roots[i], arguments[0]);
        say_file(path);
    }
}

static void list(char **arguments)
{
    char entries[4096];
    int directory = open(arguments[0], O_RDONLY | O_DIRECTORY);
    long got = syscall(SYS_getdents64, directory, entries, sizeof entries);

    if (got > 0)
        say(entries, (size_t)got);
}

static void read_by_symlink(char **arguments)
{
    if (symlink(arguments[0], arguments[1]) == 0)
        say_file(arguments[1]);
}

static void read_by_hard_link(char **arguments)
{
    if (link(arguments[0], arguments[1]) == 0)
        say_file(arguments[1]);
}

static void read_by_rename(char **arguments)
{
    if (rename(arguments[0], arguments[1]) == 0)
        say_file(arguments[1]);
}

static void exchange(char **arguments)
{
    enum { EXCHANGE = 2 };

    syscall(SYS_renameat2, AT_FDCWD, arguments[0], AT_FDCWD, arguments[1], EXCHANGE);
}

/* As soon as the first path exists. */
static void exchange_after(char **arguments)
{
    while (access(arguments[0], F_OK) != 0)
        ;
    exchange(arguments + 1);
}

static void rename_file(char **arguments)
{
    rename(arguments[0], arguments[1]);
}

static void make_symlink(char **arguments)
{
    symlink(arguments[0], arguments[1]);
}

/* Takes what is at the second path away and leaves a link to the first. */
static void replace_by_symlink(char **arguments)
{
    unlink(arguments[1]);
    symlink(arguments[0], arguments[1]);
}

static void write_file(char **arguments)
{
    put_text(arguments[0], O_WRONLY | O_CREAT | O_TRUNC, arguments[1]);
}

static void write_by_rename(char **arguments)
{
    char other[4096];

    snprintf(other, sizeof other, "%s.new", arguments[0]);
    put_text(other, O_WRONLY | O_CREAT, arguments[1]);
    rename(other, arguments[0]);
}

static void truncate_file(char **arguments)
{
    truncate(arguments[0], 0);
}

/* Through the link of a descriptor that was opened for reading. */
static void reopen(char **arguments)
{
    char path[64];
    int descriptor = arguments[0][0] == '/' ? open(arguments[0], O_RDONLY) : atoi(arguments[0]);

    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    put_text(path, O_WRONLY, arguments[1]);
}

static void truncate_stream(char **arguments)
{
    ftruncate(atoi(arguments[0]), 0);
}

static void make_directory(char **arguments)
{
    char path[4096];

    mkdir(arguments[0], 0755);
    snprintf(path, sizeof path, "%s/made", arguments[0]);
    put_text(path, O_WRONLY | O_CREAT, arguments[1]);
}

static void remove_path(char **arguments)
{
    if (unlink(arguments[0]) != 0)
        rmdir(arguments[0]);
}

static void change_mode(char **arguments)
{
    chmod(arguments[0], 0777);
}

static void change_times(char **arguments)
{
    const struct timeval old[2] = {{1000000000, 0}, {1000000000, 0}};

    utimes(arguments[0], old);
}

static void change_attribute(char **arguments)
{
    setxattr(arguments[0], "user.escape", arguments[1], strlen(arguments[1]), 0);
}

static void make_in_root_and_hold(char **arguments)
{
    put_text(arguments[0], O_WRONLY | O_CREAT, arguments[1]);
    hold();
}

static void read_inherited(char **arguments)
{
    for (int descriptor = 3; descriptor < 1024; descriptor++) {
        lseek(descriptor, 0, SEEK_SET);
        say_all(descriptor);
    }
    (void)arguments;
}

static void read_environment(char **arguments)
{
    (void)arguments;
    for (char **variable = environ; *variable != NULL; variable++)
        say_text(*variable);
}

/* DIRECTORY TYPE BYTES NAME: a directory's number (bytes in hex), of the file system that DIRECTORY is on. */
static void open_by_number(char **arguments)
{
    struct {
        unsigned length;
        int type;
        unsigned char bytes[128];
    } handle = {.type = atoi(arguments[1])};
    int directory = open(arguments[0], O_RDONLY | O_DIRECTORY);

    for (const char *at = arguments[2]; at[0] != '\0' && at[1] != '\0' && handle.length < 128; at += 2) {
        unsigned byte;
        sscanf(at, "%2x", &byte);
        handle.bytes[handle.length++] = (unsigned char)byte;
    }
    int opened = (int)syscall(SYS_open_by_handle_at, directory, &handle, O_RDONLY | O_DIRECTORY);
    say_all(openat(opened, arguments[3], O_RDONLY));
}

static void make_device(char **arguments)
{
    mknod(arguments[0], S_IFCHR | 0666, makedev(1, 11));
    mknod(arguments[0], S_IFBLK | 0666, makedev(254, 0));
}

/* After somebody outside has said so. */
static void wait_and_read(char **arguments)
{
    char byte;

    say_text("holding");
    if (read(STDIN_FILENO, &byte, 1) == 1)
        say_file(arguments[0]);
}

static void open_many_and_hold(char **arguments)
{
    (void)arguments;
    while (dup(STDOUT_FILENO) >= 0)
        ;
    hold();
}

static void open_and_hold(char **arguments)
{
    hold_descriptor(open(arguments[0], O_RDWR));
}

static void crash(char **arguments)
{
    (void)arguments;
    abort();
}

const struct attempt file_attempts[] = {
    {"read", read_file},
    {"climb", climb},
    {"read-by-roots", read_by_roots},
    {"list", list},
    {"read-by-symlink", read_by_symlink},
    {"read-by-hard-link", read_by_hard_link},
    {"read-by-rename", read_by_rename},
    {"rename", rename_file},
    {"exchange", exchange},
    {"exchange-after", exchange_after},
    {"symlink", make_symlink},
    {"replace-by-symlink", replace_by_symlink},
    {"write", write_file},
    {"write-by-rename", write_by_rename},
    {"truncate", truncate_file},
    {"reopen", reopen},
    {"truncate-stream", truncate_stream},
    {"make-directory", make_directory},
    {"remove", remove_path},
    {"change-mode", change_mode},
    {"change-times", change_times},
    {"change-attribute", change_attribute},
    {"write-and-hold", make_in_root_and_hold},
    {"read-inherited", read_inherited},
    {"read-environment", read_environment},
    {"open-by-number", open_by_number},
    {"make-device", make_device},
    {"wait-and-read", wait_and_read},
    {"open-many-and-hold", open_many_and_hold},
    {"open-and-hold", open_and_hold},
    {"crash", crash},
    {NULL, NULL},
};
