#include "emitters/questions_syscall.h"

#include "emitters/control_bwrap.h"
#include "emitters/control_need.h"
#include "emitters/seccomp_table.h"

#include <string.h>

struct syscall_policy {
    const struct bound_policy *bound;
    enum seccomp_architecture architecture;
    bool unix_sockets, host_network_closed;
};

struct syscall_policy *syscall_policy_of(struct arena *arena, const struct bound_policy *bound,
                                         const char *architecture)
{
    struct syscall_policy *policy = arena_alloc(arena, sizeof *policy);
    policy->bound = bound;
    if (strcmp(architecture, "x86_64") == 0)
        policy->architecture = ARCHITECTURE_X86_64;
    else if (strcmp(architecture, "aarch64") == 0)
        policy->architecture = ARCHITECTURE_AARCH64;
    else
        return NULL;
    policy->unix_sockets = text_opens_unix_sockets(bound);
    policy->host_network_closed =
        !policy->unix_sockets && network_is_shared(bound) && listen_left(bound) == LEFT_NOTHING;
    return policy;
}

/* --- calls that depend on their arguments --------------------------------------------------------------- */

enum condition { ALWAYS, NEVER, WITH_UNIX_SOCKETS };

struct example {
    const char *call;
    uint64_t arguments[QUERY_ARGUMENTS];
    enum condition allowed;
    bool reopenable; /* `grant syscall` allows it whatever its arguments are */
};

#define HIGH_HALF 0x100000000U

static const struct example examples[] = {
    /* Set-id bits of files that are made. */
    {"openat", {0, 0, 0, 06777}, ALWAYS, false},
    {"openat", {0, 0, 0100, 0777}, ALWAYS, false},
    {"openat", {0, 0, 0100, 04755}, NEVER, false},
    {"openat", {0, 0, 0100, 02755}, NEVER, false},
    {"openat", {0, 0, 020000000, 04755}, NEVER, false},
    {"openat", {0, 0, 0100 | HIGH_HALF, 04755 | HIGH_HALF}, NEVER, false},
    {"open", {0, 0100, 0777}, ALWAYS, false},
    {"open", {0, 0100, 04755}, NEVER, false},
    {"creat", {0, 0777}, ALWAYS, false},
    {"creat", {0, 02755}, NEVER, false},
    {"chmod", {0, 0777}, ALWAYS, true},
    {"chmod", {0, 04755}, NEVER, true},
    {"fchmod", {0, 01777}, ALWAYS, true},
    {"fchmod", {0, 02755}, NEVER, true},
    {"fchmodat", {0, 0, 0777}, ALWAYS, true},
    {"fchmodat", {0, 0, 04755}, NEVER, true},
    {"fchmodat2", {0, 0, 0777}, ALWAYS, true},
    {"fchmodat2", {0, 0, 04755}, NEVER, true},
    {"mknod", {0, 0777}, ALWAYS, false},
    {"mknod", {0, 04755}, NEVER, false},
    {"mknodat", {0, 0, 0777}, ALWAYS, false},
    {"mknodat", {0, 0, 04755}, NEVER, false},
    /* Terminals. */
    {"ioctl", {0, 0x5401}, ALWAYS, false},
    {"ioctl", {0, 0x5412}, NEVER, false},
    {"ioctl", {0, 0x5412 | HIGH_HALF}, NEVER, false},
    {"ioctl", {0, 0x541c}, NEVER, false},
    {"ioctl", {0, 0x5423}, NEVER, false},
    /* Namespaces. */
    {"clone", {0x11}, ALWAYS, true},
    {"clone", {0x00020000}, NEVER, true},
    {"clone", {0x02000000}, NEVER, true},
    {"clone", {0x04000000}, NEVER, true},
    {"clone", {0x08000000}, NEVER, true},
    {"clone", {0x10000000}, NEVER, true},
    {"clone", {0x20000000}, NEVER, true},
    {"clone", {0x40000000}, NEVER, true},
    /* Families of sockets: Unix, Internet, the old packet sockets, routes and other netlink, and the rest. */
    {"socket", {1, 1}, WITH_UNIX_SOCKETS, false},
    {"socket", {1 | HIGH_HALF, 2}, WITH_UNIX_SOCKETS, false},
    {"socket", {2, 1}, ALWAYS, false},
    {"socket", {2, 2 | 02000000}, ALWAYS, false},
    {"socket", {2, 10}, NEVER, false},
    {"socket", {10, 1}, ALWAYS, false},
    {"socket", {16, 3, 0}, ALWAYS, false},
    {"socket", {16, 3, 9}, NEVER, false},
    {"socket", {17, 3}, NEVER, false},
    {"socket", {38, 5}, NEVER, false},
    {"socket", {40, 1}, NEVER, false},
    {"socketpair", {1, 1}, ALWAYS, false},
    {"socketpair", {1, 5}, ALWAYS, false},
    {"socketpair", {1, 2}, WITH_UNIX_SOCKETS, false},
    {"socketpair", {2, 1}, NEVER, false},
    /* Personalities. */
    {"personality", {0}, ALWAYS, true},
    {"personality", {0xffffffff}, ALWAYS, true},
    {"personality", {0x0040000}, NEVER, true},
    /* The first process. */
    {"setpgid", {0, 5}, ALWAYS, false},
    {"setpgid", {0, 1}, NEVER, false},
    {"prlimit64", {0}, ALWAYS, false},
    {"prlimit64", {1}, NEVER, false},
    {"prlimit64", {1 | HIGH_HALF}, NEVER, false},
    {"setpriority", {0, 7}, ALWAYS, false},
    {"setpriority", {0, 1}, NEVER, false},
    {"setpriority", {2, 7}, NEVER, false},
    {"ioprio_set", {1, 7}, ALWAYS, false},
    {"ioprio_set", {1, 1}, NEVER, false},
    {"ioprio_set", {3, 7}, NEVER, false},
    {"sched_setscheduler", {7}, ALWAYS, false},
    {"sched_setscheduler", {1}, NEVER, false},
    {"sched_setparam", {7}, ALWAYS, false},
    {"sched_setparam", {1}, NEVER, false},
    {"sched_setattr", {7}, ALWAYS, false},
    {"sched_setattr", {1}, NEVER, false},
    {"sched_setaffinity", {7}, ALWAYS, false},
    {"sched_setaffinity", {1}, NEVER, false},
    {"migrate_pages", {7}, ALWAYS, false},
    {"migrate_pages", {1}, NEVER, false},
    {"move_pages", {7}, ALWAYS, false},
    {"move_pages", {1}, NEVER, false},
};
enum { EXAMPLES = sizeof examples / sizeof *examples };

