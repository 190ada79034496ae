#include "emitters/windows_descriptor.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(table) (sizeof(table) / sizeof *(table))

static struct arena *arena;

static int before(void **state)
{
    (void)state;
    arena = arena_create(0);
    return 0;
}

static int after(void **state)
{
    (void)state;
    arena_destroy(arena);
    return 0;
}

/* ---- SIDs ---- */

static void sids_are_read_and_written(void **state)
{
    static const char *const good[] = {"S-1-0-0",
                                       "S-1-5-32-544",
                                       "S-1-16-4096",
                                       "S-1-5-21-4294967295-0-1-2",
                                       "S-1-0x010000000000-1",
                                       "S-1-4294967295-9",
                                       "S-1-5",
                                       "S-1-15-2-1-2-3-4-5-6-7-8-9-10-11-12-13-14"};
    static const char *const bad[] = {"",         "S",
                                      "S-1",      "S-1-",
                                      "S-2-5-1",  "S-1-5-",
                                      "S-1-5-a",  "S-1-5-4294967296",
                                      "S-1-5 ",   "S-1-5-1-x",
                                      "S-1--5",   "S-1-281474976710656",
                                      "s-1-5-1",  "S-1-0x-1",
                                      "S-1-5--1", "S-1-0x1000000000000",
                                      "S-1-5-+1", "S-1-1-1-2-3-4-5-6-7-8-9-10-11-12-13-14-15-16"};
    struct windows_sid sid, again;
    (void)state;
    for (size_t i = 0; i < COUNT(good); i++) {
        assert_true(windows_sid_parse(good[i], &sid));
        assert_string_equal(windows_sid_text(arena, &sid), good[i]);
        assert_true(windows_sid_from_bytes(sid.bytes, sid.length, &again));
        assert_true(windows_sid_equal(&sid, &again));
        assert_false(windows_sid_from_bytes(sid.bytes, sid.length - 1U, &again));
    }
    for (size_t i = 0; i < COUNT(bad); i++)
        if (windows_sid_parse(bad[i], &sid))
            fail_msg("\"%s\" was read", bad[i]);
}

static void the_bytes_of_a_sid_are_those_of_windows(void **state)
{
    static const uint8_t administrators[] = {1, 2, 0, 0, 0, 0, 0, 5, 32, 0, 0, 0, 0x20, 2, 0, 0};
    struct windows_sid sid;
    (void)state;
    assert_true(windows_sid_parse("S-1-5-32-544", &sid));
    assert_int_equal(sid.length, sizeof administrators);
    assert_memory_equal(sid.bytes, administrators, sizeof administrators);
}

/* ---- descriptors ---- */

static const char *const texts[] = {
    "D:",
    "D:NO_ACCESS_CONTROL",
    "D:PAINO_ACCESS_CONTROL",
    "O:S-1-5-18G:S-1-5-18D:PAI(A;OICI;0x1f01ff;;;S-1-5-18)",
    "O:S-1-5-21-1-2D:AI(D;;0x10000;;;S-1-1-0)(A;OICINPIOID;0x1;;;S-1-5-11)S:(ML;OI;0x3;;;S-1-16-0)",
    "G:S-1-5-32-544D:(D;0x80;0xffffffff;;;S-1-15-2-1)",
};

static void descriptors_are_read_and_written(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++) {
        struct windows_descriptor first, second;
        struct buffer bytes = buffer_in(arena);
        assert_true(windows_descriptor_read(arena, texts[i], &first));
        assert_string_equal(windows_descriptor_text(arena, &first), texts[i]);
        assert_true(windows_descriptor_write(&first, &bytes));
        assert_true(windows_descriptor_parse(arena, (uint8_t *)bytes.bytes, bytes.length, &second));
        assert_true(windows_descriptor_equal(&first, &second));
        assert_string_equal(windows_descriptor_text(arena, &second), texts[i]);
    }
}

