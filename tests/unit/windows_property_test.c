/* Specifications of random policies, carried out on a machine in memory: what they open is what the policy says, in both
 * readings, and nothing is left of them. */
#include "tests/unit/windows_random.h"

#include "emitters/windows_applied.h"
#include "emitters/windows_fixture.h"
#include "emitters/windows_rights.h"

/* ---- the machine ---- */

/* What an object may have of its own. */
static const char *const own_descriptors[] = {
    "D:AI(A;OICI;0x1f01ff;;;WD)",
    "D:AI(A;OICI;0x1200a9;;;AC)(A;OICI;0x1200a9;;;S-1-15-2-2)",
    "D:PAI(A;OICI;0x1f01ff;;;SY)(A;OICI;0x1f01ff;;;BU)",
    "D:AI(D;;0x10000;;;WD)(A;OICI;0x1301bf;;;AU)",
    "D:AI(A;OICIIO;0x10000000;;;WD)S:(ML;OICI;0x1;;;LW)",
    "D:NO_ACCESS_CONTROL", /* of files alone: what is made in such a directory depends on who makes it */
};

struct machine {
    const struct random_policy *policy;
    const struct made_policy *made;
    struct chance chance;
    struct windows_tree *bare, *tree;
    struct {
        const char **items; /* paths with a descriptor of their own */
        uint32_t count, capacity;
    } own;
};

static bool lies_below_file(const struct windows_tree *tree, const char *path)
{
    for (uint32_t i = 0; i < tree->count; i++)
        if (!tree->items[i]->directory && windows_path_covers(tree->items[i]->path, path))
            return true;
    return false;
}

static void put_place(struct machine *machine, const char *path, bool directory)
{
    struct windows_descriptor descriptor;
    const char *name = windows_path_from_model(machine->made->arena, path);
    if (name == NULL || windows_path_problem(name) != NULL || lies_below_file(machine->bare, name) ||
        windows_tree_find(machine->bare, name) != NULL)
        return;
    (void)windows_tree_at(machine->bare, name, directory);
    (void)windows_tree_at(machine->tree, name, directory);
    if (below(&machine->chance, 12) != 0)
        return;
    const char *text = own_descriptors[below(&machine->chance, COUNT(own_descriptors) - directory)];
    assert_true(windows_descriptor_read(machine->made->arena, text, &descriptor));
    (void)windows_tree_put(machine->bare, name, directory, &descriptor);
    (void)windows_tree_put(machine->tree, name, directory, &descriptor);
    VECTOR_PUSH(machine->made->arena, &machine->own, name);
}

/* A place, what lies in it and what lies beside it; sometimes it is not there at all. */
static void put_around(struct machine *machine, const char *path, bool directory, bool always)
{
    struct arena *arena = machine->made->arena;
    const char *slash = strrchr(path, '/');
    if (slash != NULL && slash > path + 2)
        put_place(machine,
                  arena_format(arena, "%.*s/%s", (int)(slash - path), path, random_name(&machine->chance)),
                  true);
    if (!always && below(&machine->chance, 5) == 0)
        return;
    put_place(machine, path, directory);
    if (!directory)
        return;
    put_place(machine, arena_format(arena, "%s/%s", path, random_name(&machine->chance)), true);
    put_place(machine, arena_format(arena, "%s/a/Key.pem", path), false);
}

static void put_rule(struct machine *machine, const struct bound_rule *rule)
{
    struct arena *arena = machine->made->arena;
    bool program = rule->rule->kind == RULE_DENY_EXEC;
    if (rule->at.path == NULL)
        return;
    const char *path = rule->at.pattern
                           ? pattern_plain(arena, rule->at.path, pattern_fixed_prefix(rule->at.path))
                           : rule->at.path;
    put_around(machine, path, !program, rule->rule->kind == RULE_GRANT);
    for (uint32_t i = 0; i < rule->except_count; i++)
        if (!rule->except[i].pattern)
            put_around(machine, rule->except[i].path, true, false);
}

