#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <string.h>
#include <time.h>

#include "policy/fold.h"
#include "policy/pattern.h"

struct pattern_case {
    const char *text, *path;
    bool covers, matches;
};

static const struct pattern_case exact_cases[] = {
    {"/w/*.pem", "/w/a.pem", true, true},
    {"/w/*.pem", "/w/a.pem/x", true, false},
    {"/w/*.pem", "/w/.pem", true, true},
    {"/w/*.pem", "/w/a.PEM", false, false},
    {"/w/*.pem", "/w/d/a.pem", false, false},
    {"/w/*.pem", "/w", false, false},
    {"/w/*", "/w/.hidden", true, true},
    {"/w/*", "/w", false, false},
    {"/w/**", "/w", false, false},
    {"/w/**", "/w/a", true, true},
    {"/w/**", "/w/a/b", true, true},
    {"/w/**", "/wa", false, false},
    {"/w/**/x", "/w/x", true, true},
    {"/w/**/x", "/w/a/b/x", true, true},
    {"/w/**/x", "/w/a/b/x/c", true, false},
    {"/w/**/x", "/w/a/x/b/x", true, true},
    {"/w/**/x", "/w/a/b/xy", false, false},
    {"/w/**/x", "/x", false, false},
    {"/w/**/**/x", "/w/x", true, true},
    {"/w/x/**/**", "/w/x", false, false},
    {"/w/x/**/**", "/w/x/y", true, true},
    {"/w/**/a/**/b", "/w/a/b", true, true},
    {"/w/**/a/**/b", "/w/b/a", false, false},
    {"/w/**/a/**/b", "/w/q/a/r/s/b/t", true, false},
    {"/w/**/a/b", "/w/a/a/b", true, true},
    {"/w/**/a/*/b", "/w/a/a/x/b", true, true},
    {"/w/a?c", "/w/abc", true, true},
    {"/w/a?c",
     "/w/a\xc3\xa9"
     "c",
     true, true},
    {"/w/a?c",
     "/w/a\xe9"
     "c",
     true, true},
    {"/w/a??c",
     "/w/a\xc3\xa9"
     "c",
     false, false},
    {"/w/a?c", "/w/ac", false, false},
    {"/w/*??", "/w/\xc3\xa9", false, false},
    {"/w/[a-c]x", "/w/bx", true, true},
    {"/w/[a-c]x", "/w/dx", false, false},
    {"/w/[!a-c]x", "/w/dx", true, true},
    {"/w/[!a-c]x", "/w/ax", false, false},
    {"/w/[!a-c]x", "/w/\xc3\xa9x", true, true},
    {"/w/[\\]\\\\-]", "/w/]", true, true},
    {"/w/[\\]\\\\-]", "/w/\\", true, true},
    {"/w/[\\]\\\\-]", "/w/-", true, true},
    {"/w/[a-]", "/w/-", true, true},
    {"/w/\\*x*", "/w/*xy", true, true},
    {"/w/\\*x*", "/w/axy", false, false},
    {"/w/*a*b*c", "/w/xaybzc", true, true},
    {"/w/*a*b*c", "/w/xaybz", false, false},
    {"/w/*a*b*", "/w/ab", true, true},
    {"$WORK/**/.env", "$WORK/a/.env", true, true},
    {"$WORK/**/.env", "/w/a/.env", false, false},
    {"$WORK/*", "$WORK", false, false},
    {"C:/a/*", "C:/a/b", true, true},
    {"/w/plain", "/w/plain/below", true, false},
    {"/w/plain", "/w/plain", true, true},
};

static void a_pattern_covers_what_it_matches_and_below(void **state)
{
    struct arena *arena = arena_create(0);
    (void)state;
    for (size_t i = 0; i < sizeof exact_cases / sizeof *exact_cases; i++) {
        const struct pattern_case *test = &exact_cases[i];
        const struct pattern *pattern = pattern_compile(arena, test->text, false);
        size_t length = strlen(test->path);
        if (pattern_covers(pattern, test->path, length) != test->covers ||
            pattern_matches(pattern, test->path, length) != test->matches)
            fail_msg("%s on %s", test->text, test->path);
    }
    arena_destroy(arena);
}

static const struct pattern_case folded_cases[] = {
    {"/w/.git/*", "/w/.GiT/x", true, true},
    {"/w/[a-c]", "/w/B", true, true},
    {"/w/[A-C]", "/w/b", true, true},
    {"/w/[!a]", "/w/b", true, true},
    {"/w/[!aA]", "/w/a", false, false},
    {"/w/\xc3\xa9*", "/w/\xc3\x89x", true, true},  /* NFC, other case */
    {"/w/\xc3\xa9*", "/w/e\xcc\x81x", true, true}, /* NFD */
    {"/w/e\xcc\x81*", "/w/\xc3\xa9x", true, true}, /* NFD in the rule, NFC as name */
    {"/w/a?b",
     "/w/ae\xcc\x81"
     "b",
     true, true}, /* one character in two code points */
    {"/w/a??b",
     "/w/ae\xcc\x81"
     "b",
     true, true},                                /* and byte by byte still two */
    {"/w/*.K", "/w/x.\xe2\x84\xaa", true, true}, /* KELVIN SIGN */
    {"/w/*.key", "/w/x.kez", false, false},
    {"/w/*\xff", "/w/A\xff", true, true},
};

