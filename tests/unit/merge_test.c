/* Merging managed layers: what is kept, what is counted once, and what decides the hash. */
#include "tests/unit/sample_policy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static int arena_setup(void **state)
{
    *state = arena_create(0);
    return *state == NULL;
}

static int arena_teardown(void **state)
{
    arena_destroy(*state);
    return 0;
}

/* A managed layer of one deny. */
static struct policy *denying(struct arena *arena, const char *name, const char *rest)
{
    struct sample_rules rules = {0};
    VECTOR_PUSH(arena, &rules, (struct rule){.kind = RULE_DENY, .path = {.root = ROOT_HOME, .rest = rest}});
    return sample_finish(arena, &rules, name, LAYER_MANAGED);
}

static uint32_t rules_of_layer(const struct policy *policy, uint32_t layer)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < policy->rule_count; i++)
        count += policy->rules[i].layer == layer;
    return count;
}

static void each_layer_keeps_its_rules_and_their_origins(void **state)
{
    struct policy *base = sample_policy(*state, 0);
    const struct policy *managed[] = {sample_managed(*state, "acme"), denying(*state, "team", "/.ssh")};
    struct policy *merged = policy_merge(*state, base, managed, 2);
    assert_int_equal(merged->layer_count, 3);
    assert_int_equal(rules_of_layer(merged, 0), base->rule_count);
    assert_int_equal(rules_of_layer(merged, 1), managed[0]->rule_count);
    assert_int_equal(rules_of_layer(merged, 2), 1);
    assert_string_equal(merged->name, "acme-web");
    assert_memory_equal(merged->requested_hash, base->requested_hash, 32);
    const struct rule *last = &merged->rules[merged->rule_count - 1];
    assert_string_equal(merged->sources[last->origin.source].name, "project.sbx");
    assert_int_equal(last->origin.source, 6);
    assert_string_equal(rule_layer_name(merged, last), "team");
}

static void without_managed_layers_nothing_changes(void **state)
{
    struct policy *base = sample_policy(*state, 0);
    struct policy *merged = policy_merge(*state, base, NULL, 0);
    assert_memory_equal(merged->effective_hash, base->effective_hash, 32);
    assert_int_equal(merged->rule_count, base->rule_count);
}

static void an_equal_layer_counts_once(void **state)
{
    const struct policy *managed[] = {denying(*state, "a", "/x"), denying(*state, "a", "/x")};
    struct policy *base = sample_policy(*state, 0);
    struct policy *merged = policy_merge(*state, base, managed, 2);
    assert_int_equal(merged->layer_count, 2);
    assert_int_equal(merged->rule_count, base->rule_count + 1);
    struct policy *again = policy_merge(*state, merged, managed, 1);
    assert_int_equal(again->layer_count, 2);
    assert_memory_equal(again->effective_hash, merged->effective_hash, 32);
}

static void a_name_alone_makes_no_layers_equal(void **state)
{
    const struct policy *managed[] = {denying(*state, "a", "/x"), denying(*state, "a", "/y")};
    struct policy *merged = policy_merge(*state, sample_policy(*state, 0), managed, 2);
    assert_int_equal(merged->layer_count, 3);
}

/* Parts whose hashes were never made must not be taken for each other. */
static void layers_are_told_apart_by_their_rules_not_by_what_they_say_of_themselves(void **state)
{
    struct policy *one = denying(*state, "a", "/x"), *other = denying(*state, "a", "/y");
    memset(((struct layer *)one->layers)->hash, 0, 32);
    memset(((struct layer *)other->layers)->hash, 0, 32);
    const struct policy *managed[] = {one, other};
    assert_int_equal(policy_merge(*state, sample_policy(*state, 0), managed, 2)->layer_count, 3);
}

static void the_order_of_layers_changes_nothing(void **state)
{
    struct policy *base = sample_policy(*state, 0);
    const struct policy *managed[] = {denying(*state, "b", "/x"), denying(*state, "a", "/y")};
    const struct policy *other[] = {managed[1], managed[0]};
    struct policy *one = policy_merge(*state, base, managed, 2), *two = policy_merge(*state, base, other, 2);
    assert_memory_equal(one->effective_hash, two->effective_hash, 32);
    assert_string_equal(one->layers[1].name, "a");
    assert_string_equal(two->layers[1].name, "a");
    assert_memory_not_equal(one->effective_hash, base->effective_hash, 32);
}

static void what_comes_as_managed_only_narrows(void **state)
{
    const struct policy *managed[] = {sample_policy(*state, 0)};
    struct policy *merged = policy_merge(*state, denying(*state, "a", "/x"), managed, 1);
    assert_int_equal(merged->layers[1].kind, LAYER_MANAGED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_layer_keeps_its_rules_and_their_origins),
        cmocka_unit_test(without_managed_layers_nothing_changes),
        cmocka_unit_test(an_equal_layer_counts_once),
        cmocka_unit_test(a_name_alone_makes_no_layers_equal),
        cmocka_unit_test(layers_are_told_apart_by_their_rules_not_by_what_they_say_of_themselves),
        cmocka_unit_test(the_order_of_layers_changes_nothing),
        cmocka_unit_test(what_comes_as_managed_only_narrows),
    };
    return cmocka_run_group_tests(tests, arena_setup, arena_teardown);
}