static void entries_of_other_types_keep_their_bytes(void **state)
{
    static const char *const kept[] = {
        "D:(X;090018000900000001010000000000010000000061626364)", /* a condition */
        "D:(X;060010000900000001020304aabbccdd)(A;;0x1;;;S-1-1-0)",
        "D:(X;000018000900000001010000000000010000000061626364)", /* an allow with more behind its SID */
        "D:(X;20010400)",
    };
    (void)state;
    for (size_t i = 0; i < COUNT(kept); i++) {
        struct windows_descriptor first, second;
        struct buffer bytes = buffer_in(arena);
        assert_true(windows_descriptor_read(arena, kept[i], &first));
        assert_string_equal(windows_descriptor_text(arena, &first), kept[i]);
        assert_true(windows_descriptor_write(&first, &bytes));
        assert_true(windows_descriptor_parse(arena, (uint8_t *)bytes.bytes, bytes.length, &second));
        assert_true(windows_descriptor_equal(&first, &second));
    }
}

static void usual_sids_have_short_names(void **state)
{
    struct windows_descriptor descriptor;
    (void)state;
    assert_true(windows_descriptor_read(arena, "O:BAG:SYD:P(A;OICI;0x1;;;WD)S:(ML;;0x1;;;LW)", &descriptor));
    assert_string_equal(windows_descriptor_text(arena, &descriptor),
                        "O:S-1-5-32-544G:S-1-5-18D:P(A;OICI;0x1;;;S-1-1-0)S:(ML;;0x1;;;S-1-16-4096)");
}

static void texts_that_are_none_are_refused(void **state)
{
    static const char *const bad[] = {"",
                                      "O:SY",
                                      "D:(",
                                      "D:()",
                                      "D:(A;;0x1;;;)",
                                      "D:(A;;0x1;;;ZZ)",
                                      "D:(A;;0x1;;;SY",
                                      "D:(A;;1;;;SY)",
                                      "D:(A;;FA;;;SY)",
                                      "D:(A;;0x;;;SY)",
                                      "D:(A;;0x123456789;;;SY)",
                                      "D:(A;XX;0x1;;;SY)",
                                      "D:(A;0x100;0x1;;;SY)",
                                      "D:(Q;;0x1;;;SY)",
                                      "D:(A;;0x1;g;;SY)",
                                      "D:(X;)",
                                      "D:(X;0)",
                                      "D:(X;0900080001000000)x",
                                      "D:(X;09000c0001000000)",
                                      "D:(X;0900140009000000010100000000000100000000aabbccdd)",
                                      "D:S:",
                                      "D:S:(A;;0x1;;;SY)",
                                      "D:NO_ACCESS_CONTROL(A;;0x1;;;SY)",
                                      "G:SYO:SYD:"};
    struct windows_descriptor descriptor;
    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++)
        if (windows_descriptor_read(arena, bad[i], &descriptor))
            fail_msg("\"%s\" was read", bad[i]);
}

static struct windows_descriptor read_text(const char *text)
{
    struct windows_descriptor descriptor;
    if (!windows_descriptor_read(arena, text, &descriptor))
        fail_msg("\"%s\" was not read", text);
    return descriptor;
}

/* Bytes in memory of exactly their size, so that a look behind them is seen by the sanitizer. */
static bool parses(const uint8_t *bytes, size_t length, struct windows_descriptor *out)
{
    uint8_t *copy = test_malloc(length + 1);
    memcpy(copy + 1, bytes, length);
    bool parsed = windows_descriptor_parse(arena, copy + 1, length, out);
    test_free(copy);
    return parsed;
}

static void damaged_bytes_are_refused_or_read_safely(void **state)
{
    struct windows_descriptor whole = read_text(texts[4]), out;
    struct buffer bytes = buffer_in(arena);
    (void)state;
    assert_true(windows_descriptor_write(&whole, &bytes));
    for (size_t length = 0; length < bytes.length; length++)
        assert_false(parses((uint8_t *)bytes.bytes, length, &out));
    for (size_t at = 0; at < bytes.length; at++) {
        for (unsigned value = 0; value < 256; value++) {
            uint8_t *damaged = (uint8_t *)arena_copy(arena, bytes.bytes, bytes.length);
            struct buffer again = buffer_in(arena);
            damaged[at] = (uint8_t)value;
            /* What is read can be written and read again. */
            if (parses(damaged, bytes.length, &out)) {
                struct windows_descriptor second;
                assert_true(windows_descriptor_write(&out, &again));
                assert_true(windows_descriptor_parse(arena, (uint8_t *)again.bytes, again.length, &second));
                assert_true(windows_descriptor_equal(&out, &second));
            }
        }
    }
}

