/* The seccomp program, run by an interpreter of its own on every system call and the arguments that matter,
 * must decide as the baseline's table says; the numbers must be the system's; and the kernel must load it. */
#include "emitters/seccomp.h"
#include "emitters/seccomp_table.h"
#include "policy/host.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

/* The reference: classic BPF as linux/filter.h defines it, only what seccomp allows of it. */
static uint32_t interpret(const struct sock_filter *program, uint32_t count, const struct seccomp_data *data)
{
    uint32_t accumulator = 0;
    for (uint32_t at = 0; at < count; at++) {
        const struct sock_filter *now = &program[at];
        uint32_t word;
        switch (now->code) {
        case BPF_LD | BPF_W | BPF_ABS:
            assert_true(now->k % 4 == 0 && now->k + 4 <= sizeof *data);
            memcpy(&word, (const char *)data + now->k, sizeof word);
            accumulator = word;
            break;
        case BPF_ALU | BPF_AND | BPF_K:
            accumulator &= now->k;
            break;
        case BPF_JMP | BPF_JEQ | BPF_K:
            at += accumulator == now->k ? now->jt : now->jf;
            break;
        case BPF_JMP | BPF_JGE | BPF_K:
            at += accumulator >= now->k ? now->jt : now->jf;
            break;
        case BPF_JMP | BPF_JSET | BPF_K:
            at += (accumulator & now->k) != 0 ? now->jt : now->jf;
            break;
        case BPF_RET | BPF_K:
            return now->k;
        default:
            fail_msg("instruction %u has code %#x", at, now->code);
        }
    }
    fail_msg("the program runs off its end");
    return 0;
}

struct loaded {
    struct arena *arena;
    struct buffer bytes;
    uint32_t count;
    uint32_t audit;
    enum seccomp_architecture architecture;
};

static struct loaded load(const struct seccomp_request *request)
{
    struct loaded loaded = {.arena = arena_create(0)};
    const char *error = NULL;
    loaded.bytes = buffer_in(loaded.arena);
    loaded.count = seccomp_program(loaded.arena, request, &loaded.bytes, &error);
    assert_null(error);
    assert_int_equal(loaded.bytes.length, loaded.count * sizeof(struct sock_filter));
    loaded.architecture =
        strcmp(request->architecture, "x86_64") == 0 ? ARCHITECTURE_X86_64 : ARCHITECTURE_AARCH64;
    loaded.audit = loaded.architecture == ARCHITECTURE_X86_64 ? AUDIT_ARCH_X86_64 : AUDIT_ARCH_AARCH64;
    return loaded;
}

static uint32_t decide(const struct loaded *loaded, uint32_t audit, uint32_t number,
                       const uint64_t arguments[6])
{
    struct seccomp_data data = {.nr = (int)number, .arch = audit};
    if (arguments != NULL)
        memcpy(data.args, arguments, sizeof data.args);
    return interpret((const struct sock_filter *)(const void *)loaded->bytes.bytes, loaded->count, &data);
}

static uint32_t call(const struct loaded *loaded, const char *name, uint64_t a, uint64_t b, uint64_t c)
{
    const struct system_call *system_call = system_call_named(name);
    assert_non_null(system_call);
    int number = system_call->numbers[loaded->architecture];
    assert_true(number >= 0);
    return decide(loaded, loaded->audit, (uint32_t)number, (const uint64_t[6]){a, b, c});
}

static const uint32_t refused = SECCOMP_RET_ERRNO | EPERM;
static const uint32_t allowed = SECCOMP_RET_ALLOW;
static const uint32_t no_family = SECCOMP_RET_ERRNO | EAFNOSUPPORT;

static const char *const architectures[] = {"x86_64", "aarch64"};

static void every_number_is_decided_as_the_table_says(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct loaded loaded = load(&(struct seccomp_request){.architecture = architectures[i]});
        for (uint32_t number = 0; number < 470; number++) {
            uint32_t expected = allowed;
            for (uint32_t j = 0; j < baseline_entry_count; j++)
                if (system_call_named(baseline_entries[j].name)->numbers[i] == (int)number)
                    expected = SECCOMP_RET_ERRNO | baseline_entries[j].error;
            if ((int)number == system_call_named("socket")->numbers[i] ||
                (int)number == system_call_named("socketpair")->numbers[i])
                expected = no_family; /* all arguments zero: no family */
            assert_int_equal(decide(&loaded, loaded.audit, number, NULL), expected);
        }
        arena_destroy(loaded.arena);
    }
}

