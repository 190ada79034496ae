/* modes.c - leaving a file that starts with its owner's rights. */
#include "tests/escape/attempt.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SET_USER = 04755 };

static void by_chmod(char **arguments)
{
    chmod(arguments[0], SET_USER);
}

static void by_fchmod(char **arguments)
{
    fchmod(open(arguments[0], O_RDONLY), SET_USER);
}

static void by_fchmodat(char **arguments)
{
    syscall(SYS_fchmodat, AT_FDCWD, arguments[0], SET_USER);
}

static void by_fchmodat2(char **arguments)
{
    enum { NUMBER = 452 };

    syscall(NUMBER, AT_FDCWD, arguments[0], SET_USER, 0);
}

static void by_open(char **arguments)
{
    umask(0);
    unlink(arguments[0]);
    syscall(SYS_openat, AT_FDCWD, arguments[0], O_WRONLY | O_CREAT, SET_USER);
}

static void by_openat2(char **arguments)
{
    struct open_how how = {.flags = O_WRONLY | O_CREAT, .mode = SET_USER};

    umask(0);
    unlink(arguments[0]);
    syscall(SYS_openat2, AT_FDCWD, arguments[0], &how, sizeof how);
}

static void by_mknod(char **arguments)
{
    umask(0);
    unlink(arguments[0]);
    syscall(SYS_mknodat, AT_FDCWD, arguments[0], S_IFREG | SET_USER, 0);
}

static void by_temporary_file(char **arguments)
{
    char path[64] = "/proc/self/fd/0";
    int file = (int)syscall(SYS_openat, AT_FDCWD, ".", O_WRONLY | O_TMPFILE, SET_USER);

    umask(0);
    unlink(arguments[0]);
    close(STDIN_FILENO);
    dup2(file, STDIN_FILENO);
    linkat(AT_FDCWD, path, AT_FDCWD, arguments[0], AT_SYMLINK_FOLLOW);
}

#if defined(__x86_64__)
/* chmod of the 32-bit system: function(number, path, mode), its path below 4 GB. */
static void by_foreign_call(char **arguments)
{
    static const unsigned char code[] = {
        0x53,       /* push rbx */
        0x89, 0xf8, /* mov eax, edi */
        0x89, 0xf3, /* mov ebx, esi */
        0x89, 0xd1, /* mov ecx, edx */
        0xcd, 0x80, /* int 0x80 */
        0x5b,       /* pop rbx */
        0xc3,       /* ret */
    };
    enum { CHMOD_32 = 15, SIZE = 8192 };
    char *memory =
        mmap(NULL, SIZE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
    int (*call)(int number, unsigned path, unsigned mode);

    if (memory == MAP_FAILED)
        return;
    memcpy(memory, code, sizeof code);
    strncpy(memory + SIZE / 2, arguments[0], SIZE / 2 - 1);
    memcpy(&call, &memory, sizeof call);
    call(CHMOD_32, (unsigned)(uintptr_t)(memory + SIZE / 2), SET_USER);
}

/* The same call by its x32 number. */
static void by_x32_call(char **arguments)
{
    enum { X32 = 0x40000000, CHMOD = 90 };

    syscall(X32 | CHMOD, arguments[0], SET_USER);
}
#endif

const struct attempt mode_attempts[] = {
    {"mode-by-chmod", by_chmod},
    {"mode-by-fchmod", by_fchmod},
    {"mode-by-fchmodat", by_fchmodat},
    {"mode-by-fchmodat2", by_fchmodat2},
    {"mode-by-open", by_open},
    {"mode-by-openat2", by_openat2},
    {"mode-by-mknod", by_mknod},
    {"mode-by-temporary-file", by_temporary_file},
#if defined(__x86_64__)
    {"mode-by-foreign-call", by_foreign_call},
    {"mode-by-x32-call", by_x32_call},
#endif
    {NULL, NULL},
};
