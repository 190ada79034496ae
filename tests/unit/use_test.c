/* `use`: which files are read, when that is refused, and what comes in under which conditions. */
#include "compiler/compile.h"
#include "compiler/load_parse.h"

#include <cmocka.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/sbx-use-XXXXXX";

static int enter_folder(void **state)
{
    (void)state;
    umask(022);
    return mkdtemp(folder) == NULL || chdir(folder) != 0 ? -1 : 0;
}

static int leave_folder(void **state)
{
    (void)state;
    return chdir("/");
}

static void write_text(const char *name, const char *text)
{
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(name, 0644), 0);
}

static void write_preset(const char *name, const char *statements)
{
    char text[4096];
    snprintf(text, sizeof text, "sbx 1\npreset \"p\"\n%s\n", statements);
    write_text(name, text);
}

/* The rules of the policy, one a line, with conditions; or the code of the first error. */
static const char *compile_file(struct arena *arena, const char *name)
{
    const struct compile_input input = {.input = {.file = name}};
    const struct compilation *result = compile(arena, &input);
    struct buffer out = buffer_in(arena);
    buffer_string(&out, "");
    if (result->failure != NULL)
        return result->failure;
    if (result->diagnostics.errors > 0) {
        const struct diagnostic *first = &result->diagnostics.items[0];
        return arena_format(arena, "%u at %s", (unsigned)first->code,
                            result->sources.items[first->at.source].name);
    }
    for (uint32_t i = 0; i < result->policy->rule_count; i++) {
        const struct rule *rule = &result->policy->rules[i];
        buffer_format(&out, "%s [%s:%u]", rule_text(arena, rule),
                      result->policy->sources[rule->origin.source].name, rule->origin.line);
        if (rule->systems != SYSTEM_ALL)
            buffer_format(&out, " os %u", rule->systems);
        for (uint32_t j = 0; rule->commands != NULL && j < rule->commands->count; j++)
            buffer_format(&out, " %s", rule->commands->names[j]);
        buffer_byte(&out, '\n');
    }
    return out.bytes;
}

static void check(const char *kind, const char *statements, const char *expected)
{
    char text[4096];
    struct arena *arena = arena_create(0);
    snprintf(text, sizeof text, "sbx 1\n%s \"t\"\n%s\n", kind, statements);
    write_text("main.sbx", text);
    assert_string_equal(compile_file(arena, "main.sbx"), expected);
    arena_destroy(arena);
}

static void used_rules_keep_their_place(void **state)
{
    (void)state;
    mkdir("sub", 0755);
    write_preset("sub/a.sbx", "use \"b.sbx\"\ngrant read /a");
    write_preset("sub/b.sbx", "deny /b");
    check("policy", "use \"sub/a.sbx\"\ngrant read /m",
          "grant read /m [main.sbx:4]\ngrant read /a [sub/a.sbx:4]\ndeny /b [sub/b.sbx:3]\n");
}

static void a_repeated_use_adds_nothing(void **state)
{
    (void)state;
    write_preset("left.sbx", "use \"base.sbx\"");
    write_preset("base.sbx", "deny /b\nlet B = /b");
    write_preset("right.sbx", "use \"./base.sbx\"");
    check("policy", "use \"left.sbx\"\nuse \"right.sbx\"\nuse \"base.sbx\"\ngrant read $B",
          "grant read /b [main.sbx:6]\ndeny /b [base.sbx:3]\n");
    check("policy", "use \"base.sbx\"\nuse \"base.sbx\" except /b/c\nuse \"base.sbx\" except /b/c",
          "deny /b [base.sbx:3]\ndeny /b except /b/c [base.sbx:3]\n");
    check("policy", "when os linux {\nuse \"base.sbx\"\n}\nwhen os linux {\nuse \"base.sbx\"\n}",
          "deny /b [base.sbx:3] os 1\n");
}

static void conditions_and_exceptions_add_up(void **state)
{
    (void)state;
    write_preset("inner.sbx", "deny /a except /a/x\nwhen os linux, macos {\ndeny write /c\n}\ngrant read /a");
    write_preset("outer.sbx", "when command git, npm {\nuse \"inner.sbx\" except /a/y\n}");
    check("policy", "when os macos, windows {\nuse \"outer.sbx\" except /a/z\n}",
          "deny /a except /a/x, /a/y, /a/z [inner.sbx:3] os 6 git npm\n"
          "deny write /c except /a/y, /a/z [inner.sbx:5] os 2 git npm\n"
          "grant read /a [inner.sbx:7] os 6 git npm\n");
    check("policy", "when command make {\nuse \"outer.sbx\"\n}", "");
}

