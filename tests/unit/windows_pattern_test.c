#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <string.h>

#include "emitters/windows_pattern.h"
#include "policy/pattern.h"

static void patterns_are_written_without_escapes(void **state)
{
    static const char *const cases[][2] = {
        {"$WORK/**/*.pem", "$WORK\\**\\*.pem"}, {"C:/a/x?[a-c]", "C:\\a\\x?[a-c]"},
        {"C:/a/\\[b]", "C:\\a\\[[]b]"},         {"C:/a/b\\]", "C:\\a\\b]"},
        {"$WORK/[!a]", "$WORK\\[!a]"},          {"$HOME/.ssh/*", "$HOME\\.ssh\\*"},
    };
    struct arena *arena = arena_create(0);
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *problem = NULL, *name = windows_pattern_name(arena, cases[i][0], &problem);
        if (name == NULL || strcmp(name, cases[i][1]) != 0)
            fail_msg("%s: %s", cases[i][0], name != NULL ? name : problem);
    }
    arena_destroy(arena);
}

/* What a pattern says must not change by the way it is written. */
static void a_written_pattern_matches_the_same(void **state)
{
    static const char *const texts[] = {"/C:/a/\\[b]*", "/C:/a/[!\\]]", "/C:/**/x[a-c]?", "/C:/a\\]/*"};
    static const char *const paths[] = {"/C:/a/[b]", "/C:/a/[b]c", "/C:/a/b", "/C:/q/xaq",
                                        "/C:/a]/b",  "/C:/a/]",    "/C:/a/q", "/C:/xbb"};
    struct arena *arena = arena_create(0);
    uint32_t compared = 0;
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *problem, *name = windows_pattern_name(arena, texts[i] + 1, &problem);
        if (name == NULL)
            continue;
        char *back = arena_join(arena, "/", name);
        for (char *at = back; *at != '\0'; at++)
            *at = *at == '\\' ? '/' : *at;
        for (size_t j = 0; j < sizeof paths / sizeof *paths; j++, compared++)
            assert_int_equal(
                pattern_matches(pattern_compile(arena, texts[i], true), paths[j], strlen(paths[j])),
                pattern_matches(pattern_compile(arena, back, true), paths[j], strlen(paths[j])));
    }
    assert_true(compared >= 24);
    arena_destroy(arena);
}

static void what_windows_cannot_name_is_no_pattern(void **state)
{
    static const char *const bad[] = {"$WORK/[\\]]", "$WORK/[\\\\]",    "$WORK/a\\\\*", "$WORK/\\*x",
                                      "$WORK/a:*",   "$WORK/*/nul",     "$WORK/*.",     "$WORK/* /x",
                                      "$WORK/*\x01", "/tmp/*",          "$env.HOME2/*", "$WORK/<*>",
                                      "$WORK/\xff*", "$WORK/**/con.txt"};
    struct arena *arena = arena_create(0);
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *problem = NULL, *name = windows_pattern_name(arena, bad[i], &problem);
        if (name != NULL || problem == NULL)
            fail_msg("%s is taken: %s", bad[i], name);
    }
    arena_destroy(arena);
}

static void a_sample_matches_its_pattern(void **state)
{
    static const char *const texts[] = {"$WORK/*",    "$WORK/**/a",   "$WORK/a?[bc]", "$WORK/[!q]x",
                                        "$WORK/**",   "$WORK/\\[a*",  "C:/a/[!a-z]",  "$WORK/[\\]]",
                                        "$WORK/*a*b", "$WORK/a/**/b*"};
    struct arena *arena = arena_create(0);
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *sample = windows_pattern_sample(arena, texts[i]);
        if (sample != NULL &&
            !pattern_matches(pattern_compile(arena, texts[i], true), sample, strlen(sample)))
            fail_msg("%s: %s", texts[i], sample);
        if (sample == NULL && strcmp(texts[i], "C:/a/[!a-z]") != 0)
            fail_msg("%s has no sample", texts[i]);
    }
    arena_destroy(arena);
}

static void what_may_lie_inside_is_never_missed(void **state)
{
    static const struct {
        const char *outer, *inner;
        bool may;
    } cases[] = {
        {"$WORK/a", "$WORK/a/b", true},
        {"$WORK/a", "$WORK/a", false},
        {"$WORK/a", "$WORK/A/x/y", true},
        {"$WORK/a", "$WORK/ab/c", false},
        {"$WORK/a", "$HOME/a/b", false},
        {"$WORK/*", "$WORK/a", false},
        {"$WORK/*", "$WORK/a/b", true},
        {"$WORK/**", "$WORK/a", false},
        {"$WORK/**", "$WORK/a/b", true},
        {"$WORK/**/x", "$WORK/x/y", true},
        {"$WORK/**/x", "$WORK/a/b", false},
        {"$WORK/**/x", "$WORK/**/y", true},
        {"$WORK/*.pem", "$WORK/tests/fixtures", false},
        {"$WORK/**/*.pem", "$WORK/tests/fixtures", false},
        {"$WORK/a/b", "$WORK/**/c", true},
        {"$WORK/a/b", "$WORK/*/c", false},
        {"$WORK/a/*", "$WORK/*/c/d", true},
        {"$WORK/a/b/c", "$WORK/*/*", false},
    };
    struct arena *arena = arena_create(0);
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (windows_pattern_may_hold(arena, cases[i].outer, cases[i].inner) != cases[i].may)
            fail_msg("%s and %s", cases[i].outer, cases[i].inner);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_are_written_without_escapes),
        cmocka_unit_test(a_written_pattern_matches_the_same),
        cmocka_unit_test(what_windows_cannot_name_is_no_pattern),
        cmocka_unit_test(a_sample_matches_its_pattern),
        cmocka_unit_test(what_may_lie_inside_is_never_missed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
