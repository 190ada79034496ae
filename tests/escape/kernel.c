/* kernel.c - what the kernel keeps for all: keys, shared memory, queues, its log, and doors seldom used. */
#include "tests/escape/attempt.h"

#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <mqueue.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { BYTES = 4096 };

static void read_key(char **arguments)
{
    enum { SESSION_KEYRING = -3, READ = 11 };
    char secret[BYTES];
    long key = syscall(SYS_request_key, "user", arguments[0], NULL, 0);
    long length = syscall(SYS_keyctl, READ, key, secret, sizeof secret, 0);

    if (key > 0 && length > 0)
        say(secret, (size_t)length < sizeof secret ? (size_t)length : sizeof secret);
}

static void read_shared_memory(char **arguments)
{
    const char *memory = shmat(shmget(atoi(arguments[0]), 1, 0600), NULL, SHM_RDONLY);

    if ((intptr_t)memory != -1)
        say_text(memory);
}

static void read_queue(char **arguments)
{
    struct {
        long type;
        char text[BYTES];
    } message = {0};

    if (msgrcv(msgget(atoi(arguments[0]), 0600), &message, sizeof message.text - 1, 0, IPC_NOWAIT) > 0)
        say_text(message.text);
}

static void change_semaphore(char **arguments)
{
    struct sembuf up = {.sem_num = 0, .sem_op = 1};

    semop(semget(atoi(arguments[0]), 1, 0600), &up, 1);
}

static void read_named_queue(char **arguments)
{
    static char message[65536];
    mqd_t queue = mq_open(arguments[0], O_RDONLY | O_NONBLOCK);

    if (mq_receive(queue, message, sizeof message, NULL) > 0)
        say_text(message);
}

static void read_log(char **arguments)
{
    enum { READ_ALL = 3, SIZE = 1 << 20 };
    static char log[SIZE];
    long length = syscall(SYS_syslog, READ_ALL, log, SIZE);

    (void)arguments;
    if (length > 0)
        say(log, (size_t)length);
}

static void make_map(char **arguments)
{
    union bpf_attr about = {.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 4, .max_entries = 1};

    (void)arguments;
    hold_descriptor((int)syscall(SYS_bpf, BPF_MAP_CREATE, &about, sizeof about));
}

static void measure_performance(char **arguments)
{
    struct perf_event_attr about = {.type = PERF_TYPE_SOFTWARE,
                                    .size = sizeof about,
                                    .config = PERF_COUNT_SW_TASK_CLOCK,
                                    .exclude_kernel = 1,
                                    .exclude_hv = 1};

    (void)arguments;
    hold_descriptor((int)syscall(SYS_perf_event_open, &about, 0, -1, -1, 0));
}

static void catch_faults(char **arguments)
{
    enum { USER_MODE_ONLY = 1 };

    (void)arguments;
    hold_descriptor((int)syscall(SYS_userfaultfd, USER_MODE_ONLY));
}

static void watch_files(char **arguments)
{
    enum { REPORT_FID = 0x200 };

    (void)arguments;
    hold_descriptor((int)syscall(SYS_fanotify_init, REPORT_FID, O_RDONLY));
}

static void name_machine(char **arguments)
{
    sethostname(arguments[0], strlen(arguments[0]));
}

const struct attempt kernel_attempts[] = {
    {"read-key", read_key},
    {"read-shared-memory", read_shared_memory},
    {"read-queue", read_queue},
    {"change-semaphore", change_semaphore},
    {"read-named-queue", read_named_queue},
    {"read-log", read_log},
    {"make-map", make_map},
    {"measure-performance", measure_performance},
    {"catch-faults", catch_faults},
    {"watch-files", watch_files},
    {"name-machine", name_machine},
    {NULL, NULL},
};
