/* windows_oracle.h - a machine of Windows for a random policy, and what the policy means at each place on it: the oracle of
 * tests that carry specifications out. It shares nothing with the emitter.
 */
#pragma once

#include "tests/unit/windows_meant.h"
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

static inline bool lies_below_file(const struct windows_tree *tree, const char *path)
{
    for (uint32_t i = 0; i < tree->count; i++)
        if (!tree->items[i]->directory && windows_path_covers(tree->items[i]->path, path))
            return true;
    return false;
}

static inline void put_place(struct machine *machine, const char *path, bool directory)
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

/* The path with each e and accent in two characters, which is another file. */
static inline const char *other_form(struct arena *arena, const char *path)
{
    static const char whole[] = "\xc3\xa9", parts[] = "e\xcc\x81";
    struct buffer out = buffer_in(arena);
    while (*path != '\0') {
        bool accent = strncmp(path, whole, strlen(whole)) == 0;
        buffer_bytes(&out, accent ? parts : path, accent ? strlen(parts) : 1);
        path += accent ? strlen(whole) : 1;
    }
    return out.bytes;
}

/* A place, what lies in it and what lies beside it; sometimes it is not there at all. */
static inline void put_around(struct machine *machine, const char *path, bool directory, bool always)
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
    put_place(machine, other_form(arena, path), directory);
    if (!directory)
        return;
    put_place(machine, arena_format(arena, "%s/%s", path, random_name(&machine->chance)), true);
    put_place(machine, arena_format(arena, "%s/a/Key.pem", path), false);
}

static inline void put_rule(struct machine *machine, const struct bound_rule *rule)
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
static inline struct machine machine_of(const struct made_policy *made, const struct random_policy *policy)
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

static inline bool accepts(const struct bound_policy *bound, const char *control)
{
    for (uint32_t i = 0; i < bound->rules.count; i++)
        if (bound->rules.items[i].rule->kind == RULE_ACCEPT &&
            strcmp(bound->rules.items[i].rule->name, control) == 0)
            return true;
    return false;
}

/* Whether an accepted exception covers the rule; none covers a managed layer's. */
static inline bool is_excepted(const struct bound_policy *bound, const struct bound_rule *rule)
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

static inline const struct bound_policy *part_of(const struct bound_policy *bound, bool with_grants,
                                                 enum windows_tier tier)
{
    struct bound_policy *copy = without_rules(bound);
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
    if (!with_grants)
        open_drives(copy);
    bound_seal(copy, NULL);
    return copy;
}

static inline struct meant meant_by(const struct bound_policy *bound, enum windows_tier tier)
{
    return (struct meant){bound, part_of(bound, true, tier), part_of(bound, false, tier)};
}

/* Whether a rule that may pin the place names something at or below it. */
static inline bool may_be_pinned(const struct bound_policy *bound, const struct question *question)
{
    for (uint32_t i = 0; i < bound->rules.count; i++) {
        const struct bound_rule *rule = &bound->rules.items[i];
        const char *path = rule->at.path;
        if (path == NULL)
            continue;
        if (rule->at.pattern)
            path = pattern_plain(bound->arena, path, pattern_fixed_prefix(path));
        const char *name = windows_path_from_model(bound->arena, path);
        const char *other = windows_path_from_model(bound->arena, other_form(bound->arena, path));
        if (windows_path_covers(question->node->path, name) ||
            windows_path_covers(question->node->path, other) ||
            (rule->at.pattern && windows_path_covers(name, question->node->path)))
            return true;
    }
    return false;
}

static inline bool must_be_denied(const struct question *question, const struct meant *meant)
{
    if (removes(question) && question->tier != WINDOWS_APPCONTAINER)
        return level_at(meant->promised, question->path) < LEVEL_WRITE && !accepts(meant->whole, "fs.write");
    return is_closed(meant->promised, question);
}

static inline bool must_be_allowed(const struct question *question, const struct meant *meant)
{
    return is_open(meant->whole, question) && !(removes(question) && may_be_pinned(meant->whole, question));
}

/* Whether Windows lets such a token take anything out of the directory around, which no rule closes. */
static inline bool is_given_away(const struct question *question, const struct meant *meant)
{
    const struct windows_node *above = question->bare->parent;
    return above != NULL && level_around(meant->closing, question->path) == LEVEL_WRITE &&
           (windows_access(&question->token, &above->descriptor, WINDOWS_LOOSE) &
            WINDOWS_RIGHT_DELETE_CHILD) != 0;
}

/* What Windows opens to such a token anyway, where no rule closes it. */
static inline bool is_ground(const struct question *question, const struct meant *meant)
{
    enum level left = level_at(meant->closing, question->path);
    if (removes(question) && is_given_away(question, meant))
        return true;
    /* What Windows keeps for programs of low integrity is said to be open for writing. */
    if (question->tier == WINDOWS_RESTRICTED_LOW && left == LEVEL_READ)
        left = LEVEL_WRITE;
    return is_given_anyway(meant->closing, question, left);
}

/* The user's own access is his affair, and so is what an object says of itself. */
static inline bool is_of_the_user(const struct question *question)
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
static inline bool says_less(const struct made_policy *made)
{
    for (uint32_t i = 0; i < made->notes.count; i++)
        if (made->notes.items[i].code == SBX320_WINDOWS_LESS ||
            made->notes.items[i].code == SBX321_WINDOWS_LEFT_OUT)
            return true;
    return false;
}

/* What limits and exceptions leave of a root that is bound later may stay closed without a word. */
static inline bool may_stay_closed(const struct question *question)
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

static inline bool complain(const struct counts *counts, const struct question *question, const char *what)
{
    struct arena *arena = question->machine->made->arena;
    if (!counts->quiet)
        print_error("%s: %s %s\n%s\nbefore: %s\n", what, windows_operation_names[question->operation],
                    question->path, windows_descriptor_text(arena, &question->node->descriptor),
                    windows_descriptor_text(arena, &question->bare->descriptor));

    return false;
}

static inline bool agrees(struct question *question, const struct meant *meant, struct counts *counts)
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

static inline bool nodes_agree(const struct machine *machine, struct counts *counts)
{
    const struct made_policy *made = machine->made;
    struct meant meant = meant_by(made->bound, made->spec->tier);
    struct question question = {.machine = machine,
                                .tree = machine->tree,
                                .tier = made->spec->tier,
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

/* ---- failing, and how often to try ---- */

/* The fewest rules of a policy with which `property` fails. */
static inline struct random_policy shrunk(struct random_policy policy,
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

static inline void fail_shrunk(struct random_policy policy,
                               bool (*property)(const struct random_policy *policy, struct counts *counts))
{
    struct counts counts = {0};
    policy = shrunk(policy, property);
    (void)property(&policy, &counts);
    fail();
}

enum { POLICIES = 20000 };
