/* From a policy or a specification to what holds on a machine: roots, how they lie in each other, managed layers. */
#include "tests/unit/windows_world.h"

static void roots_of_a_specification_get_their_places(void **state)
{
    struct world world;
    (void)state;
    world_begin(&world);
    assert_true(
        compile_both(&world, "grant write $WORK\ndeny $WORK/.env, $WORK/keys/\ngrant read ~/notes", false));
    assert_true(take_xml(&world, false));
    const struct windows_spec *spec = world.resolved.spec;
    assert_int_equal(level_at(spec, "D:\\w\\a"), LEVEL_WRITE);
    assert_int_equal(level_at(spec, "D:\\w\\.env"), LEVEL_NONE);
    assert_int_equal(level_at(spec, "D:\\w\\keys\\a"), LEVEL_NONE);
    assert_int_equal(level_at(spec, "C:\\h\\me\\notes\\a"), LEVEL_READ);
    assert_int_equal(level_at(spec, "C:\\h\\me"), LEVEL_NONE);
    assert_int_equal(object_at(spec, "D:\\w\\keys")->missing, WINDOWS_CREATE_DIRECTORY);
    world_end(&world);
}

/* $GITDIR is not known to lie in $WORK before it does. */
static void what_comes_to_lie_in_a_writable_place_keeps_its_name(void **state)
{
    struct world world;
    (void)state;
    world_begin(&world);
    assert_true(
        compile_both(&world, "grant write $WORK\ndeny write $GITDIR/x/hooks/, $GITDIR/x/y/config", false));
    assert_true(take_xml(&world, false));
    const struct windows_spec *spec = world.resolved.spec;
    assert_int_equal(level_at(spec, "D:\\w\\.git\\x\\hooks\\a"), LEVEL_READ);
    assert_true(is_pinned(spec, "D:\\w\\.git"));
    assert_true(is_pinned(spec, "D:\\w\\.git\\x"));
    assert_true(is_pinned(spec, "D:\\w\\.git\\x\\y"));
    assert_int_equal(object_at(spec, "D:\\w\\.git\\x\\y\\config")->missing, WINDOWS_CREATE_FILE);
    assert_int_equal(object_at(spec, "D:\\w\\.git\\x\\y")->missing, WINDOWS_CREATE_DIRECTORY);
    world_end(&world);
}

static void names_are_kept_through_every_writable_place_around(void **state)
{
    struct world world;
    (void)state;
    world_begin(&world);
    assert_true(
        compile_both(&world, "grant write $WORK\nauto grant write $GITDIR/a/b\ndeny $GITDIR/a/b/c/d", false));
    assert_true(take_xml(&world, false));
    assert_true(is_pinned(world.resolved.spec, "D:\\w\\.git\\a\\b\\c"));
    assert_true(is_pinned(world.resolved.spec, "D:\\w\\.git\\a"));
    assert_true(is_pinned(world.resolved.spec, "D:\\w\\.git"));
    root_set(&world, ROOT_CACHE, "D:/w/.git/c");
    assert_true(compile_both(
        &world, "auto grant write $WORK\nauto grant read $GITDIR/c\ngrant read $CACHE/a/b", false));
    assert_true(take_xml(&world, false));
    assert_true(is_pinned(world.resolved.spec, "D:\\w\\.git\\c\\a"));
    assert_true(is_pinned(world.resolved.spec, "D:\\w\\.git\\c"));
    assert_true(is_pinned(world.resolved.spec, "D:\\w\\.git"));
    world_end(&world);
}

/* The deny itself is not written, since what it excepts is inside. */
static void nothing_may_open_what_a_deny_with_an_exception_closes(void **state)
{
    struct world world;
    (void)state;
    world_begin(&world);
    assert_true(compile_both(&world,
                             "grant read $WORK/c/known\ndeny $WORK/c except $WORK/c/known\n"
                             "grant write $CACHE/a",
                             false));
    assert_true(take_xml(&world, false));
    root_set(&world, ROOT_CACHE, "D:/w/c");
    assert_false(take_xml(&world, false));
    root_set(&world, ROOT_CACHE, "D:/");
    root_set(&world, ROOT_WORK, "D:/a/w");
    assert_false(take_xml(&world, false));
    world_end(&world);
}