/* Grants first: names are spelled as they spell them. */
static struct machine machine_of(const struct made_policy *made, const struct random_policy *policy)
{
    struct machine machine = {.policy = policy,
                              .made = made,
                              .chance = {policy->machine},
                              .bare = windows_fixture(made->arena),
                              .tree = windows_fixture(made->arena)};
    for (int grants = 1; grants >= 0; grants--)
        for (uint32_t i = 0; i < made->bound->rules.count; i++)
            if ((made->bound->rules.items[i].rule->kind == RULE_GRANT) == (grants == 1))
                put_rule(&machine, &made->bound->rules.items[i]);
    return machine;
}

/* ---- what is meant ---- */

struct question {
    const struct machine *machine;
    const struct windows_node *node, *bare;
    const char *path; /* of the model */
    enum windows_operation operation;
    struct windows_token token;
};

static bool accepts(const struct bound_policy *bound, const char *control)
{
    for (uint32_t i = 0; i < bound->rules.count; i++)
        if (bound->rules.items[i].rule->kind == RULE_ACCEPT &&
            strcmp(bound->rules.items[i].rule->name, control) == 0)
            return true;
    return false;
}

static enum level level_at(const struct bound_policy *bound, const char *path)
{
    return bound_level(bound, path, strlen(path));
}

/* Whether an accepted exception covers the rule; none covers a managed layer's. */
static bool is_excepted(const struct bound_policy *bound, const struct bound_rule *rule)
{
    enum rule_kind kind = rule->rule->kind;
    if (rule->rule->layer != 0)
        return false;
    if (kind == RULE_DENY_EXEC)
        return accepts(bound, "exec.deny");
    return kind == RULE_DENY && accepts(bound, rule->at.pattern ? "fs.deny.pattern" : "fs.deny");
}

/* The policy in three ways: as it is, without what is accepted not to hold, and its plain denies alone. */
struct meant {
    const struct bound_policy *whole, *promised, *closing;
};

static const struct bound_policy *part_of(const struct bound_policy *bound, bool with_grants,
                                          enum windows_tier tier)
{
    static const struct rule everything = {
        .kind = RULE_GRANT, .systems = SYSTEM_ALL, .automatic = true, .level = LEVEL_WRITE};
    struct bound_policy *copy = arena_alloc(bound->arena, sizeof *copy);
    *copy = *bound;
    memset(&copy->rules, 0, sizeof copy->rules);
    for (uint32_t i = 0; i < bound->rules.count; i++) {
        const struct bound_rule *rule = &bound->rules.items[i];
        /* An AppContainer's matches are looked for where something is granted, and where an exception opens
         * something, the rest is only not opened. */
        bool in_part = tier == WINDOWS_APPCONTAINER && (rule->at.pattern || rule->except_count > 0);
        bool denies = !in_part && (rule->rule->kind == RULE_DENY || rule->rule->kind == RULE_DENY_EXEC ||
                                   rule->holds_as_deny_write);
        if (!is_excepted(bound, rule) && (with_grants || denies))
            VECTOR_PUSH(bound->arena, &copy->rules, *rule);
    }
    for (char drive = 'C'; drive <= 'D' && !with_grants; drive++)
        VECTOR_PUSH(
            bound->arena, &copy->rules,
            (struct bound_rule){.rule = &everything, .at.path = arena_format(bound->arena, "%c:", drive)});
    bound_seal(copy, NULL);
    return copy;
}

static struct meant meant_by(const struct bound_policy *bound, enum windows_tier tier)
{
    return (struct meant){bound, part_of(bound, true, tier), part_of(bound, false, tier)};
}

static enum level level_around(const struct bound_policy *bound, const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? bound_level(bound, path, (size_t)(slash - path)) : LEVEL_NONE;
}

static bool may_run(const struct bound_policy *bound, const struct question *question)
{
    size_t length = strlen(question->path);
    return question->node->directory ? bound_level(bound, question->path, length) >= LEVEL_READ
                                     : bound_exec(bound, question->path, length);
}

