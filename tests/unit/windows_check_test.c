/* windows_check_test.c - what a schema cannot say of a specification of Windows is refused all the same. */
#include "emitters/windows_spec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const struct windows_ace pin = {true, false, WINDOWS_PACKAGE, WINDOWS_DENY_DELETE};
static const struct windows_ace no_execute = {true, false, WINDOWS_PACKAGE, WINDOWS_DENY_EXECUTE};
static const struct windows_ace deny_all = {true, true, WINDOWS_PACKAGE, WINDOWS_DENY_ALL};
static const struct windows_ace deny_write = {true, true, WINDOWS_PACKAGE, WINDOWS_DENY_WRITE};
static const struct windows_ace allow_read = {false, true, WINDOWS_PACKAGE, WINDOWS_ALLOW_READ};
static const struct windows_ace allow_write = {false, true, WINDOWS_PACKAGE, WINDOWS_ALLOW_WRITE};

static const struct windows_label low = {true, WINDOWS_LOW, WINDOWS_NO_WRITE_UP};
static const struct windows_label medium = {true, WINDOWS_MEDIUM, WINDOWS_NO_WRITE_UP};
static const struct windows_label hidden = {true, WINDOWS_MEDIUM,
                                            WINDOWS_NO_WRITE_UP | WINDOWS_NO_READ_UP | WINDOWS_NO_EXECUTE_UP};

enum { OBJECTS_MOST = 4 };

/* A specification that is made up on the spot; paths in order. */
struct made {
    enum windows_tier tier;
    struct windows_object objects[OBJECTS_MOST];
    struct windows_match match;
};

/* An object of the tier appcontainer; up to three entries, the first with mask 0 ends them. */
static struct windows_object object_of(const char *path, struct windows_ace a, struct windows_ace b,
                                       struct windows_ace c)
{
    struct windows_object object = {.path = path, .rule = "grant", .line = 10, .aces = {a, b, c}};
    while (object.ace_count < 3 && object.aces[object.ace_count].mask != 0)
        object.ace_count++;
    return object;
}

static const struct windows_ace none;

static struct windows_object granted(const char *path, struct windows_ace ace)
{
    return object_of(path, ace, none, none);
}

static struct windows_object denied(const char *path, struct windows_ace ace)
{
    struct windows_object object = object_of(path, ace, none, none);
    object.cap = true;
    return object;
}

static void run_as(struct windows_ace *ace)
{
    ace->principal = WINDOWS_RUN;
}

/* What is said of the specification; in the other tiers the entries are for the run. */
static const char *said_of(struct arena *arena, struct made made)
{
    struct windows_spec spec = {.tier = made.tier, .objects = made.objects, .matches = &made.match};
    while (spec.object_count < OBJECTS_MOST && made.objects[spec.object_count].path != NULL)
        spec.object_count++;
    spec.match_count = made.match.pattern != NULL;
    for (uint32_t i = 0; made.tier != WINDOWS_APPCONTAINER && i < spec.object_count; i++)
        for (uint32_t j = 0; j < made.objects[i].ace_count; j++)
            run_as(&made.objects[i].aces[j]);
    if (made.tier != WINDOWS_APPCONTAINER)
        run_as(&made.match.ace);
    return windows_spec_check(arena, &spec);
}

/* Ends the test unless what is said holds `says`; NULL: nothing is to be said. */
static void expect(const char *says, struct made made)
{
    struct arena *arena = arena_create(0);
    const char *said = said_of(arena, made);
    if ((said == NULL) != (says == NULL) || (says != NULL && strstr(said, says) == NULL))
        fail_msg("\"%s\" instead of \"%s\"", said != NULL ? said : "nothing",
                 says != NULL ? says : "nothing");
    arena_destroy(arena);
}

/* Objects of the tier appcontainer, and no match. */
#define OBJECTS(...)                                                                                         \
    (struct made)                                                                                            \
    {                                                                                                        \
        .tier = WINDOWS_APPCONTAINER, .objects = { __VA_ARGS__ }                                             \
    }

