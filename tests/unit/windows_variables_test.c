/* Which variables a command on Windows gets. */
#include "runtime/windows/variables.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define LIST(...)                                                                                            \
    ((struct variable[]){__VA_ARGS__}), sizeof((struct variable[]){__VA_ARGS__}) / sizeof(struct variable)
#define NAMES(...)                                                                                           \
    {                                                                                                        \
        (struct windows_variable[]){__VA_ARGS__},                                                            \
            sizeof((struct windows_variable[]){__VA_ARGS__}) / sizeof(struct windows_variable)               \
    }

static const char *text_of(struct arena *arena, const struct variable_list *list)
{
    struct buffer out = buffer_in(arena);

    buffer_string(&out, "");
    for (uint32_t i = 0; i < list->count; i++)
        buffer_format(&out, "%s=%s;", list->items[i].name, list->items[i].value);
    return out.bytes;
}

static struct variable_list list_of(struct variable *items, size_t count)
{
    return (struct variable_list){.items = items, .count = (uint32_t)count, .capacity = (uint32_t)count};
}

static void what_is_kept_passes_whatever_its_case(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);
    struct windows_environment environment = {.keep = NAMES({"PATH", NULL}, {"npm_*", NULL})};
    struct variable_list caller =
        list_of(LIST({"Path", "p"}, {"NPM_TOKEN", "t"}, {"SECRET", "s"}, {"PATHEXT", "x"}));
    struct variable_list chosen = variables_choose(arena, &environment, &caller, NULL);

    assert_string_equal(text_of(arena, &chosen), "NPM_TOKEN=t;Path=p;");
    assert_string_equal(variables_find(&chosen, "PATH"), "p");
    assert_null(variables_find(&chosen, "SECRET"));
    arena_destroy(arena);
}

static void drop_and_each_limit_take_away(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);
    const struct windows_names limits[] = {NAMES({"A*", NULL}), NAMES({"*B", NULL})};
    struct windows_environment environment = {
        .keep = NAMES({"*", NULL}), .drop = NAMES({"ACB", NULL}), .limits = limits, .limit_count = 2};
    struct variable_list caller = list_of(LIST({"AB", "1"}, {"acb", "2"}, {"AX", "3"}, {"XB", "4"}));
    struct variable_list chosen = variables_choose(arena, &environment, &caller, NULL);

    assert_string_equal(text_of(arena, &chosen), "AB=1;");
    arena_destroy(arena);
}

static void set_and_scratch_replace_what_passed(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);
    struct windows_environment environment = {.keep = NAMES({"*", NULL}),
                                              .set = NAMES({"CI", "1"}, {"Lang", "C"})};
    struct variable_list caller = list_of(LIST({"LANG", "de"}, {"Temp", "t"}, {"TMP", "t"}));
    struct variable_list without = variables_choose(arena, &environment, &caller, NULL);
    struct variable_list with = variables_choose(arena, &environment, &caller, "C:\\s");

    assert_string_equal(text_of(arena, &without), "CI=1;Lang=C;Temp=t;TMP=t;");
    assert_string_equal(text_of(arena, &with), "CI=1;Lang=C;TEMP=C:\\s;TMP=C:\\s;TMPDIR=C:\\s;");
    arena_destroy(arena);
}

static void names_are_sorted_as_windows_sorts_and_stand_once(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);
    struct windows_environment environment = {.keep = NAMES({"*", NULL})};
    struct variable_list caller =
        list_of(LIST({"a_b", "1"}, {"AAC", "2"}, {"b", "3"}, {"A_B", "4"}, {"A", "5"}));
    struct variable_list chosen = variables_choose(arena, &environment, &caller, NULL);

    assert_string_equal(text_of(arena, &chosen), "A=5;AAC=2;a_b=1;b=3;");
    arena_destroy(arena);
}

static void nothing_passes_unasked(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);
    struct windows_environment environment = {0};
    struct variable_list caller = list_of(LIST({"SystemRoot", "C:\\Windows"}));
    struct variable_list chosen = variables_choose(arena, &environment, &caller, NULL);

    assert_int_equal(chosen.count, 0);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_kept_passes_whatever_its_case),
        cmocka_unit_test(drop_and_each_limit_take_away),
        cmocka_unit_test(set_and_scratch_replace_what_passed),
        cmocka_unit_test(names_are_sorted_as_windows_sorts_and_stand_once),
        cmocka_unit_test(nothing_passes_unasked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