/* Whether something below the place that is there may not be written, so that it has to stay where it is. */
static bool holds_lower(const struct bound_policy *bound, const struct question *question)
{
    const struct windows_tree *tree = question->machine->tree;
    for (uint32_t i = 0; i < tree->count; i++) {
        const char *path = windows_path_to_model(tree->arena, tree->items[i]->path);
        if (windows_path_covers(question->node->path, tree->items[i]->path) &&
            level_at(bound, path) < LEVEL_WRITE)
            return true;
    }
    return false;
}

/* Whether a rule that may pin the place names something at or below it. */
static bool may_be_pinned(const struct bound_policy *bound, const struct question *question)
{
    for (uint32_t i = 0; i < bound->rules.count; i++) {
        const struct bound_rule *rule = &bound->rules.items[i];
        const char *path = rule->at.path;
        if (path == NULL)
            continue;
        if (rule->at.pattern)
            path = pattern_plain(bound->arena, path, pattern_fixed_prefix(path));
        const char *name = windows_path_from_model(bound->arena, path);
        if (windows_path_covers(question->node->path, name) ||
            (rule->at.pattern && windows_path_covers(name, question->node->path)))
            return true;
    }
    return false;
}

static bool must_be_denied(const struct question *question, const struct meant *meant)
{
    enum level level = level_at(meant->promised, question->path);
    enum windows_tier tier = question->machine->made->spec->tier;
    switch (question->operation) {
    case WINDOWS_OPERATION_READ:
        return level < LEVEL_READ;
    case WINDOWS_OPERATION_WRITE:
    case WINDOWS_OPERATION_CREATE:
        return level < LEVEL_WRITE;
    case WINDOWS_OPERATION_EXECUTE:
        return !may_run(meant->promised, question);
    case WINDOWS_OPERATION_DELETE:
    case WINDOWS_OPERATION_RENAME:
        if (tier != WINDOWS_APPCONTAINER)
            return level < LEVEL_WRITE && !accepts(meant->whole, "fs.write");
        return level_around(meant->promised, question->path) < LEVEL_WRITE ||
               holds_lower(meant->promised, question);
    case WINDOWS_OPERATION_CHANGE_DACL:
        return level < LEVEL_WRITE || tier == WINDOWS_APPCONTAINER;
    case WINDOWS_OPERATIONS:
        break;
    }
    return false;
}

static bool must_be_allowed(const struct question *question, const struct meant *meant)
{
    enum level level = level_at(meant->whole, question->path);
    switch (question->operation) {
    case WINDOWS_OPERATION_READ:
        return level >= LEVEL_READ;
    case WINDOWS_OPERATION_WRITE:
    case WINDOWS_OPERATION_CREATE:
        return level == LEVEL_WRITE;
    case WINDOWS_OPERATION_EXECUTE:
        return bound_exec(meant->whole, question->path, strlen(question->path));
    case WINDOWS_OPERATION_DELETE:
    case WINDOWS_OPERATION_RENAME:
        return level == LEVEL_WRITE && level_around(meant->whole, question->path) == LEVEL_WRITE &&
               !may_be_pinned(meant->whole, question);
    case WINDOWS_OPERATION_CHANGE_DACL:
    case WINDOWS_OPERATIONS:
        break;
    }
    return false;
}

/* Whether Windows lets such a token take anything out of the directory around, which no rule closes. */
static bool is_given_away(const struct question *question, const struct meant *meant)
{
    const struct windows_node *above = question->bare->parent;
    return above != NULL && level_around(meant->closing, question->path) == LEVEL_WRITE &&
           (windows_access(&question->token, &above->descriptor, WINDOWS_LOOSE) &
            WINDOWS_RIGHT_DELETE_CHILD) != 0;
}