static void what_is_newer_or_foreign_does_not_run(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct loaded loaded = load(&(struct seccomp_request){.architecture = architectures[i]});
        static const uint32_t newer[] = {470,        471,        500,        1023,
                                         0x3fffffff, 0x40000000, 0x40000001, 0x400001ff,
                                         0x7fffffff, 0x80000000, 0xffffffff};
        for (size_t j = 0; j < sizeof newer / sizeof *newer; j++)
            assert_int_equal(decide(&loaded, loaded.audit, newer[j], NULL), SECCOMP_RET_ERRNO | ENOSYS);
        static const uint32_t foreign[] = {AUDIT_ARCH_I386, AUDIT_ARCH_ARM, AUDIT_ARCH_RISCV64, 0,
                                           0xffffffff};
        for (size_t j = 0; j < sizeof foreign / sizeof *foreign; j++)
            for (uint32_t number = 0; number < 480; number++)
                assert_int_equal(decide(&loaded, foreign[j], number, NULL), SECCOMP_RET_KILL_PROCESS);
        arena_destroy(loaded.arena);
    }
}

static void upper_halves_of_arguments_change_nothing(void **state)
{
    (void)state;
    struct loaded loaded = load(&(struct seccomp_request){.architecture = "x86_64"});
    const uint64_t high = 0xdeadbeef00000000U;
    assert_int_equal(call(&loaded, "ioctl", 0, high | TIOCSTI, 0), refused);
    assert_int_equal(call(&loaded, "clone", high | CLONE_NEWUSER, 0, 0), refused);
    assert_int_equal(call(&loaded, "clone", high, 0, 0), allowed);
    assert_int_equal(call(&loaded, "socket", high | AF_UNIX, SOCK_STREAM, 0), refused);
    assert_int_equal(call(&loaded, "socket", high | AF_VSOCK, SOCK_STREAM, 0), no_family);
    assert_int_equal(call(&loaded, "socketpair", AF_UNIX, high | SOCK_DGRAM, 0), refused);
    arena_destroy(loaded.arena);
}

static void terminal_input_cannot_be_forged(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct loaded loaded = load(&(struct seccomp_request){.architecture = architectures[i]});
        for (uint64_t command = 0x5400; command < 0x5500; command++) {
            bool bad = command == TIOCSTI || command == TIOCLINUX || command == TIOCSETD;
            assert_int_equal(call(&loaded, "ioctl", 0, command, 0), bad ? refused : allowed);
        }
        arena_destroy(loaded.arena);
    }
}

static void threads_start_and_namespaces_do_not(void **state)
{
    (void)state;
    struct loaded loaded = load(&(struct seccomp_request){.architecture = "aarch64"});
    const uint64_t thread = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
                            CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;
    static const uint64_t namespaces[] = {CLONE_NEWNS,   CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC,
                                          CLONE_NEWUSER, CLONE_NEWPID,    CLONE_NEWNET};
    assert_int_equal(call(&loaded, "clone", thread, 0, 0), allowed);
    assert_int_equal(call(&loaded, "clone", CLONE_VM | CLONE_VFORK | 17, 0, 0), allowed);
    for (size_t i = 0; i < sizeof namespaces / sizeof *namespaces; i++)
        assert_int_equal(call(&loaded, "clone", thread | namespaces[i], 0, 0), refused);
    assert_int_equal(call(&loaded, "clone3", 0, 0, 0), SECCOMP_RET_ERRNO | ENOSYS);
    arena_destroy(loaded.arena);
}

static void only_known_socket_families_open(void **state)
{
    (void)state;
    for (int open = 0; open < 2; open++) {
        struct loaded loaded =
            load(&(struct seccomp_request){.architecture = "x86_64", .unix_sockets = open != 0});
        for (uint64_t family = 0; family < 64; family++)
            for (uint64_t type = 0; type < 16; type++)
                for (uint64_t protocol = 0; protocol < 24; protocol++) {
                    uint32_t expected = no_family;
                    if (family == AF_UNIX)
                        expected = open != 0 ? allowed : refused;
                    if (family == AF_INET6 || (family == AF_INET && type != SOCK_PACKET) ||
                        (family == AF_NETLINK && protocol == 0))
                        expected = allowed;
                    assert_int_equal(call(&loaded, "socket", family, type | SOCK_CLOEXEC, protocol),
                                     expected);
                    if (family != AF_UNIX)
                        assert_int_equal(call(&loaded, "socketpair", family, type, protocol), no_family);
                }
        for (uint64_t type = 0; type < 16; type++) {
            bool pair = open != 0 || type == SOCK_STREAM || type == SOCK_SEQPACKET;
            assert_int_equal(call(&loaded, "socketpair", AF_UNIX, type | SOCK_NONBLOCK, 0),
                             pair ? allowed : refused);
        }
        arena_destroy(loaded.arena);
    }
}