static void each_field_of_a_descriptor_is_checked(void **state)
{
    /* The offset of a byte in what texts[3] is written as, and what it must not be: control at 2, owner at 4, DACL
     * at 16; owner SID at 20, group at 32, ACL at 44, its entry at 52. */
    static const struct {
        size_t at;
        uint8_t value;
    } wrong[] = {{0, 2},   {3, 0x14}, {4, 73},  {5, 1},  {16, 80},  {18, 1},  {20, 2}, {21, 16}, {44, 3},
                 {46, 27}, {46, 7},   {46, 99}, {48, 2}, {48, 200}, {54, 16}, {54, 3}, {54, 22}, {60, 9}};
    struct windows_descriptor whole = read_text(texts[3]), out;
    struct buffer bytes = buffer_in(arena);
    (void)state;
    assert_true(windows_descriptor_write(&whole, &bytes));
    assert_int_equal(bytes.length, 72);
    for (size_t i = 0; i < COUNT(wrong); i++) {
        uint8_t *damaged = (uint8_t *)arena_copy(arena, bytes.bytes, bytes.length);
        damaged[wrong[i].at] = wrong[i].value;
        if (parses(damaged, bytes.length, &out))
            fail_msg("%u at %zu was read", wrong[i].value, wrong[i].at);
    }
}

static void the_first_label_counts_and_audit_entries_do_not(void **state)
{
    static const uint8_t bytes[] = {1, 0,    0x10, 0x80, 0, 0,    0, 0,    0, 0, 0,    0, 20,   0, 0,
                                    0, 0,    0,    0,    0, 2,    0, 68,   0, 3, 0,    0, 0, /* SACL */
                                    2, 0x40, 20,   0,    1, 0,    0, 0,    1, 1, 0,    0, 0,    0, 0,
                                    1, 0,    0,    0,    0, 0x11, 3, 20,   0, 3, 0,    0, 0,    1, 1,
                                    0, 0,    0,    0,    0, 16,   0, 0x10, 0, 0, 0x11, 0, 20,   0, 1,
                                    0, 0,    0,    1,    1, 0,    0, 0,    0, 0, 16,   0, 0x20, 0, 0};
    struct windows_descriptor out;
    (void)state;
    assert_true(windows_descriptor_parse(arena, bytes, sizeof bytes, &out));
    assert_false(out.dacl_present);
    assert_string_equal(windows_descriptor_text(arena, &out),
                        "D:NO_ACCESS_CONTROLS:(ML;OICI;0x3;;;S-1-16-4096)");
}

static struct windows_entry entry_of(uint8_t type, uint8_t flags, uint32_t mask, const char *sid)
{
    struct windows_entry entry = {.type = type, .flags = flags, .mask = mask};
    assert_true(windows_sid_parse(sid, &entry.sid));
    return entry;
}

static void a_list_of_64_kib_is_written_and_no_larger_one(void **state)
{
    enum { FITTING = 3276 }; /* (65532 - 8) / 20 */
    struct windows_descriptor many = {.dacl_present = true, .count = FITTING + 1}, again;
    struct buffer bytes = buffer_in(arena);
    (void)state;
    many.entries = arena_array(arena, many.count, sizeof *many.entries);
    for (uint32_t i = 0; i < many.count; i++)
        many.entries[i] = entry_of(WINDOWS_ENTRY_ALLOW, 0, i, "S-1-1-0");
    assert_false(windows_descriptor_write(&many, &bytes));
    assert_int_equal(bytes.length, 0);
    many.count = FITTING;
    assert_true(windows_descriptor_write(&many, &bytes));
    assert_true(windows_descriptor_parse(arena, (uint8_t *)bytes.bytes, bytes.length, &again));
    assert_true(windows_descriptor_equal(&many, &again));
}

/* ---- editing ---- */