static void names_hold_where_they_should(void **state)
{
    (void)state;
    write_preset("names.sbx", "let A = /a");
    write_preset("pass.sbx", "use \"names.sbx\"");
    check("policy", "use \"pass.sbx\"\ndeny $A", "deny /a [main.sbx:4]\n");
    check("policy", "when os linux {\nuse \"pass.sbx\"\n}\ndeny $A", "105 at main.sbx");
    check("policy", "deny $A\nuse \"pass.sbx\"", "105 at main.sbx");
    check("policy", "use \"pass.sbx\"\nuse \"names.sbx\"\ndeny $A", "deny /a [main.sbx:5]\n");
    write_preset("other.sbx", "let A = /b");
    check("policy", "use \"names.sbx\"\nuse \"other.sbx\"", "115 at main.sbx");
}

static void what_cannot_be_used_is_refused(void **state)
{
    (void)state;
    check("policy", "use \"none.sbx\"", "119 at main.sbx");
    check("policy", "use \"sub\"", "119 at main.sbx");
    write_text("policy.sbx", "sbx 1\npolicy \"p\"\n");
    check("policy", "use \"policy.sbx\"", "120 at main.sbx");
    write_preset("c1.sbx", "use \"c2.sbx\"");
    write_preset("c2.sbx", "use \"c1.sbx\"");
    check("policy", "use \"c1.sbx\"", "121 at c2.sbx");
    write_preset("self.sbx", "use \"self.sbx\"");
    check("policy", "use \"self.sbx\"", "121 at self.sbx");
    write_preset("accepts.sbx", "accept tty on bwrap because \"x\"");
    check("policy", "use \"accepts.sbx\"", "135 at accepts.sbx");
    write_preset("limits.sbx", "limit write to /a");
    check("policy", "use \"limits.sbx\"", "131 at main.sbx");
    write_preset("mistake.sbx", "deny relative");
    check("policy", "use \"mistake.sbx\"\nuse \"mistake.sbx\" except /x", "104 at mistake.sbx");
}

static void depth_is_limited(void **state)
{
    (void)state;
    char name[32], statement[64];
    for (int i = 1; i <= 17; i++) {
        snprintf(name, sizeof name, "d%d.sbx", i);
        snprintf(statement, sizeof statement, i == 17 ? "deny /d" : "use \"d%d.sbx\"", i + 1);
        write_preset(name, statement);
    }
    check("policy", "use \"d2.sbx\"", "deny /d [d17.sbx:3]\n");
    check("policy", "use \"d1.sbx\"", "122 at d16.sbx");
}

static void managed_files_use_only_what_cannot_be_planted(void **state)
{
    (void)state;
    write_preset("open.sbx", "grant read /a");
    write_preset("narrow.sbx", "limit write to /a\ndeny /b");
    check(
        "managed", "use \"narrow.sbx\"",
        "limit write to nothing [narrow.sbx:3]\nlimit write to /a [narrow.sbx:3]\ndeny /b [narrow.sbx:4]\n");
    check("managed", "use \"open.sbx\"", "130 at main.sbx");
    check("managed", "use \"narrow.sbx\" except /b/c", "132 at main.sbx");
    assert_int_equal(chmod("narrow.sbx", 0646), 0);
    check("managed", "use \"narrow.sbx\"", "119 at main.sbx");
    check("policy", "use \"narrow.sbx\"", "131 at main.sbx");
    assert_int_equal(chmod("narrow.sbx", 0644), 0);
    assert_int_equal(symlink("narrow.sbx", "link.sbx"), 0);
    check("managed", "use \"link.sbx\"", "119 at main.sbx");
    write_preset("variable.sbx", "deny $env.PATH");
    check("managed", "use \"variable.sbx\"", "133 at main.sbx");
}

/* Files that use the next one twice, each time with another exception, would come in 2^15 times. */
static void nested_uses_cannot_explode(void **state)
{
    (void)state;
    char name[32], statements[8192];
    for (int i = 1; i <= 15; i++) {
        size_t length = 0;
        for (int j = 0; j < 60; j++)
            length += (size_t)snprintf(statements + length, sizeof statements - length,
                                       "use \"e%d.sbx\" except /%d/%d\n", i + 1, i, j);
        snprintf(name, sizeof name, "e%d.sbx", i);
        FILE *file = fopen(name, "w");
        assert_non_null(file);
        fprintf(file, "sbx 1\npreset \"p\"\n%s", statements);
        fclose(file);
    }
    write_preset("e16.sbx", "let A = /a");
    check("policy", "use \"e1.sbx\"", "125 at main.sbx");
}

enum { LINES_LARGE = 4000 };

/* A text that is large by its comments. With the word `use` in them it is parsed as soon as it is read. */
static void write_large(const char *name, const char *statements, bool waits)
{
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    fputs(statements, file);
    for (int i = 0; i < LINES_LARGE; i++)
        fprintf(file, "# %s %s\n", waits ? "uze" : "use", "------------------------------------");
    assert_int_equal(fclose(file), 0);
}

