/* What Landlock alone holds of a policy, and what it says about the rest. */
#include "emitters/control_landlock.h"
#include "policy/host.h"

#include "tests/unit/build_policy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct bound_policy *bind_lines(struct arena *arena, const char *const *lines)
{
    struct note_list notes = note_list_in(arena);
    struct bindings bindings = build_bindings(SYSTEM_LINUX);
    struct bound_policy *bound = policy_bind(arena, build_policy(arena, lines), &bindings, &notes);
    bound_seal(bound, &notes);
    assert_int_equal(notes.errors, 0);
    return bound;
}

static enum strength strength(const char *const *lines, enum control control, uint32_t abi)
{
    struct arena *arena = arena_create(0);
    struct control_entry entry = control_landlock_entry(bind_lines(arena, lines), control, abi);
    assert_non_null(entry.reason);
    assert_int_equal(entry.instead != NULL, entry.strength == STRENGTH_UNENFORCEABLE);
    arena_destroy(arena);
    return entry.strength;
}

#define STRENGTH(control, abi, ...) strength((const char *const[]){__VA_ARGS__, NULL}, control, abi)

static void a_deny_holds_where_nothing_is_open_around_it(void **state)
{
    (void)state;
    assert_int_equal(STRENGTH(CONTROL_FS_DENY, 7, "deny /h/.ssh"), STRENGTH_ENFORCED);
    assert_int_equal(STRENGTH(CONTROL_FS_DENY, 7, "grant write /w", "deny /h/.ssh"), STRENGTH_ENFORCED);
    assert_int_equal(STRENGTH(CONTROL_FS_DENY, 7, "grant read /h/.ssh/config", "deny /h/.ssh"),
                     STRENGTH_ENFORCED);
    assert_int_equal(STRENGTH(CONTROL_FS_DENY, 7, "grant read /w", "deny /w"), STRENGTH_ENFORCED);
    assert_int_equal(STRENGTH(CONTROL_FS_DENY, 7, "grant read /w", "deny write /w/a"), STRENGTH_ENFORCED);
    assert_int_equal(STRENGTH(CONTROL_FS_DENY, 7, "grant read /h", "deny /h/.ssh"), STRENGTH_UNENFORCEABLE);
    assert_int_equal(STRENGTH(CONTROL_FS_DENY, 7, "grant write /w", "deny write /w/.git/config"),
                     STRENGTH_UNENFORCEABLE);
    /* What a second deny closes around the first is closed for both. */
    assert_int_equal(STRENGTH(CONTROL_FS_DENY, 7, "grant read /h", "deny /h/a", "deny /h/a/b"),
                     STRENGTH_UNENFORCEABLE);
}

static void a_pattern_holds_where_it_meets_no_grant(void **state)
{
    (void)state;
    assert_int_equal(STRENGTH(CONTROL_FS_DENY_PATTERN, 7, "grant write /w", "deny /h/.netrc*"),
                     STRENGTH_ENFORCED);
    assert_int_equal(STRENGTH(CONTROL_FS_DENY_PATTERN, 7, "grant read /h/a", "deny write /h/.netrc*"),
                     STRENGTH_ENFORCED);
    assert_int_equal(STRENGTH(CONTROL_FS_DENY_PATTERN, 7, "grant read /h", "deny /h/.netrc*"),
                     STRENGTH_UNENFORCEABLE);
    assert_int_equal(STRENGTH(CONTROL_FS_DENY_PATTERN, 7, "grant read /h/a", "deny /h/**/key"),
                     STRENGTH_UNENFORCEABLE);
    assert_int_equal(STRENGTH(CONTROL_FS_DENY_PATTERN, 7, "grant read /h/a", "deny /hh/**/key"),
                     STRENGTH_ENFORCED);
}