static const char run[] = "S-1-5-21-7-7-7-7";

static void entries_are_added_in_canonical_order(void **state)
{
    static const struct {
        const char *before, *with_deny, *with_allow;
    } cases[] = {
        {"D:", "D:(D;OICI;0xd0156;;;S-1-5-21-7-7-7-7)", "D:(A;OICI;0x1301bf;;;S-1-5-21-7-7-7-7)"},
        {"D:AI(D;;0x1;;;S-1-1-0)(A;;0x2;;;S-1-1-0)(D;ID;0x3;;;S-1-1-0)",
         "D:AI(D;;0x1;;;S-1-1-0)(D;OICI;0xd0156;;;S-1-5-21-7-7-7-7)(A;;0x2;;;S-1-1-0)(D;ID;0x3;;;S-1-1-0)",
         "D:AI(D;;0x1;;;S-1-1-0)(A;;0x2;;;S-1-1-0)(A;OICI;0x1301bf;;;S-1-5-21-7-7-7-7)(D;ID;0x3;;;S-1-1-0)"},
        /* Not canonical: a deny still comes before each allow. */
        {"D:P(A;;0x2;;;S-1-1-0)(D;;0x1;;;S-1-1-0)",
         "D:P(D;OICI;0xd0156;;;S-1-5-21-7-7-7-7)(A;;0x2;;;S-1-1-0)(D;;0x1;;;S-1-1-0)",
         "D:P(A;;0x2;;;S-1-1-0)(D;;0x1;;;S-1-1-0)(A;OICI;0x1301bf;;;S-1-5-21-7-7-7-7)"},
        {"D:NO_ACCESS_CONTROL", "D:(D;OICI;0xd0156;;;S-1-5-21-7-7-7-7)(A;;0x1f01ff;;;S-1-1-0)",
         "D:(A;;0x1f01ff;;;S-1-1-0)(A;OICI;0x1301bf;;;S-1-5-21-7-7-7-7)"},
    };
    struct windows_entry deny = entry_of(WINDOWS_ENTRY_DENY, 3, 0xd0156, run);
    struct windows_entry allow = entry_of(WINDOWS_ENTRY_ALLOW, 3, 0x1301bf, run);
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct windows_descriptor first = read_text(cases[i].before);
        struct windows_descriptor denied = windows_descriptor_with(arena, &first, &deny);
        struct windows_descriptor allowed = windows_descriptor_with(arena, &first, &allow);
        assert_string_equal(windows_descriptor_text(arena, &denied), cases[i].with_deny);
        assert_string_equal(windows_descriptor_text(arena, &allowed), cases[i].with_allow);
        assert_string_equal(windows_descriptor_text(arena, &first), cases[i].before);
        /* Once is enough. */
        struct windows_descriptor twice = windows_descriptor_with(arena, &denied, &deny);
        assert_true(windows_descriptor_equal(&denied, &twice));
        if (first.dacl_present) {
            struct windows_descriptor back = windows_descriptor_without(arena, &denied, &deny);
            assert_true(windows_descriptor_equal(&first, &back));
        }
    }
}

static void only_an_equal_explicit_entry_is_taken_out(void **state)
{
    struct windows_descriptor first =
        read_text("D:(D;;0x10000;;;S-1-5-21-7-7-7-7)(D;;0x10000;;;S-1-5-21-7-7-7-8)"
                  "(A;;0x10000;;;S-1-5-21-7-7-7-7)(D;ID;0x10000;;;S-1-5-21-7-7-7-7)"
                  "(D;OI;0x10000;;;S-1-5-21-7-7-7-7)(D;;0x10001;;;S-1-5-21-7-7-7-7)");
    struct windows_entry pin = entry_of(WINDOWS_ENTRY_DENY, 0, 0x10000, run);
    struct windows_descriptor left = windows_descriptor_without(arena, &first, &pin);
    (void)state;
    assert_string_equal(windows_descriptor_text(arena, &left),
                        "D:(D;;0x10000;;;S-1-5-21-7-7-7-8)"
                        "(A;;0x10000;;;S-1-5-21-7-7-7-7)(D;ID;0x10000;;;S-1-5-21-7-7-7-7)"
                        "(D;OI;0x10000;;;S-1-5-21-7-7-7-7)(D;;0x10001;;;S-1-5-21-7-7-7-7)");
    /* An inherited one is none of ours: an explicit one is added beside it. */
    struct windows_descriptor inherited = read_text("D:(D;ID;0x10000;;;S-1-5-21-7-7-7-7)");
    struct windows_entry same = entry_of(WINDOWS_ENTRY_DENY, WINDOWS_INHERITED, 0x10000, run);
    struct windows_descriptor untouched = windows_descriptor_without(arena, &inherited, &same);
    struct windows_descriptor added = windows_descriptor_with(arena, &inherited, &pin);
    assert_true(windows_descriptor_equal(&inherited, &untouched));
    assert_int_equal(added.count, 2);
}