static void a_deny_of_one_root_closes_what_another_opens_inside_it(void **state)
{
    struct world world;
    (void)state;
    world_begin(&world);
    root_set(&world, ROOT_CACHE, "D:/w/c");
    assert_true(compile_both(&world, "grant write $CACHE/a\ndeny $WORK/c\ngrant write $WORK", false));
    assert_true(take_xml(&world, false));
    assert_int_equal(level_at(world.resolved.spec, "D:\\w\\c\\a\\b"), LEVEL_NONE);
    world_end(&world);
}

static void two_roots_at_one_place_have_the_lower_level(void **state)
{
    struct world world;
    (void)state;
    world_begin(&world);
    assert_true(compile_both(&world, "grant write $WORK\ngrant read $REPO", false));
    assert_true(take_xml(&world, false));
    assert_int_equal(level_at(world.resolved.spec, "D:\\w\\a"), LEVEL_READ);
    root_set(&world, ROOT_REPO, "D:/");
    assert_true(take_xml(&world, false));
    assert_int_equal(level_at(world.resolved.spec, "D:\\w\\a"), LEVEL_WRITE);
    world_end(&world);
}

/* An automatic grant counts only where no configured one covers it; the compiler did not know that it does. */
static void a_condition_that_does_not_hold_refuses(void **state)
{
    struct world world;
    (void)state;
    world_begin(&world);
    assert_true(compile_both(&world, "grant read $WORK\nauto grant write $CACHE/x", false));
    assert_true(take_xml(&world, false));
    root_set(&world, ROOT_CACHE, "D:/w/c");
    assert_false(take_xml(&world, false));
    assert_true(was_said(&world, SBX469_SPECIFICATION, "must not lie at or below"));
    world_end(&world);
}

static void unset_roots_mean_what_they_mean_everywhere(void **state)
{
    struct world world;
    (void)state;
    world_begin(&world);
    assert_true(compile_both(&world, "grant write $WORK, $CACHE/x\ndeny write $GITDIR/hooks/", false));
    root_set(&world, ROOT_CACHE, NULL);
    root_set(&world, ROOT_GITDIR, NULL);
    assert_true(take_xml(&world, false));
    assert_true(was_said(&world, SBX150_ROOT_UNSET, "$CACHE is not set"));
    assert_true(was_said(&world, SBX150_ROOT_UNSET, "t.xml:"));
    assert_int_equal(world.resolved.spec->object_count, 1);

    assert_true(compile_both(&world, "grant write $WORK\ndeny $CACHE/x", false));
    assert_false(take_xml(&world, false));
    assert_true(was_said(&world, SBX151_DENY_ROOT_UNSET, "$CACHE is not set"));
    world_end(&world);
}

static void a_repository_that_is_not_the_callers_is_denied_and_not_granted(void **state)
{
    static const char *const both[] = {"D:/w/.git", "D:/.git"};
    struct world world;
    (void)state;
    world_begin(&world);
    world.bindings.roots[ROOT_GITDIR].deny_paths = both;
    world.bindings.roots[ROOT_GITDIR].deny_count = 2;
    assert_true(
        compile_both(&world, "grant write $GITDIR\ndeny write $GITDIR/hooks/\ngrant write $WORK", false));
    assert_true(take_xml(&world, false));
    assert_int_equal(level_at(world.resolved.spec, "D:\\w\\.git\\a"), LEVEL_WRITE);
    assert_int_equal(level_at(world.resolved.spec, "D:\\w\\.git\\hooks\\a"), LEVEL_READ);
    assert_int_equal(level_at(world.resolved.spec, "D:\\.git\\a"), LEVEL_NONE);
    assert_int_equal(level_at(world.resolved.spec, "D:\\.git\\hooks\\a"), LEVEL_NONE);
    assert_non_null(object_at(world.resolved.spec, "D:\\.git\\hooks"));
    world.bindings.roots[ROOT_GITDIR].unknown = "cannot be known";
    assert_false(take_xml(&world, false));
    assert_true(was_said(&world, SBX167_DENY_UNKNOWN, "cannot be known"));
    world_end(&world);
}

