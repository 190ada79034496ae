/* What is printed parses back to the same tree: for fixed cases and for random policies from a fixed seed. */
#include "grammar/syntax.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct syntax_file *parse(struct arena *arena, const char *text, uint32_t *errors)
{
    struct source_list sources = {.arena = arena};
    struct diagnostic_list diagnostics = diagnostic_list_in(arena);
    uint32_t source = source_add(&sources, "t.sbx", text, (uint32_t)strlen(text));
    struct syntax_file *file = syntax_parse(arena, intern_create(arena, 0), &sources, source, &diagnostics);
    *errors = diagnostics.errors;
    if (diagnostics.errors > 0)
        print_error("%s\n%s\n", diagnostics.items[0].text, text);
    return file;
}

static const char *print(struct arena *arena, const struct syntax_file *file)
{
    struct buffer buffer = buffer_in(arena);
    syntax_print(&buffer, file);
    return buffer.bytes;
}

/* ---- fixed cases ---- */

static const struct {
    const char *body, *printed;
} layouts[] = {
    {"grant   read\t/a ,/b # c", "grant read /a, /b\n"},
    {"deny \"/a\", \"/b c\", /d\\ e", "deny /a, \"/b c\", \"/d e\"\n"},
    {"deny /\\*\\x2a, /\\-\\.\\/", "deny /\\*\\*, /\\-./\n"},
    {"deny \"\\$HOME x\", \\~", "deny \"\\$HOME x\", \\~\n"},
    {"deny /a\\x07\\xe9\\xc2\\x85\\xC3\\xa9", "deny /a\\x07\\xe9\\xc2\\x85\xC3\xA9\n"},
    {"deny \"a\\\"b\", \\\\, \"=\"", "deny \"a\\\"b\", \\\\, \"=\"\n"},
    {"deny \"write\", write", "deny \"write\", \"write\"\n"},
    {"limit env to \"nothing\", A", "limit env to \"nothing\", A\n"},
    {"grant env \"nothing\", write", "grant env nothing, write\n"},
    {"use \"std/dev\"", "use \"std/dev\"\n"},
    {"use std/dev except /a,/b", "use std/dev except /a, /b\n"},
    {"set env A = \"b\\x20\\\"c\"", "set env A = \"b \\\"c\"\n"},
    {"accept \"fs.deny\" on \"bwrap\" because \"x\"", "accept fs.deny on bwrap because \"x\"\n"},
    {"grant network any port any,80 tcp", "grant network any port any, 80 tcp\n"},
    {"when os linux {\nwhen command git {\n# why\n\ndeny /a\n}\n}",
     "when os linux {\n    when command git {\n        deny /a\n    }\n}\n"},
    {"deny /aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, /bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb, "
     "/cccccccccccccccccc",
     "deny /aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, /bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb,\n"
     "    /cccccccccccccccccc\n"},
};

static void a_statement_has_one_layout(void **state)
{
    static const char header[] = "sbx 1\npolicy \"t\"\n";
    (void)state;
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        struct arena *arena = arena_create(0);
        uint32_t errors;
        struct syntax_file *file =
            parse(arena, arena_format(arena, "%s%s", header, layouts[i].body), &errors);
        const char *printed = print(arena, file);
        assert_int_equal(errors, 0);
        assert_string_equal(printed + strlen(header), layouts[i].printed);
        assert_true(syntax_equal(file, parse(arena, printed, &errors)));
        arena_destroy(arena);
    }
}

static const char *format(struct arena *arena, const char *text, struct syntax_file **file)
{
    struct source_list sources = {.arena = arena};
    struct diagnostic_list diagnostics = diagnostic_list_in(arena);
    struct buffer buffer = buffer_in(arena);
    uint32_t source = source_add(&sources, "t.sbx", text, (uint32_t)strlen(text));
    *file = syntax_parse(arena, intern_create(arena, 0), &sources, source, &diagnostics);
    syntax_format(&buffer, *file, &sources.items[source]);
    return buffer.bytes;
}

