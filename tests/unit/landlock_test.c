/* The Landlock rules of a plan, and the rights that each version of the kernel knows. */
#include "runtime/landlock_rules.h"

#include "tests/unit/build_policy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static void each_version_handles_what_it_knows(void **state)
{
    (void)state;
    static const struct {
        uint32_t abi, handled;
    } versions[] = {
        {0, 0},      {1, 0x1fff}, {2, 0x3fff},  {3, 0x7fff},   {4, 0x7fff},   {5, 0xffff},   {6, 0xffff},
        {7, 0xffff}, {8, 0xffff}, {9, 0x1ffff}, {10, 0x1ffff}, {11, 0x1ffff}, {99, 0x1ffff},
    };

    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++)
        assert_int_equal(landlock_handled(versions[i].abi), versions[i].handled);
}

static void levels_give_nothing_more_than_they_say(void **state)
{
    (void)state;
    assert_int_equal(RIGHTS_READ, 0xd);     /* execute, read file, read directory */
    assert_int_equal(RIGHTS_WRITE, 0x7fff); /* neither devices nor sockets of others */
    assert_int_equal(RIGHTS_DEVICES, 0xffff);
}

static struct bound_policy *bind_lines(struct arena *arena, const char *const *lines)
{
    struct note_list notes = note_list_in(arena);
    struct bindings bindings = build_bindings(SYSTEM_LINUX);
    return policy_bind(arena, build_policy(arena, lines), &bindings, &notes);
}

static uint32_t rights_at(const struct landlock_rules *rules, const char *path)
{
    for (uint32_t i = 0; i < rules->count; i++)
        if (strcmp(rules->items[i].path, path) == 0)
            return rules->items[i].rights;
    return 0;
}

static void an_area_needs_one_rule(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);
    static const char *const lines[] = {"grant write /w", NULL};
    struct plan_operation operations[] = {
        {.kind = PLAN_DEV, .path = "/dev"},
        {.kind = PLAN_BIND_DEVICE, .path = "/dev/kvm"},
        {.kind = PLAN_SCRATCH, .path = "/dev/shm"},
        {.kind = PLAN_PROC, .path = "/proc"},
        {.kind = PLAN_BIND_READ, .path = "/proc/sys"},
        {.kind = PLAN_BIND_READ, .path = "/r"},
        {.kind = PLAN_MASK_DIRECTORY, .path = "/r/closed"},
        {.kind = PLAN_BIND_READ, .path = "/r/closed/open"},
        {.kind = PLAN_BIND_WRITE, .path = "/r/out"},
        {.kind = PLAN_BIND_READ, .path = "/r2"},
        {.kind = PLAN_BIND_WRITE, .path = "/w"},
        {.kind = PLAN_BIND_WRITE, .path = "/w/pin"},
        {.kind = PLAN_BIND_READ, .path = "/w/pin/kept"},
        {.kind = PLAN_MASK_FILE, .path = "/w/pin/secret"},
        {.kind = PLAN_LINK, .path = "/x"},
    };
    struct plan plan = {.items = operations, .count = sizeof operations / sizeof *operations};
    struct plan_place places[] = {{.path = "/run/agent", .kind = ENTRY_OTHER, .socket = true},
                                  {.path = "/run/directory", .kind = ENTRY_DIRECTORY, .socket = true}};
    struct facts facts = {.places = places, .place_count = 2};
    struct landlock_rules rules = landlock_rules_of(arena, bind_lines(arena, lines), &plan, &facts);

    assert_null(rules.none);
    assert_int_equal(rights_at(&rules, "/"), RIGHT_READ_DIRECTORY);
    assert_int_equal(rights_at(&rules, "/r"), RIGHTS_READ);
    assert_int_equal(rights_at(&rules, "/r/out"), RIGHTS_WRITE);
    assert_int_equal(rights_at(&rules, "/r2"), RIGHTS_READ);
    assert_int_equal(rights_at(&rules, "/w"), RIGHTS_WRITE);
    assert_int_equal(rights_at(&rules, "/dev/shm"), RIGHTS_WRITE);
    assert_int_equal(rights_at(&rules, "/dev"),
                     RIGHTS_READ | RIGHT_WRITE_FILE | RIGHT_TRUNCATE | RIGHT_DEVICE_IOCTL);
    assert_int_equal(rights_at(&rules, "/proc"), RIGHTS_READ | RIGHT_WRITE_FILE | RIGHT_TRUNCATE);
    assert_int_equal(rights_at(&rules, "/run/agent"), RIGHT_RESOLVE_SOCKET);
    /* Nothing for what is closed, and nothing twice. */
    static const char *const without[] = {"/r/closed",     "/r/closed/open", "/w/pin", "/w/pin/kept",
                                          "/w/pin/secret", "/proc/sys",      "/x",     "/run/directory"};
    for (size_t i = 0; i < sizeof without / sizeof *without; i++)
        assert_int_equal(rights_at(&rules, without[i]), 0);
    arena_destroy(arena);
}

