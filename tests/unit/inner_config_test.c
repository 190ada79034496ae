/* What the launcher hands to its inner stage comes out as it went in, and nothing else is taken for it. */
#include "runtime/expected.h"
#include "runtime/inner_config.h"

#include "tests/unit/temporary.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct buffer sample(struct arena *arena)
{
    static const struct expected_mount mounts[] = {
        {.path = "/", .expectation = MOUNT_READ_ONLY, .type = "tmpfs"},
        {.path = "/w/a b",
         .expectation = MOUNT_WRITABLE,
         .source = "/w/a b",
         .known = true,
         .device = 0xFD02,
         .inode = UINT64_MAX},
        {.path = "/dev", .expectation = MOUNT_DEVICES, .type = "tmpfs", .optional = true}};
    static const struct landlock_rule rules[] = {{"/", RIGHT_READ_DIRECTORY, false, 0, 0},
                                                 {"/w/a b", RIGHTS_DEVICES, true, 0xFD03, 77}};
    static char *const arguments[] = {(char *)"sh", (char *)"", (char *)"a\nb", NULL};
    struct inner_config config = {.status = 7,
                                  .go = 8,
                                  .streams = {9, 10, 11},
                                  .directory = "/w/a b",
                                  .directory_known = true,
                                  .device = 0xFD01,
                                  .inode = UINT64_C(1) << 40,
                                  .host_namespaces = {[NAMESPACE_NETWORK] = 4026531840},
                                  .working_variable = true,
                                  .files_soft = 1024,
                                  .files_hard = UINT64_MAX,
                                  .before = {.mode_mask = 0750, .stack_soft = UINT64_MAX - 1},
                                  .mounts = mounts,
                                  .mount_count = 3,
                                  .rules = rules,
                                  .rule_count = 2,
                                  .landlock_alone = true,
                                  .arguments = arguments};
    struct buffer bytes = buffer_in(arena);

    inner_config_write(&bytes, &config);
    return bytes;
}

static void what_is_written_is_read(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);
    struct buffer bytes = sample(arena);
    struct inner_config config;

    assert_true(inner_config_read(arena, bytes.bytes, bytes.length, &config));
    assert_int_equal(config.status, 7);
    assert_int_equal(config.before.mode_mask, 0750);
    assert_int_equal(config.before.stack_soft, UINT64_MAX - 1);
    assert_int_equal(config.streams[2], 11);
    assert_string_equal(config.directory, "/w/a b");
    assert_true(config.directory_known && config.working_variable);
    assert_true(config.inode == UINT64_C(1) << 40 && config.host_namespaces[NAMESPACE_NETWORK] == 4026531840);
    assert_true(config.files_soft == 1024 && config.files_hard == UINT64_MAX);
    assert_int_equal(config.mount_count, 3);
    assert_string_equal(config.mounts[0].type, "tmpfs");
    assert_string_equal(config.mounts[1].path, "/w/a b");
    assert_null(config.mounts[1].type);
    assert_int_equal(config.mounts[2].expectation, MOUNT_DEVICES);
    assert_true(config.mounts[2].optional && !config.mounts[1].optional);
    assert_true(config.mounts[1].known && !config.mounts[2].known);
    assert_true(config.mounts[1].device == 0xFD02 && config.mounts[1].inode == UINT64_MAX);
    assert_int_equal(config.rule_count, 2);
    assert_string_equal(config.rules[1].path, "/w/a b");
    assert_int_equal(config.rules[1].rights, RIGHTS_DEVICES);
    assert_true(config.rules[1].known && config.rules[1].device == 0xFD03 && config.rules[1].inode == 77);
    assert_true(!config.rules[0].known && config.landlock_alone);
    assert_string_equal(config.arguments[1], "");
    assert_string_equal(config.arguments[2], "a\nb");
    assert_null(config.arguments[3]);
    arena_destroy(arena);
}

static void a_part_or_more_than_the_whole_is_refused(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);
    struct buffer bytes = sample(arena);
    struct inner_config config;

    for (size_t length = 0; length < bytes.length; length++)
        assert_false(inner_config_read(arena, arena_copy(arena, bytes.bytes, length), length, &config));
    buffer_byte(&bytes, '\0');
    assert_false(inner_config_read(arena, bytes.bytes, bytes.length, &config));
    arena_destroy(arena);
}