static void comments_and_blank_lines_stay_where_they_are(void **state)
{
    static const char text[] =
        "\xEF\xBB\xBF\n\n# first \r\n sbx   1 # v\t\n#between\n\npolicy \"x\" # name\n\n\n"
        "# a\nuse  std/dev    # b\ndeny /a, # one\n  # own line\n\n  /b,   /c\n"
        "when os linux { # why\n\n\n  # inside\n\n  grant read /x\n\n  # last\n\n } # end\n"
        "grant network any, # x\nlan port 1, # y\n2\n# tail\n\n\nwhen os macos {\n\n}\n# fin\n\n";
    static const char expected[] =
        "# first\nsbx 1  # v\n#between\n\npolicy \"x\"  # name\n\n"
        "# a\nuse std/dev  # b\ndeny /a,  # one\n    # own line\n    /b, /c\n"
        "when os linux {  # why\n    # inside\n\n    grant read /x\n\n    # last\n}  # end\n"
        "grant network any,  # x\n    lan port 1,  # y\n    2\n# tail\n\nwhen os macos {\n}\n"
        "# fin\n";
    struct arena *arena = arena_create(0);
    struct syntax_file *file, *again;
    (void)state;
    assert_string_equal(format(arena, text, &file), expected);
    assert_string_equal(format(arena, expected, &again), expected);
    assert_true(syntax_equal(file, again));
    arena_destroy(arena);
}

static void words_are_spelled_so_that_they_read_back(void **state)
{
    static const bool second[] = {false, true};
    static const struct {
        struct word word;
        const char *spelling;
    } words[] = {
        {{.bytes = "/a", .length = 2}, "/a"},
        {{.bytes = "", .length = 0}, "\"\""},
        {{.bytes = "=", .length = 1}, "\"=\""},
        {{.bytes = "deny", .length = 4}, "\"deny\""},
        {{.bytes = "a*", .length = 2}, "a*"},
        {{.bytes = "a*", .length = 2, .literal = second}, "a\\*"},
        {{.bytes = "a\tb", .length = 3}, "a\\x09b"},
        {{.bytes = "/a{", .length = 3, .quoted = true}, "\"/a{\""},
        {{.bytes = "/a", .length = 2, .quoted = true}, "/a"},
    };
    struct arena *arena = arena_create(0);
    (void)state;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct buffer buffer = buffer_in(arena);
        word_print(&buffer, &words[i].word);
        assert_string_equal(buffer.bytes, words[i].spelling);
    }
    arena_destroy(arena);
}

static void trees_that_differ_are_not_equal(void **state)
{
    static const char *const bodies[] = {
        "",
        "deny /a",
        "deny /b",
        "deny \\*",
        "deny *",
        "deny write /a",
        "deny exec /a",
        "grant read /a",
        "grant write /a",
        "auto grant read /a",
        "deny /a, /b",
        "deny /a except /b",
        "deny /a\ndeny /b",
        "grant network any",
        "grant network lan",
        "grant network any port 80",
        "grant network any tcp",
        "grant network any udp",
        "deny network any",
        "grant network host a",
        "grant network host b",
        "use std/dev",
        "use \"std/dev\"",
        "limit read to nothing",
        "limit write to nothing",
        "limit env to A",
        "set env A = \"b\"",
        "set env A = \"c\"",
        "set env B = \"b\"",
        "accept a on bwrap because \"b\"",
        "accept a on landlock because \"b\"",
        "when os linux {\n}",
        "when os macos {\n}",
        "when os linux {\ndeny /a\n}",
        "when command linux {\n}",
        "limit time to 1s",
        "limit time to 2s",
        "limit files to 1",
        "grant scratch",
        "grant bypass",
        "deny bypass",
        "permit bypass",
        "expect deny read /a",
        "expect allow read /a",
        "expect deny exec /a",
        "expect deny connect /a",
        "expect deny listen /a",
    };
    enum { COUNT = sizeof bodies / sizeof *bodies };
    struct arena *arena = arena_create(0);
    struct syntax_file *files[COUNT];
    uint32_t errors;
    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        files[i] = parse(arena, arena_format(arena, "sbx 1\npolicy \"t\"\n%s", bodies[i]), &errors);
        assert_int_equal(errors, 0);
    }
    for (size_t i = 0; i < COUNT; i++)
        for (size_t j = 0; j < COUNT; j++)
            if (syntax_equal(files[i], files[j]) != (i == j))
                fail_msg("%s | %s", bodies[i], bodies[j]);
    assert_false(syntax_equal(files[0], parse(arena, "sbx 1\npolicy \"u\"\n", &errors)));
    assert_false(syntax_equal(files[0], parse(arena, "sbx 1\npreset \"t\"\n", &errors)));
    arena_destroy(arena);
}

/* ---- random policies ---- */

struct random {
    uint64_t state;
    struct buffer text;
    bool os, command; /* inside a block of that kind */
};