static void expect_match(const char *says, struct windows_match match)
{
    match.line = 20;
    expect(says, (struct made){.tier = WINDOWS_APPCONTAINER, .match = match});
}

/* ---- paths ---- */

static void test_paths(void **state)
{
    (void)state;
    static const char *const excepts[] = {"$WORK\\a", "$WORK\\NUL"};
    expect(NULL, OBJECTS(granted("$WORK", allow_read)));
    expect("line 10: C:\\aux holds a name that Windows keeps", OBJECTS(granted("C:\\aux", allow_read)));
    expect("starts neither", OBJECTS(granted("server\\share", allow_read)));
    expect_match(NULL, (struct windows_match){.pattern = "$WORK\\**\\a?", .ace = deny_all});
    expect_match("line 20: $WORK\\*\\nul holds a name that Windows keeps",
                 (struct windows_match){.pattern = "$WORK\\*\\nul", .ace = deny_all});
    expect_match("line 20: $WORK\\NUL holds a name",
                 (struct windows_match){
                     .pattern = "$WORK\\*", .excepts = excepts, .except_count = 2, .ace = deny_all});
}

static void test_order(void **state)
{
    (void)state;
    expect(NULL, OBJECTS(granted("C:\\a", allow_read), granted("C:\\a\\c", allow_write),
                         granted("C:\\a b", allow_read)));
    expect("C:\\A b does not come in the order",
           OBJECTS(granted("C:\\b", allow_write), granted("C:\\A b", allow_read)));
    expect("C:\\TOOLS is named twice",
           OBJECTS(granted("C:\\Tools", allow_write), granted("C:\\TOOLS", allow_read)));
}

static const char *said_of_require(struct arena *arena, const char *path, const char *below)
{
    struct windows_require require = {path, below, 30};
    struct windows_spec spec = {.requires = &require, .require_count = 1};
    return windows_spec_check(arena, &spec);
}

static void test_requires(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);
    assert_null(said_of_require(arena, "$WORK", "$CACHE\\x"));
    assert_null(said_of_require(arena, "C:\\a", "C:\\a\\b"));
    assert_string_equal(said_of_require(arena, "C:\\A\\b", "C:\\a"),
                        "line 30: C:\\A\\b must not lie at or below C:\\a");
    assert_non_null(strstr(said_of_require(arena, "C:\\a", "C:\\A"), "must not lie"));
    assert_non_null(strstr(said_of_require(arena, "$FOO", "C:\\A"), "line 30: $FOO starts neither"));
    assert_non_null(strstr(said_of_require(arena, "C:\\A", "$FOO"), "line 30: $FOO starts neither"));
    arena_destroy(arena);
}

/* ---- entries ---- */

static struct windows_ace changed(struct windows_ace ace, bool deny, bool inherit, uint32_t mask)
{
    ace.deny = deny;
    ace.inherit = inherit;
    ace.mask = mask;
    return ace;
}

static void test_masks(void **state)
{
    (void)state;
    expect("denies with a mask that allows",
           OBJECTS(granted("C:\\a", changed(pin, true, true, WINDOWS_ALLOW_READ))));
    expect("denies with a mask that allows",
           OBJECTS(granted("C:\\a", changed(pin, true, true, WINDOWS_ALLOW_WRITE))));
    static const uint32_t refused[] = {WINDOWS_DENY_ALL,     WINDOWS_DENY_WRITE, WINDOWS_DENY_DELETE,
                                       WINDOWS_DENY_EXECUTE, 0x1301ff,           0x40};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        expect("allows with a mask that denies",
               OBJECTS(granted("C:\\a", changed(pin, false, true, refused[i]))));
    expect("has an entry that must be inherited",
           OBJECTS(granted("C:\\a", changed(pin, false, false, WINDOWS_ALLOW_READ))));
    expect("has an entry that must be inherited",
           OBJECTS(granted("C:\\a", changed(pin, true, false, WINDOWS_DENY_ALL))));
    expect("has an entry that must not be inherited",
           OBJECTS(granted("C:\\a", changed(pin, true, true, WINDOWS_DENY_DELETE))));
    struct windows_object file = granted("C:\\a", changed(pin, true, true, WINDOWS_DENY_EXECUTE));
    file.kind = WINDOWS_FILE;
    expect("has an entry that must not be inherited", OBJECTS(file));
}