static void a_folded_pattern_takes_case_and_normalisation_for_the_same(void **state)
{
    struct arena *arena = arena_create(0);
    (void)state;
    for (size_t i = 0; i < sizeof folded_cases / sizeof *folded_cases; i++) {
        const struct pattern_case *test = &folded_cases[i];
        const struct pattern *pattern = pattern_compile(arena, test->text, true);
        size_t length = strlen(test->path);
        if (pattern_covers(pattern, test->path, length) != test->covers ||
            pattern_matches(pattern, test->path, length) != test->matches)
            fail_msg("%s on %s", test->text, test->path);
    }
    arena_destroy(arena);
}

static void a_folded_name_that_does_not_fit_is_matched(void **state)
{
    struct arena *arena = arena_create(0);
    static char path[3 * FOLD_CAPACITY];
    (void)state;
    memset(path, 'x', sizeof path);
    memcpy(path, "/w/", 3);
    assert_true(pattern_covers(pattern_compile(arena, "/w/a*", true), path, sizeof path));
    assert_false(pattern_covers(pattern_compile(arena, "/w/a*", false), path, sizeof path));
    arena_destroy(arena);
}

static void a_walk_goes_only_where_matches_can_be(void **state)
{
    static const struct {
        const char *text, *path;
        bool expected;
    } cases[] = {
        {"/w/*.pem", "/", true},         {"/w/*.pem", "/w", true},      {"/w/*.pem", "/w/a.pem", false},
        {"/w/*.pem", "/x", false},       {"/w/**/x", "/w/a/b/c", true}, {"/w/**/x", "/v", false},
        {"/w/a*/b/c", "/w/ax", true},    {"/w/a*/b/c", "/w/bx", false}, {"/w/a*/b/c", "/w/ax/b", true},
        {"/w/a*/b/c", "/w/ax/c", false}, {"/w/x/**", "/w/x", true},
    };
    struct arena *arena = arena_create(0);
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct pattern *pattern = pattern_compile(arena, cases[i].text, false);
        if (pattern_may_match_below(pattern, cases[i].path, strlen(cases[i].path)) != cases[i].expected)
            fail_msg("%s below %s", cases[i].text, cases[i].path);
    }
    arena_destroy(arena);
}

static void what_is_no_pattern_is_refused_with_its_place(void **state)
{
    static const struct {
        const char *text;
        size_t at;
    } wrong[] = {
        {"/w/a**", 4},   {"/w/**a", 3},         {"/w/***", 3},          {"/*/x", 1},
        {"C:/*", 3},     {"/a*/x", 1},          {"**/.env", 0},         {"/w/[", 3},
        {"/w/[]", 3},    {"/w/[!]", 3},         {"/w/[abc", 3},         {"/w/[^a]", 4},
        {"/w/[a/b]", 5}, {"/w/[[:alpha:]]", 4}, {"/w/[z-a]", 4},        {"/w/[\xc3\xa9]", 4},
        {"/w/x\\", 4},   {"/w/[:a]", 4},        {"/w/[a-\xc3\xa9]", 6}, {"/w/[a-", 3},
    };
    static const char *const right[] = {
        "$WORK/**",    "$WORK/*",  "/w/*",         "C:/a/?",  "/w/**/x",  "/w/\\[a",     "/w/a]",
        "$env.PATH/*", "/w/[\\]]", "/w/[!\\]a-z]", "/w/[a-]", "/w/**/**", "/w/a*b?c[d]", "/w/[-a]",
    };
    size_t at;
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (pattern_check(wrong[i].text, &at) == NULL || at != wrong[i].at)
            fail_msg("%s at %zu, not %zu", wrong[i].text, at, wrong[i].at);
    for (size_t i = 0; i < sizeof right / sizeof *right; i++)
        if (pattern_check(right[i], &at) != NULL)
            fail_msg("%s: %s", right[i], pattern_check(right[i], &at));
}