static void sockets_are_closed_as_a_family_or_judged_by_path(void **state)
{
    (void)state;
    assert_int_equal(STRENGTH(CONTROL_SOCKET_PATH, 7, "grant write /w"), STRENGTH_ENFORCED);
    assert_int_equal(STRENGTH(CONTROL_SOCKET_PATH, 7, "grant scratch"), STRENGTH_ENFORCED);
    assert_int_equal(STRENGTH(CONTROL_SOCKET_PATH, 7, "grant socket /run/a"), STRENGTH_UNENFORCEABLE);
    assert_int_equal(STRENGTH(CONTROL_SOCKET_PATH, 8, "grant socket /run/a"), STRENGTH_UNENFORCEABLE);
    assert_int_equal(STRENGTH(CONTROL_SOCKET_PATH, 9, "grant socket /run/a"), STRENGTH_ENFORCED);
    assert_int_equal(STRENGTH(CONTROL_IPC_ABSTRACT, 5, "grant socket /run/a"), STRENGTH_ENFORCED);
    assert_int_equal(STRENGTH(CONTROL_IPC_SIGNAL, 5, "grant write /w"), STRENGTH_UNENFORCEABLE);
    assert_int_equal(STRENGTH(CONTROL_IPC_SIGNAL, 6, "grant write /w"), STRENGTH_ENFORCED);
}

static void listening_is_refused_whole_or_open_whole(void **state)
{
    (void)state;
    assert_int_equal(STRENGTH(CONTROL_LISTEN, 7, "grant network any"), STRENGTH_ENFORCED);
    assert_int_equal(STRENGTH(CONTROL_LISTEN, 7, "grant network any", "grant listen any 80"),
                     STRENGTH_UNENFORCEABLE);
}

static void what_a_managed_layer_needs_is_not_accepted(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);
    struct note_list notes = note_list_in(arena);
    const char *const lines[] = {"grant read /h", "managed corp", "deny /h/.ssh", NULL};
    struct bound_policy *bound = bind_lines(arena, lines);
    struct control_need needs[CONTROLS];
    const struct rule *accepted[CONTROLS];

    controls_needed(bound, needs);
    assert_false(control_landlock_check(bound, 7, needs, accepted, &notes));
    bool managed = false;
    for (uint32_t i = 0; i < notes.count; i++)
        managed = managed || (notes.items[i].code == SBX301_UNENFORCEABLE_MANAGED &&
                              strstr(notes.items[i].text, "fs.deny") != NULL);
    assert_true(managed);
    arena_destroy(arena);
}

static void every_missing_control_is_named_with_the_line_to_write(void **state)
{
    (void)state;
    static const char *const missing[] = {"fs.closed", "fs.write", "process.tree"};
    struct arena *arena = arena_create(0);
    struct note_list notes = note_list_in(arena);
    const char *const lines[] = {"grant write /w", NULL};
    struct bound_policy *bound = bind_lines(arena, lines);
    struct control_need needs[CONTROLS];
    const struct rule *accepted[CONTROLS];

    controls_needed(bound, needs);
    assert_false(control_landlock_check(bound, 7, needs, accepted, &notes));
    assert_int_equal(notes.errors, 3);
    for (size_t i = 0; i < 3; i++)
        assert_non_null(
            strstr(notes.items[i].help, arena_format(arena, "accept %s on landlock because", missing[i])));
    arena_destroy(arena);
}

static void the_page_shows_the_table(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);
    size_t length = 0;
    const char *error = NULL;
    const char *page = file_read(arena, "docs/targets.md", 1 << 20, &length, &error);

    assert_non_null(page);
    const char *part = strstr(page, "## Controls without namespaces (`landlock`)");
    assert_non_null(part);
    for (int i = 0; i < CONTROLS; i++) {
        assert_int_equal(control_landlock[i].instead != NULL,
                         control_landlock[i].strength == STRENGTH_UNENFORCEABLE);
        assert_non_null(strstr(part, arena_format(arena, "| `%s` | %s | %s |\n", control_names[i],
                                                  strength_names[control_landlock[i].strength],
                                                  control_landlock[i].reason)));
    }
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_deny_holds_where_nothing_is_open_around_it),
        cmocka_unit_test(a_pattern_holds_where_it_meets_no_grant),
        cmocka_unit_test(sockets_are_closed_as_a_family_or_judged_by_path),
        cmocka_unit_test(listening_is_refused_whole_or_open_whole),
        cmocka_unit_test(what_a_managed_layer_needs_is_not_accepted),
        cmocka_unit_test(every_missing_control_is_named_with_the_line_to_write),
        cmocka_unit_test(the_page_shows_the_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