static void test_principals(void **state)
{
    (void)state;
    struct windows_ace run = allow_read;
    run.principal = WINDOWS_RUN;
    expect("has an entry for whom this tier does not know", OBJECTS(granted("C:\\a", run)));
    expect_match(
        "has an entry for whom this tier does not know",
        (struct windows_match){.pattern = "$WORK\\*", .ace = {true, true, WINDOWS_RUN, WINDOWS_DENY_ALL}});

    struct arena *arena = arena_create(0);
    struct windows_object object = granted("C:\\a", allow_read);
    struct windows_spec spec = {.tier = WINDOWS_RESTRICTED, .objects = &object, .object_count = 1};
    assert_non_null(strstr(windows_spec_check(arena, &spec), "whom this tier does not know"));
    run_as(&object.aces[0]);
    assert_null(windows_spec_check(arena, &spec));
    arena_destroy(arena);
}

static void test_lists(void **state)
{
    (void)state;
    struct windows_object three = object_of("C:\\a", pin, deny_write, allow_read);
    expect(NULL, OBJECTS(three));
    expect("denies behind an entry that allows", OBJECTS(object_of("C:\\a", allow_read, pin, none)));
    expect("has the same entry twice", OBJECTS(object_of("C:\\a", pin, pin, none)));
    expect("has two entries where one can hold", OBJECTS(object_of("C:\\a", deny_all, deny_write, none)));
    expect("has two entries where one can hold", OBJECTS(object_of("C:\\a", allow_read, allow_write, none)));
    expect("says nothing", OBJECTS(object_of("C:\\a", none, none, none)));
    struct windows_object automatic = granted("C:\\a", allow_read);
    automatic.automatic = true;
    expect(NULL, OBJECTS(automatic));
    automatic.aces[0] = deny_all;
    expect("is automatic and allows nothing", OBJECTS(automatic));
}

static void test_kinds(void **state)
{
    (void)state;
    struct windows_object object = denied("C:\\a", no_execute);
    expect("denies to execute what is not said to be a file", OBJECTS(object));
    object.kind = WINDOWS_FILE;
    expect(NULL, OBJECTS(object));
    object.missing = WINDOWS_CREATE_FILE;
    expect(NULL, OBJECTS(object));
    object.missing = WINDOWS_CREATE_DIRECTORY;
    expect("would be made as what it must not be", OBJECTS(object));
    object.aces[0] = deny_all;
    object.kind = WINDOWS_DIRECTORY;
    expect(NULL, OBJECTS(object));
    object.missing = WINDOWS_CREATE_FILE;
    expect("would be made as what it must not be", OBJECTS(object));
}

static void test_matches(void **state)
{
    (void)state;
    expect_match("says nothing", (struct windows_match){.pattern = "$WORK\\*"});
    expect_match("is a pin alone", (struct windows_match){.pattern = "$WORK\\*", .ace = pin});
    expect_match(NULL, (struct windows_match){.pattern = "$WORK\\*", .ace = no_execute});
    expect_match(
        "denies with a mask that allows",
        (struct windows_match){.pattern = "$WORK\\*", .ace = changed(pin, true, true, WINDOWS_ALLOW_READ)});
    expect_match("has a label, which this tier does not use",
                 (struct windows_match){.pattern = "$WORK\\*", .ace = deny_all, .label = hidden});
    expect_match("has a label, which this tier does not use",
                 (struct windows_match){.pattern = "$WORK\\*", .label = hidden});
}