static const struct compilation *compile_large(struct arena *arena, bool waits)
{
    static const char *const statements[] = {
        "sbx 1\npreset \"a\"\nlet A = /a, /b\ngrant read $A\ngrant\ndeny /x exept /y\n",
        "sbx 1\npreset \"b\"\nlet B = /c\ndeny $B\nwhen os linux {\ngrant write /w\n}\ngrant sideways /d\n",
        "sbx 1\npolicy \"c\"\ngrant read /never\n",
    };
    const struct compile_input input = {.input = {.file = "main.sbx"}};
    write_large("a.sbx", statements[0], waits);
    write_large("b.sbx", statements[1], waits);
    write_large("c.sbx", statements[2], waits);
    write_text("main.sbx", "sbx 1\npolicy \"t\"\nuse \"b.sbx\"\nuse \"a.sbx\" except $A/1\ngrant read $A\n"
                           "use \"c.sbx\"\ngrant\nuse \"b.sbx\"\n");
    return compile(arena, &input);
}

static void large_texts_say_the_same_when_they_wait(void **state)
{
    struct arena *arena = arena_create(0);
    const struct compilation *waited = compile_large(arena, true), *direct = compile_large(arena, false);
    const struct diagnostic_list *list = &waited->diagnostics, *other = &direct->diagnostics;
    (void)state;
    assert_true(list->errors >= 5);
    assert_int_equal(list->count, other->count);
    assert_int_equal(list->errors, other->errors);
    for (uint32_t i = 0; i < list->count; i++) {
        assert_int_equal(list->items[i].code, other->items[i].code);
        assert_string_equal(list->items[i].text, other->items[i].text);
        assert_memory_equal(&list->items[i].at, &other->items[i].at, sizeof list->items[i].at);
    }
    arena_destroy(arena);
}

static void large_texts_bring_their_rules_and_names(void **state)
{
    struct arena *arena = arena_create(0);
    (void)state;
    write_large("a.sbx", "sbx 1\npreset \"a\"\nlet A = /a\ngrant read $A\n", true);
    write_large("b.sbx", "sbx 1\npreset \"b\"\nlet B = /b\ndeny $B\n", true);
    write_text("main.sbx", "sbx 1\npolicy \"t\"\nuse \"b.sbx\"\nuse \"a.sbx\"\ngrant read $A/1\ndeny $B/1\n");
    assert_string_equal(compile_file(arena, "main.sbx"),
                        "grant read /a/1 [main.sbx:5]\ndeny /b/1 [main.sbx:6]\ndeny /b [b.sbx:4]\n"
                        "grant read /a [a.sbx:4]\n");
    arena_destroy(arena);
}

static bool has_use(const struct statement *statement)
{
    for (; statement != NULL; statement = statement->next)
        if (statement->kind == STATEMENT_USE || has_use(statement->children))
            return true;
    return false;
}

/* Whatever two bytes stand before it. */
static void a_text_that_uses_another_never_waits(void **state)
{
    static const char opening[] = "sbx 1\npreset \"p\"\ngrant read /a", closing[] = "use std/dev\n#";
    size_t at = sizeof opening - 1, length = 256 * 1024;
    char *text = malloc(length + 1);
    (void)state;
    assert_non_null(text);
    memset(text, '-', length);
    memcpy(text, opening, at);
    memcpy(text + at + 2, closing, sizeof closing - 1);
    text[length] = '\0';
    assert_true(parse_can_wait(text + at + 6, length - at - 6));
    for (unsigned bytes = 0; bytes < 0x10000; bytes++) {
        text[at] = (char)(bytes >> 8);
        text[at + 1] = (char)bytes;
        if (!parse_can_wait(text, length))
            continue;
        struct arena *arena = arena_create(0);
        struct source_list sources = {.arena = arena};
        struct diagnostic_list found = diagnostic_list_in(arena);
        uint32_t source = source_add(&sources, "p", text, (uint32_t)(at + 2 + sizeof closing - 1));
        const struct syntax_file *file =
            syntax_parse(arena, intern_create(arena, 0), &sources, source, &found);
        assert_false(has_use(file->statements));
        arena_destroy(arena);
    }
    memcpy(text + at, "\n\n", 2);
    assert_false(parse_can_wait(text, length));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(used_rules_keep_their_place),
        cmocka_unit_test(a_repeated_use_adds_nothing),
        cmocka_unit_test(conditions_and_exceptions_add_up),
        cmocka_unit_test(names_hold_where_they_should),
        cmocka_unit_test(what_cannot_be_used_is_refused),
        cmocka_unit_test(depth_is_limited),
        cmocka_unit_test(managed_files_use_only_what_cannot_be_planted),
        cmocka_unit_test(nested_uses_cannot_explode),
        cmocka_unit_test(large_texts_say_the_same_when_they_wait),
        cmocka_unit_test(large_texts_bring_their_rules_and_names),
        cmocka_unit_test(a_text_that_uses_another_never_waits),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