/* What Windows opens to such a token anyway, where no rule closes it. */
static bool is_ground(const struct question *question, const struct meant *meant)
{
    enum level left = level_at(meant->closing, question->path);
    bool removes =
        question->operation == WINDOWS_OPERATION_DELETE || question->operation == WINDOWS_OPERATION_RENAME;
    if (removes && is_given_away(question, meant))
        return true;
    /* What Windows keeps for programs of low integrity is said to be open for writing. */
    if (question->machine->made->spec->tier == WINDOWS_RESTRICTED_LOW && left == LEVEL_READ)
        left = LEVEL_WRITE;
    if (!windows_may(&question->token, question->bare, question->operation, WINDOWS_LOOSE))
        return false;
    if (question->operation == WINDOWS_OPERATION_EXECUTE)
        return may_run(meant->closing, question);
    return left >= (question->operation == WINDOWS_OPERATION_READ ? LEVEL_READ : LEVEL_WRITE);
}

/* The user's own access is his affair, and so is what an object says of itself. */
static bool is_of_the_user(const struct question *question)
{
    const struct machine *machine = question->machine;
    struct windows_token user = question->token;
    user.restricting.count = user.package.count = 0;
    user.integrity = WINDOWS_LEVEL_MEDIUM;
    for (uint32_t i = 0; i < machine->own.count; i++)
        if (windows_path_covers(machine->own.items[i], question->node->path))
            return true;
    return !windows_may(&user, question->bare, question->operation, WINDOWS_STRICT);
}

/* Whether something was said to stay closed when the policy was compiled. */
static bool says_less(const struct made_policy *made)
{
    for (uint32_t i = 0; i < made->notes.count; i++)
        if (made->notes.items[i].code == SBX320_WINDOWS_LESS ||
            made->notes.items[i].code == SBX321_WINDOWS_LEFT_OUT)
            return true;
    return false;
}

/* What limits and exceptions leave of a root that is bound later may stay closed without a word. */
static bool may_stay_closed(const struct question *question)
{
    const struct random_policy *policy = question->machine->policy;
    for (uint32_t i = 0; policy->symbolic && i < policy->count; i++)
        if (policy->rules[i].except != NULL || policy->rules[i].kind == RULE_LIMIT_READ ||
            policy->rules[i].kind == RULE_LIMIT_WRITE)
            return true;
    return says_less(question->machine->made);
}

/* ---- comparing ---- */

struct counts {
    uint32_t made, tiers[WINDOWS_TIERS];
    uint64_t questions;
    bool quiet;
};

static bool complain(const struct counts *counts, const struct question *question, const char *what)
{
    struct arena *arena = question->machine->made->arena;
    if (!counts->quiet)
        print_error("%s: %s %s\n%s\nbefore: %s\n", what, windows_operation_names[question->operation],
                    question->path, windows_descriptor_text(arena, &question->node->descriptor),
                    windows_descriptor_text(arena, &question->bare->descriptor));

    return false;
}

static bool agrees(struct question *question, const struct meant *meant, struct counts *counts)
{
    counts->questions++;
    bool strict = windows_may(&question->token, question->node, question->operation, WINDOWS_STRICT);
    bool loose = windows_may(&question->token, question->node, question->operation, WINDOWS_LOOSE);
    if (loose && must_be_denied(question, meant) && !is_ground(question, meant))
        return complain(counts, question, "more than the policy");
    if (!strict && must_be_allowed(question, meant) && !is_of_the_user(question) &&
        !may_stay_closed(question))
        return complain(counts, question, "less than the policy");
    return true;
}

static bool nodes_agree(const struct machine *machine, struct counts *counts)
{
    const struct made_policy *made = machine->made;
    struct meant meant = meant_by(made->bound, made->spec->tier);
    struct question question = {.machine = machine,
                                .token = windows_fixture_token(made->arena, made->spec->tier, 0)};
    for (uint32_t i = 0; i < machine->tree->count; i++) {
        question.node = machine->tree->items[i];
        question.bare = windows_tree_find(machine->bare, question.node->path);
        question.path = windows_path_to_model(made->arena, question.node->path);
        /* Placeholders are made for the run alone, and every root has a value here. */
        if (question.bare == NULL || question.path[0] == '$')
            continue;
        for (int j = 0; j < WINDOWS_OPERATIONS; j++) {
            question.operation = (enum windows_operation)j;
            if ((j != WINDOWS_OPERATION_CREATE || question.node->directory) &&
                !agrees(&question, &meant, counts))
                return false;
        }
    }
    return true;
}