static void personality_only_tells(void **state)
{
    (void)state;
    const char *const reopened[] = {"personality", NULL};
    struct loaded closed = load(&(struct seccomp_request){.architecture = "x86_64"});
    struct loaded open = load(&(struct seccomp_request){.architecture = "x86_64", .reopened = reopened});
    assert_int_equal(call(&closed, "personality", 0, 0, 0), allowed);
    assert_int_equal(call(&closed, "personality", 0xffffffff, 0, 0), allowed);
    assert_int_equal(call(&closed, "personality", 0x0040000, 0, 0), refused);
    assert_int_equal(call(&open, "personality", 0x0040000, 0, 0), allowed);
    arena_destroy(closed.arena);
    arena_destroy(open.arena);
}

static uint32_t call_with(const struct loaded *loaded, const char *name, const uint64_t arguments[6])
{
    int number = system_call_named(name)->numbers[loaded->architecture];
    /* An older form of the call that this architecture never had. */
    if (number < 0)
        return refused;
    return decide(loaded, loaded->audit, (uint32_t)number, arguments);
}

static void nothing_slows_or_changes_the_first_process(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint64_t before; /* of the arguments before the one that names a process or group */
        int argument;
    } calls[] = {
        {"prlimit64", 0, 0},         {"sched_setscheduler", 0, 0},
        {"sched_setparam", 0, 0},    {"sched_setattr", 0, 0},
        {"sched_setaffinity", 0, 0}, {"migrate_pages", 0, 0},
        {"move_pages", 0, 0},        {"setpgid", 0, 1},
        {"setpgid", 7, 1},           {"setpriority", 0, 1},
        {"setpriority", 1, 1},       {"ioprio_set", 1, 1},
        {"ioprio_set", 2, 1},
    };
    static const uint64_t others[] = {0, 2, 3, 257, 65537, 0xffffffff};
    for (int i = 0; i < 2; i++) {
        struct loaded loaded = load(&(struct seccomp_request){.architecture = architectures[i]});
        for (size_t j = 0; j < sizeof calls / sizeof *calls; j++) {
            uint64_t arguments[6] = {calls[j].before, 0, 5, 5, 5, 5};
            arguments[calls[j].argument] = 1;
            assert_int_equal(call_with(&loaded, calls[j].name, arguments), refused);
            arguments[calls[j].argument] = 0xfeed000000000001U;
            assert_int_equal(call_with(&loaded, calls[j].name, arguments), refused);
            for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
                arguments[calls[j].argument] = others[k];
                assert_int_equal(call_with(&loaded, calls[j].name, arguments), allowed);
            }
        }
        /* PRIO_USER and IOPRIO_WHO_USER mean every process of the user, the first one too. */
        for (uint64_t who = 0; who < 3; who++) {
            assert_int_equal(call(&loaded, "setpriority", 2, who, 19), refused);
            assert_int_equal(call(&loaded, "ioprio_set", 3, who, 0), refused);
        }
        arena_destroy(loaded.arena);
    }
}

