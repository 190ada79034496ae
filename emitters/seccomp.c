#include "emitters/seccomp.h"

#include "base/measure.h"
#include "base/vector.h"
#include "emitters/control_bwrap.h"
#include "emitters/control_need.h"
#include "emitters/seccomp_table.h"
#include "emitters/target.h"

#include <string.h>

/* Numbers of Linux, written out because a policy may be compiled on another system. */
enum {
    /* struct seccomp_data (linux/seccomp.h) */
    OFFSET_NUMBER = 0,
    OFFSET_ARCHITECTURE = 4,
    OFFSET_ARGUMENTS = 16,
    /* classic BPF (linux/bpf_common.h) */
    BPF_LOAD = 0x20,
    BPF_AND = 0x54,
    BPF_JUMP_EQUAL = 0x15,
    BPF_JUMP_AT_LEAST = 0x35,
    BPF_JUMP_ANY_BIT = 0x45,
    BPF_RETURN = 0x06,
    /* errno */
    REFUSE_EPERM = 1,
    REFUSE_EACCES = 13,
    REFUSE_ENOSYS = 38,
    REFUSE_EAFNOSUPPORT = 97,
    /* sockets */
    FAMILY_UNIX = 1,
    FAMILY_INET = 2,
    FAMILY_INET6 = 10,
    FAMILY_NETLINK = 16,
    NETLINK_ROUTE = 0,
    TYPE_MASK = 0xf,
    TYPE_STREAM = 1,
    TYPE_SEQUENCED = 5,
    TYPE_PACKET = 10,
    /* ioctl */
    TIOC_STI = 0x5412,
    TIOC_LINUX = 0x541c,
    TIOC_SETD = 0x5423,
    /* the sandbox's first process, which holds all others */
    PROCESS_ONE = 1,
    OWN_PROCESS = 0,
    PRIORITY_OF_USER = 2,    /* PRIO_USER */
    IO_PRIORITY_OF_USER = 3, /* IOPRIO_WHO_USER */
    /* modes and what opens need one */
    MODE_SET_ID = 06000,      /* S_ISUID, S_ISGID */
    OPEN_CREATES = 020000100, /* O_CREAT, O_TMPFILE without O_DIRECTORY */
    /* clone: NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET */
    NEW_NAMESPACES = 0x7e020000,
};

#define RESULT_KILL_PROCESS 0x80000000U
#define RESULT_ERRNO 0x00050000U
#define RESULT_ALLOW 0x7fff0000U
#define PERSONALITY_QUERY 0xffffffffU

static const uint32_t audit_architectures[ARCHITECTURES] = {
    [ARCHITECTURE_X86_64] = 0xc000003e,
    [ARCHITECTURE_AARCH64] = 0xc00000b7,
};

struct instruction {
    uint16_t code;
    uint8_t jump_true, jump_false;
    uint32_t value;
};

struct program {
    struct arena *arena;
    struct instruction *items;
    uint32_t count, capacity;
};

enum { CLOSED = false, REOPENABLE = true };

/* A call of which only some arguments are refused: `write` puts the block that looks at them. */
struct argument_check {
    const char *name;
    void (*write)(struct program *program, const struct argument_check *check,
                  const struct seccomp_request *request);
    unsigned argument;
    bool reopenable;
};

static void put(struct program *program, uint16_t code, uint32_t value)
{
    VECTOR_PUSH(program->arena, program, (struct instruction){.code = code, .value = value});
}

static void put_return(struct program *program, uint32_t result)
{
    put(program, BPF_RETURN, result);
}

/* Starts a block that runs where the accumulator compares so with `value`, and is skipped elsewhere. Every
 * block ends in a return, so what it loads is never seen after it. */
static uint32_t block_begin(struct program *program, uint16_t comparison, uint32_t value)
{
    put(program, comparison, value);
    return program->count - 1;
}

static void block_end(struct program *program, uint32_t begin)
{
    program->items[begin].jump_false = (uint8_t)(program->count - begin - 1);
}

static void return_if(struct program *program, uint16_t comparison, uint32_t value, uint32_t result)
{
    uint32_t begin = block_begin(program, comparison, value);
    put_return(program, result);
    block_end(program, begin);
}

