/* Specifications of random policies, carried out on a machine in memory: what they open is what the policy says, in both
 * readings, and nothing is left of them. */
#include "tests/unit/windows_oracle.h"

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

static void specifications_open_what_policies_say(void **state)
{
    struct chance chance = {88172645463325252U};
    struct counts counts = {.quiet = true};
    uint32_t count = rounds_of(POLICIES);
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
    uint32_t count = rounds_of(POLICIES) / 4;
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
    for (uint32_t i = 0; i < rounds_of(POLICIES) / 20; i++) {
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