static void no_file_gets_the_rights_of_its_owner(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int mode;
        uint64_t flags; /* of the argument before the mode, where that decides whether there is one */
    } calls[] = {
        {"chmod", 1, 0},     {"fchmod", 1, 0},     {"fchmodat", 2, 0},       {"fchmodat2", 2, 0},
        {"mknod", 1, 0},     {"mknodat", 2, 0},    {"creat", 1, 0},          {"open", 2, 0100},
        {"openat", 3, 0100}, {"open", 2, 0101101}, {"openat", 3, 020200002}, {"open", 2, 020000000},
    };
    for (int i = 0; i < 2; i++) {
        struct loaded loaded = load(&(struct seccomp_request){.architecture = architectures[i]});
        for (size_t j = 0; j < sizeof calls / sizeof *calls; j++) {
            bool exists = system_call_named(calls[j].name)->numbers[i] >= 0;
            for (uint64_t mode = 0; exists && mode < 0200000; mode += 0111) {
                uint64_t arguments[6] = {06000, 06000, 06000, 06000, 06000, 06000};
                arguments[calls[j].mode - 1] = calls[j].flags;
                arguments[calls[j].mode] = mode;
                assert_int_equal(call_with(&loaded, calls[j].name, arguments),
                                 (mode & 06000) != 0 ? refused : allowed);
            }
        }
        /* Without a file to be created the argument is whatever was left there. */
        assert_int_equal(call_with(&loaded, "openat", (const uint64_t[6]){3, 6, 0200002, 04755, 0, 0}),
                         allowed);
        assert_int_equal(call(&loaded, "openat2", 0, 0, 0), SECCOMP_RET_ERRNO | ENOSYS);
        arena_destroy(loaded.arena);
    }
}

static void changing_modes_can_be_opened_and_creating_cannot(void **state)
{
    (void)state;
    const char *const reopened[] = {"fchmodat", NULL};
    struct loaded loaded = load(&(struct seccomp_request){.architecture = "x86_64", .reopened = reopened});
    assert_int_equal(call(&loaded, "fchmodat", 0, 0, 04755), allowed);
    assert_int_equal(call(&loaded, "chmod", 0, 04755, 0), refused);
    assert_true(syscall_may_reopen("chmod"));
    assert_true(syscall_may_reopen("fchmodat"));
    assert_false(syscall_may_reopen("openat"));
    assert_false(syscall_may_reopen("creat"));
    assert_false(syscall_may_reopen("prlimit64"));
    assert_false(syscall_may_reopen("openat2"));
    arena_destroy(loaded.arena);
}

static void a_policy_reopens_and_adds_by_name(void **state)
{
    (void)state;
    const char *const reopened[] = {"ptrace", "kcmp", NULL};
    const char *const denied[] = {"kcmp", "chmod", "ioctl", "arm_fadvise64_64", NULL};
    struct loaded loaded =
        load(&(struct seccomp_request){.architecture = "x86_64", .reopened = reopened, .denied = denied});
    assert_int_equal(call(&loaded, "ptrace", 0, 0, 0), allowed);
    assert_int_equal(call(&loaded, "process_vm_readv", 0, 0, 0), refused);
    assert_int_equal(call(&loaded, "kcmp", 0, 0, 0), refused); /* a deny wins */
    assert_int_equal(call(&loaded, "chmod", 0, 0, 0), refused);
    assert_int_equal(call(&loaded, "ioctl", 0, 1, 0), refused);
    assert_int_equal(call(&loaded, "fchmod", 0, 0755, 0), allowed);
    arena_destroy(loaded.arena);
}

static void nothing_listens_where_the_network_is_the_hosts(void **state)
{
    (void)state;
    struct loaded loaded = load(&(struct seccomp_request){.architecture = "aarch64", .refuse_listen = true});
    assert_int_equal(call(&loaded, "bind", 0, 0, 0), SECCOMP_RET_ERRNO | EACCES);
    assert_int_equal(call(&loaded, "listen", 0, 0, 0), SECCOMP_RET_ERRNO | EACCES);
    assert_int_equal(call(&loaded, "connect", 0, 0, 0), allowed);
    arena_destroy(loaded.arena);
}

static void without_namespaces_only_what_is_ones_own_can_be_named(void **state)
{
    (void)state;
    static const char *const of_processes[] = {"prlimit64", "sched_setaffinity", "sched_setparam",
                                               "migrate_pages"};
    static const char *const of_hosts[] = {"shmget", "shmat", "semget", "msgsnd", "mq_open"};
    struct loaded loaded = load(&(struct seccomp_request){.architecture = "x86_64", .no_namespaces = true});
    for (size_t i = 0; i < sizeof of_processes / sizeof *of_processes; i++) {
        assert_int_equal(call(&loaded, of_processes[i], 0, 0, 0), allowed);
        assert_int_equal(call(&loaded, of_processes[i], 1, 0, 0), refused);
        assert_int_equal(call(&loaded, of_processes[i], 4711, 0, 0), refused);
    }
    assert_int_equal(call(&loaded, "setpriority", 0, 0, 5), allowed);
    assert_int_equal(call(&loaded, "setpriority", 0, 4711, 5), refused);
    assert_int_equal(call(&loaded, "setpriority", 2, 0, 5), refused);
    assert_int_equal(call(&loaded, "setpgid", 4711, 4711, 0), allowed);
    for (size_t i = 0; i < sizeof of_hosts / sizeof *of_hosts; i++)
        assert_int_equal(call(&loaded, of_hosts[i], 0, 0, 0), refused);
    assert_int_equal(call(&loaded, "shmdt", 0, 0, 0), allowed);
    arena_destroy(loaded.arena);
}

