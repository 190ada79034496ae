/* What a hint says to write can be written: each is typed in the place of what it is about, and then stands. */
#include "compiler/compile.h"

#include "base/escape.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define POLICY "sbx 1\npolicy \"t\"\n"
#define MANAGED "sbx 1\nmanaged \"t\"\n"

struct slip {
    const char *header, *line;
    const char *hint; /* what the hint must hold */
};

static const struct slip slips[] = {
    /* a keyword that is misspelt or in capitals */
    {POLICY, "grnt read /a", "grant read /a"},
    {POLICY, "GRANT read /a", "grant read /a"},
    {POLICY, "grant raed /a", "grant read /a"},
    {POLICY, "grant READ /a", "grant read /a"},
    {POLICY, "deny wirte $WORK/x", "deny write $WORK/x"},
    {POLICY, "deny nework lan", "deny network lan"},
    {POLICY, "deny exce /x", "deny exec /x"},
    {POLICY, "deny EXEC /x", "deny exec /x"},
    {POLICY, "deny envs A", "deny env A"},
    {POLICY, "deny syscalls ptrace", "deny syscall ptrace"},
    {POLICY, "limit processes TO 5", "limit processes to 5"},
    {POLICY, "auto GRANT read /a", "auto grant read /a"},
    {POLICY, "set ENV A = \"b\"", "set env A = \"b\""},
    {POLICY, "grant network host a.example PORT 443", "grant network host a.example port 443"},
    {POLICY, "limit procesess to 5", "limit processes to 5"},
    {POLICY, "expect allow reed /a", "expect allow read /a"},

    /* one that is missing */
    {POLICY, "read /a", "grant read /a"},
    {POLICY, "grant /a", "grant read /a"},
    {POLICY, "auto read /a", "auto grant read /a"},
    {POLICY, "/a", "grant read /a"},
    {POLICY, "allow read /a", "grant read /a"},
    {POLICY, "limit processes 512", "limit processes to 512"},
    {POLICY, "grant network a.example", "grant network host a.example"},
    {POLICY, "grant network 192.0.2.1", "grant network address 192.0.2.1"},
    {POLICY, "grant network *", "grant network any"},
    {POLICY, "deny network *", "deny network any"},
    {POLICY, "grant network host a.example 443", "grant network host a.example port 443"},
    {POLICY, "accept net.host on bwrap \"x\"", "accept net.host on bwrap because \"x\""},
    {POLICY, "accept net.host because \"x\"", "on bwrap"},
    {POLICY, "set environment A = \"b\"", "set env A = \"b\""},

    /* signs */
    {POLICY, "set env A=\"b\"", "set env A = \"b\""},
    {POLICY, "set env A=b", "set env A = \"b\""},
    {POLICY, "set env A == \"b\"", "set env A = \"b\""},
    {POLICY, "set env A \"b\"", "set env A = \"b\""},
    {POLICY, "set env A = b", "set env A = \"b\""},
    {POLICY, "let X=/a", "let X = /a"},
    {POLICY, "let X /a", "let X = /a"},
    {POLICY, "let $X = /a", NULL},
    {POLICY, "grant read ,/a", "grant read /a"},
    {POLICY, "grant read /a /b", "grant read /a, /b"},
    {POLICY, "grant read /a,, /b", NULL},
    {POLICY, "deny /a except /a/b, except /a/c", "deny /a except /a/b, /a/c"},
    {POLICY, "deny read /a", "deny /a"},
    {POLICY, "grant read, write /a", NULL},
    {POLICY, "when os linux {}", NULL},
    {POLICY, "when linux {\n}", "when os linux {"},

    /* words */
    {POLICY, "grant read \"~/a", NULL},
    {POLICY, "grant read /a#b", "\"/a#b\""},
    {POLICY, "grant read /a\"b", "\"/a\\\"b\""},
    {POLICY, "grant read ${HOME}", "grant read $HOME"},
    {POLICY, "grant read ${HOME}/x", "grant read $HOME/x"},
    {POLICY, "grant read 'my file'", "grant read \"$WORK/my file\""},
    {POLICY, "grant read '/my file'", "grant read \"/my file\""},
    {"sbx 1\n", "policy 'x'", "policy \"x\""},
    {POLICY, "grant network host a.example port 443-80", "port 80-443"},
    {POLICY, "accept net.host on bwrap because yes", "because \"yes\""},
    {POLICY, "when os linus {\n}", "linux"},

    /* paths */
    {POLICY, "grant read vendor/lib", "$WORK/vendor/lib"},
    {POLICY, "grant read ./a", "$WORK/a"},
    {POLICY, "grant read ../x", NULL},
    {POLICY, "grant read a/../../x", NULL},
    {POLICY, "grant read \"my file\"", "\"$WORK/my file\""},
    {POLICY, "grant read \\~/a", "$WORK/\\~/a"},
    {POLICY, "grant read a\\$b", "$WORK/a\\$b"},
    {POLICY, "grant read $work/a", "$WORK"},
    {POLICY, "grant read $Home/a", "$HOME"},
    {POLICY, "grant read $PWD/a", "$WORK"},
    {POLICY, "grant read $TMPDIR/a", "$TMP"},
    {POLICY, "grant read $PATH", "$env.PATH"},
    {POLICY, "grant read $XDG_CACHE_HOME/a", "$CACHE"},
    {MANAGED, "deny $PATH", NULL},
    {MANAGED, "limit read to $work", "$WORK"},

    /* use */
    {POLICY, "use std", NULL},
    {POLICY, "use dev", "std/dev"},
    {POLICY, "use std//dev", "use std/dev"},
    {POLICY, "use std/dev/", "use std/dev"},
    {POLICY, "use std/dev.sbx", "use std/dev"},
    {POLICY, "use \"std/dev\"", "std/dev"},
    {POLICY, "use std/dve", "std/dev"},
    {POLICY, "use ~/x.sbx", NULL},
    {POLICY, "use /x.sbx", NULL},
    {POLICY, "use $WORK/x.sbx", NULL},
    {POLICY, "use \"~/x.sbx\"", NULL},

    /* names */
    {POLICY, "grant service ssh-agnet", "ssh-agent"},
    {POLICY, "grant syscall ptarce", "ptrace"},
    {POLICY, "accept fs.denny on bwrap because \"x\"", "fs.deny"},
    {POLICY, "accept fs.deny on bwarp because \"x\"", "bwrap"},
    {POLICY, "grant env $FOO", "FOO"},
    {POLICY, "grant network host M\xC3\xBCnchen.example", "xn--"},
    {POLICY, "grant network host 192.0.2.1", NULL},
    {MANAGED, "limit env to A, nothing", "\"nothing\""},
};

