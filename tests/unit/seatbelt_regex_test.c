/* The regular expressions of Seatbelt filters: by examples, by the extended expressions of POSIX for random
 * ones, and in time that grows no faster than the subject. */
#include "base/buffer.h"
#include "emitters/seatbelt_fold.h"
#include "emitters/seatbelt_regex.h"

#include <regex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static struct seatbelt_regex *compiled(struct arena *arena, const char *text, bool fold)
{
    const char *error = NULL;
    size_t length = strlen(text);
    const char *folded = fold ? seatbelt_fold_beyond_ascii(arena, text, length, &length) : text;
    struct seatbelt_regex *regex = seatbelt_regex_compile(arena, folded, length, fold, &error);
    if (regex == NULL)
        fail_msg("%s: %s", text, error);
    return regex;
}

static bool finds(const char *text, const char *subject, bool fold)
{
    struct arena *arena = arena_create(0);
    struct seatbelt_regex *regex = compiled(arena, text, fold);
    size_t length = strlen(subject);
    const char *folded = fold ? seatbelt_fold(arena, subject, length, &length) : subject;
    bool found = seatbelt_regex_search(regex, folded, length);
    assert_int_equal(found, seatbelt_regex_search(regex, folded, length));
    arena_destroy(arena);
    return found;
}

static const struct {
    const char *text, *subject;
    bool found;
} examples[] = {
    {"b", "abc", true},
    {"^b", "abc", false},
    {"^a", "abc", true},
    {"c$", "abc", true},
    {"b$", "abc", false},
    {"^$", "", true},
    {"^$", "a", false},
    {"", "a", true},
    {"a.c", "a\nc", true},
    {"^/private/tmp/[^/]+/x$", "/private/tmp/a/x", true},
    {"^/private/tmp/[^/]+/x$", "/private/tmp/a/b/x", false},
    {"^/w/(.*/)?\\.env$", "/w/.env", true},
    {"^/w/(.*/)?\\.env$", "/w/a/b/.env", true},
    {"^/w/(.*/)?\\.env$", "/w/aenv", false},
    {"^/w/(.*/)?\\.env$", "/w/a.env", false},
    {"[]a]", "]", true},
    {"[^]a]", "]", false},
    {"[a-]", "-", true},
    {"[.]", "a", false},
    {"[[]", "[", true},
    {"^a{3}$", "aaa", true},
    {"^a{3}$", "aa", false},
    {"^a{2,}$", "aaaaa", true},
    {"^a{2,}$", "a", false},
    {"^a{0,}b$", "b", true},
    {"^a{1,3}$", "aaaa", false},
    {"^a{0,2}b$", "aab", true},
    {"^(ab){2}$", "abab", true},
    {"^(a|b){2}$", "ab", true},
    {"^(|x)a$", "xa", true},
    {"^(|x)a$", "a", true},
    {"^(x|)a$", "ya", false},
    {"a|b|c", "c", true},
    {"a\\|b", "a|b", true},
    {"\\^\\$\\.\\*\\+\\?\\(\\)\\[\\{\\\\\\|", "^$.*+?()[{\\|", true},
    {"^(a*)*$", "aaab", false},
    {"^((a|b)*c)+$", "abcbc", true},
    {"\xff", "a\xff", true},
};

static void examples_are_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
        if (finds(examples[i].text, examples[i].subject, false) != examples[i].found)
            fail_msg("%s on %s", examples[i].text, examples[i].subject);
}

static void case_is_folded_in_letters_and_ranges(void **state)
{
    (void)state;
    assert_true(finds("^/Users/U$", "/uSERS/u", true));
    assert_true(finds("^[A-C]$", "b", true));
    assert_true(finds("^[a-c]$", "B", true));
    assert_false(finds("^[^A-C]$", "b", true));
    assert_true(finds("^[A-z]$", "_", true));
    assert_true(finds("^\u00c9t\u00e9$", "\u00e9T\u00c9", true));
    assert_true(finds("^stra\u00dfe$", "STRASSE", true));
    assert_false(finds("^/Users$", "/users", false));
    assert_false(finds("^caf\u00e9$", "cafe\u0301", true)); /* composed and decomposed stay different */
}