/* SplitMix64: the same numbers on every machine. */
static uint32_t below(struct random *random, uint32_t limit)
{
    uint64_t z = (random->state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (uint32_t)((z ^ (z >> 31)) % limit);
}

static void add(struct random *random, const char *string)
{
    buffer_string(&random->text, string);
}

static void add_one(struct random *random, const char *const *choices, uint32_t count)
{
    add(random, choices[below(random, count)]);
}

#define ADD_ONE(random, ...)                                                                                 \
    add_one((random), (const char *const[]){__VA_ARGS__},                                                    \
            sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static void add_blank(struct random *random)
{
    ADD_ONE(random, " ", " ", " ", "\t", "   ");
}

static void add_piece(struct random *random, bool quoted)
{
    ADD_ONE(random, "a", "b", "/", "-", "=", ":", "\xC3\xA9", "\xE2\x82\xAC", "*", "?", "~", "$", "[a-z]",
            ".", "'", "\\*", "\\$", "\\ ", "\\,", "\\\"", "\\\\", "\\#", "\\{", "\\]", "\\/", "\\x07",
            "\\xFF", "\\xc2\\x80", "\\x41", "write", "nothing");
    if (quoted)
        ADD_ONE(random, "", " ", "#", "{", "}", ",", "  ", " = ");
}

static void add_word(struct random *random)
{
    bool quoted = below(random, 3) == 0;
    if (below(random, 6) == 0) {
        ADD_ONE(random, "write", "except", "nothing", "port", "on", "os", "\"deny\"", "\"nothing\"", "to",
                "\"\"", "sbx");
        return;
    }
    add(random, quoted ? "\"" : "/");
    for (uint32_t pieces = below(random, below(random, 20) == 0 ? 60 : 6); pieces > 0; pieces--)
        add_piece(random, quoted);
    add(random, quoted ? "\"" : "");
}

static void add_text(struct random *random)
{
    add(random, "\"");
    for (uint32_t pieces = below(random, 5); pieces > 0; pieces--)
        add_piece(random, true);
    add(random, "\"");
}

static void add_comma(struct random *random)
{
    ADD_ONE(random, ", ", ",", " , ", ",\n", ", # more\n\n  # still\n\t", ",\r\n");
}

/* `first` may not be spelled like what could follow instead of a list. */
static void add_words(struct random *random, bool reserved)
{
    if (reserved)
        add(random, "/x");
    for (uint32_t items = below(random, 4) + (reserved ? 0 : 1), i = 0; i < items; i++) {
        if (reserved || i > 0)
            add_comma(random);
        add_word(random);
    }
}

static void add_exceptions(struct random *random)
{
    if (below(random, 2) == 0)
        return;
    add(random, " except ");
    add_words(random, false);
}

static void add_reach(struct random *random)
{
    if (below(random, 2) == 0)
        ADD_ONE(random, " port 80", " port any", " port 1-65535, 22,\n 443", " port any,80");
    ADD_ONE(random, "", " tcp", " udp");
}

static void add_targets(struct random *random)
{
    for (uint32_t items = below(random, 3) + 1; items > 0; items--) {
        ADD_ONE(random, "any", "lan", "internet", "loopback", "host ", "address ");
        if (random->text.bytes[random->text.length - 1] == ' ')
            add_word(random);
        if (items > 1)
            add_comma(random);
    }
    add_reach(random);
}

static void add_limit(struct random *random)
{
    switch (below(random, 4)) {
    case 0:
        ADD_ONE(random, "limit read to ", "limit write to ", "limit socket to ", "limit env to ",
                "limit service to ");
        ADD_ONE(random, "nothing", "/a,/b", "\"nothing\", x", "write", "a, \"nothing\"");
        break;
    case 1:
        add(random, "limit network to ");
        add_targets(random);
        break;
    case 2:
        ADD_ONE(random, "limit network to nothing", "permit bypass", "limit time to 90s",
                "limit memory to 4GiB");
        break;
    default:
        ADD_ONE(random, "limit processes to 512", "limit files to 1");
        break;
    }
}

static void add_grant_or_deny(struct random *random)
{
    ADD_ONE(random, "grant", "deny");
    add_blank(random);
    switch (below(random, 4)) {
    case 0:
        ADD_ONE(random, "env ", "socket ", "service ", "syscall\t");
        add_words(random, false);
        break;
    case 1:
        add(random, "network ");
        add_targets(random);
        break;
    case 2:
        ADD_ONE(random, "listen any", "listen loopback");
        add_reach(random);
        break;
    default:
        ADD_ONE(random, "scratch", "bypass");
        break;
    }
}

static void add_paths(struct random *random)
{
    if (below(random, 2) == 0) {
        ADD_ONE(random, "grant read ", "grant write ", "auto  grant read ", "auto grant write ");
        add_words(random, false);
        return;
    }
    bool plain = below(random, 2) == 0;
    add(random, "deny ");
    if (!plain)
        ADD_ONE(random, "write ", "exec ");
    add_words(random, plain);
    add_exceptions(random);
}

static void add_other(struct random *random)
{
    switch (below(random, 5)) {
    case 0:
        ADD_ONE(random, "use std/dev", "use \"../a b.sbx\"", "use \"std/dev\"");
        add_exceptions(random);
        break;
    case 1:
        ADD_ONE(random, "let A = ", "let write = ", "let _9 = ");
        add_words(random, false);
        break;
    case 2:
        ADD_ONE(random, "set env A = ", "set env env = ");
        add_text(random);
        break;
    case 3:
        ADD_ONE(random, "accept SBX201 because ", "accept env on bwrap because ",
                "accept \"a b\" on x because ");
        add_text(random);
        break;
    default:
        ADD_ONE(random, "expect allow ", "expect deny ");
        ADD_ONE(random, "read ", "write ", "exec ", "connect ", "listen ", "socket ", "env ", "service ");
        add_words(random, false);
        break;
    }
}

static void add_block(struct random *random);

static void add_statement(struct random *random)
{
    ADD_ONE(random, "", "  ", "# comment { \"\n", "\n\t");
    switch (below(random, 5)) {
    case 0:
        add_paths(random);
        break;
    case 1:
        add_grant_or_deny(random);
        break;
    case 2:
        add_limit(random);
        break;
    case 3:
        add_other(random);
        break;
    default:
        add_block(random);
        break;
    }
    ADD_ONE(random, "\n", "\n", " # why\n", "\r\n", "\t\n\n");
}

static void add_block(struct random *random)
{
    bool *open = below(random, 2) == 0 ? &random->os : &random->command;
    if (*open) {
        add_paths(random);
        return;
    }
    *open = true;
    add(random, open == &random->os ? "when os linux, macos" : "when command ");
    if (open == &random->command)
        add_words(random, false);
    add(random, " {\n");
    for (uint32_t statements = below(random, 4); statements > 0; statements--)
        add_statement(random);
    add(random, "}");
    *open = false;
}

static uint32_t count(const char *text, const char *piece)
{
    uint32_t found = 0;
    for (const char *at = strstr(text, piece); at != NULL; at = strstr(at + 1, piece))
        found++;
    return found;
}

static void random_policies_print_and_read_back(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3000; seed++) {
        struct arena *arena = arena_create(0);
        struct random random = {.state = seed, .text = buffer_in(arena)};
        uint32_t errors, again;
        add(&random, "sbx 1\n");
        ADD_ONE(&random, "policy \"a\"\n", "managed \"b c\"\n", "preset \"d\"\n");
        for (uint32_t statements = below(&random, 12); statements > 0; statements--)
            add_statement(&random);
        struct syntax_file *file = parse(arena, random.text.bytes, &errors);
        assert_int_equal(errors, 0);
        const char *printed = print(arena, file);
        struct syntax_file *back = parse(arena, printed, &again);
        if (again > 0 || !syntax_equal(file, back))
            fail_msg("seed %u:\n%s\n----\n%s", (unsigned)seed, random.text.bytes, printed);
        assert_string_equal(print(arena, back), printed);
        const char *formatted = format(arena, random.text.bytes, &back);
        assert_true(syntax_equal(file, back));
        assert_string_equal(format(arena, formatted, &back), formatted);
        assert_true(syntax_equal(file, back));
        assert_int_equal(count(formatted, "# more"), count(random.text.bytes, "# more"));
        assert_int_equal(count(formatted, "# why\n"), count(random.text.bytes, "# why\n"));
        arena_destroy(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_statement_has_one_layout),
        cmocka_unit_test(comments_and_blank_lines_stay_where_they_are),
        cmocka_unit_test(words_are_spelled_so_that_they_read_back),
        cmocka_unit_test(trees_that_differ_are_not_equal),
        cmocka_unit_test(random_policies_print_and_read_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