static struct compilation *compile_text(struct arena *arena, const char *text)
{
    const struct compile_input input = {
        .input = {.file = "t.sbx", .text = text, .length = (uint32_t)strlen(text)}};
    return compile(arena, &input);
}

/* What `help` says to write, or NULL if it only says what is wrong. */
static const char *written_by(const char *help)
{
    const char *later = strstr(help, "? write ");
    if (later != NULL)
        return later + strlen("? write ");
    return strncmp(help, "write ", strlen("write ")) == 0 ? help + strlen("write ") : NULL;
}

static bool starts_statement(const char *text)
{
    static const char *const keywords[] = {"use ",   "let ",    "grant ",  "auto ",   "deny ", "set ",
                                           "limit ", "permit ", "accept ", "expect ", "when ", "policy "};
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
        if (strncmp(text, keywords[i], strlen(keywords[i])) == 0)
            return true;
    return false;
}

/* The text with what the hint says in the place of the line or of the span that the error is about. */
static const char *typed(struct arena *arena, const char *text, const struct diagnostic *error,
                         const char *written)
{
    uint32_t start = error->at.start, end = error->at.end;
    if (starts_statement(written)) {
        while (start > 0 && text[start - 1] != '\n')
            start--;
        end = start + (uint32_t)strcspn(text + start, "\n");
    }
    return arena_format(arena, "%.*s%s%s", (int)start, text, written, text + end);
}

static const char *problem_with(struct arena *arena, const struct slip *slip)
{
    const char *text = arena_format(arena, "%s%s\n", slip->header, slip->line);
    const struct compilation *first = compile_text(arena, text);
    if (first->diagnostics.errors != 1)
        return arena_format(arena, "%u errors", first->diagnostics.errors);
    const struct diagnostic *error = &first->diagnostics.items[0];
    const char *help = error->help != NULL ? error->help : "", *written = written_by(help);
    if (slip->hint != NULL && strstr(help, slip->hint) == NULL)
        return arena_format(arena, "%s; the hint is: %s", error->text, help);
    if (written == NULL)
        return slip->hint == NULL ? NULL : arena_format(arena, "nothing to write: %s", help);
    const char *again = typed(arena, text, error, written);
    const struct compilation *second = compile_text(arena, again);
    return second->diagnostics.errors == 0
               ? NULL
               : arena_format(arena, "%s leads to: %s", written, second->diagnostics.items[0].text);
}

static void hints_can_be_typed(void **state)
{
    uint32_t failures = 0;
    (void)state;
    for (size_t i = 0; i < sizeof slips / sizeof *slips; i++) {
        struct arena *arena = arena_create(0);
        const char *problem = problem_with(arena, &slips[i]);
        if (problem != NULL)
            print_error("%s\n    %s\n", slips[i].line, problem);
        failures += problem != NULL;
        arena_destroy(arena);
    }
    assert_int_equal(failures, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(hints_can_be_typed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
