/* Whether `when command` holds: what a search of PATH finds counts only where the sandboxed command can write
 * nothing. */
#include "policy/host.h"

#include "tests/unit/sample_policy.h"

#include <ftw.h>
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

struct place {
    struct arena *arena;
    const char *top;
    const struct bound_policy *bound; /* top/w can be written, top/w/tools and all else only be read */
};

static const char *at(struct place *place, const char *path)
{
    return arena_format(place->arena, "%s/%s", place->top, path);
}

static const struct bound_policy *bound_to(struct place *place)
{
    struct sample_rules rules = {0};
    const struct rule all[] = {
        {.kind = RULE_GRANT, .level = LEVEL_READ, .path = {.root = ROOT_SLASH, .rest = place->top}},
        {.kind = RULE_GRANT, .level = LEVEL_WRITE, .path = {.root = ROOT_SLASH, .rest = at(place, "w")}},
        {.kind = RULE_GRANT, .level = LEVEL_READ, .path = {.root = ROOT_SLASH, .rest = at(place, "w/tools")}},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        VECTOR_PUSH(place->arena, &rules, all[i]);
    struct note_list notes = note_list_in(place->arena);
    struct bindings bindings = {.system = SYSTEM_LINUX, .environment_known = true};
    struct bound_policy *bound =
        policy_bind(place->arena, sample_finish(place->arena, &rules, "t", LAYER_POLICY), &bindings, &notes);
    bound_seal(bound, &notes);
    return bound;
}

static void make_program(struct place *place, const char *path)
{
    FILE *file = fopen(at(place, path), "w");
    assert_non_null(file);
    fclose(file);
    assert_int_equal(chmod(at(place, path), 0755), 0);
}

static int place_setup(void **state)
{
    static const char *const directories[] = {"w", "w/tools", "w/bin", "bin", "links"};
    char top[] = "/tmp/sbx-command-XXXXXX";
    struct arena *arena = arena_create(0);
    if (arena == NULL || mkdtemp(top) == NULL)
        return -1;
    struct place *place = arena_alloc(arena, sizeof *place);
    char *canonical = realpath(top, NULL);
    place->arena = arena;
    place->top = arena_strdup(arena, canonical);
    free(canonical);
    for (size_t i = 0; i < sizeof directories / sizeof *directories; i++)
        mkdir(at(place, directories[i]), 0755);
    place->bound = bound_to(place);
    *state = place;
    return 0;
}

static int remove_entry(const char *path, const struct stat *about, int type, struct FTW *walk)
{
    (void)about, (void)type, (void)walk;
    return remove(path);
}

static int place_teardown(void **state)
{
    struct place *place = *state;
    nftw(place->top, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    arena_destroy(place->arena);
    return 0;
}

/* `path`: PATH, in which @ stands for the test's directory. */
static bool trusted(struct place *place, const char *command, const char *path)
{
    struct buffer value = buffer_in(place->arena);
    buffer_string(&value, "");
    for (; *path != '\0'; path++)
        if (*path == '@')
            buffer_string(&value, place->top);
        else
            buffer_byte(&value, *path);
    return host_command_trusted(place->arena, place->bound, command, value.bytes);
}

static void link_to(struct place *place, const char *target, const char *path)
{
    assert_int_equal(symlink(target, at(place, path)), 0);
}

static void a_program_out_of_reach_is_trusted(void **state)
{
    make_program(*state, "bin/git");
    assert_true(trusted(*state, "git", "@/bin"));
    assert_true(trusted(*state, "git", "@/missing:@/bin/:@/w/bin"));
}

static void a_program_that_the_command_can_write_is_not(void **state)
{
    make_program(*state, "w/bin/git");
    assert_false(trusted(*state, "git", "@/w/bin"));
    make_program(*state, "bin/git");
    assert_false(trusted(*state, "git", "@/w/bin:@/bin"));
    assert_true(trusted(*state, "git", "@/bin:@/w/bin"));
}

static void a_read_only_place_inside_a_writable_one_is_trusted(void **state)
{
    make_program(*state, "w/tools/git");
    assert_true(trusted(*state, "git", "@/w/tools"));
}

static void every_link_on_the_way_counts(void **state)
{
    struct place *place = *state;
    make_program(place, "bin/git");
    link_to(place, "../bin/git", "links/git");
    assert_true(trusted(place, "git", "@/links"));
    link_to(place, at(place, "bin/git"), "w/bin/git");
    assert_false(trusted(place, "git", "@/w/bin"));
    link_to(place, "../w/bin/git", "links/git2");
    assert_false(trusted(place, "git2", "@/links"));
    link_to(place, "../bin", "w/linked");
    assert_false(trusted(place, "git", "@/w/linked"));
    link_to(place, "w/../bin", "through");
    assert_true(trusted(place, "git", "@/through"));
}

static void a_target_within_reach_counts(void **state)
{
    struct place *place = *state;
    make_program(place, "w/bin/git");
    link_to(place, "../w/bin/git", "links/git");
    assert_false(trusted(place, "git", "@/links"));
}

static void the_search_goes_on_past_what_cannot_be_run(void **state)
{
    struct place *place = *state;
    make_program(place, "bin/git");
    assert_int_equal(mkdir(at(place, "links/git"), 0755), 0);
    make_program(place, "w/bin/git");
    assert_int_equal(chmod(at(place, "w/bin/git"), 0644), 0);
    assert_true(trusted(place, "git", "@/links:@/w/bin:@/bin"));
}

static void what_depends_on_the_working_directory_is_not_trusted(void **state)
{
    make_program(*state, "bin/git");
    assert_false(trusted(*state, "git", ":@/bin"));
    assert_false(trusted(*state, "git", "bin:@/bin"));
    assert_false(trusted(*state, "git", "@/missing::@/bin"));
    assert_true(trusted(*state, "git", "@/bin:bin"));
}

static void only_a_name_is_searched(void **state)
{
    struct place *place = *state;
    make_program(place, "bin/git");
    assert_false(trusted(place, "./git", "@/bin"));
    assert_false(trusted(place, at(place, "bin/git"), "@/bin"));
    assert_false(trusted(place, "", "@/bin"));
    assert_false(trusted(place, "hg", "@/bin"));
    assert_false(host_command_trusted(place->arena, place->bound, "git", NULL));
    assert_false(host_command_trusted(place->arena, place->bound, NULL, "/bin"));
}

static void links_in_a_circle_end(void **state)
{
    link_to(*state, "b", "links/a");
    link_to(*state, "a", "links/b");
    assert_false(trusted(*state, "a", "@/links"));
}

#define PLACE_TEST(name) cmocka_unit_test_setup_teardown(name, place_setup, place_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLACE_TEST(a_program_out_of_reach_is_trusted),
        PLACE_TEST(a_program_that_the_command_can_write_is_not),
        PLACE_TEST(a_read_only_place_inside_a_writable_one_is_trusted),
        PLACE_TEST(every_link_on_the_way_counts),
        PLACE_TEST(a_target_within_reach_counts),
        PLACE_TEST(the_search_goes_on_past_what_cannot_be_run),
        PLACE_TEST(what_depends_on_the_working_directory_is_not_trusted),
        PLACE_TEST(only_a_name_is_searched),
        PLACE_TEST(links_in_a_circle_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
