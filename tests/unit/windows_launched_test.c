/* Specifications of random policies, carried out by the launcher's own code on a file system in memory: what is open then is
 * what the policy says, and everything is taken back. */
#include "tests/unit/windows_oracle.h"

#include "tests/unit/windows_bench.h"

static bool names_other_drive(const struct made_policy *made)
{
    for (uint32_t i = 0; i < made->spec->object_count; i++)
        if (made->spec->objects[i].path[0] != 'C')
            return true;
    for (uint32_t i = 0; i < made->spec->match_count; i++)
        if (made->spec->matches[i].pattern[0] != 'C')
            return true;
    return false;
}

/* The launcher's file system in memory with what lies on the machine. */
static struct bench *bench_of(const struct machine *machine)
{
    const struct windows_spec *spec = machine->made->spec;
    struct bench *bench = bench_make(spec->tier);
    const struct windows_node *top = windows_tree_find(machine->bare, "C:\\");
    assert_true(acl_memory_describe(bench->memory, "C:", &top->descriptor));
    for (uint32_t i = 0; i < machine->bare->count; i++) {
        const struct windows_node *node = machine->bare->items[i];
        if (node != top && node->path[0] == 'C')
            put(bench, node->path, node->directory ? NULL : "text",
                windows_descriptor_text(bench->arena, &node->descriptor));
    }
    bench->spec = *spec;
    bench->identity.run = windows_fixture_sid(WINDOWS_RUN);
    bench->identity.package = windows_fixture_sid(WINDOWS_PACKAGE);
    bench->identity.user = machine->bare->user;
    bench->token = windows_fixture_token(bench->arena, spec->tier, spec->capabilities);
    bench->caller = bench->token;
    bench->caller.restricting.count = bench->caller.package.count = 0;
    bench->caller.integrity = WINDOWS_LEVEL_MEDIUM;
    return bench;
}

static bool launched_agrees(struct machine *machine, const struct bench *bench, struct counts *counts)
{
    for (uint32_t i = 0; i < machine->tree->count; i++) {
        struct windows_node *node = machine->tree->items[i];
        const struct windows_descriptor *found =
            node->path[0] == 'C' ? acl_memory_look(bench->memory, node->parent != NULL ? node->path : "C:")
                                 : NULL;
        if (found != NULL)
            node->descriptor = *found;
    }
    return nodes_agree(machine, counts);
}

/* What the launcher makes of a specification, where it does not refuse. */
static bool launches_as_said(const struct random_policy *policy, struct counts *counts)
{
    struct made_policy made = random_make(policy);
    bool good = true;
    if (made.spec != NULL && !names_other_drive(&made)) {
        struct machine machine = machine_of(&made, policy);
        struct bench *bench = bench_of(&machine);
        counts->made++;
        if (run(bench)) {
            counts->tiers[made.spec->tier]++;
            good = has_note(bench, SBX488_GRANT_LEFT_OUT) || launched_agrees(&machine, bench, counts);
        } else if (!counts->quiet) {
            for (uint32_t i = 0; i < bench->notes.count; i++)
                print_error("%s\n", bench->notes.items[i].text);
        }
        if (!good && !counts->quiet)
            random_print(policy, &made);
        end(bench);
    }
    arena_destroy(made.arena);
    return good;
}

static void the_launcher_opens_what_policies_say(void **state)
{
    struct chance chance = {6364136223846793005U};
    struct counts counts = {.quiet = true};
    uint32_t count = rounds_of(POLICIES) / 10;
    (void)state;
    for (uint32_t i = 0; i < count; i++) {
        struct arena *arena = arena_create(0);
        struct random_policy policy = random_policy_of(&chance, arena);
        if (!launches_as_said(&policy, &counts))
            fail_shrunk(policy, launches_as_said);
        arena_destroy(arena);
    }
    print_message("%u launches, by tier %u, %u and %u\n", counts.made, counts.tiers[0], counts.tiers[1],
                  counts.tiers[2]);
    assert_true(counts.made > count / 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_launcher_opens_what_policies_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
