/* A mount table is held against what a plan wanted: what is missing, of another kind or writable is found. */
#include "runtime/mount_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <sys/sysmacros.h>

static const struct expected_mount expected[] = {
    {.path = "/", .expectation = MOUNT_READ_ONLY, .type = "tmpfs"},
    {.path = "/dev", .expectation = MOUNT_DEVICES, .type = "tmpfs"},
    {.path = "/proc", .expectation = MOUNT_WRITABLE, .type = "proc"},
    {.path = "/proc/sys", .expectation = MOUNT_READ_ONLY, .optional = true},
    {.path = "/w", .expectation = MOUNT_WRITABLE},
    {.path = "/w/a b", .expectation = MOUNT_READ_ONLY},
    {.path = "/w/hidden", .expectation = MOUNT_READ_ONLY, .type = "tmpfs"},
};

static const char *const good[] = {
    "60 50 0:40 /newroot / ro,nosuid,nodev,relatime - tmpfs tmpfs rw,uid=0",
    "61 60 0:41 / /dev ro,nosuid - tmpfs tmpfs rw",
    "62 61 0:6 /null /dev/null rw,nosuid - devtmpfs devtmpfs rw",
    "63 60 0:42 / /proc rw,nosuid - proc proc rw",
    "64 60 254:0 /srv/w /w rw,nosuid,nodev shared:3 master:1 - ext4 /dev/vda rw,discard",
    "65 64 254:0 /srv/w/a\\040b /w/a\\040b ro,nosuid - ext4 /dev/vda rw",
    "66 64 0:44 / /w/hidden rw - tmpfs tmpfs ro,mode=000",
};

enum { GOOD = sizeof good / sizeof *good, EXPECTED = sizeof expected / sizeof *expected };

/* Checks the good table with line `replaced` (GOOD: none) replaced by `line`, or left out if that is NULL. */
static struct mount_findings check_with(struct arena *arena, size_t replaced, const char *line)
{
    struct mount_table table = {0};

    for (size_t i = 0; i <= GOOD; i++) {
        const char *text = i == replaced ? line : i < GOOD ? good[i] : NULL;
        if (text != NULL)
            mount_table_add(arena, &table, arena_strdup(arena, text));
    }
    return mounts_check(arena, &table, expected, EXPECTED);
}

static void lines_are_read_with_their_escapes_and_options(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);
    struct mount_table table = {0};

    for (size_t i = 0; i < GOOD; i++)
        mount_table_add(arena, &table, arena_strdup(arena, good[i]));
    assert_int_equal(table.count, GOOD);
    assert_string_equal(table.items[5].path, "/w/a b");
    assert_string_equal(table.items[4].type, "ext4");
    assert_true(table.items[4].device == makedev(254, 0));
    assert_true(table.items[0].read_only && !table.items[4].read_only && table.items[6].read_only);
    mount_table_add(arena, &table, arena_strdup(arena, "60 50 0:40 / /short rw"));
    mount_table_add(arena, &table, arena_strdup(arena, ""));
    assert_int_equal(table.count, GOOD);
    arena_destroy(arena);
}

static void a_table_as_planned_has_no_problem(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);
    struct mount_findings findings = check_with(arena, SIZE_MAX, NULL);

    assert_null(findings.problem);
    assert_int_equal(findings.entries, GOOD);
    assert_int_equal(findings.writable, 3);
    assert_int_equal(findings.found, EXPECTED - 1);
    arena_destroy(arena);
}

static void every_difference_is_found(void **state)
{
    (void)state;
    static const struct {
        size_t replaced;
        const char *line, *problem;
    } cases[] = {
        {0, "60 50 0:40 /newroot / rw - tmpfs tmpfs rw", "/ is mounted writable"},
        {0, "60 50 254:0 / / ro - ext4 /dev/vda rw", "/ should not be ext4"},
        {1, "61 60 0:41 / /dev rw - tmpfs tmpfs rw", "/dev is mounted writable"},
        {3, "63 60 0:42 / /proc rw - tmpfs tmpfs rw", "/proc should not be tmpfs"},
        {3, NULL, "/proc is not mounted"},
        {5, "65 64 254:0 /x /w/a\\040b rw - ext4 /dev/vda rw", "/w/a b is mounted writable"},
        {6, NULL, "/w/hidden is not mounted"},
        {GOOD, "70 60 254:0 /usr /usr rw - ext4 /dev/vda rw", "/usr is mounted writable"},
        {GOOD, "70 60 254:0 /x /w/hidden/x rw - ext4 /dev/vda rw", "/w/hidden/x is mounted writable"},
        {GOOD, "70 66 0:50 / /w/hidden rw - tmpfs tmpfs rw", "/w/hidden is mounted writable"},
        {GOOD, "70 63 0:42 /sys /proc/sys rw - proc proc rw", "/proc/sys is mounted writable"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena *arena = arena_create(0);
        struct mount_findings findings = check_with(arena, cases[i].replaced, cases[i].line);
        assert_non_null(findings.problem);
        assert_string_equal(findings.problem, cases[i].problem);
        arena_destroy(arena);
    }
}

static void what_lies_in_a_writable_place_may_be_writable(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);

    assert_null(check_with(arena, GOOD, "70 64 254:1 / /w/disk rw - ext4 /dev/vdb rw").problem);
    assert_null(check_with(arena, GOOD, "70 61 0:51 / /dev/shm rw - tmpfs tmpfs rw").problem);
    assert_null(check_with(arena, 4, "64 60 254:0 /srv/w /w ro - ext4 /dev/vda rw").problem);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_read_with_their_escapes_and_options),
        cmocka_unit_test(a_table_as_planned_has_no_problem),
        cmocka_unit_test(every_difference_is_found),
        cmocka_unit_test(what_lies_in_a_writable_place_may_be_writable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
