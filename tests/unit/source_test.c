/* Positions: from byte offsets to lines and columns. */
#include "grammar/source.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

struct fixture {
    struct arena *arena;
    struct source_list sources;
};

static int set_up(void **state)
{
    static struct fixture fixture;
    fixture.arena = arena_create(0);
    fixture.sources = (struct source_list){.arena = fixture.arena};
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    arena_destroy(fixture->arena);
    return 0;
}

static struct position position_in(struct fixture *fixture, const char *text, uint32_t start, uint32_t end)
{
    uint32_t source = source_add(&fixture->sources, "a.sbx", text, (uint32_t)strlen(text));
    return source_position(&fixture->sources, (struct span){source, start, end});
}

static void a_position_names_line_and_column(void **state)
{
    struct position position = position_in(*state, "one\ntwo words\nthree\n", 8, 13);
    assert_int_equal(position.line, 2);
    assert_int_equal(position.column, 5);
    assert_int_equal(position.text_length, 9);
    assert_memory_equal(position.text, "two words", 9);
    assert_int_equal(position.first_byte, 4);
    assert_int_equal(position.last_byte, 9);
}

static void a_column_counts_characters_and_single_bad_bytes(void **state)
{
    assert_int_equal(position_in(*state, "\xC3\xA9\xE2\x82\xAC\xFF x", 7, 8).column, 5);
}

static void a_carriage_return_belongs_to_the_line_end(void **state)
{
    struct position position = position_in(*state, "one\r\ntwo\r\n", 5, 8);
    assert_int_equal(position.line, 2);
    assert_int_equal(position.text_length, 3);
}

static void the_end_of_the_text_is_a_position(void **state)
{
    struct position position = position_in(*state, "one\n", 4, 4);
    assert_int_equal(position.line, 2);
    assert_int_equal(position.column, 1);
    assert_int_equal(position.text_length, 0);
    assert_int_equal(position.last_byte, 1);
    assert_int_equal(position_in(*state, "", 0, 0).line, 1);
}

static void a_span_over_lines_ends_with_its_first_line(void **state)
{
    struct position position = position_in(*state, "deny /a,\n  /b\n", 5, 13);
    assert_int_equal(position.line, 1);
    assert_int_equal(position.first_byte, 5);
    assert_int_equal(position.last_byte, 8);
}

static void a_byte_order_mark_counts_for_nothing(void **state)
{
    struct position position = position_in(*state, "\xEF\xBB\xBFsbx 1\n", 0, 3);
    assert_int_equal(position.column, 1);
    assert_memory_equal(position.text, "sbx 1", 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_position_names_line_and_column, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_column_counts_characters_and_single_bad_bytes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_carriage_return_belongs_to_the_line_end, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_end_of_the_text_is_a_position, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_span_over_lines_ends_with_its_first_line, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_byte_order_mark_counts_for_nothing, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
