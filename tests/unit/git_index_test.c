/* git_index_test.c - submodules are found in indexes that git itself wrote, and damaged ones are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policy/git_index.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char script[] =
    "set -e; cd '%s'; export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1; "
    "git init -q --object-format=%s repo; cd repo; "
    "for i in 1 2 3 4 5 6 7 8 9; do echo $i > file$i; done; mkdir -p libs/deep; echo x > libs/deep/x; git "
    "add .; "
    "id=$(git hash-object -t commit --literally -w --stdin </dev/null); "
    "git update-index --add --cacheinfo 160000,$id,libs/one --cacheinfo 160000,$id,zlib; "
    "git update-index --index-version %d";

static char *index_of(const char *folder, const char *format, int version, size_t *length)
{
    char command[2048], path[512];
    snprintf(command, sizeof command, script, folder, format, version);
    assert_int_equal(system(command), 0);
    snprintf(path, sizeof path, "%s/repo/.git/index", folder);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *bytes = malloc(65536);
    *length = fread(bytes, 1, 65536, file);
    fclose(file);
    return bytes;
}

static void check(const char *format, int version)
{
    char folder[] = "/tmp/sbx-index.XXXXXX", cleanup[64];
    assert_non_null(mkdtemp(folder));
    size_t length;
    char *bytes = index_of(folder, format, version, &length);
    snprintf(cleanup, sizeof cleanup, "rm -rf '%s'", folder);
    assert_int_equal(system(cleanup), 0);

    struct arena *arena = arena_create(0);
    struct git_paths *paths = git_index_submodules(arena, bytes, length);
    assert_non_null(paths);
    assert_int_equal(paths->count, 2);
    assert_string_equal(paths->items[0], "libs/one");
    assert_string_equal(paths->items[1], "zlib");
    for (size_t cut = 0; cut < length; cut++) {
        /* A copy of exactly `cut` bytes, so that a sanitizer sees any read past its end. */
        char *part = malloc(cut + 1);
        memcpy(part, bytes, cut);
        struct git_paths *fewer = git_index_submodules(arena, part, cut);
        assert_true(fewer == NULL || fewer->count <= 2);
        free(part);
    }
    for (size_t at = 0; at < length; at++) {
        bytes[at] ^= 0x55;
        struct git_paths *changed = git_index_submodules(arena, bytes, length);
        for (uint32_t i = 0; changed != NULL && i < changed->count; i++)
            assert_null(strstr(changed->items[i], ".."));
        bytes[at] ^= 0x55;
    }
    arena_destroy(arena);
    free(bytes);
}

static void finds_submodules_in_every_version_and_object_format(void **state)
{
    (void)state;
    for (int version = 2; version <= 4; version++) {
        check("sha1", version);
        check("sha256", version);
    }
}

static void refuses_what_is_no_index(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);
    assert_null(git_index_submodules(arena, "", 0));
    assert_null(git_index_submodules(arena, "DIRC\0\0\0\5\0\0\0\0aaaaaaaaaaaaaaaaaaaa", 32));
    assert_null(git_index_submodules(arena, "JUNKJUNKJUNKJUNK", 16));
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_submodules_in_every_version_and_object_format),
        cmocka_unit_test(refuses_what_is_no_index),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
