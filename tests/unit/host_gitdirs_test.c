/* host_gitdirs_test.c - which directories $GITDIRS stands for, whatever an earlier run may have planted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policy/host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A planted HEAD in modules/libs must not hide what lies below it; data in a Git directory is none. */
static const char script[] =
    "set -e; mkdir -p '%s/.git'; cd '%s/.git'; touch HEAD config; "
    "mkdir -p worktrees/one worktrees/empty; touch worktrees/one/gitdir worktrees/one/commondir; "
    "mkdir -p modules/a/refs/remotes/origin modules/a/modules/b modules/a/worktrees/w modules/libs/c "
    "modules/plain/x; "
    "touch modules/a/HEAD modules/a/refs/remotes/origin/HEAD modules/a/modules/b/config "
    "modules/a/worktrees/w/HEAD; "
    "touch modules/libs/HEAD modules/libs/c/config; ln -s a modules/link";

static void each_worktree_and_submodule_gives_its_git_directory(void **state)
{
    (void)state;
    static const char *const expected[] = {
        "modules/a",    "modules/a/modules/b", "modules/a/worktrees/w",
        "modules/libs", "modules/libs/c",      "worktrees/one",
    };
    enum { EXPECTED = sizeof expected / sizeof expected[0] };
    char folder[] = "/tmp/sbx-gitdirs.XXXXXX", command[2048];
    assert_non_null(mkdtemp(folder));
    snprintf(command, sizeof command, script, folder, folder);
    assert_int_equal(system(command), 0);

    struct arena *arena = arena_create(0);
    struct note_list notes = note_list_in(arena);
    const char *git = arena_format(arena, "%s/.git", folder);
    struct git_trees trees;
    struct root_value found;
    git_trees_find(arena, folder, &trees);
    gitdirs_find(arena, &trees, &found, &notes);
    assert_int_equal(found.state, ROOT_BOUND);
    assert_int_equal(notes.count, 0);
    assert_int_equal(found.count, EXPECTED);
    for (uint32_t i = 0; i < EXPECTED; i++)
        assert_string_equal(found.paths[i], arena_format(arena, "%s/%s", git, expected[i]));
    arena_destroy(arena);
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    assert_int_equal(system(command), 0);
}

static void no_repository_leaves_it_unset_and_a_plain_one_empty(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);
    struct note_list notes = note_list_in(arena);
    struct git_tree nowhere = {.top = "/nowhere", .gitdir = "/nowhere/.git"};
    struct git_trees none = {0}, plain = {.items = &nowhere, .count = 1};
    struct root_value found;
    gitdirs_find(arena, &none, &found, &notes);
    assert_int_equal(found.state, ROOT_UNSET);
    gitdirs_find(arena, &plain, &found, &notes);
    assert_int_equal(found.state, ROOT_BOUND);
    assert_int_equal(found.count, 0);
    assert_int_equal(notes.count, 0);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_worktree_and_submodule_gives_its_git_directory),
        cmocka_unit_test(no_repository_leaves_it_unset_and_a_plain_one_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
