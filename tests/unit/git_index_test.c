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

static char *bytes_of(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *bytes = malloc(65536);
    *length = fread(bytes, 1, 65536, file);
    fclose(file);
    return bytes;
}

static char *index_of(const char *folder, const char *format, int version, size_t *length)
{
    char command[2048], path[512];
    snprintf(command, sizeof command, script, folder, format, version);
    assert_int_equal(system(command), 0);
    snprintf(path, sizeof path, "%s/repo/.git/index", folder);
    return bytes_of(path, length);
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
    const struct git_index *index = git_index_read(arena, bytes, length);
    assert_non_null(index);
    assert_int_equal(index->submodules.count, 2);
    assert_string_equal(index->submodules.items[0], "libs/one");
    assert_string_equal(index->submodules.items[1], "zlib");
    assert_null(index->shared);
    for (size_t cut = 0; cut < length; cut++) {
        /* A copy of exactly `cut` bytes, so that a sanitizer sees any read past its end. */
        char *part = malloc(cut + 1);
        memcpy(part, bytes, cut);
        assert_null(git_index_read(arena, part, cut));
        free(part);
    }
    for (size_t at = 0; at < length; at++) {
        bytes[at] ^= 0x55;
        const struct git_index *changed = git_index_read(arena, bytes, length);
        for (uint32_t i = 0; changed != NULL && i < changed->submodules.count; i++)
            assert_null(strstr(changed->submodules.items[i], ".."));
        bytes[at] ^= 0x55;
    }
    arena_destroy(arena);
    free(bytes);
}

/* file3, an entry of the shared index, becomes a submodule: the split index says so without its path. */
static const char splitting[] =
    "set -e; cd '%s/repo'; git update-index --split-index; "
    "git update-index --cacheinfo 160000,0123456789012345678901234567890123456789%s,file3; "
    "echo y > file5; git update-index file5; cp .git/sharedindex.* shared";

static void check_split(const char *format, int version, const char *more)
{
    char folder[] = "/tmp/sbx-index.XXXXXX", command[2048], path[512];
    size_t length, shared_length;
    assert_non_null(mkdtemp(folder));
    free(index_of(folder, format, version, &length));
    snprintf(command, sizeof command, splitting, folder, more);
    assert_int_equal(system(command), 0);
    snprintf(path, sizeof path, "%s/repo/.git/index", folder);
    char *bytes = bytes_of(path, &length);
    snprintf(path, sizeof path, "%s/repo/shared", folder);
    char *shared_bytes = bytes_of(path, &shared_length);
    struct arena *arena = arena_create(0);
    const struct git_index *split = git_index_read(arena, bytes, length);
    const struct git_index *shared = git_index_read(arena, shared_bytes, shared_length);
    assert_non_null(split);
    assert_non_null(shared);
    snprintf(command, sizeof command, "test -e '%s/repo/.git/sharedindex.%s' && rm -rf '%s'", folder,
             split->shared, folder);
    assert_int_equal(system(command), 0);
    assert_int_equal(split->submodules.count, 0);
    assert_int_equal(shared->submodules.count, 2);
    struct git_paths replaced = git_index_replaced(arena, shared, split);
    assert_int_equal(replaced.count, 1);
    assert_string_equal(replaced.items[0], "file3");
    for (size_t at = 0; at < length; at++) {
        bytes[at] ^= 0x55;
        const struct git_index *changed = git_index_read(arena, bytes, length);
        if (changed != NULL)
            git_index_replaced(arena, shared, changed);
        bytes[at] ^= 0x55;
    }
    arena_destroy(arena);
    free(bytes);
    free(shared_bytes);
}

static void a_split_index_names_what_it_stands_on_and_replaces(void **state)
{
    (void)state;
    for (int version = 2; version <= 4; version++) {
        check_split("sha1", version, "");
        check_split("sha256", version, "012345678901234567890123");
    }
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
    assert_null(git_index_read(arena, "", 0));
    assert_null(git_index_read(arena, "DIRC\0\0\0\5\0\0\0\0aaaaaaaaaaaaaaaaaaaa", 32));
    assert_null(git_index_read(arena, "JUNKJUNKJUNKJUNK", 16));
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_submodules_in_every_version_and_object_format),
        cmocka_unit_test(a_split_index_names_what_it_stands_on_and_replaces),
        cmocka_unit_test(refuses_what_is_no_index),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