static bool trees_equal(const struct windows_tree *a, const struct windows_tree *b)
{
    for (uint32_t i = 0; i < a->count && i < b->count; i++)
        if (strcmp(a->items[i]->path, b->items[i]->path) != 0 ||
            !windows_descriptor_equal(&a->items[i]->descriptor, &b->items[i]->descriptor))
            return false;
    return a->count == b->count;
}

static bool holds(const struct random_policy *policy, struct counts *counts)
{
    struct made_policy made = random_make(policy);
    struct windows_applied applied;
    bool good = true;
    if (made.spec != NULL) {
        struct machine machine = machine_of(&made, policy);
        if (windows_apply(machine.tree, made.spec, &applied) == NULL) {
            counts->made++;
            counts->tiers[made.spec->tier]++;
            good = nodes_agree(&machine, counts);
            windows_revert(&applied);
            if (good && !trees_equal(machine.tree, machine.bare)) {
                good = false;
                if (!counts->quiet)
                    print_error("something is left on the machine\n");
            }
        }
    } else if (made.notes.errors == 0) {
        good = false;
        print_error("refused without an error\n");
    }
    if (!good && !counts->quiet)
        random_print(policy, &made);
    arena_destroy(made.arena);
    return good;
}

/* The fewest rules of a policy with which `property` fails. */
static struct random_policy shrunk(struct random_policy policy,
                                   bool (*property)(const struct random_policy *policy,
                                                    struct counts *counts))
{
    struct counts counts = {.quiet = true};
    for (uint32_t i = 0; i < policy.count;) {
        struct random_policy smaller = policy;
        smaller.count--;
        memmove(smaller.rules + i, smaller.rules + i + 1, (smaller.count - i) * sizeof *smaller.rules);
        if (property(&smaller, &counts)) {
            i++;
        } else {
            policy = smaller;
            i = 0;
        }
    }
    return policy;
}

static void fail_shrunk(struct random_policy policy,
                        bool (*property)(const struct random_policy *policy, struct counts *counts))
{
    struct counts counts = {0};
    policy = shrunk(policy, property);
    (void)property(&policy, &counts);
    fail();
}

/* ---- one more deny, and the same once more ---- */

/* Rights that nobody's entry takes away and Windows gives anyway do not count. */
static bool rights_shrink(const struct windows_tree *bare, const struct windows_tree *before,
                          const struct windows_tree *after, const struct windows_token *token,
                          struct counts *counts)
{
    for (uint32_t i = 0; i < before->count; i++) {
        const struct windows_node *first = before->items[i], *second = windows_tree_find(after, first->path);
        const struct windows_node *ground = windows_tree_find(bare, first->path);
        /* What had no DACL inherits once it has one. */
        bool compared = second != NULL && ground != NULL && ground->descriptor.dacl_present;
        for (int k = WINDOWS_STRICT; compared && k <= WINDOWS_LOOSE; k++) {
            enum windows_reading reading = (enum windows_reading)k;
            uint32_t more = windows_access(token, &second->descriptor, reading) &
                            ~windows_access(token, &first->descriptor, reading) &
                            ~windows_access(token, &ground->descriptor, reading);
            counts->questions++;
            if (more == 0)
                continue;
            if (!counts->quiet)
                print_error("one more deny gives 0x%lx at %s\n", (unsigned long)more, first->path);
            return false;
        }
    }
    return true;
}