static const struct expected_mount *at(const struct expected_mount *mounts, uint32_t count, const char *path)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(mounts[i].path, path) == 0)
            return &mounts[i];
    return NULL;
}

static void the_last_mount_at_a_place_is_the_one_to_expect(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);
    struct plan_operation operations[] = {
        {.kind = PLAN_DEV, .path = "/dev"},        {.kind = PLAN_PROC, .path = "/proc"},
        {.kind = PLAN_BIND_READ, .path = "/w"},    {.kind = PLAN_BIND_WRITE, .path = "/w"},
        {.kind = PLAN_DIRECTORY, .path = "/only"}, {.kind = PLAN_LINK, .path = "/bin", .source = "usr/bin"},
        {.kind = PLAN_MASK_FILE, .path = "/w/f"},  {.kind = PLAN_MASK_DIRECTORY, .path = "/w/d"},
        {.kind = PLAN_SCRATCH, .path = "/tmp"},    {.kind = PLAN_SEAL, .path = "/w/d"},
        {.kind = PLAN_SEAL, .path = "/"},
    };
    struct plan plan = {.items = operations, .count = sizeof operations / sizeof *operations};
    uint32_t count;
    const struct expected_mount *mounts = mounts_expected(arena, &plan, &count);

    assert_int_equal(count, 7);
    assert_int_equal(at(mounts, count, "/")->expectation, MOUNT_READ_ONLY);
    assert_int_equal(at(mounts, count, "/w")->expectation, MOUNT_WRITABLE);
    assert_int_equal(at(mounts, count, "/w/f")->expectation, MOUNT_READ_ONLY);
    assert_int_equal(at(mounts, count, "/w/d")->expectation, MOUNT_READ_ONLY);
    assert_int_equal(at(mounts, count, "/dev")->expectation, MOUNT_DEVICES);
    assert_string_equal(at(mounts, count, "/tmp")->type, "tmpfs");
    assert_string_equal(at(mounts, count, "/proc")->type, "proc");
    assert_string_equal(at(mounts, count, "/w")->source, "/w");
    assert_null(at(mounts, count, "/w/f")->source);
    assert_null(at(mounts, count, "/only"));
    assert_null(at(mounts, count, "/bin"));
    arena_destroy(arena);
}

static void what_is_bound_is_known_by_what_was_seen(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);
    char top[PATH_MAX];
    temporary_make(top);
    make_directory(top, "seen");
    const char *seen_path = arena_strdup(arena, below(top, "seen"));
    const char *later_path = arena_strdup(arena, below(top, "later"));
    struct expected_mount mounts[] = {
        {.path = "/", .type = "tmpfs"},
        {.path = seen_path, .source = seen_path},
        {.path = later_path, .source = later_path},
        {.path = "/proc/sys", .source = "/proc/sys"},
    };
    enum { MOUNTS = sizeof mounts / sizeof *mounts };
    struct stat before, later;
    struct resolver *seen = resolver_create(arena);
    assert_int_equal(resolver_find(seen, seen_path)->kind, ENTRY_DIRECTORY);
    assert_int_equal(resolver_find(seen, later_path)->kind, ENTRY_MISSING);
    assert_int_equal(stat(seen_path, &before), 0);

    /* What was seen is replaced by a link, what was missing is made. */
    assert_int_equal(rename(seen_path, below(top, "moved")), 0);
    assert_int_equal(symlink("/etc", seen_path), 0);
    make_file(top, "later", "x");
    assert_int_equal(stat(later_path, &later), 0);
    assert_null(mounts_identify(arena, seen, mounts, MOUNTS));
    assert_false(mounts[0].known || mounts[3].known);
    assert_true(mounts[1].known && mounts[1].device == before.st_dev && mounts[1].inode == before.st_ino);
    assert_true(mounts[2].known && mounts[2].device == later.st_dev && mounts[2].inode == later.st_ino);

    /* Looked at now for the first time, it is a link. */
    assert_string_equal(mounts_identify(arena, resolver_create(arena), mounts, MOUNTS), seen_path);
    unlink(seen_path);
    assert_string_equal(mounts_identify(arena, resolver_create(arena), mounts, MOUNTS), seen_path);
    temporary_remove(top);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(a_part_or_more_than_the_whole_is_refused),
        cmocka_unit_test(what_is_bound_is_known_by_what_was_seen),
        cmocka_unit_test(the_last_mount_at_a_place_is_the_one_to_expect),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