static struct windows_object labelled(struct windows_object object, struct windows_label label)
{
    object.label = label;
    return object;
}

static void test_labels(void **state)
{
    (void)state;
    struct windows_object object = labelled(granted("C:\\a", allow_write), low);
    expect(NULL, (struct made){.tier = WINDOWS_RESTRICTED_LOW, .objects = {object}});
    expect("has a label, which this tier does not use",
           (struct made){.tier = WINDOWS_RESTRICTED, .objects = {object}});
    expect("has a label, which this tier does not use", OBJECTS(object));
    object.label.policy = WINDOWS_NO_WRITE_UP | WINDOWS_NO_READ_UP;
    expect("has a low label that keeps from more than writing",
           (struct made){.tier = WINDOWS_RESTRICTED_LOW, .objects = {object}});
}

/* ---- what is allowed where ---- */

static void test_protected(void **state)
{
    (void)state;
    static const char *const paths[] = {"C:\\", "C:\\Windows", "$HOME", "C:\\Users\\me\\AppData\\Local"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        expect("is a place where nothing may be granted", OBJECTS(granted(paths[i], allow_read)));
        expect(NULL, OBJECTS(denied(paths[i], deny_all)));
    }
}

static void test_caps_are_held(void **state)
{
    (void)state;
    struct windows_object object = denied("C:\\a", pin);
    expect("is a deny that nothing holds", OBJECTS(object));
    object.aces[0] = allow_read;
    expect("is a deny that nothing holds", OBJECTS(object));
    object = labelled(denied("C:\\a", none), low);
    expect("is a deny that nothing holds",
           (struct made){.tier = WINDOWS_RESTRICTED_LOW, .objects = {object}});
    object.label = hidden;
    expect(NULL, (struct made){.tier = WINDOWS_RESTRICTED_LOW, .objects = {object}});
}

static const char opens[] = "allows what a deny above it keeps closed";

static void test_denies_are_repeated(void **state)
{
    (void)state;
    expect(opens, OBJECTS(denied("C:\\a", deny_all), granted("C:\\A\\b", allow_read)));
    expect(opens, OBJECTS(denied("C:\\a", deny_all), object_of("C:\\a\\b", deny_write, allow_read, none)));
    expect(opens, OBJECTS(denied("C:\\a", deny_write), granted("C:\\a\\b", allow_write)));
    expect(NULL, OBJECTS(denied("C:\\a", deny_write), granted("C:\\a\\b", allow_read)));
    expect(NULL, OBJECTS(denied("C:\\a", deny_write), object_of("C:\\a\\b", deny_write, allow_write, none)));
    /* What a grant lowers, a deeper grant may raise. */
    expect(NULL, OBJECTS(granted("C:\\a", deny_write), granted("C:\\a\\b", allow_write)));
    /* Further down, and beside. */
    expect(opens, OBJECTS(denied("C:\\a", deny_all), object_of("C:\\a\\b", deny_all, allow_write, none),
                          granted("C:\\a\\b\\c", allow_read)));
    expect(opens, OBJECTS(denied("C:\\a", deny_write), denied("C:\\a\\b", deny_all),
                          granted("C:\\a\\c", allow_write)));
    expect(opens, OBJECTS(denied("C:\\a", deny_all), denied("C:\\a\\b", deny_write),
                          granted("C:\\a\\b\\c", allow_read)));
    expect(NULL, OBJECTS(denied("C:\\a", deny_all), granted("C:\\ab", allow_read)));
    /* At the same place denies stand first. */
    expect(NULL, OBJECTS(object_of("C:\\a", deny_write, allow_write, none)));
}

