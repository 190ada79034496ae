#include "runtime/landlock_rules.h"

#include "base/vector.h"

#include <string.h>

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

struct landlock_rules landlock_rules_of(struct arena *arena, const struct bound_policy *bound,
                                        const struct plan *plan, const struct facts *facts)
{
    struct landlock_rules rules = {0};
    struct {
        struct landlock_rule *items;
        uint32_t count, capacity;
    } around = {0};

    if (opens_mount(bound)) {
        rules.none = "the policy opens mount, which Landlock would refuse";
        return rules;
    }
    rule_push(arena, &rules, "/", RIGHT_READ_DIRECTORY);
    /* A plan speaks of what lies below a path right after the path itself. */
    for (uint32_t i = 0; i < plan->count; i++) {
        const char *path = plan->items[i].path;
        uint32_t rights = rights_of(&plan->items[i]), given = 0;
        if (rights == 0)
            continue;
        while (around.count > 0 && !covers(around.items[around.count - 1].path, path))
            around.count--;
        for (uint32_t j = 0; j < around.count; j++)
            given |= around.items[j].rights;
        if ((rights & ~given) == 0)
            continue;
        rule_push(arena, &rules, path, rights);
        VECTOR_PUSH(arena, &around, ((struct landlock_rule){path, rights}));
    }
    for (uint32_t i = 0; i < facts->place_count; i++)
        if (facts->places[i].socket && facts->places[i].kind != ENTRY_DIRECTORY)
            rule_push(arena, &rules, facts->places[i].path, RIGHT_RESOLVE_SOCKET);
    return rules;
}