static void each_part_of_a_descriptor_is_compared(void **state)
{
    static const char *const others[] = {
        "O:S-1-5-18G:S-1-5-18D:PAI(A;OICI;0x1f01ff;;;S-1-5-18)S:(ML;;0x1;;;LW)",
        "O:S-1-5-19G:S-1-5-18D:PAI(A;OICI;0x1f01ff;;;S-1-5-18)",
        "O:S-1-5-18G:S-1-5-19D:PAI(A;OICI;0x1f01ff;;;S-1-5-18)",
        "O:S-1-5-18G:S-1-5-18D:P(A;OICI;0x1f01ff;;;S-1-5-18)",
        "O:S-1-5-18G:S-1-5-18D:AI(A;OICI;0x1f01ff;;;S-1-5-18)",
        "O:S-1-5-18G:S-1-5-18D:PAI(D;OICI;0x1f01ff;;;S-1-5-18)",
        "O:S-1-5-18G:S-1-5-18D:PAI(A;OI;0x1f01ff;;;S-1-5-18)",
        "O:S-1-5-18G:S-1-5-18D:PAI(A;OICI;0x1f01fe;;;S-1-5-18)",
        "O:S-1-5-18G:S-1-5-18D:PAI(A;OICI;0x1f01ff;;;S-1-5-19)",
        "O:S-1-5-18G:S-1-5-18D:PAI",
        "O:S-1-5-18G:S-1-5-18D:PAINO_ACCESS_CONTROL",
    };
    struct windows_descriptor first = read_text(texts[3]), labelled = read_text(others[0]);
    struct windows_descriptor other = read_text("O:SYG:SYD:PAI(A;OICI;0x1f01ff;;;SY)S:(ML;;0x3;;;LW)");
    (void)state;
    for (size_t i = 0; i < COUNT(others); i++) {
        struct windows_descriptor second = read_text(others[i]);
        assert_false(windows_descriptor_equal(&first, &second));
    }
    assert_false(windows_descriptor_equal(&labelled, &other));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(sids_are_read_and_written, before, after),
        cmocka_unit_test_setup_teardown(the_bytes_of_a_sid_are_those_of_windows, before, after),
        cmocka_unit_test_setup_teardown(descriptors_are_read_and_written, before, after),
        cmocka_unit_test_setup_teardown(entries_of_other_types_keep_their_bytes, before, after),
        cmocka_unit_test_setup_teardown(usual_sids_have_short_names, before, after),
        cmocka_unit_test_setup_teardown(texts_that_are_none_are_refused, before, after),
        cmocka_unit_test_setup_teardown(damaged_bytes_are_refused_or_read_safely, before, after),
        cmocka_unit_test_setup_teardown(each_field_of_a_descriptor_is_checked, before, after),
        cmocka_unit_test_setup_teardown(the_first_label_counts_and_audit_entries_do_not, before, after),
        cmocka_unit_test_setup_teardown(a_list_of_64_kib_is_written_and_no_larger_one, before, after),
        cmocka_unit_test_setup_teardown(entries_are_added_in_canonical_order, before, after),
        cmocka_unit_test_setup_teardown(only_an_equal_explicit_entry_is_taken_out, before, after),
        cmocka_unit_test_setup_teardown(each_part_of_a_descriptor_is_compared, before, after),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