static void test_matches_below_a_deny(void **state)
{
    (void)state;
    struct made made = OBJECTS(denied("C:\\a", deny_all), granted("C:\\b", pin));
    made.match = (struct windows_match){.pattern = "C:\\a\\b\\*", .ace = allow_read, .line = 20};
    expect("line 20: C:\\a\\b\\* allows what a deny above it keeps closed", made);
    made.match.pattern = "C:\\a\\x*";
    expect(opens, made);
    made.match.ace = deny_write;
    expect(NULL, made);
    made.match.ace = allow_read;
    made.match.pattern = "C:\\b\\*";
    expect(NULL, made);
    made.match.pattern = "C:\\*\\b";
    expect(NULL, made);
    made.match.pattern = "C:\\ax\\*";
    expect(NULL, made);
    made.objects[0].path = "C:\\";
    expect(opens, made);
    made.match.pattern = "C:\\*\\b";
    expect(opens, made);
}

static void test_labels_are_repeated(void **state)
{
    (void)state;
    static const char says[] = "has a label that opens what a label above it keeps closed";
    struct windows_object closed = labelled(denied("C:\\a", none), hidden);
    struct windows_object deeper = labelled(granted("C:\\a\\b", pin), medium);
    struct made made = {.tier = WINDOWS_RESTRICTED_LOW, .objects = {closed, deeper}};
    expect(says, made);
    made.objects[1].label = low;
    expect(says, made);
    made.objects[0].label = medium;
    expect(says, made);
    made.objects[1].label = hidden;
    expect(NULL, made);
    made.objects[1] = labelled(denied("C:\\a\\b", none), hidden);
    made.objects[2] = labelled(granted("C:\\a\\b\\c", pin), medium);
    expect(says, made);
    made.objects[1] = labelled(granted("C:\\a\\b", pin), medium);
    made.objects[0].label = low;
    made.objects[0].cap = false;
    expect(NULL, made);
    made.objects[1].path = NULL;
    made.objects[0] = closed;
    made.match = (struct windows_match){.pattern = "C:\\a\\*", .label = medium};
    expect(says, made);
}

/* ---- the rest ---- */

static void test_capabilities(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);
    struct windows_spec spec = {.tier = WINDOWS_APPCONTAINER, .capabilities = WINDOWS_INTERNET_CLIENT};
    assert_null(windows_spec_check(arena, &spec));
    spec.tier = WINDOWS_RESTRICTED_LOW;
    assert_string_equal(windows_spec_check(arena, &spec), "only an AppContainer has capabilities");
    arena_destroy(arena);
}

static void test_variables(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);
    struct windows_variable variables[] = {{"Path", "a"}, {"PATHS", "b"}, {"Pat", "c"}};
    struct windows_spec spec = {.environment.set = {variables, 3}};
    assert_null(windows_spec_check(arena, &spec));
    variables[2].name = "PATh";
    assert_non_null(strstr(windows_spec_check(arena, &spec), " is set twice"));
    arena_destroy(arena);
}

static void test_claims(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);
    struct windows_claim claims[] = {{"fs.write", "enforced", "a"}, {"net.closed", "unenforceable", "b"}};
    struct windows_claim accepted[] = {{"fs.write", NULL, "a"}};
    struct windows_spec spec = {
        .claims = claims, .claim_count = 2, .accepted = accepted, .accepted_count = 1};
    assert_string_equal(windows_spec_check(arena, &spec), "net.closed is neither held nor accepted");
    accepted[0].control = "net.closed";
    assert_null(windows_spec_check(arena, &spec));
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_requires),
        cmocka_unit_test(test_masks),
        cmocka_unit_test(test_principals),
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_matches),
        cmocka_unit_test(test_labels),
        cmocka_unit_test(test_protected),
        cmocka_unit_test(test_caps_are_held),
        cmocka_unit_test(test_denies_are_repeated),
        cmocka_unit_test(test_matches_below_a_deny),
        cmocka_unit_test(test_labels_are_repeated),
        cmocka_unit_test(test_capabilities),
        cmocka_unit_test(test_variables),
        cmocka_unit_test(test_claims),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