/* Loads the low half of an argument: the kernel takes these arguments as 32-bit numbers and ignores the rest.
 */
static void load_argument(struct program *program, unsigned index)
{
    put(program, BPF_LOAD, OFFSET_ARGUMENTS + 8 * index);
}

static uint32_t refuse(uint32_t error)
{
    return RESULT_ERRNO | error;
}

/* Input put into the terminal's queue is read by the shell outside; line disciplines reach drivers of every
 * age. */
static void check_ioctl(struct program *program, const struct argument_check *check,
                        const struct seccomp_request *request)
{
    (void)check;
    (void)request;
    load_argument(program, 1);
    return_if(program, BPF_JUMP_EQUAL, TIOC_STI, refuse(REFUSE_EPERM));
    return_if(program, BPF_JUMP_EQUAL, TIOC_LINUX, refuse(REFUSE_EPERM));
    return_if(program, BPF_JUMP_EQUAL, TIOC_SETD, refuse(REFUSE_EPERM));
    put_return(program, RESULT_ALLOW);
}

/* Internet families are held by the network namespace, Unix sockets by being refused; every other family
 * (vsock, packet, crypto, Bluetooth, ...) reaches something that no rule speaks of. */
static void check_socket(struct program *program, const struct argument_check *check,
                         const struct seccomp_request *request)
{
    const uint32_t other =
        measure_holds(MEASURE_SOCKET_FAMILIES) ? refuse(REFUSE_EAFNOSUPPORT) : RESULT_ALLOW;
    (void)check;
    load_argument(program, 0);
    return_if(program, BPF_JUMP_EQUAL, FAMILY_UNIX,
              request->unix_sockets || !measure_holds(MEASURE_UNIX_SOCKETS) ? RESULT_ALLOW
                                                                            : refuse(REFUSE_EPERM));
    if (request->refuse_network) {
        put_return(program, refuse(REFUSE_EACCES));
        return;
    }
    return_if(program, BPF_JUMP_EQUAL, FAMILY_INET6, RESULT_ALLOW);

    uint32_t internet = block_begin(program, BPF_JUMP_EQUAL, FAMILY_INET);
    load_argument(program, 1);
    put(program, BPF_AND, TYPE_MASK);
    /* The kernel makes a packet socket of this old type. */
    return_if(program, BPF_JUMP_EQUAL, TYPE_PACKET, other);
    put_return(program, RESULT_ALLOW);
    block_end(program, internet);

    uint32_t netlink = block_begin(program, BPF_JUMP_EQUAL, FAMILY_NETLINK);
    load_argument(program, 2);
    return_if(program, BPF_JUMP_EQUAL, NETLINK_ROUTE, RESULT_ALLOW);
    put_return(program, other);
    block_end(program, netlink);

    put_return(program, other);
}

/* A connected pair talks to itself; but each end of a datagram pair can be connected to any socket's path
 * again. */
static void check_socketpair(struct program *program, const struct argument_check *check,
                             const struct seccomp_request *request)
{
    (void)check;
    load_argument(program, 0);
    uint32_t local = block_begin(program, BPF_JUMP_EQUAL, FAMILY_UNIX);
    if (!request->unix_sockets) {
        load_argument(program, 1);
        put(program, BPF_AND, TYPE_MASK);
        return_if(program, BPF_JUMP_EQUAL, TYPE_STREAM, RESULT_ALLOW);
        return_if(program, BPF_JUMP_EQUAL, TYPE_SEQUENCED, RESULT_ALLOW);
        put_return(program, refuse(REFUSE_EPERM));
    } else {
        put_return(program, RESULT_ALLOW);
    }
    block_end(program, local);
    put_return(program, refuse(REFUSE_EAFNOSUPPORT));
}

static void check_clone(struct program *program, const struct argument_check *check,
                        const struct seccomp_request *request)
{
    (void)check;
    (void)request;
    load_argument(program, 0);
    return_if(program, BPF_JUMP_ANY_BIT, NEW_NAMESPACES, refuse(REFUSE_EPERM));
    put_return(program, RESULT_ALLOW);
}