static void over_wide_and_guarded_places_are_refused(void **state)
{
    static const char *const guarded[] = {"D:\\w\\profile\\AppData"};
    struct world world;
    (void)state;
    world_begin(&world);
    assert_true(compile_both(&world, "grant write $WORK", false));
    root_set(&world, ROOT_WORK, "C:/h");
    assert_false(take_xml(&world, false));
    assert_true(was_said(&world, SBX154_TOO_WIDE, "$WORK is C:/h here"));
    root_set(&world, ROOT_WORK, "C:/Windows");
    assert_false(take_xml(&world, false));
    root_set(&world, ROOT_WORK, "D:/w");
    world.request.guarded = guarded;
    world.request.guarded_count = 1;
    assert_false(take_xml(&world, false));
    assert_true(was_said(&world, SBX469_SPECIFICATION, "nothing may be granted"));
    assert_false(take_bin(&world));
    assert_true(was_said(&world, SBX469_SPECIFICATION, "nothing may be granted"));
    root_set(&world, ROOT_WORK, "D:/w/profile/AppData/x");
    assert_true(take_xml(&world, false));
    world_end(&world);
}

static void patterns_take_the_place_of_their_root_as_it_is(void **state)
{
    struct world world;
    (void)state;
    world_begin(&world);
    root_set(&world, ROOT_WORK, "D:/[w]");
    assert_true(compile_both(&world, "grant write $WORK\ndeny $WORK/**/*.pem except $WORK/a", false));
    assert_true(take_xml(&world, false));
    assert_int_equal(world.resolved.spec->match_count, 1);
    assert_string_equal(world.resolved.spec->matches[0].pattern, "D:\\[[]w]\\**\\*.pem");
    assert_int_equal(world.resolved.spec->matches[0].except_count, 1);
    assert_string_equal(world.resolved.spec->matches[0].excepts[0], "D:\\[[]w]\\a");
    world_end(&world);
}

static void managed_layers_narrow_a_policy_and_refuse_a_foreign_specification(void **state)
{
    static const struct variable given[] = {{"WORK", "D:\\w"}};
    struct world world;
    (void)state;
    world_begin(&world);
    managed_add(&world, "deny $WORK/keys/");
    assert_true(compile_both(&world, "grant write $WORK", false));
    assert_true(take_bin(&world));
    assert_int_equal(level_at(world.resolved.spec, "D:\\w\\keys\\a"), LEVEL_NONE);
    assert_int_equal(world.resolved.policy->layer_count, 2);
    assert_int_equal(world.resolved.own->layer_count, 1);

    assert_false(take_xml(&world, false));
    assert_true(was_said(&world, SBX470_SPECIFICATION_MANAGED, "not beside it"));
    assert_false(take_xml(&world, true));
    assert_true(was_said(&world, SBX470_SPECIFICATION_MANAGED, "another specification"));
    assert_true(compile_both(&world, "grant write $WORK", true));
    assert_false(take_xml(&world, false));
    assert_true(take_xml(&world, true));
    assert_int_equal(level_at(world.resolved.spec, "D:\\w\\keys\\a"), LEVEL_NONE);

    world.request.given_roots = given;
    world.request.given_root_count = 1;
    assert_false(take_bin(&world));
    assert_true(was_said(&world, SBX406_MANAGED_ROOT, "--root WORK"));
    assert_false(take_xml(&world, true));
    assert_true(was_said(&world, SBX406_MANAGED_ROOT, "--root WORK"));
    world_end(&world);
}

static bool never_trusted(struct arena *arena, const struct bound_policy *bound, const char *command,
                          const char *path)
{
    (void)arena, (void)bound, (void)command, (void)path;
    return false;
}

static bool trusted_in_tools(struct arena *arena, const struct bound_policy *bound, const char *command,
                             const char *path)
{
    (void)arena;
    return path != NULL && strcmp(path, "C:\\Tools") == 0 && strcmp(command, "git.exe") == 0 &&
           bound_level(bound, "C:/Data", strlen("C:/Data")) == LEVEL_READ;
}