static void a_network_without_a_namespace_is_closed_by_family(void **state)
{
    (void)state;
    const uint32_t closed = SECCOMP_RET_ERRNO | EACCES;
    struct loaded loaded = load(
        &(struct seccomp_request){.architecture = "x86_64", .refuse_network = true, .unix_sockets = true});
    static const uint64_t families[] = {AF_INET, AF_INET6, AF_NETLINK, AF_PACKET, AF_VSOCK};
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        assert_int_equal(call(&loaded, "socket", families[i], SOCK_STREAM, 0), closed);
    assert_int_equal(call(&loaded, "socket", AF_UNIX, SOCK_STREAM, 0), allowed);
    assert_int_equal(call(&loaded, "socketpair", AF_INET, SOCK_STREAM, 0), no_family);
    arena_destroy(loaded.arena);
}

static void everything_denied_still_fits(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct loaded loaded =
            load(&(struct seccomp_request){.architecture = architectures[i], .denied = syscall_list()});
        assert_true(loaded.count <= SECCOMP_INSTRUCTIONS);
        for (uint32_t j = 0; j < system_call_count; j++)
            if (system_calls[j].numbers[i] >= 0)
                assert_int_equal(call(&loaded, system_calls[j].name, 0, 0, 0), refused);
        arena_destroy(loaded.arena);
    }
}

static void an_unknown_architecture_is_refused(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);
    struct buffer out = buffer_in(arena);
    const char *error = NULL;
    assert_int_equal(
        seccomp_program(arena, &(struct seccomp_request){.architecture = "riscv64"}, &out, &error), 0);
    assert_non_null(strstr(error, "riscv64"));
    assert_int_equal(out.length, 0);
    arena_destroy(arena);
}

/* Newer than the library's table, so only the kernel's own headers could say. */
static bool newer_than_library(const struct system_call *system_call)
{
    return system_call->numbers[ARCHITECTURE_X86_64] >= 451 || strcmp(system_call->name, "uprobe") == 0 ||
           strcmp(system_call->name, "uretprobe") == 0;
}

static void numbers_are_the_systems(void **state)
{
    (void)state;
    static const uint32_t machines[ARCHITECTURES] = {SCMP_ARCH_X86_64, SCMP_ARCH_AARCH64};
    for (int machine = 0; machine < ARCHITECTURES; machine++) {
        for (uint32_t i = 0; i < system_call_count; i++) {
            int number = seccomp_syscall_resolve_name_arch(machines[machine], system_calls[i].name);
            if (!newer_than_library(&system_calls[i]))
                assert_int_equal(system_calls[i].numbers[machine], number < 0 ? -1 : number);
        }
        for (int number = 0; number < 600; number++) {
            char *name = seccomp_syscall_resolve_num_arch(machines[machine], number);
            if (name != NULL) {
                assert_non_null(system_call_named(name));
                assert_int_equal(system_call_named(name)->numbers[machine], number);
            }
            free(name);
        }
    }
#if defined(__x86_64__)
    assert_int_equal(system_call_named("read")->numbers[ARCHITECTURE_X86_64], SYS_read);
    assert_int_equal(system_call_named("set_mempolicy_home_node")->numbers[ARCHITECTURE_X86_64],
                     SYS_set_mempolicy_home_node);
    assert_int_equal(system_call_named("landlock_restrict_self")->numbers[ARCHITECTURE_X86_64],
                     SYS_landlock_restrict_self);
#endif
}