/* Words for numbers that no call has, and for the number of another architecture. */
static const char unknown_call[] = "(a number that no call has)";
static const char x32_call[] = "(a call of the x32 kind)";
static const char foreign_call[] = "(a call of another architecture)";

/* --- questions and answers ------------------------------------------------------------------------------ */

static const struct example *example_of(const struct query *query)
{
    for (int i = 0; i < EXAMPLES; i++)
        if (query->arguments == examples[i].arguments)
            return &examples[i];
    return NULL;
}

static bool depends_on_arguments(const char *call)
{
    for (int i = 0; i < EXAMPLES; i++)
        if (strcmp(examples[i].call, call) == 0)
            return true;
    return false;
}

void syscall_queries(const struct syscall_policy *policy, struct query_set *set)
{
    (void)policy;
    for (uint32_t i = 0; i < system_call_count; i++)
        if (!depends_on_arguments(system_calls[i].name))
            queries_add_name(set, QUERY_SYSCALL, system_calls[i].name);
    for (int i = 0; i < EXAMPLES; i++)
        queries_add(set, (struct query){.kind = QUERY_SYSCALL,
                                        .name = examples[i].call,
                                        .length = strlen(examples[i].call),
                                        .arguments = examples[i].arguments});
    queries_add_name(set, QUERY_SYSCALL, unknown_call);
    queries_add_name(set, QUERY_SYSCALL, x32_call);
    queries_add_name(set, QUERY_SYSCALL, foreign_call);
}

/* Whether the policy has a rule of `kind` for the call. */
static bool has_rule(const struct syscall_policy *policy, enum rule_kind kind, const char *call)
{
    for (uint32_t i = 0; i < policy->bound->rules.count; i++) {
        const struct bound_rule *rule = &policy->bound->rules.items[i];
        if (!rule->dropped && rule->rule->kind == kind && strcmp(rule->rule->name, call) == 0)
            return true;
    }
    return false;
}

static bool is_allowed(const struct syscall_policy *policy, const struct query *query)
{
    const struct example *example = example_of(query);
    const struct baseline_entry *entry = baseline_entry_named(query->name);
    if (query->name[0] == '(' || has_rule(policy, RULE_DENY_SYSCALL, query->name))
        return false;
    if (policy->host_network_closed &&
        (strcmp(query->name, "bind") == 0 || strcmp(query->name, "listen") == 0))
        return false;
    if (entry != NULL)
        return entry->reopenable && has_rule(policy, RULE_GRANT_SYSCALL, query->name);
    if (example == NULL || example->allowed == ALWAYS)
        return true;
    if (example->allowed == WITH_UNIX_SOCKETS)
        return policy->unix_sockets;
    return example->reopenable && has_rule(policy, RULE_GRANT_SYSCALL, query->name);
}

struct reply syscall_answer(const struct syscall_policy *policy, const struct query *query)
{
    return (struct reply){.text = is_allowed(policy, query) ? "allow" : "deny"};
}

bool syscall_numbers(const struct syscall_policy *policy, const struct query *query, uint32_t *number,
                     uint32_t *architecture)
{
    static const uint32_t audit[ARCHITECTURES] = {0xc000003e, 0xc00000b7}; /* linux/audit.h */
    enum { X32_BIT = 0x40000000, NO_CALL = 100000, I386 = 0x40000003 };
    *architecture = audit[policy->architecture];
    *number = 0;
    if (query->name == unknown_call)
        *number = NO_CALL;
    else if (query->name == x32_call)
        *number = X32_BIT;
    else if (query->name == foreign_call)
        *architecture = I386;
    else if (system_call_named(query->name)->numbers[policy->architecture] < 0)
        return false;
    else
        *number = (uint32_t)system_call_named(query->name)->numbers[policy->architecture];
    return true;
}
