/* The launcher's command line: what it takes, what it refuses, and that the usage text names every option. */
#include "runtime/options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { WORDS = 32 };

/* Parses words parted by single blanks. */
static const char *parse(struct arena *arena, const char *line, struct options *options)
{
    char *text = arena_format(arena, "sbx-launch %s", line), *word;
    char **argv = arena_array(arena, WORDS, sizeof *argv);
    int argc = 0;

    while ((word = strsep(&text, " ")) != NULL)
        if (*word != '\0')
            argv[argc++] = word;
    return launch_options_parse(arena, argc, argv, options);
}

static void a_whole_call_is_taken(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);
    struct options options;

    assert_null(
        parse(arena,
              "--root WORK=/w --root=GITDIR=/g -v --managed /m --lease fd:3 --as-owner p.bin --chdir d -- "
              "ls -l --dry-run",
              &options));
    assert_string_equal(options.policy, "p.bin");
    assert_string_equal(options.command[0], "ls");
    assert_string_equal(options.command[2], "--dry-run");
    assert_null(options.command[3]);
    assert_int_equal(options.roots.count, 2);
    assert_string_equal(options.roots.items[1].name, "GITDIR");
    assert_string_equal(options.roots.items[1].value, "/g");
    assert_string_equal(options.managed.items[0], "/m");
    assert_string_equal(options.lease, "fd:3");
    assert_string_equal(options.chdir, "d");
    assert_true(options.verbose && options.as_owner && !options.dry_run && !options.unsandboxed);
    arena_destroy(arena);
}

static void a_wrong_call_is_refused_with_a_reason(void **state)
{
    (void)state;
    static const struct {
        const char *line, *reason;
    } cases[] = {
        {"", "a policy is missing"},
        {"p.bin", "a command is missing"},
        {"p.bin --", "a command is missing"},
        {"-- ls", "a policy is missing"},
        {"p.bin ls", "the command comes after --"},
        {"--dry-rnu p.bin -- ls", "did you mean --dry-run?"},
        {"--dry-run=yes p.bin -- ls", "takes no value"},
        {"--chdir -- ls", "--chdir needs DIR"},
        {"p.bin --lease", "--lease needs FILE|fd:N"},
        {"--lease a --lease b p.bin -- ls", "given twice"},
        {"--root WORK p.bin -- ls", "NAME=PATH"},
        {"--root WROK=/w p.bin -- ls", "does not know $WROK"},
        {"--root env=/w p.bin -- ls", "does not know $env"},
        {"--engine fast p.bin -- ls", "--engine is"},
        {"--json p.bin -- ls", "--json goes with --probe"},
        {"--probe p.bin -- ls", "--probe takes no policy"},
        {"--inner-stage 4", "there is no option"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena *arena = arena_create(0);
        struct options options;
        const char *wrong = parse(arena, cases[i].line, &options);
        assert_non_null(wrong);
        if (strstr(wrong, cases[i].reason) == NULL)
            fail_msg("%s: %s", cases[i].line, wrong);
        arena_destroy(arena);
    }
}

static void answers_need_no_policy(void **state)
{
    (void)state;
    static const char *const lines[] = {"--help", "-h", "--version", "--probe", "--probe --json"};

    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct arena *arena = arena_create(0);
        struct options options;
        assert_null(parse(arena, lines[i], &options));
        arena_destroy(arena);
    }
}

static void usage_names_the_options(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);
    struct buffer out = buffer_in(arena);

    launch_usage(&out);
    assert_non_null(strstr(out.bytes, "\n  --root NAME=PATH"));
    assert_non_null(strstr(out.bytes, "\n  --verbose, -v"));
    assert_null(strstr(out.bytes, "inner"));
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_call_is_taken),
        cmocka_unit_test(a_wrong_call_is_refused_with_a_reason),
        cmocka_unit_test(answers_need_no_policy),
        cmocka_unit_test(usage_names_the_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
