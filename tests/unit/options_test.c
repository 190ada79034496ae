/* Calls of sbxc, and what is made from the table of its options. */
#include "compiler/options.h"

#include <cmocka.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { WORDS = 12 };

struct row {
    const char *words[WORDS];
    const char *problem; /* part of it; NULL: none */
    const char *command;
};

static const struct row rows[] = {
    {{"a.sbx"}, NULL, "compile"},
    {{"compile", "a.sbx", "-o", "b.bin"}, NULL, "compile"},
    {{"a.sbx", "-ob.bin", "-t", "bin", "-qv"}, NULL, "compile"},
    {{"a.sbx", "--output=b.bin", "--check"}, NULL, "compile"},
    {{"why", "a.sbx", "read", "/x", "--json"}, NULL, "why"},
    {{"--json", "why", "a.sbx", "--batch"}, NULL, "why"},
    {{"show", "a.sbx", "--", "npm", "--json", "install"}, NULL, "show"},
    {{"show", "why"}, NULL, "show"},
    {{"-", "-t", "bin", "-o", "-"}, NULL, "compile"},
    {{"help"}, NULL, "help"},
    {{"help", "SBX104"}, NULL, "help"},
    {{"a.sbx", "--root", "WORK=/a", "--root", "HOME=/b", "--managed", "m"}, NULL, "compile"},
    {{NULL}, "which file", NULL},
    {{"a.sbx", "--mangaed", "x"}, "--managed", NULL},
    {{"a.sbx", "--verbos=1"}, "--verbose", NULL},
    {{"a.sbx", "-x"}, "-x", NULL},
    {{"a.sbx", "-o"}, "needs OUT", NULL},
    {{"a.sbx", "--pure=yes"}, "takes no value", NULL},
    {{"a.sbx", "--os", "plan9"}, "linux macos windows", NULL},
    {{"a.sbx", "--color", "maybe"}, "auto always never", NULL},
    {{"a.sbx", "b.sbx"}, "call it as", NULL},
    {{"show", "a.sbx", "-o", "x"}, "no option --output", NULL},
    {{"why", "a.sbx", "read", "/a", "/b"}, "call it as", NULL},
    {{"why", "a.sbx", "read", "/a", "--", "x"}, "behind --", NULL},
};

static const char *read_row(struct arena *arena, const struct row *row, struct options *options)
{
    char *argv[WORDS + 2] = {arena_strdup(arena, "sbxc")};
    int argc = 1;
    for (; argc <= WORDS && row->words[argc - 1] != NULL; argc++)
        argv[argc] = arena_strdup(arena, row->words[argc - 1]);
    *options = (struct options){0};
    return options_read(arena, argc, argv, options);
}

static void calls_are_read(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct options options;
        const char *problem = read_row(arena, &rows[i], &options);
        const char *wanted = rows[i].problem;
        bool good = wanted == NULL ? problem == NULL && strcmp(options.command->name, rows[i].command) == 0
                                   : problem != NULL && strstr(problem, wanted) != NULL;
        if (!good)
            fail_msg("row %zu: %s", i, problem != NULL ? problem : options.command->name);
    }
    arena_destroy(arena);
}

static void values_reach_their_members(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);
    struct options options;
    const struct row row = {
        {"show", "--root", "A=/a", "f", "--root=B=/b", "-q", "--os=macos", "--", "x", "-v"}, NULL, NULL};
    assert_null(read_row(arena, &row, &options));
    assert_int_equal(options.roots.count, 2);
    assert_string_equal(options.roots.items[1], "B=/b");
    assert_true(options.quiet);
    assert_false(options.verbose);
    assert_string_equal(options.system, "macos");
    assert_int_equal(options.trailing.count, 2);
    assert_string_equal(options.arguments.items[0], "f");
    arena_destroy(arena);
}

/* Whoever adds an option to the table gets it everywhere. */
static void every_option_is_in_all_that_is_made_from_the_table(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);
    struct buffer usage = buffer_in(arena), manual = buffer_in(arena);
    options_usage(&usage, NULL);
    options_manual(&manual);
    for (const struct option *option = option_table; option->name != NULL; option++) {
        assert_non_null(strstr(usage.bytes, arena_format(arena, "--%s", option->name)));
        assert_non_null(strstr(manual.bytes, arena_format(arena, "\\-\\-%.4s", option->name)));
        assert_true(option->kind == OPTION_FLAG || option->argument != NULL);
    }
    static const char *const shells[] = {"bash", "zsh", "fish"};
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++) {
        struct buffer script = buffer_in(arena);
        assert_true(options_completions(&script, shells[i]));
        for (const struct option *option = option_table; option->name != NULL; option++)
            assert_non_null(strstr(script.bytes, option->name));
    }
    struct buffer nothing = buffer_in(arena);
    assert_false(options_completions(&nothing, "tcsh"));
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_are_read),
        cmocka_unit_test(values_reach_their_members),
        cmocka_unit_test(every_option_is_in_all_that_is_made_from_the_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