static void rules_for_a_command_need_one_that_is_trusted(void **state)
{
    static const struct variable variables[] = {{"Path", "C:\\Tools"}};
    struct world world;
    (void)state;
    world_begin(&world);
    world.bindings.environment = variables;
    world.bindings.environment_count = 1;
    world.request.command = "git.exe";
    assert_true(compile_both(&world, "grant env PATH\nwhen command git {\ngrant read C:/Data\n}", false));
    world.request.command_trusted = never_trusted;
    assert_true(take_bin(&world));
    assert_int_equal(level_at(world.resolved.spec, "C:\\Data\\a"), LEVEL_NONE);
    assert_true(was_said(&world, SBX427_COMMAND_NOT_TRUSTED, "git.exe"));
    world.request.command_trusted = trusted_in_tools;
    assert_true(take_bin(&world));
    assert_int_equal(level_at(world.resolved.spec, "C:\\Data\\a"), LEVEL_READ);
    world.request.command = "C:\\Tools\\git.exe";
    assert_true(take_bin(&world));
    assert_int_equal(level_at(world.resolved.spec, "C:\\Data\\a"), LEVEL_NONE);
    world_end(&world);
}

static void expectations_hold_or_nothing_runs(void **state)
{
    static const struct own_path own[] = {{"D:\\w\\t.bin", "the policy file", false},
                                          {"D:\\w\\records", "the launcher's records", true}};
    struct world world;
    (void)state;
    world_begin(&world);
    assert_true(compile_both(
        &world, "grant write $WORK\nexpect deny write $WORK/t.bin\nexpect deny read $WORK/records", false));
    assert_false(take_bin(&world));
    assert_true(was_said(&world, SBX417_EXPECTATION, "does not hold"));
    world.request.own = own;
    world.request.own_count = 2;
    assert_true(take_bin(&world));
    world_end(&world);
}

static void what_is_no_policy_is_refused(void **state)
{
    struct world world;
    (void)state;
    world_begin(&world);
    assert_true(compile_both(&world, "grant write $WORK", false));
    world.bin_length--;
    assert_false(take_bin(&world));
    assert_true(was_said(&world, SBX402_POLICY_DAMAGED, ""));
    world.xml_length -= 3;
    assert_false(take_xml(&world, false));
    assert_true(was_said(&world, SBX469_SPECIFICATION, ""));
    struct buffer bin = buffer_in(world.arena);
    policy_write(&bin, policy_made(&world, "managed", "deny $WORK/a"));
    world.bin = bin.bytes;
    world.bin_length = bin.length;
    assert_false(take_bin(&world));
    assert_true(was_said(&world, SBX402_POLICY_DAMAGED, "managed"));
    world_end(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(roots_of_a_specification_get_their_places),
        cmocka_unit_test(what_comes_to_lie_in_a_writable_place_keeps_its_name),
        cmocka_unit_test(names_are_kept_through_every_writable_place_around),
        cmocka_unit_test(nothing_may_open_what_a_deny_with_an_exception_closes),
        cmocka_unit_test(a_deny_of_one_root_closes_what_another_opens_inside_it),
        cmocka_unit_test(two_roots_at_one_place_have_the_lower_level),
        cmocka_unit_test(a_condition_that_does_not_hold_refuses),
        cmocka_unit_test(unset_roots_mean_what_they_mean_everywhere),
        cmocka_unit_test(a_repository_that_is_not_the_callers_is_denied_and_not_granted),
        cmocka_unit_test(over_wide_and_guarded_places_are_refused),
        cmocka_unit_test(patterns_take_the_place_of_their_root_as_it_is),
        cmocka_unit_test(managed_layers_narrow_a_policy_and_refuse_a_foreign_specification),
        cmocka_unit_test(rules_for_a_command_need_one_that_is_trusted),
        cmocka_unit_test(expectations_hold_or_nothing_runs),
        cmocka_unit_test(what_is_no_policy_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
