/* Whose an object is, and who else may write it, by its descriptor. */
#include "runtime/windows/owner.h"

#include "policy/host_path.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define ME "S-1-5-21-1-2-3-1001"
#define OTHER "S-1-5-21-1-2-3-1002"
#define INSTALLER "S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464"

struct row {
    const char *text;
    enum owner owner;
    bool open, open_to_caller; /* where the caller is none of those that may write, and where it is */
};

static const struct row rows[] = {
    {"O:BAD:(A;;0x1f01ff;;;BA)(A;;0x1f01ff;;;SY)(A;;0x1200a9;;;BU)", OWNER_SYSTEM, false, false},
    {"O:SYD:(A;;0x1f01ff;;;" INSTALLER ")(A;;0x1200a9;;;WD)", OWNER_SYSTEM, false, false},
    {"O:" INSTALLER "D:(A;;0x1200a9;;;WD)", OWNER_SYSTEM, false, false},
    {"O:" ME "D:(A;;0x1f01ff;;;" ME ")(A;;0x1f01ff;;;BA)", OWNER_CALLER, true, false},
    {"O:" OTHER "D:(A;;0x1f01ff;;;" OTHER ")", OWNER_OTHER, true, true},
    {"D:(A;;0x1200a9;;;WD)", OWNER_OTHER, false, false},
    /* each way to change something */
    {"O:BAD:(A;;0x2;;;BU)", OWNER_SYSTEM, true, true},
    {"O:BAD:(A;;0x4;;;BU)", OWNER_SYSTEM, true, true},
    {"O:BAD:(A;;0x10;;;BU)", OWNER_SYSTEM, true, true},
    {"O:BAD:(A;;0x40;;;BU)", OWNER_SYSTEM, true, true},
    {"O:BAD:(A;;0x100;;;BU)", OWNER_SYSTEM, true, true},
    {"O:BAD:(A;;0x10000;;;BU)", OWNER_SYSTEM, true, true},
    {"O:BAD:(A;;0x40000;;;BU)", OWNER_SYSTEM, true, true},
    {"O:BAD:(A;;0x80000;;;BU)", OWNER_SYSTEM, true, true},
    {"O:BAD:(A;;0x2000000;;;BU)", OWNER_SYSTEM, true, true},
    {"O:BAD:(A;;0x10000000;;;BU)", OWNER_SYSTEM, true, true},
    {"O:BAD:(A;;0x40000000;;;BU)", OWNER_SYSTEM, true, true},
    /* what is inherited counts, what is for others alone does not, and a deny gives nothing away */
    {"O:BAD:(A;ID;0x2;;;BU)", OWNER_SYSTEM, true, true},
    {"O:BAD:(A;OICIIO;0x1f01ff;;;S-1-3-0)", OWNER_SYSTEM, false, false},
    {"O:BAD:(D;;0x1f01ff;;;WD)(A;;0x1200a9;;;WD)", OWNER_SYSTEM, false, false},
    {"O:BAD:(D;;0x2;;;WD)(A;;0x2;;;WD)", OWNER_SYSTEM, true, true},
    {"O:BAD:", OWNER_SYSTEM, false, false},
};

static void owners_and_writers_are_told(void **state)
{
    struct arena *arena = arena_create(0);
    struct windows_sid me;
    (void)state;
    assert_true(windows_sid_parse(ME, &me));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct windows_descriptor descriptor;
        if (!windows_descriptor_read(arena, rows[i].text, &descriptor))
            fail_msg("%s cannot be read", rows[i].text);
        if (owner_of(&descriptor, &me) != rows[i].owner ||
            owner_others_write(&descriptor, NULL) != rows[i].open ||
            owner_others_write(&descriptor, &me) != rows[i].open_to_caller)
            fail_msg("%s: owner %d, open %d, %d", rows[i].text, (int)owner_of(&descriptor, &me),
                     owner_others_write(&descriptor, NULL), owner_others_write(&descriptor, &me));
    }
    arena_destroy(arena);
}

static void nobody_is_the_caller_where_none_is_named(void **state)
{
    struct arena *arena = arena_create(0);
    struct windows_descriptor descriptor;
    (void)state;
    assert_true(windows_descriptor_read(arena, "O:" ME "D:(A;;0x1200a9;;;WD)", &descriptor));
    assert_int_equal(owner_of(&descriptor, NULL), OWNER_OTHER);
    arena_destroy(arena);
}

static void entries_of_unknown_kinds_count_as_open(void **state)
{
    static const uint8_t allowing[] = {5, 9, 11}, denying[] = {1, 6, 10, 12};
    struct windows_entry entry = {.mask = 0x1200a9};
    struct windows_descriptor descriptor = {.dacl_present = true, .entries = &entry, .count = 1};
    (void)state;
    assert_true(windows_sid_parse("S-1-5-32-544", &descriptor.owner));
    entry.sid = descriptor.owner;
    for (size_t i = 0; i < sizeof allowing; i++) {
        entry.type = allowing[i];
        assert_true(owner_others_write(&descriptor, NULL));
    }
    for (size_t i = 0; i < sizeof denying; i++) {
        entry.type = denying[i];
        assert_false(owner_others_write(&descriptor, NULL));
    }
}

static void without_a_list_everything_is_open(void **state)
{
    struct windows_descriptor descriptor = {0};
    (void)state;
    assert_true(windows_sid_parse("S-1-5-32-544", &descriptor.owner));
    assert_true(owner_others_write(&descriptor, NULL));
    descriptor.dacl_present = true;
    assert_false(owner_others_write(&descriptor, NULL));
}

static void paths_of_drives_are_parted_and_joined(void **state)
{
    struct arena *arena = arena_create(0);
    (void)state;
    assert_string_equal(host_join(arena, "C:/", "a"), "C:/a");
    assert_string_equal(host_join(arena, "C:/a", "b"), "C:/a/b");
    assert_string_equal(host_join(arena, "/", "a"), "/a");
    assert_string_equal(host_parent(arena, "C:/a/b"), "C:/a");
    assert_string_equal(host_parent(arena, "C:/a"), "C:/");
    assert_null(host_parent(arena, "C:/"));
    assert_string_equal(host_parent(arena, "/a"), "/");
    assert_null(host_parent(arena, "/"));
    assert_int_equal(host_top("c:/a"), 3);
    assert_int_equal(host_top("/a"), 1);
    assert_int_equal(host_top("c:a"), 0);
    assert_int_equal(host_top("1:/a"), 0);
    assert_int_equal(host_top("a/b"), 0);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(owners_and_writers_are_told),
        cmocka_unit_test(nobody_is_the_caller_where_none_is_named),
        cmocka_unit_test(entries_of_unknown_kinds_count_as_open),
        cmocka_unit_test(without_a_list_everything_is_open),
        cmocka_unit_test(paths_of_drives_are_parted_and_joined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
