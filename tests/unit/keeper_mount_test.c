/* The keeper must never mount anything where the launcher itself would see it. */
#include "runtime/keeper_mount.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

static void the_launchers_own_mounts_are_not_entered(void **state)
{
    (void)state;
    const char *step = NULL;
    int own = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
    assert_true(own >= 0);
    assert_false(keeper_enter(own, &step));
    assert_int_equal(errno, EINVAL);
    assert_string_equal(step, "its mounts are the launcher's own");
    close(own);
}

static void what_is_no_namespace_is_not_entered(void **state)
{
    (void)state;
    const char *step = NULL;
    int file = open("/dev/null", O_RDONLY | O_CLOEXEC);
    assert_false(keeper_enter(file, &step));
    assert_string_equal(step, "finding the user namespace");
    close(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_launchers_own_mounts_are_not_entered),
        cmocka_unit_test(what_is_no_namespace_is_not_entered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
