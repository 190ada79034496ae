/* Which groups a token keeps to be denied by, whom its default list names, and what entries become. */
#include "runtime/windows/token_groups.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct windows_sid sid(const char *text)
{
    struct windows_sid sid;
    assert_true(windows_sid_parse(text, &sid));
    return sid;
}

static void groups_that_rule_the_machine_or_the_domain_are_given_up(void **state)
{
    (void)state;
    static const char *const powerful[] = {
        "S-1-5-32-544", "S-1-5-32-551",          "S-1-5-32-547",          "S-1-5-32-578",
        "S-1-5-114",    "S-1-5-21-7-8-9-512",    "S-1-5-21-7-8-9-519",    "S-1-5-32-549",
        "S-1-5-32-548", "S-1-5-21-99-98-97-518", "S-1-5-21-99-98-97-520", "S-1-5-32-556",
    };
    for (size_t i = 0; i < sizeof powerful / sizeof *powerful; i++) {
        struct windows_sid group = sid(powerful[i]);
        assert_true(token_group_is_powerful(&group));
    }
}

static void groups_of_everybody_and_of_the_session_stay(void **state)
{
    (void)state;
    /* The same numbers under another authority, or further down, are other groups. */
    static const char *const others[] = {
        "S-1-1-0",
        "S-1-5-11",
        "S-1-5-32-545",
        "S-1-5-4",
        "S-1-5-5-0-544",
        "S-1-15-32-544",
        "S-1-5-32",
        "S-1-5-21-7-8-512",
        "S-1-5-113",
        "S-1-5-21-7-8-9-513",
        "S-1-5-21-7-8-512-1001",
        "S-1-5-32-544-1",
        "S-1-16-8192",
        "S-1-5-64-10",
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct windows_sid group = sid(others[i]);
        assert_false(token_group_is_powerful(&group));
    }
}

static struct windows_identity identity_made(void)
{
    return (struct windows_identity){
        .run = sid("S-1-5-21-1-2-3-4"),
        .logon = sid("S-1-5-5-0-7"),
        .user = sid("S-1-5-21-9-9-9-1001"),
        .package = sid("S-1-15-2-1-2-3-4-5-6-7"),
    };
}

static void what_the_command_makes_belongs_to_the_run_the_user_and_windows(void **state)
{
    (void)state;
    struct windows_identity identity = identity_made();
    struct windows_sid system = sid("S-1-5-18");
    struct token_default given = token_default(&identity);
    assert_int_equal(given.count, 3);
    assert_true(windows_sid_equal(&given.sids[0], &identity.run));
    assert_true(windows_sid_equal(&given.sids[1], &identity.user));
    assert_true(windows_sid_equal(&given.sids[2], &system));
}

static void entries_name_the_run_or_the_package_and_are_inherited_by_directories_alone(void **state)
{
    (void)state;
    enum { INHERIT = WINDOWS_OBJECT_INHERIT | WINDOWS_CONTAINER_INHERIT };
    struct windows_identity identity = identity_made();
    struct windows_ace allow = {.inherit = true, .principal = WINDOWS_PACKAGE, .mask = WINDOWS_ALLOW_READ};
    struct windows_ace pin = {.deny = true, .principal = WINDOWS_RUN, .mask = WINDOWS_DENY_DELETE};
    struct windows_entry entry = identity_entry(&identity, &allow, true);
    assert_int_equal(entry.type, WINDOWS_ENTRY_ALLOW);
    assert_int_equal(entry.flags, INHERIT);
    assert_int_equal(entry.mask, WINDOWS_ALLOW_READ);
    assert_true(windows_sid_equal(&entry.sid, &identity.package));
    assert_int_equal(identity_entry(&identity, &allow, false).flags, 0);
    entry = identity_entry(&identity, &pin, true);
    assert_int_equal(entry.type, WINDOWS_ENTRY_DENY);
    assert_int_equal(entry.flags, 0);
    assert_true(windows_sid_equal(&entry.sid, &identity.run));
}

static void labels_have_the_level_and_the_policy_of_the_specification(void **state)
{
    (void)state;
    struct windows_label label = {true, WINDOWS_MEDIUM, WINDOWS_NO_READ_UP | WINDOWS_NO_WRITE_UP};
    struct windows_sid medium = sid(TOKEN_MEDIUM), low = sid(TOKEN_LOW);
    struct windows_entry entry = identity_label(&label, false);
    assert_int_equal(entry.type, WINDOWS_ENTRY_LABEL);
    assert_int_equal(entry.mask, 3);
    assert_int_equal(entry.flags, 0);
    assert_true(windows_sid_equal(&entry.sid, &medium));
    label.level = WINDOWS_LOW;
    entry = identity_label(&label, true);
    assert_true(windows_sid_equal(&entry.sid, &low));
    assert_int_not_equal(entry.flags, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_that_rule_the_machine_or_the_domain_are_given_up),
        cmocka_unit_test(groups_of_everybody_and_of_the_session_stay),
        cmocka_unit_test(what_the_command_makes_belongs_to_the_run_the_user_and_windows),
        cmocka_unit_test(entries_name_the_run_or_the_package_and_are_inherited_by_directories_alone),
        cmocka_unit_test(labels_have_the_level_and_the_policy_of_the_specification),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