static void what_nobody_can_tell_is_said(void **state)
{
    (void)state;
    static const char *const uncertain[] = {"(?:a)", "[\\w]", "\\d", "[[:alpha:]]", "*a", "a|*",
                                            "(+a)",  "^a|b",  "{"};
    static const char *const certain[] = {"a|b", "(^a)*"};
    struct arena *arena = arena_create(0);
    for (size_t i = 0; i < sizeof uncertain / sizeof *uncertain; i++)
        if (!seatbelt_regex_is_uncertain(compiled(arena, uncertain[i], false)))
            fail_msg("%s seems certain", uncertain[i]);
    assert_false(seatbelt_regex_is_uncertain(compiled(arena, certain[0], false)));
    const char *error = NULL;
    assert_null(seatbelt_regex_compile(arena, certain[1], strlen(certain[1]), false, &error));
    arena_destroy(arena);
}

static uint32_t random_state = 7;

static uint32_t random_below(uint32_t limit)
{
    random_state = random_state * 1664525 + 1013904223;
    return (random_state >> 8) % limit;
}

static void put_expression(struct buffer *out, uint32_t depth);

static void put_atom(struct buffer *out, uint32_t depth)
{
    static const char *const atoms[] = {"a", "b", "/", ".", "[ab]", "[^a]", "[a-b/]", "\\.", "A"};
    static const char *const repetitions[] = {"*", "+", "?", "{2}", "{1,2}", "{0,2}", "{2,}", "{0,}"};
    if (depth < 3 && random_below(4) == 0) {
        buffer_string(out, "(");
        put_expression(out, depth + 1);
        buffer_string(out, ")");
    } else {
        buffer_string(out, atoms[random_below(9)]);
    }
    if (random_below(3) == 0)
        buffer_string(out, repetitions[random_below(8)]);
}

static void put_expression(struct buffer *out, uint32_t depth)
{
    for (uint32_t alternatives = 1 + (random_below(3) == 0); alternatives > 0; alternatives--) {
        for (uint32_t atoms = 1 + random_below(3); atoms > 0; atoms--)
            put_atom(out, depth);
        if (alternatives > 1)
            buffer_string(out, "|");
    }
}

static void check_against_posix(struct arena *arena, const char *text, bool fold)
{
    regex_t posix;
    assert_int_equal(regcomp(&posix, text, REG_EXTENDED | REG_NOSUB | (fold ? REG_ICASE : 0)), 0);
    struct seatbelt_regex *regex = compiled(arena, text, fold);
    for (uint32_t i = 0; i < 30; i++) {
        char subject[9] = "";
        uint32_t length = random_below(8);
        for (uint32_t at = 0; at < length; at++)
            subject[at] = (fold ? "ab/." : "abA/.")[random_below(fold ? 4 : 5)];
        bool wanted = regexec(&posix, subject, 0, NULL, 0) == 0;
        if (seatbelt_regex_search(regex, subject, length) != wanted)
            fail_msg("%s on %s should be %d", text, subject, wanted);
    }
    regfree(&posix);
}

static void random_expressions_are_those_of_posix(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4000; i++) {
        struct arena *arena = arena_create(0);
        struct buffer text = buffer_in(arena);
        uint32_t depth = random_below(2);
        /* ^ before one of several alternatives is uncertain: the whole goes into one group. */
        buffer_string(&text, depth > 0 ? "^(" : "");
        put_expression(&text, depth);
        buffer_string(&text, depth > 0 ? ")" : "");
        buffer_string(&text, random_below(2) > 0 ? "$" : "");
        check_against_posix(arena, text.bytes, false);
        check_against_posix(arena, text.bytes, true);
        arena_destroy(arena);
    }
}

static void no_expression_takes_long(void **state)
{
    (void)state;
    static const char *const hostile[] = {"^(a*)*$", "^(a|a)*$", "^(a|aa)+$", "(a?){30}a{30}b",
                                          "(.*)(.*)(.*)(.*)b$"};
    struct arena *arena = arena_create(0);
    struct buffer subject = buffer_in(arena);
    for (uint32_t i = 0; i < 20000; i++)
        buffer_byte(&subject, 'a');
    buffer_byte(&subject, 'c');
    clock_t begin = clock();
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++)
        assert_false(
            seatbelt_regex_search(compiled(arena, hostile[i], false), subject.bytes, subject.length));
    assert_true(clock() - begin < 5 * CLOCKS_PER_SEC);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(examples_are_found),
        cmocka_unit_test(case_is_folded_in_letters_and_ranges),
        cmocka_unit_test(what_nobody_can_tell_is_said),
        cmocka_unit_test(random_expressions_are_those_of_posix),
        cmocka_unit_test(no_expression_takes_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