/* Whether the last rule, a deny, takes rights away and gives none, where the policy keeps its tier. */
static bool last_deny_only_takes(const struct random_policy *policy, struct counts *counts)
{
    struct random_policy without = *policy;
    struct windows_applied applied;
    bool good = true;
    if (policy->count < 2 || policy->rules[policy->count - 1].kind != RULE_DENY)
        return true;
    without.count--;
    struct made_policy with = random_make(policy), made = random_make(&without);
    if (with.spec != NULL && made.spec != NULL && with.spec->tier == made.spec->tier) {
        struct machine machine = machine_of(&with, policy), untouched = machine_of(&with, policy);
        struct windows_token token = windows_fixture_token(made.arena, made.spec->tier, 0);
        if (windows_apply(machine.bare, made.spec, &applied) == NULL &&
            windows_apply(machine.tree, with.spec, &applied) == NULL) {
            counts->made++;
            good = rights_shrink(untouched.bare, machine.bare, machine.tree, &token, counts);
        }
        if (!good && !counts->quiet) {
            random_print(&without, &made);
            random_print(policy, &with);
        }
    }
    arena_destroy(with.arena);
    arena_destroy(made.arena);
    return good;
}

static bool is_made_alike(const struct random_policy *policy)
{
    struct made_policy first = random_make(policy), second = random_make(policy);
    bool same =
        first.text.length == second.text.length &&
        (first.text.length == 0 || memcmp(first.text.bytes, second.text.bytes, first.text.length) == 0);
    arena_destroy(first.arena);
    arena_destroy(second.arena);
    return same;
}

enum { POLICIES = 20000 };

static uint32_t rounds(void)
{
    const char *divisor = getenv("SBX_DIVISOR");
    int by = divisor != NULL ? atoi(divisor) : 1;
    return POLICIES / (uint32_t)(by > 0 ? by : 1);
}

static void specifications_open_what_policies_say(void **state)
{
    struct chance chance = {88172645463325252U};
    struct counts counts = {.quiet = true};
    uint32_t count = rounds();
    (void)state;
    for (uint32_t i = 0; i < count; i++) {
        struct arena *arena = arena_create(0);
        struct random_policy policy = random_policy_of(&chance, arena);
        if (!holds(&policy, &counts))
            fail_shrunk(policy, holds);
        arena_destroy(arena);
    }
    print_message("%u of %u policies, by tier %u, %u and %u, %llu questions\n", counts.made, count,
                  counts.tiers[0], counts.tiers[1], counts.tiers[2], (unsigned long long)counts.questions);
    assert_true(counts.made > count / 4);
    for (int tier = 0; tier < WINDOWS_TIERS; tier++)
        assert_true(counts.tiers[tier] > count / 100);
}

static void one_more_deny_gives_no_rights(void **state)
{
    struct chance chance = {3935559000370003845U};
    struct counts counts = {.quiet = true};
    uint32_t count = rounds() / 4;
    (void)state;
    for (uint32_t i = 0; i < count; i++) {
        struct arena *arena = arena_create(0);
        struct random_policy policy = random_policy_of(&chance, arena);
        struct rule deny = {.kind = RULE_DENY,
                            .level = below(&chance, 2) == 0 ? LEVEL_NONE : LEVEL_READ,
                            .layer = below(&chance, 2),
                            .path = random_path(&chance, arena, below(&chance, 4) == 0)};
        add_rule(&policy, deny);
        if (!last_deny_only_takes(&policy, &counts))
            fail_shrunk(policy, last_deny_only_takes);
        arena_destroy(arena);
    }
    assert_true(counts.made > count / 4);
}

static void a_policy_is_always_written_alike(void **state)
{
    struct chance chance = {2463534242U};
    (void)state;
    for (uint32_t i = 0; i < rounds() / 20; i++) {
        struct arena *arena = arena_create(0);
        struct random_policy policy = random_policy_of(&chance, arena);
        assert_true(is_made_alike(&policy));
        arena_destroy(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(specifications_open_what_policies_say),
        cmocka_unit_test(one_more_deny_gives_no_rights),
        cmocka_unit_test(a_policy_is_always_written_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
