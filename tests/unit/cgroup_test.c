/* cgroup_test.c - making and removing groups, in an ordinary directory in place of a control group. */
#include "runtime/cgroup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static const char first[] = "0123456789abcdef0123456789abcdef";
static const char second[] = "fedcba9876543210fedcba9876543210";

static bool is_there(struct arena *arena, const struct cgroup_place *place, const char *name)
{
    struct stat status;

    return stat(arena_format(arena, "%s/%s", place->parent, name), &status) == 0;
}

static void what_was_left_is_removed_and_what_is_held_is_not(void **state)
{
    struct arena *arena = arena_create(0);
    char top[] = "/tmp/sbx-cgroup-XXXXXX";
    static const char *const others[] = {"sbx-other", "sbx-0123456789ABCDEF0123456789ABCDEF",
                                         "sbx-0123456789abcdef0123456789abcdef.scope", "job"};
    struct cgroup_place place = {.version = 2, .parent = mkdtemp(top)};
    struct cgroup held = {0}, made = {0};
    const char *why = NULL;
    (void)state;

    assert_non_null(place.parent);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        assert_int_equal(mkdir(arena_format(arena, "%s/%s", top, others[i]), 0755), 0);
    assert_int_equal(mkdir(arena_format(arena, "%s/sbx-%s", top, "00000000000000000000000000000000"), 0755),
                     0);
    assert_true(cgroup_make(arena, &place, first, &held, &why));
    assert_false(is_there(arena, &place, "sbx-00000000000000000000000000000000"));
    assert_true(cgroup_make(arena, &place, second, &made, &why));
    assert_true(is_there(arena, &place, "sbx-0123456789abcdef0123456789abcdef"));
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        assert_true(is_there(arena, &place, others[i]));
        rmdir(arena_format(arena, "%s/%s", top, others[i]));
    }
    cgroup_remove(&held);
    cgroup_remove(&held);
    assert_false(is_there(arena, &place, "sbx-0123456789abcdef0123456789abcdef"));
    cgroup_remove(&made);
    assert_int_equal(rmdir(top), 0);
    arena_destroy(arena);
}

static void a_limit_that_does_not_stay_is_no_limit(void **state)
{
    struct arena *arena = arena_create(0);
    char top[] = "/tmp/sbx-cgroup-XXXXXX";
    struct cgroup_place place = {.version = 2, .parent = mkdtemp(top)};
    struct cgroup group = {0};
    const char *why = NULL;
    (void)state;

    assert_true(cgroup_make(arena, &place, first, &group, &why));
    /* No such file: the controller is not there. */
    assert_false(cgroup_limit_tasks(arena, &group, 5, &why));
    assert_non_null(strstr(why, "pids.max"));
    const char *file = arena_format(arena, "%s/pids.max", group.path);
    assert_false(cgroup_limit_memory(arena, &group, 4096, &why));
    /* What is written goes nowhere, and what is read back is none. */
    assert_int_equal(symlink("/dev/null", file), 0);
    assert_false(cgroup_limit_tasks(arena, &group, 5, &why));
    assert_non_null(strstr(why, "after 5 was written"));
    unlink(file);
    fclose(fopen(file, "w"));
    assert_true(cgroup_limit_tasks(arena, &group, 5, &why));
    unlink(file);
    cgroup_remove(&group);
    rmdir(top);
    arena_destroy(arena);
}

static void what_was_met_is_counted(void **state)
{
    struct arena *arena = arena_create(0);
    char top[] = "/tmp/sbx-cgroup-XXXXXX";
    struct cgroup_place place = {.version = 2, .parent = mkdtemp(top)};
    struct cgroup group = {0}, none = {0};
    const char *why = NULL;
    (void)state;

    assert_true(cgroup_make(arena, &place, first, &group, &why));
    assert_int_equal(cgroup_refused(arena, &group), 0);
    const char *tasks = arena_format(arena, "%s/pids.events", group.path);
    const char *memory = arena_format(arena, "%s/memory.events", group.path);
    FILE *file = fopen(tasks, "w");
    fputs("max 17\n", file);
    fclose(file);
    file = fopen(memory, "w");
    fputs("low 0\nhigh 0\nmax 90\noom 2\noom_kill 3\noom_group_kill 1\n", file);
    fclose(file);
    assert_int_equal(cgroup_refused(arena, &group), 17);
    assert_int_equal(cgroup_killed(arena, &group), 3);
    assert_int_equal(cgroup_refused(arena, &none), 0);
    assert_int_equal(cgroup_killed(arena, &none), 0);
    unlink(tasks);
    unlink(memory);
    cgroup_remove(&group);
    rmdir(top);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_left_is_removed_and_what_is_held_is_not),
        cmocka_unit_test(a_limit_that_does_not_stay_is_no_limit),
        cmocka_unit_test(what_was_met_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