static void the_fixed_prefix_ends_before_the_first_sign(void **state)
{
    struct arena *arena = arena_create(0);
    (void)state;
    assert_int_equal(4, pattern_fixed_prefix("/w/a/x?"));
    assert_int_equal(5, pattern_fixed_prefix("$WORK/**/x"));
    assert_int_equal(8, pattern_fixed_prefix("/w/\\*a/b/[x]"));
    assert_int_equal(4, pattern_fixed_prefix("/w/a"));
    assert_string_equal("/w/*a", pattern_plain(arena, "/w/\\*a/b*", 6));
    assert_string_equal("/w/\\[x\\]\\*\\?\\\\", pattern_escape(arena, "/w/[x]*?\\", 9));
    arena_destroy(arena);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Patterns made to go back again and again: time grows with the product of the lengths, never beyond. */
static void hostile_patterns_take_linear_time(void **state)
{
    struct arena *arena = arena_create(0);
    enum { REPEATS = 400 };
    static char text[16 * REPEATS], path[2 * PATTERN_DEPTH], component[8 * REPEATS], name[32 * REPEATS];
    double start = seconds();
    (void)state;

    strcpy(text, "/w");
    strcpy(path, "/w");
    strcpy(component, "/w/");
    strcpy(name, "/w/");
    char *end = text + 2;
    for (int i = 0; i < REPEATS; i++, end += 5)
        memcpy(end, "/**/a", 6);
    memcpy(end, "/b", 3);
    for (char *to = path + 2; to < path + sizeof path - 3; to += 2)
        memcpy(to, "/a", 3);
    for (char *to = component + 3; to < component + sizeof component - 3; to += 2)
        memcpy(to, "*a", 3);
    strcat(component, "b");
    memset(name + 3, 'a', sizeof name - 4);

    assert_false(pattern_covers(pattern_compile(arena, text, false), path, strlen(path)));
    assert_false(pattern_covers(pattern_compile(arena, component, false), name, strlen(name)));
    assert_true(seconds() - start < 2.0);
    arena_destroy(arena);
}

static void a_path_that_is_too_deep_to_be_opened_is_matched(void **state)
{
    struct arena *arena = arena_create(0);
    static char path[2 * PATTERN_DEPTH + 2];
    (void)state;
    for (size_t i = 0; i + 2 < sizeof path; i += 2)
        memcpy(path + i, "/a", 3);
    const struct pattern *pattern = pattern_compile(arena, "/a/b*", false);
    assert_true(pattern_covers(pattern, path, strlen(path)));
    assert_false(pattern_covers(pattern, path, strlen(path) - 2));
    arena_destroy(arena);
}

/* A random word over few letters, so that much matches. */
static void random_word(char *out, size_t room, const char *letters, uint32_t *seed)
{
    size_t length = 0, count = strlen(letters);
    do {
        *seed = *seed * 1664525 + 1013904223;
        out[length++] = letters[(*seed >> 16) % count];
    } while (length + 1 < room && (*seed >> 24) % 4 != 0);
    out[length] = '\0';
}

static void random_path(char *out, size_t size, const char *letters, bool many, uint32_t *seed)
{
    size_t length = 0;
    do {
        char word[4];
        *seed = *seed * 1664525 + 1013904223;
        bool run = many && (*seed >> 16) % 4 == 0;
        random_word(word, sizeof word, letters, seed);
        length += (size_t)snprintf(out + length, size - length, "/%s", run ? "**" : word);
    } while (length + 8 < size && (*seed >> 24) % 5 != 0);
}

/* Name by name a walk must come to the same as matching the whole path does. */
static void following_a_path_down_says_the_same_as_matching_it(void **state)
{
    uint32_t seed = 20261130, matched = 0;
    (void)state;
    for (int round = 0; round < 4000; round++) {
        struct arena *arena = arena_create(0);
        char text[40], path[40];
        random_path(text, sizeof text, "ab?*", true, &seed);
        const struct pattern *pattern = pattern_compile(arena, text, false);
        assert_true(pattern_can_follow(pattern));
        for (int tries = 0; tries < 20; tries++) {
            random_path(path, sizeof path, "ab", false, &seed);
            pattern_progress progress = pattern_follow(pattern, "/", 1);
            for (char *name = path + 1, *end; name[-1] == '/'; name = end + 1) {
                end = name + strcspn(name, "/");
                size_t length = (size_t)(end - path);
                progress = pattern_step(pattern, progress, name, (size_t)(end - name));
                bool whole = pattern_matches(pattern, path, length);
                matched += whole;
                assert_int_equal(pattern_has_arrived(pattern, progress), whole);
                assert_true(pattern_follow(pattern, path, length) == progress);
                if (pattern_goes_on(pattern, progress))
                    assert_true(pattern_may_match_below(pattern, path, length));
                if (*end == '\0')
                    break;
            }
        }
        arena_destroy(arena);
    }
    assert_true(matched > 10000);
}

static void folding_keeps_components(void **state)
{
    char out[64];
    (void)state;
    assert_int_equal(6, fold_text("/W/\xc3\x89/", 6, out, sizeof out));
    assert_memory_equal("/w/\xc3\xa9/", out, 6);
    assert_int_equal(FOLD_TOO_LONG, fold_text("abcdef", 6, out, 5));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pattern_covers_what_it_matches_and_below),
        cmocka_unit_test(a_folded_pattern_takes_case_and_normalisation_for_the_same),
        cmocka_unit_test(a_folded_name_that_does_not_fit_is_matched),
        cmocka_unit_test(a_walk_goes_only_where_matches_can_be),
        cmocka_unit_test(what_is_no_pattern_is_refused_with_its_place),
        cmocka_unit_test(the_fixed_prefix_ends_before_the_first_sign),
        cmocka_unit_test(hostile_patterns_take_linear_time),
        cmocka_unit_test(a_path_that_is_too_deep_to_be_opened_is_matched),
        cmocka_unit_test(following_a_path_down_says_the_same_as_matching_it),
        cmocka_unit_test(folding_keeps_components),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