/* The kernel judges sockets by path as of version 9: a granted one is open, and no area opens any other. */
static void only_granted_sockets_are_open_by_path(void **state)
{
    (void)state;
    assert_int_equal(RIGHTS_DEVICES & RIGHT_RESOLVE_SOCKET, 0);
    assert_int_equal(RIGHT_RESOLVE_SOCKET & RIGHTS_OF_FILES, RIGHT_RESOLVE_SOCKET);
    assert_int_equal(RIGHT_RESOLVE_SOCKET & landlock_handled(LANDLOCK_ABI_SOCKETS - 1), 0);
    assert_int_equal(RIGHT_RESOLVE_SOCKET & landlock_handled(LANDLOCK_ABI_SOCKETS), RIGHT_RESOLVE_SOCKET);
}

static void a_policy_that_opens_mount_gets_no_rules(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);
    static const char *const mount[] = {"grant syscall mount", NULL}, *const other[] = {
                                                                          "grant syscall chroot", NULL};
    struct plan plan = {0};
    struct facts facts = {0};
    struct landlock_rules rules = landlock_rules_of(arena, bind_lines(arena, mount), &plan, &facts);

    assert_true(rules.count == 0 && rules.none != NULL);
    rules = landlock_rules_of(arena, bind_lines(arena, other), &plan, &facts);
    assert_true(rules.count == 1 && rules.none == NULL);
    arena_destroy(arena);
}

static void what_mounts_alone_could_close_is_found(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);
    struct plan_operation operations[] = {
        {.kind = PLAN_PROC, .path = "/proc"},
        {.kind = PLAN_BIND_READ, .path = "/proc/sys"},
        {.kind = PLAN_MASK_DIRECTORY, .path = "/closed"},
        {.kind = PLAN_BIND_READ, .path = "/closed/open"},
        {.kind = PLAN_BIND_READ, .path = "/r"},
        {.kind = PLAN_MASK_DIRECTORY, .path = "/r/closed"},
        {.kind = PLAN_BIND_READ, .path = "/r/closed/open"},
        {.kind = PLAN_BIND_WRITE, .path = "/w"},
        {.kind = PLAN_BIND_WRITE, .path = "/w/pin"},
        {.kind = PLAN_BIND_READ, .path = "/w/pin/kept"},
        {.kind = PLAN_MASK_FILE, .path = "/w/secret"},
    };
    static const char *const expected[] = {"/r/closed", "/w/pin/kept", "/w/secret"};
    struct plan plan = {.items = operations, .count = sizeof operations / sizeof *operations};
    uint32_t count;
    const struct plan_operation **open = landlock_left_open(arena, &plan, &count);

    assert_int_equal(count, 3);
    for (uint32_t i = 0; i < count; i++)
        assert_string_equal(open[i]->path, expected[i]);
    struct landlock_rules rules = landlock_rules_alone(arena, &plan, &(struct facts){0});
    assert_int_equal(rights_at(&rules, "/"), 0);
    assert_int_equal(rights_at(&rules, "/proc"), RIGHTS_READ);
    assert_int_equal(rights_at(&rules, "/dev/null"), RIGHT_READ_FILE | RIGHT_WRITE_FILE);
    assert_int_equal(rights_at(&rules, "/w"), RIGHTS_WRITE);
    arena_destroy(arena);
}

/* In a child, which then is restricted: 0 if the rules hold, 1 if they do not. */
static int restricted_by(const struct landlock_rule *rule)
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        const int streams[] = {0, 1, 2};
        struct landlock_result result;
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
            _exit(2);
        landlock_restrict(rule, 1, streams, &result);
        _exit(result.rules == 1 && result.missing[0] == '\0' ? 0
              : strstr(result.missing, rule->path) != NULL   ? 1
                                                             : 3);
    }
    assert_true(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void what_was_replaced_is_not_opened(void **state)
{
    (void)state;
    struct stat status;
    struct landlock_rule rule = {.path = "/usr", .rights = RIGHTS_READ};

    if (landlock_abi() < LANDLOCK_ABI_REFER)
        skip();
    assert_int_equal(restricted_by(&rule), 0);
    assert_int_equal(stat("/usr", &status), 0);
    rule.known = true;
    rule.device = status.st_dev;
    rule.inode = status.st_ino;
    assert_int_equal(restricted_by(&rule), 0);
    rule.inode++;
    assert_int_equal(restricted_by(&rule), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_version_handles_what_it_knows),
        cmocka_unit_test(levels_give_nothing_more_than_they_say),
        cmocka_unit_test(an_area_needs_one_rule),
        cmocka_unit_test(only_granted_sockets_are_open_by_path),
        cmocka_unit_test(a_policy_that_opens_mount_gets_no_rules),
        cmocka_unit_test(what_was_replaced_is_not_opened),
        cmocka_unit_test(what_mounts_alone_could_close_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
