/* What was measured inside becomes the lease's list: how each control holds, by the kernel that it is on. */
#include "emitters/control_need.h"
#include "runtime/evidence_text.h"

#include "tests/unit/build_policy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* A launch of a policy that grants a socket, on a kernel of this Landlock version. */
static struct launch measured(struct arena *arena, uint32_t abi, bool alone)
{
    const char *const lines[] = {"grant write /w", "grant socket /run/agent", NULL};
    struct bindings bindings = build_bindings(SYSTEM_LINUX);
    struct launch launch = {.arena = arena, .notes = note_list_in(arena), .alone = alone};

    launch.prepared.bound = policy_bind(arena, build_policy(arena, lines), &bindings, &launch.notes);
    bound_seal(launch.prepared.bound, &launch.notes);
    launch.needs[CONTROL_SOCKET_PATH].needed = true;
    launch.unix_sockets = policy_opens_unix_sockets(launch.prepared.bound);
    launch.evidence.landlock_abi = abi;
    launch.evidence.landlock.rules = abi == 0 ? 0 : 3;
    return launch;
}

static const struct lease_control *socket_control(struct launch *launch, bool *good)
{
    struct lease_control_list list = {0};

    *good = evidence_controls(launch, &list);
    return list.count == 1 && list.items[0].control == CONTROL_SOCKET_PATH ? &list.items[0] : NULL;
}

static void sockets_are_enforced_where_the_kernel_judges_them_by_path(void **state)
{
    (void)state;
    static const struct {
        uint32_t abi;
        enum strength how;
    } kernels[] = {{0, STRENGTH_SNAPSHOT},
                   {7, STRENGTH_SNAPSHOT},
                   {8, STRENGTH_SNAPSHOT},
                   {9, STRENGTH_ENFORCED},
                   {10, STRENGTH_ENFORCED}};

    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        struct arena *arena = arena_create(0);
        struct launch launch = measured(arena, kernels[i].abi, false);
        bool good;
        const struct lease_control *control = socket_control(&launch, &good);
        assert_true(good);
        assert_non_null(control);
        assert_int_equal(control->how, kernels[i].how);
        assert_int_equal(strstr(control->evidence, "Landlock") != NULL, kernels[i].how == STRENGTH_ENFORCED);
        arena_destroy(arena);
    }
}

static void rules_that_could_not_be_had_judge_nothing(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);
    struct launch launch = measured(arena, 9, false);
    bool good;

    launch.evidence.landlock.rules = 0;
    assert_int_equal(socket_control(&launch, &good)->how, STRENGTH_SNAPSHOT);
    arena_destroy(arena);
}

static void without_namespaces_only_that_kernel_holds_granted_sockets(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);
    struct launch old = measured(arena, 8, true), new = measured(arena, 9, true);
    bool good;

    assert_null(socket_control(&old, &good));
    assert_false(good);
    assert_int_equal(socket_control(&new, &good)->how, STRENGTH_ENFORCED);
    assert_true(good);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sockets_are_enforced_where_the_kernel_judges_them_by_path),
        cmocka_unit_test(rules_that_could_not_be_had_judge_nothing),
        cmocka_unit_test(without_namespaces_only_that_kernel_holds_granted_sockets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