static void tables_are_sorted_and_agree(void **state)
{
    (void)state;
    for (uint32_t i = 1; i < system_call_count; i++)
        assert_true(strcmp(system_calls[i - 1].name, system_calls[i].name) < 0);
    for (uint32_t i = 0; i < baseline_entry_count; i++) {
        assert_true(syscall_known(baseline_entries[i].name));
        assert_true(syscall_denied_by_baseline(baseline_entries[i].name));
        assert_true(baseline_entry_named(baseline_entries[i].name) == &baseline_entries[i]);
        assert_int_equal(syscall_may_reopen(baseline_entries[i].name), baseline_entries[i].reopenable);
    }
    assert_true(syscall_known("arm_fadvise64_64"));
    assert_false(syscall_known("opne"));
    assert_true(syscall_denied_by_baseline("ioctl"));
    assert_true(syscall_denied_by_baseline("openat"));
    assert_false(syscall_denied_by_baseline("read"));
    assert_false(syscall_may_reopen("setns"));
    assert_false(syscall_may_reopen("clone3"));
    assert_true(syscall_may_reopen("clone"));
    assert_true(syscall_may_reopen("mount"));
    assert_false(syscall_may_reopen("ioctl"));
    assert_true(syscall_may_reopen("ptrace"));
    assert_true(syscall_may_reopen("personality"));
}

static void the_page_shows_the_table(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);
    size_t length = 0;
    const char *error = NULL;
    const char *page = file_read(arena, "docs/seccomp.md", 1 << 20, &length, &error);
    assert_non_null(page);
    for (uint32_t i = 0; i < baseline_entry_count; i++) {
        const struct baseline_entry *entry = &baseline_entries[i];
        assert_non_null(strstr(page, arena_format(arena, "| `%s` | %s | %s | %s |\n", entry->name,
                                                  entry->error == EPERM ? "EPERM" : "ENOSYS",
                                                  entry->reopenable ? "yes" : "", entry->reason)));
    }
    arena_destroy(arena);
}

#if defined(__x86_64__)
static int in_child_under(const struct loaded *loaded)
{
    struct sock_fprog program = {.len = (unsigned short)loaded->count,
                                 .filter = (struct sock_filter *)(void *)loaded->bytes.bytes};
    int pair[2];
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        return 1;
    if (socket(AF_UNIX, SOCK_STREAM, 0) != -1 || errno != EPERM)
        return 2;
    if (socket(AF_INET, SOCK_STREAM, 0) < 0 || socket(AF_INET6, SOCK_DGRAM, 0) == -2)
        return 3;
    if (unshare(CLONE_NEWUSER) != -1 || errno != EPERM)
        return 4;
    if (syscall(SYS_clone3, NULL, 0) != -1 || errno != ENOSYS)
        return 5;
    if (syscall(470) != -1 || errno != ENOSYS)
        return 6;
    if (ioctl(0, TIOCSTI, "x") != -1 || errno != EPERM)
        return 7;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0 || socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) == 0)
        return 8;
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    int status = 1;
    return child > 0 && waitpid(child, &status, 0) == child && status == 0 ? 0 : 9;
}

static void the_kernel_loads_and_obeys_it(void **state)
{
    (void)state;
    struct loaded loaded = load(&(struct seccomp_request){.architecture = "x86_64"});
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(in_child_under(&loaded));
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    arena_destroy(loaded.arena);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_number_is_decided_as_the_table_says),
        cmocka_unit_test(what_is_newer_or_foreign_does_not_run),
        cmocka_unit_test(upper_halves_of_arguments_change_nothing),
        cmocka_unit_test(terminal_input_cannot_be_forged),
        cmocka_unit_test(threads_start_and_namespaces_do_not),
        cmocka_unit_test(only_known_socket_families_open),
        cmocka_unit_test(personality_only_tells),
        cmocka_unit_test(nothing_slows_or_changes_the_first_process),
        cmocka_unit_test(no_file_gets_the_rights_of_its_owner),
        cmocka_unit_test(changing_modes_can_be_opened_and_creating_cannot),
        cmocka_unit_test(a_policy_reopens_and_adds_by_name),
        cmocka_unit_test(nothing_listens_where_the_network_is_the_hosts),
        cmocka_unit_test(without_namespaces_only_what_is_ones_own_can_be_named),
        cmocka_unit_test(a_network_without_a_namespace_is_closed_by_family),
        cmocka_unit_test(everything_denied_still_fits),
        cmocka_unit_test(an_unknown_architecture_is_refused),
        cmocka_unit_test(numbers_are_the_systems),
        cmocka_unit_test(tables_are_sorted_and_agree),
        cmocka_unit_test(the_page_shows_the_table),
#if defined(__x86_64__)
        cmocka_unit_test(the_kernel_loads_and_obeys_it),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