/* The ordinary personality and the question for the present one; the others switch off protections such as
 * the random layout of memory. */
static void check_personality(struct program *program, const struct argument_check *check,
                              const struct seccomp_request *request)
{
    (void)check;
    (void)request;
    load_argument(program, 0);
    return_if(program, BPF_JUMP_EQUAL, 0, RESULT_ALLOW);
    return_if(program, BPF_JUMP_EQUAL, PERSONALITY_QUERY, RESULT_ALLOW);
    put_return(program, refuse(REFUSE_EPERM));
}

/* The command has the rights to slow the sandbox's first process down or to take its descriptors; everything
 * else ends when this process does, so nothing may keep it from running. */
static void check_process(struct program *program, const struct argument_check *check,
                          const struct seccomp_request *request)
{
    load_argument(program, check->argument);
    /* No number says whether a process is one of the command's own. The kernel keeps a group in its session. */
    if (request->no_namespaces && strcmp(check->name, "setpgid") != 0) {
        return_if(program, BPF_JUMP_EQUAL, OWN_PROCESS, RESULT_ALLOW);
        put_return(program, refuse(REFUSE_EPERM));
        return;
    }
    return_if(program, BPF_JUMP_EQUAL, PROCESS_ONE, refuse(REFUSE_EPERM));
    put_return(program, RESULT_ALLOW);
}

/* The same of calls that name a process, a group or a user: nobody but the first process is in group 1, and
 * all processes belong to the same user. */
static void check_priority(struct program *program, const struct argument_check *check,
                           const struct seccomp_request *request)
{
    bool input = strcmp(check->name, "ioprio_set") == 0;
    load_argument(program, 0);
    return_if(program, BPF_JUMP_EQUAL, input ? IO_PRIORITY_OF_USER : PRIORITY_OF_USER, refuse(REFUSE_EPERM));
    check_process(program, check, request);
}

/* A file that starts with its owner's rights, or its group's, would outlive the sandbox and be started
 * outside of it. */
static void check_mode(struct program *program, const struct argument_check *check,
                       const struct seccomp_request *request)
{
    (void)request;
    load_argument(program, check->argument);
    return_if(program, BPF_JUMP_ANY_BIT, MODE_SET_ID, refuse(REFUSE_EPERM));
    put_return(program, RESULT_ALLOW);
}

/* The mode follows the flags, and means something only where a file may be created. */
static void check_open(struct program *program, const struct argument_check *check,
                       const struct seccomp_request *request)
{
    load_argument(program, check->argument - 1);
    uint32_t creates = block_begin(program, BPF_JUMP_ANY_BIT, OPEN_CREATES);
    check_mode(program, check, request);
    block_end(program, creates);
    put_return(program, RESULT_ALLOW);
}

/* Calls of which some arguments are refused; the often called ones first. `argument` is the position of the
 * process, the process group or the mode. */
static const struct argument_check argument_checks[] = {
    {"openat", check_open, 3, CLOSED},
    {"open", check_open, 2, CLOSED},
    {"ioctl", check_ioctl, 1, CLOSED},
    {"clone", check_clone, 0, REOPENABLE},
    {"socket", check_socket, 0, CLOSED},
    {"socketpair", check_socketpair, 0, CLOSED},
    {"personality", check_personality, 0, REOPENABLE},
    {"creat", check_mode, 1, CLOSED},
    {"chmod", check_mode, 1, REOPENABLE},
    {"fchmod", check_mode, 1, REOPENABLE},
    {"fchmodat", check_mode, 2, REOPENABLE},
    {"fchmodat2", check_mode, 2, REOPENABLE},
    {"mknod", check_mode, 1, CLOSED},
    {"mknodat", check_mode, 2, CLOSED},
    {"setpgid", check_process, 1, CLOSED},
    {"prlimit64", check_process, 0, CLOSED},
    {"setpriority", check_priority, 1, CLOSED},
    {"ioprio_set", check_priority, 1, CLOSED},
    {"sched_setscheduler", check_process, 0, CLOSED},
    {"sched_setparam", check_process, 0, CLOSED},
    {"sched_setattr", check_process, 0, CLOSED},
    {"sched_setaffinity", check_process, 0, CLOSED},
    {"migrate_pages", check_process, 0, CLOSED},
    {"move_pages", check_process, 0, CLOSED},
};
enum { ARGUMENT_CHECKS = sizeof argument_checks / sizeof *argument_checks };

