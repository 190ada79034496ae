/* `expect`: which hold, on which systems and for which commands, and what is said where one does not. */
#include "compiler/expect.h"

#include <cmocka.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct row {
    const char *text;
    const char *found; /* part of the first diagnostic's text; NULL: none */
    uint32_t errors;
};

static const struct row rows[] = {
    {"grant write $WORK\ndeny $WORK/.env\nexpect deny read $WORK/.env\nexpect allow write $WORK/x", NULL, 0},
    {"grant write $WORK\nexpect deny read $WORK/.env",
     "read $WORK/.env is allowed on linux: `grant write $WORK`", 1},
    {"expect allow read /a", "read /a is denied on linux: closed by default", 1},
    {"let A = /a, /b\ngrant read /a\nexpect allow read $A", "read /b is denied", 1},
    {"grant read /a, /b\nlet A = /a, /b\nexpect allow read $A, /a/x", NULL, 0},
    /* systems */
    {"when os macos {\ngrant read /a\n}\nwhen os macos {\nexpect allow read /a\n}", NULL, 0},
    {"when os macos {\ngrant read /a\n}\nexpect allow read /a", "on linux", 1},
    {"when os linux {\ngrant read /a\n}\nexpect allow read /a", "on macos", 1},
    {"grant read /a\nexpect allow read /a", NULL, 0}, /* Windows has no such path */
    {"grant read C:/a\nexpect allow read C:/a/b", NULL, 0},
    {"when os windows {\ngrant env A\n}\nexpect deny env A", "env A is allowed on windows", 1},
    /* commands */
    {"when command git {\ngrant read /a\n}\nexpect deny read /a", NULL, 0},
    {"when command git, npm {\ngrant read /a\n}\nwhen command git {\nexpect deny read /a\n}",
     "on linux for git", 1},
    {"when command git {\ngrant read /a\n}\nwhen command git, npm {\nexpect allow read /a\n}", "for npm", 1},
    /* other classes */
    {"grant network host a.com port 443\nexpect allow connect a.com:443\nexpect deny connect b.com:443\n"
     "expect deny connect a.com:443/udp\nexpect deny listen 127.0.0.1:80\nexpect deny socket /run/x\n"
     "expect deny service docker\nexpect deny env A",
     NULL, 0},
    {"grant network address 8.8.8.8\nexpect deny connect a.com:443", "left open", 1},
    {"grant network address 8.8.8.8\nexpect allow connect a.com:443", "left open", 1},
    /* roots are unrelated */
    {"grant write ~\nexpect deny write $WORK/x", NULL, 0},
};

static const struct bindings symbolic_linux = {
    .system = SYSTEM_LINUX,
    .roots = {[ROOT_WORK] = {.state = ROOT_SYMBOLIC}, [ROOT_HOME] = {.state = ROOT_SYMBOLIC}},
    .managed_roots = {[ROOT_WORK] = {.state = ROOT_SYMBOLIC}, [ROOT_HOME] = {.state = ROOT_SYMBOLIC}},
};

static struct diagnostic_list check(struct arena *arena, const char *statements,
                                    const struct bindings *bindings)
{
    const char *text = arena_format(arena, "sbx 1\npolicy \"t\"\n%s\n", statements);
    const struct compile_input input = {.input = {"t.sbx", text, (uint32_t)strlen(text)}};
    struct compilation *result = compile(arena, &input);
    struct diagnostic_list found = diagnostic_list_in(arena);
    assert_non_null(result->policy);
    struct note_list notes = note_list_in(arena);
    struct bound_policy *bound = policy_bind(arena, result->policy, bindings, &notes);
    bound_seal(bound, NULL);
    struct diagnostic_list again = diagnostic_list_in(arena);
    expectations_check(result, result->policy, bindings, NULL, &found);
    expectations_check(result, result->policy, bindings, notes.errors == 0 ? bound : NULL, &again);
    assert_int_equal(again.count, found.count);
    for (uint32_t i = 0; i < found.count; i++)
        assert_string_equal(again.items[i].text, found.items[i].text);
    return found;
}

static void each_expectation_is_checked(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena *arena = arena_create(0);
        struct diagnostic_list found = check(arena, rows[i].text, &symbolic_linux);
        const char *first = found.count > 0 ? found.items[0].text : NULL;
        bool good =
            found.errors == rows[i].errors &&
            (rows[i].found == NULL ? first == NULL : first != NULL && strstr(first, rows[i].found) != NULL);
        if (!good)
            fail_msg("%s\n  found %u: %s", rows[i].text, (unsigned)found.errors,
                     first != NULL ? first : "nothing");
        arena_destroy(arena);
    }
}

static void the_error_shows_the_rules_that_decided(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);
    struct diagnostic_list found =
        check(arena, "grant write $WORK\ndeny write $WORK/a\nexpect allow write $WORK/a/b", &symbolic_linux);
    assert_int_equal(found.count, 1);
    assert_int_equal(found.items[0].code, SBX148_EXPECT_FAILED);
    assert_non_null(found.items[0].more[0].text);
    assert_non_null(strstr(found.items[0].more[0].text, "caps at read"));
    assert_non_null(found.items[0].help);
    arena_destroy(arena);
}

static void given_roots_decide_and_unset_ones_are_left_out(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);
    const char *work = "/home/u/w", *home = "/home/u";
    struct bindings bindings = symbolic_linux;
    bindings.roots[ROOT_WORK] = (struct root_value){.state = ROOT_BOUND, .paths = &work, .count = 1};
    bindings.roots[ROOT_HOME] = (struct root_value){.state = ROOT_BOUND, .paths = &home, .count = 1};
    struct diagnostic_list found =
        check(arena, "when os linux {\ngrant read /home\nexpect deny read $WORK/x\n}", &bindings);
    assert_int_equal(found.errors, 1);
    bindings.roots[ROOT_REPO].state = ROOT_UNSET;
    found = check(arena, "when os linux {\nwhen command git {\nexpect allow read $REPO/x\n}\n}", &bindings);
    assert_int_equal(found.errors, 0);
    assert_int_equal(found.count, 1);
    assert_int_equal(found.items[0].severity, SEVERITY_NOTE);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_expectation_is_checked),
        cmocka_unit_test(the_error_shows_the_rules_that_decided),
        cmocka_unit_test(given_roots_decide_and_unset_ones_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
