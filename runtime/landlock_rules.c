#include "runtime/landlock_rules.h"

#include "base/vector.h"

#include <string.h>
#include <unistd.h>

enum {
    RIGHTS_PROCESS =
        RIGHTS_READ | RIGHT_WRITE_FILE | RIGHT_TRUNCATE, /* of /proc: no file can be made there */
    RIGHTS_OWN_DEVICES = RIGHTS_PROCESS | RIGHT_DEVICE_IOCTL
};

/* What an operation of the plan opens at its path. */
static uint32_t rights_of(const struct plan_operation *operation)
{
    switch (operation->kind) {
    case PLAN_BIND_READ:
        return RIGHTS_READ;
    case PLAN_BIND_WRITE:
    case PLAN_SCRATCH:
        return RIGHTS_WRITE;
    case PLAN_BIND_DEVICE:
        return RIGHTS_DEVICES;
    case PLAN_DEV:
        return RIGHTS_OWN_DEVICES;
    case PLAN_PROC:
        return RIGHTS_PROCESS;
    case PLAN_MASK_DIRECTORY:
    case PLAN_MASK_FILE:
    case PLAN_DIRECTORY:
    case PLAN_LINK:
    case PLAN_SEAL:
        break;
    }
    return 0;
}

/* Without namespaces there is no /dev, /proc or /dev/shm of the sandbox's own: the host's /proc can be
 * read, and of its /dev what every program needs. */
static uint32_t rights_alone(const struct plan_operation *operation)
{
    if (operation->kind == PLAN_DEV || operation->kind == PLAN_SCRATCH)
        return 0;
    return operation->kind == PLAN_PROC ? RIGHTS_READ : rights_of(operation);
}

static bool opens_mount(const struct bound_policy *bound)
{
    static const char *const calls[] = {"mount", "umount2", "pivot_root"};

    for (uint32_t i = 0; i < bound->rules.count; i++)
        for (size_t j = 0; j < sizeof calls / sizeof *calls; j++)
            if (bound->rules.items[i].rule->kind == RULE_GRANT_SYSCALL && !bound->rules.items[i].dropped &&
                strcmp(bound->rules.items[i].rule->name, calls[j]) == 0)
                return true;
    return false;
}

static void rule_push(struct arena *arena, struct landlock_rules *rules, const char *path, uint32_t rights)
{
    VECTOR_PUSH(arena, rules, (struct landlock_rule){.path = path, .rights = rights});
}

static bool covers(const char *top, const char *path)
{
    size_t length = strlen(top);

    return strncmp(top, path, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

typedef uint32_t rights_function(const struct plan_operation *operation);

/* The operations around the one that comes next, outermost first. A plan speaks of what lies below a path
 * right after the path itself. */
struct surroundings {
    struct landlock_rule *items;
    uint32_t count, capacity;
};

/* What is open at `path` already. */
static uint32_t given_at(struct surroundings *around, const char *path)
{
    uint32_t given = 0;

    while (around->count > 0 && !covers(around->items[around->count - 1].path, path))
        around->count--;
    for (uint32_t i = 0; i < around->count; i++)
        given |= around->items[i].rights;
    return given;
}

static void rules_of_plan(struct arena *arena, struct landlock_rules *rules, const struct plan *plan,
                          rights_function *rights_of_one)
{
    struct surroundings around = {0};

    for (uint32_t i = 0; i < plan->count; i++) {
        const char *path = plan->items[i].path;
        uint32_t rights = rights_of_one(&plan->items[i]);
        if (rights == 0 || (rights & ~given_at(&around, path)) == 0)
            continue;
        rule_push(arena, rules, path, rights);
        VECTOR_PUSH(arena, &around, ((struct landlock_rule){.path = path, .rights = rights}));
    }
}

static void rules_of_sockets(struct arena *arena, struct landlock_rules *rules, const struct facts *facts)
{
    for (uint32_t i = 0; i < facts->place_count; i++)
        if (facts->places[i].socket && facts->places[i].kind != ENTRY_DIRECTORY)
            rule_push(arena, rules, facts->places[i].path, RIGHT_RESOLVE_SOCKET);
}

struct landlock_rules landlock_rules_of(struct arena *arena, const struct bound_policy *bound,
                                        const struct plan *plan, const struct facts *facts)
{
    struct landlock_rules rules = {0};

    if (opens_mount(bound)) {
        rules.none = "the policy opens mount, which Landlock would refuse";
        return rules;
    }
    rule_push(arena, &rules, "/", RIGHT_READ_DIRECTORY);
    rules_of_plan(arena, &rules, plan, rights_of);
    rules_of_sockets(arena, &rules, facts);
    return rules;
}

struct landlock_rules landlock_rules_alone(struct arena *arena, const struct plan *plan,
                                           const struct facts *facts)
{
    static const char *const devices[] = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random",
                                          "/dev/urandom"};
    struct landlock_rules rules = {0};

    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
        if (access(devices[i], F_OK) == 0)
            rule_push(arena, &rules, devices[i], RIGHT_READ_FILE | RIGHT_WRITE_FILE);
    /* It is the terminal of whose session opens it, and the command's session is its own. */
    rule_push(arena, &rules, "/dev/tty", RIGHT_READ_FILE | RIGHT_WRITE_FILE | RIGHT_DEVICE_IOCTL);
    rules_of_plan(arena, &rules, plan, rights_alone);
    rules_of_sockets(arena, &rules, facts);
    return rules;
}

const struct plan_operation **landlock_left_open(struct arena *arena, const struct plan *plan,
                                                 uint32_t *count)
{
    const struct plan_operation **open = arena_array(arena, plan->count, sizeof *open);
    struct surroundings around = {0};

    *count = 0;
    for (uint32_t i = 0; i < plan->count; i++) {
        const struct plan_operation *operation = &plan->items[i];
        bool closes = operation->kind == PLAN_MASK_DIRECTORY || operation->kind == PLAN_MASK_FILE;
        uint32_t rights = rights_alone(operation), given = given_at(&around, operation->path);
        if ((closes && given != 0) || (operation->kind == PLAN_BIND_READ && (given & ~rights) != 0))
            open[(*count)++] = operation;
        if (rights != 0)
            VECTOR_PUSH(arena, &around, ((struct landlock_rule){.path = operation->path, .rights = rights}));
    }
    return open;
}