static const struct argument_check *argument_check_named(const char *name)
{
    for (int i = 0; i < ARGUMENT_CHECKS; i++)
        if (strcmp(argument_checks[i].name, name) == 0)
            return &argument_checks[i];
    return NULL;
}

bool syscall_checked_by_argument(const char *name)
{
    return argument_check_named(name) != NULL;
}

bool syscall_may_reopen(const char *name)
{
    const struct baseline_entry *entry = baseline_entry_named(name);
    const struct argument_check *check = argument_check_named(name);
    return entry != NULL ? entry->reopenable : check != NULL && check->reopenable;
}

static bool listed(const char *const *names, const char *name)
{
    for (; names != NULL && *names != NULL; names++)
        if (strcmp(*names, name) == 0)
            return true;
    return false;
}

/* What a namespace of its own would keep apart, and no path names: queues, semaphores and memory of the user's other
 * processes. */
static bool names_host_objects(const char *name)
{
    static const char *const calls[] = {"mq_open", "mq_unlink", "msgctl", "msgget", "msgrcv",
                                        "msgsnd",  "semctl",    "semget", "semop",  "semtimedop",
                                        "shmat",   "shmctl",    "shmget"};

    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (strcmp(calls[i], name) == 0)
            return true;
    return false;
}

/* What tells of the names made in a directory that Landlock closes: it judges what is opened, and to watch is not to
 * open. */
static bool watches_names(const char *name)
{
    return strcmp(name, "inotify_add_watch") == 0;
}

/* The errno with which every call of `name` is refused, or 0. */
static uint32_t refusal_of(const struct seccomp_request *request, const char *name)
{
    const struct baseline_entry *entry = baseline_entry_named(name);
    if (listed(request->denied, name))
        return REFUSE_EPERM;
    if (!measure_refuses(name))
        return 0;
    if (request->refuse_listen && (strcmp(name, "bind") == 0 || strcmp(name, "listen") == 0))
        return REFUSE_EACCES;
    if (request->no_namespaces && names_host_objects(name))
        return REFUSE_EPERM;
    if (request->no_namespaces && watches_names(name))
        return REFUSE_EACCES;
    return entry != NULL && !listed(request->reopened, name) ? entry->error : 0;
}

static void write_argument_checks(struct program *program, const struct seccomp_request *request,
                                  enum seccomp_architecture architecture)
{
    for (int i = 0; i < ARGUMENT_CHECKS; i++) {
        const struct argument_check *check = &argument_checks[i];
        int number = system_call_named(check->name)->numbers[architecture];
        if (number < 0 || refusal_of(request, check->name) != 0 || listed(request->reopened, check->name) ||
            !measure_refuses(check->name))
            continue;
        uint32_t begin = block_begin(program, BPF_JUMP_EQUAL, (uint32_t)number);
        check->write(program, check, request);
        block_end(program, begin);
    }
}

static void write_program(struct program *program, const struct seccomp_request *request,
                          enum seccomp_architecture architecture)
{
    int newest = 0;
    for (uint32_t i = 0; i < system_call_count; i++)
        if (system_calls[i].numbers[architecture] > newest)
            newest = system_calls[i].numbers[architecture];

