/* first_process.c - taking over process 1 of the sandbox, which holds everything else. */
#include "runtime/evidence.h"
#include "tests/escape/attempt.h"

#include <elf.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ONE = 1, SECRET_BYTES = 16, PIDFD_OPEN = 434, PIDFD_GETFD = 438 };

/* Where process 1 keeps the random bytes that protect its stack. */
static uint64_t secret_address(void)
{
    Elf64_auxv_t entry;
    int file = open("/proc/1/auxv", O_RDONLY);

    while (read(file, &entry, sizeof entry) == (ssize_t)sizeof entry)
        if (entry.a_type == AT_RANDOM)
            return entry.a_un.a_val;
    return 0;
}

static void read_by_proc(char **arguments)
{
    unsigned char secret[SECRET_BYTES] = {0};
    int memory = open("/proc/1/mem", O_RDONLY);

    (void)arguments;
    if (pread(memory, secret, sizeof secret, (off_t)secret_address()) == (ssize_t)sizeof secret)
        say_hex(secret, sizeof secret);
    hold();
}

static void read_by_call(char **arguments)
{
    unsigned char secret[SECRET_BYTES] = {0};
    struct iovec here = {secret, sizeof secret}, there = {NULL, sizeof secret};
    uint64_t address = secret_address();

    (void)arguments;
    memcpy(&there.iov_base, &address, sizeof address);
    if (process_vm_readv(ONE, &here, 1, &there, 1, 0) == (ssize_t)sizeof secret)
        say_hex(secret, sizeof secret);
    hold();
}

static void overwrite_by_call(char **arguments)
{
    unsigned char bytes[SECRET_BYTES];
    struct iovec here = {bytes, sizeof bytes}, there = {NULL, sizeof bytes};
    uint64_t address = secret_address();

    (void)arguments;
    memset(bytes, 'x', sizeof bytes);
    memcpy(&there.iov_base, &address, sizeof address);
    process_vm_writev(ONE, &here, 1, &there, 1, 0);
    hold();
}

static void read_by_trace(char **arguments)
{
    uint64_t address = secret_address(), words[2] = {0};

    (void)arguments;
    if (ptrace(PTRACE_ATTACH, ONE, NULL, NULL) == 0) {
        waitpid(ONE, NULL, __WALL);
        for (size_t i = 0; i < 2; i++) {
            void *at;
            uint64_t word_address = address + 8 * i;
            memcpy(&at, &word_address, sizeof at);
            words[i] = (uint64_t)ptrace(PTRACE_PEEKDATA, ONE, at, NULL);
        }
        ptrace(PTRACE_DETACH, ONE, NULL, NULL);
        say_hex(words, sizeof words);
    }
    hold();
}

/* Tells the launcher, on the socket of process 1, that the command ended with exit code 77. */
static void forge_end(char **arguments)
{
    struct status_message message = {.kind = STATUS_ENDED, .number = 77 << 8};
    int process = (int)syscall(PIDFD_OPEN, ONE, 0);

    (void)arguments;
    for (int number = 3; number < 256; number++) {
        int stolen = (int)syscall(PIDFD_GETFD, process, number, 0);
        if (stolen >= 0)
            send(stolen, &message, sizeof message, MSG_NOSIGNAL);
    }
    hold();
}

/* The same by the links that /proc shows. */
static void list_descriptors(char **arguments)
{
    char entries[4096];
    int directory = open("/proc/1/fd", O_RDONLY | O_DIRECTORY);
    long got = syscall(SYS_getdents64, directory, entries, sizeof entries);

    (void)arguments;
    for (long at = 0; at < got;) {
        const char *name = entries + at + 19;
        char target[256];
        ssize_t length = readlinkat(directory, name, target, sizeof target);
        if (length > 0) {
            say(target, (size_t)length);
            say("\n", 1);
        }
        uint16_t entry_length;
        memcpy(&entry_length, entries + at + 16, sizeof entry_length);
        at += entry_length;
    }
    hold();
}

static void limit_files(char **arguments)
{
    const struct rlimit limit = {5, 5};

    (void)arguments;
    prlimit(ONE, RLIMIT_NOFILE, &limit, NULL);
    hold();
}

static void slow_down(char **arguments)
{
    (void)arguments;
    setpriority(PRIO_PROCESS, ONE, 19);
    hold();
}

static void make_idle(char **arguments)
{
    const struct sched_param none = {0};

    (void)arguments;
    sched_setscheduler(ONE, SCHED_IDLE, &none);
    hold();
}

static void bind_to_processor(char **arguments)
{
    cpu_set_t first;

    (void)arguments;
    CPU_ZERO(&first);
    CPU_SET(0, &first);
    sched_setaffinity(ONE, sizeof first, &first);
    hold();
}

static void slow_down_user(char **arguments)
{
    (void)arguments;
    setpriority(PRIO_USER, 0, 19);
    hold();
}

static void join_group(char **arguments)
{
    (void)arguments;
    setpgid(0, ONE);
    hold();
}

const struct attempt first_process_attempts[] = {
    {"read-first-process-by-proc", read_by_proc},
    {"read-first-process-by-call", read_by_call},
    {"overwrite-first-process", overwrite_by_call},
    {"trace-first-process", read_by_trace},
    {"forge-end", forge_end},
    {"list-descriptors-of-first-process", list_descriptors},
    {"limit-first-process", limit_files},
    {"slow-first-process", slow_down},
    {"idle-first-process", make_idle},
    {"bind-first-process", bind_to_processor},
    {"slow-user", slow_down_user},
    {"join-first-group", join_group},
    {NULL, NULL},
};
