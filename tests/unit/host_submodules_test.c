/* host_submodules_test.c - which places $SUBMODULES stands for, in a repository that git made. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policy/host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char script[] =
    "set -e; cd '%s'; export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1; git init -q .; "
    "id=$(git hash-object -t commit --literally -w --stdin </dev/null); "
    "for path in libs/full libs/empty gone planted; do git update-index --add --cacheinfo 160000,$id,$path; "
    "done; "
    "mkdir -p libs/full libs/empty elsewhere; echo 'gitdir: x' > libs/full/.git; ln -s elsewhere planted";

static void each_submodule_gives_its_git_or_its_directory(void **state)
{
    (void)state;
    char folder[] = "/tmp/sbx-submodules.XXXXXX", command[2048];
    assert_non_null(mkdtemp(folder));
    snprintf(command, sizeof command, script, folder);
    assert_int_equal(system(command), 0);

    struct arena *arena = arena_create(0);
    struct git_trees trees;
    struct root_value found;
    git_trees_find(arena, folder, &trees);
    submodules_find(arena, &trees, &found);
    assert_null(found.unknown);
    assert_int_equal(found.state, ROOT_BOUND);
    assert_int_equal(found.count, 3);
    assert_string_equal(found.paths[0], arena_format(arena, "%s/gone", folder));
    assert_string_equal(found.paths[1], arena_format(arena, "%s/libs/empty", folder));
    assert_string_equal(found.paths[2], arena_format(arena, "%s/libs/full/.git", folder));
    arena_destroy(arena);
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    assert_int_equal(system(command), 0);
}

static void no_repository_leaves_it_unset(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);
    struct git_trees none = {0};
    struct root_value found;
    submodules_find(arena, &none, &found);
    assert_int_equal(found.state, ROOT_UNSET);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_submodule_gives_its_git_or_its_directory),
        cmocka_unit_test(no_repository_leaves_it_unset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