    put(program, BPF_LOAD, OFFSET_ARCHITECTURE);
    uint32_t foreign = block_begin(program, BPF_JUMP_EQUAL, audit_architectures[architecture]);
    program->items[foreign].jump_true = 1;
    put_return(program, measure_holds(MEASURE_FOREIGN_CALLS) ? RESULT_KILL_PROCESS : RESULT_ALLOW);
    put(program, BPF_LOAD, OFFSET_NUMBER);
    /* What nobody has looked at yet does not exist; x32's numbers, which have bit 30 set, are among these. */
    return_if(program, BPF_JUMP_AT_LEAST, (uint32_t)newest + 1,
              measure_holds(MEASURE_UNKNOWN_CALLS) ? refuse(REFUSE_ENOSYS) : RESULT_ALLOW);
    write_argument_checks(program, request, architecture);
    for (uint32_t i = 0; i < system_call_count; i++) {
        uint32_t error = refusal_of(request, system_calls[i].name);
        if (error != 0 && system_calls[i].numbers[architecture] >= 0)
            return_if(program, BPF_JUMP_EQUAL, (uint32_t)system_calls[i].numbers[architecture],
                      refuse(error));
    }
    put_return(program, RESULT_ALLOW);
}

static void write_little_endian(struct buffer *out, uint32_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        buffer_byte(out, (char)(value >> (8 * i)));
}

/* The architecture's number, or -1. */
static int architecture_named(const char *name)
{
    static const char *const names[ARCHITECTURES] = {
        [ARCHITECTURE_X86_64] = "x86_64",
        [ARCHITECTURE_AARCH64] = "aarch64",
    };
    for (int i = 0; i < ARCHITECTURES; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return -1;
}

uint32_t seccomp_program(struct arena *arena, const struct seccomp_request *request, struct buffer *out,
                         const char **error)
{
    struct program program = {.arena = arena};
    int architecture = architecture_named(request->architecture);
    if (architecture < 0) {
        *error = arena_format(arena, "no system call table for \"%s\"; there is x86_64 and aarch64",
                              request->architecture);
        return 0;
    }
    write_program(&program, request, (enum seccomp_architecture)architecture);
    if (program.count > SECCOMP_INSTRUCTIONS) {
        *error = arena_format(arena, "%u instructions; the kernel loads at most %d", program.count,
                              SECCOMP_INSTRUCTIONS);
        return 0;
    }
    for (uint32_t i = 0; i < program.count; i++) {
        write_little_endian(out, program.items[i].code, 2);
        write_little_endian(out, program.items[i].jump_true, 1);
        write_little_endian(out, program.items[i].jump_false, 1);
        write_little_endian(out, program.items[i].value, 4);
    }
    return program.count;
}

struct name_vector {
    const char **items;
    uint32_t count, capacity;
};

static void open_unix_sockets(const struct bound_policy *bound, bool open, struct seccomp_request *request)
{
    request->unix_sockets = open;
    request->refuse_listen = !open && network_is_shared(bound) && listen_left(bound) == LEFT_NOTHING;
}

void seccomp_request_of(struct arena *arena, const struct bound_policy *bound, const char *architecture,
                        struct seccomp_request *request)
{
    struct name_vector reopened = {0}, denied = {0};
    for (uint32_t i = 0; i < bound->rules.count; i++) {
        const struct rule *rule = bound->rules.items[i].rule;
        if (bound->rules.items[i].dropped)
            continue;
        if (rule->kind == RULE_GRANT_SYSCALL && syscall_may_reopen(rule->name))
            VECTOR_PUSH(arena, &reopened, rule->name);
        if (rule->kind == RULE_DENY_SYSCALL)
            VECTOR_PUSH(arena, &denied, rule->name);
    }
    VECTOR_PUSH(arena, &reopened, NULL);
    VECTOR_PUSH(arena, &denied, NULL);
    *request = (struct seccomp_request){
        .architecture = architecture,
        .reopened = reopened.items,
        .denied = denied.items,
    };
    open_unix_sockets(bound, policy_opens_unix_sockets(bound), request);
}

bool emit_seccomp(const struct emit_request *request, struct buffer *out)
{
    struct seccomp_request wanted;
    const char *error = NULL;
    seccomp_request_of(request->arena, request->bound, request->architecture, &wanted);
    open_unix_sockets(request->bound, text_opens_unix_sockets(request->bound), &wanted);
    if (seccomp_program(request->arena, &wanted, out, &error) > 0)
        return true;
    enum code code =
        architecture_named(request->architecture) < 0 ? SBX351_ARCHITECTURE_UNKNOWN : SBX302_PROGRAM_TOO_LONG;
    note_add(request->notes, (struct note){.code = code, .text = error});
    return false;
}
