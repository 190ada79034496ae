/* Every statement of the language and the tree that it makes. A tree is compared as a line of text: the
 * kind, then each member that is set. */
#include "grammar/syntax.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

struct job {
    struct arena *arena;
    struct diagnostic_list diagnostics;
    struct syntax_file *file;
};

static struct job parse(const char *text)
{
    struct job job = {.arena = arena_create(0)};
    struct source_list sources = {.arena = job.arena};
    uint32_t source = source_add(&sources, "t.sbx", text, (uint32_t)strlen(text));
    job.diagnostics = diagnostic_list_in(job.arena);
    job.file = syntax_parse(job.arena, intern_create(job.arena, 0), &sources, source, &job.diagnostics);
    return job;
}

/* A word as its bytes, what is unsafe to show escaped; `~` follows each byte that is no sign because of a
 * backslash. */
static void show_word(struct buffer *out, const struct word *word)
{
    for (uint32_t i = 0; i < word->length; i++) {
        bool plain = (unsigned char)word->bytes[i] >= 0x20 && word->bytes[i] != '\\';
        if (plain)
            buffer_byte(out, word->bytes[i]);
        else
            buffer_format(out, "<%02x>", (unsigned)(unsigned char)word->bytes[i]);
        if (word->literal != NULL && word->literal[i])
            buffer_byte(out, '~');
    }
}

static void show_member(struct buffer *out, const char *name, const struct word *word)
{
    if (word->bytes == NULL)
        return;
    buffer_format(out, " %s=%s", name, word->quoted ? "'" : "");
    show_word(out, word);
    buffer_string(out, word->quoted ? "'" : "");
}

static void show_list(struct buffer *out, const char *name, const struct word_list *list)
{
    if (list->count > 0)
        buffer_format(out, " %s=", name);
    for (uint32_t i = 0; i < list->count; i++) {
        buffer_string(out, i > 0 ? "|" : "");
        show_word(out, &list->items[i]);
    }
}

static void show_targets(struct buffer *out, const struct target_list *targets)
{
    static const char *const names[] = {"host", "address", "loopback", "lan", "internet", "any"};
    for (uint32_t i = 0; i < targets->count; i++) {
        buffer_format(out, " %s", names[targets->items[i].kind]);
        show_member(out, "word", &targets->items[i].word);
    }
}

static void show_statements(struct buffer *out, const struct statement *statement)
{
    static const char *const kinds[] = {
        "use",         "let",     "path",         "socket",  "network",     "listen",      "env",
        "set",         "service", "syscall",      "scratch", "bypass",      "limit-paths", "limit-network",
        "limit-names", "permit",  "limit-amount", "accept",  "accept-code", "expect",      "when"};
    static const char *const verbs[] = {"", " grant", " deny"};
    static const char *const aspects[] = {"",         " read",      " write", " exec",   " socket", " env",
                                          " service", " processes", " files", " memory", " time"};
    static const char *const protocols[] = {"", " tcp", " udp"};
    for (; statement != NULL; statement = statement->next) {
        buffer_format(out, "%s%s%s", kinds[statement->kind], verbs[statement->verb],
                      aspects[statement->aspect]);
        buffer_string(out, statement->automatic ? " auto" : "");
        buffer_string(out, statement->nothing ? " nothing" : "");
        buffer_string(out, statement->broken ? " broken" : "");
        show_member(out, "subject", &statement->parts->subject);
        show_member(out, "second", &statement->parts->second);
        show_member(out, "value", &statement->parts->value);
        show_list(out, "words", &statement->words);
        show_list(out, "except", &statement->except);
        show_targets(out, &statement->parts->targets);
        show_list(out, "ports", &statement->parts->ports);
        buffer_string(out, protocols[statement->protocol]);
        if (statement->kind == STATEMENT_WHEN) {
            buffer_string(out, " {");
            show_statements(out, statement->children);
            buffer_string(out, "}");
        }
        buffer_string(out, statement->next != NULL ? "; " : "");
    }
}

static const struct {
    const char *text, *tree;
} statements[] = {
    {"use std/dev", "use subject=std/dev"},
    {"use \"../team.sbx\" except ~/.npmrc, $WORK/a", "use subject='../team.sbx' except=~/.npmrc|$WORK/a"},
    {"let SRC = $WORK/src, /usr/src", "let subject=SRC words=$WORK/src|/usr/src"},
    {"let grant = /a", "let subject=grant words=/a"},
    {"grant read /a", "path grant read words=/a"},
    {"grant write /a, ~, $WORK", "path grant write words=/a|~|$WORK"},
    {"auto grant read /a", "path grant read auto words=/a"},
    {"auto grant write /a", "path grant write auto words=/a"},
    {"deny /a", "path deny words=/a"},
    {"deny /a except /a/b, /a/c", "path deny words=/a except=/a/b|/a/c"},
    {"deny write /a except /a/b", "path deny write words=/a except=/a/b"},
    {"deny exec /a except /a/b", "path deny exec words=/a except=/a/b"},
    {"grant network host a.example port 443", "network grant host word=a.example ports=443"},
    {"grant network host a.example, address 192.0.2.0/24, loopback, lan, internet, any port 80, 3000-3010, "
     "any udp",
     "network grant host word=a.example address word=192.0.2.0/24 loopback lan internet any "
     "ports=80|3000-3010|any "
     "udp"},
    {"deny network lan tcp", "network deny lan tcp"},
    {"deny network host port port 80", "network deny host word=port ports=80"},
    {"grant listen loopback port 3000 tcp", "listen grant subject=loopback ports=3000 tcp"},
    {"deny listen any", "listen deny subject=any"},
    {"grant socket /run/a, /run/b", "socket grant words=/run/a|/run/b"},
    {"deny socket /run/a", "socket deny words=/run/a"},
    {"grant env CI, NODE_*", "env grant words=CI|NODE_*"},
    {"deny env *_TOKEN, write, nothing, env", "env deny words=*_TOKEN|write|nothing|env"},
    {"set env NODE_ENV = \"development\"", "set subject=NODE_ENV value='development'"},
    {"set env A = \"\"", "set subject=A value=''"},
    {"grant service ssh-agent, display", "service grant words=ssh-agent|display"},
    {"deny service port", "service deny words=port"},
    {"grant syscall ptrace", "syscall grant words=ptrace"},
    {"deny syscall read, write", "syscall deny words=read|write"},
    {"grant scratch", "scratch grant"},
    {"deny scratch", "scratch deny"},
    {"grant bypass", "bypass grant"},
    {"deny bypass", "bypass deny"},
    {"limit read to /a, /b", "limit-paths read words=/a|/b"},
    {"limit write to $WORK", "limit-paths write words=$WORK"},
    {"limit socket to nothing", "limit-paths socket nothing"},
    {"limit network to host *.example.com, lan port 443 tcp",
     "limit-network host word=*.example.com lan ports=443 tcp"},
    {"limit network to nothing", "limit-network nothing"},
    {"limit env to CI, write", "limit-names env words=CI|write"},
    {"limit env to nothing", "limit-names env nothing"},
    {"limit env to \"nothing\", CI", "limit-names env words=nothing|CI"},
    {"limit env to noth\\x69ng", "limit-names env words=nothing"},
    {"limit service to display", "limit-names service words=display"},
    {"permit bypass", "permit"},
    {"limit processes to 512", "limit-amount processes subject=512"},
    {"limit files to 1", "limit-amount files subject=1"},
    {"limit memory to 4GiB", "limit-amount memory subject=4GiB"},
    {"limit time to 30m", "limit-amount time subject=30m"},
    {"accept fs.deny on bwrap because \"known\"", "accept subject=fs.deny second=bwrap value='known'"},
    {"accept env on landlock because \"b\"", "accept subject=env second=landlock value='b'"},
    {"accept SBX201 because \"c\"", "accept-code subject=SBX201 value='c'"},
    {"expect deny read $WORK/.env", "expect deny read subject=read words=$WORK/.env"},
    {"expect allow write /a, /b", "expect grant write subject=write words=/a|/b"},
    {"expect allow exec /bin/sh", "expect grant exec subject=exec words=/bin/sh"},
    {"expect allow connect a.example:443", "expect grant subject=connect words=a.example:443"},
    {"expect deny listen 127.0.0.1:80", "expect deny subject=listen words=127.0.0.1:80"},
    {"expect deny socket /run/a", "expect deny socket subject=socket words=/run/a"},
    {"expect deny env A", "expect deny env subject=env words=A"},
    {"expect allow service gpu", "expect grant service subject=service words=gpu"},
    {"when os linux, macos {\ngrant read /a\ndeny /b\n}",
     "when subject=os words=linux|macos {path grant read words=/a; path deny words=/b}"},
    {"when command git {\n}", "when subject=command words=git {}"},
    {"when os linux {\nwhen command git {\ndeny /a\n}\ndeny /b\n}\ndeny /c",
     "when subject=os words=linux {when subject=command words=git {path deny words=/a}; path deny words=/b}; "
     "path "
     "deny words=/c"},

    /* words */
    {"deny \"/a b\"", "path deny words=/a b"},
    {"deny /a\\ b, /c\\,d", "path deny words=/a b|/c,d"},
    {"deny /\\*\\?, /\\[a]", "path deny words=/*~?~|/[~a]"},
    {"deny \"/a\\*\"", "path deny words=/a*~"},
    {"deny \\~, \\$WORK", "path deny words=~~|$~WORK"},
    {"deny /a\\x2a\\x41\\x0a\\xFf", "path deny words=/a*~A<0a>\xff"},
    {"deny \\/a\\/b", "path deny words=/a/b"},
    {"deny /a\\\\b, /a\\#b, /a\\{b\\}, /a\\\"b", "path deny words=/a<5c>~b|/a#b|/a{b}|/a\"b"},
    {"deny \"/a#{b}, c\"", "path deny words=/a#{b}, c"},
    {"deny \"\\\"write\\\"\", \"write\"", "path deny words=\"write\"|write"},
    {"deny \"write\"", "path deny words=write"},
    {"deny write\\-x", "path deny words=write-~x"},
    {"deny /\xC3\xA9\xE2\x82\xAC, \"/\xF0\x9F\x98\x80\"",
     "path deny words=/\xC3\xA9\xE2\x82\xAC|/\xF0\x9F\x98\x80"},
    {"deny /a=b, /c=", "path deny words=/a=b|/c="},
    {"deny C:/Users/me", "path deny words=C:/Users/me"},

    /* lines */
    {"deny /a # comment", "path deny words=/a"},
    {"deny /a,# comment\n/b", "path deny words=/a|/b"},
    {"deny /a,\n\n  # comment\n\t/b,\r\n/c\r\n", "path deny words=/a|/b|/c"},
    {"deny /a ,/b , /c", "path deny words=/a|/b|/c"},
    {"# only\n\n   # comments", ""},
    {"\tgrant\tread\t/a\t", "path grant read words=/a"},
    {"when os linux { # why\n} # end\ngrant scratch", "when subject=os words=linux {}; scratch grant"},
};

static void every_statement_has_its_tree(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++) {
        struct arena *arena = arena_create(0);
        struct job job = parse(arena_format(arena, "sbx 1\npolicy \"t\"\n%s", statements[i].text));
        struct buffer tree = buffer_in(arena);
        show_statements(&tree, job.file->statements);
        if (job.diagnostics.count > 0)
            fail_msg("%s: %s", statements[i].text, job.diagnostics.items[0].text);
        assert_string_equal(tree.bytes == NULL ? "" : tree.bytes, statements[i].tree);
        assert_true(job.file->has_header);
        arena_destroy(job.arena);
        arena_destroy(arena);
    }
}

static void a_header_names_the_file(void **state)
{
    static const struct {
        const char *text;
        enum file_kind kind;
        const char *name;
    } headers[] = {
        {"sbx 1\npolicy \"acme-web\"", FILE_POLICY, "acme-web"},
        {"sbx 1\r\nmanaged \"Acme Inc. 2\"\r\n", FILE_MANAGED, "Acme Inc. 2"},
        {"\xEF\xBB\xBF\n# first\nsbx 1 # version\n\npreset \"a_b\"\n", FILE_PRESET, "a_b"},
        {"sbx 1\npolicy \"0123456789012345678901234567890123456789012345678901234567890123\"", FILE_POLICY,
         "0123456789012345678901234567890123456789012345678901234567890123"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        struct job job = parse(headers[i].text);
        assert_int_equal(job.diagnostics.count, 0);
        assert_true(job.file->has_header);
        assert_int_equal(job.file->kind, headers[i].kind);
        assert_string_equal(job.file->name.bytes, headers[i].name);
        assert_null(job.file->statements);
        arena_destroy(job.arena);
    }
}

static void check_span(const char *text, struct span span, const char *expected)
{
    assert_int_equal(span.end - span.start, strlen(expected));
    assert_memory_equal(text + span.start, expected, strlen(expected));
}

static void spans_are_the_text_as_written(void **state)
{
    static const char text[] = "sbx 1\npolicy \"t\"\n  deny write \"/a b\",\n /c\\*  except /d # no\n"
                               "grant network host a.example port 80\nwhen os linux {\n}\n";
    struct job job = parse(text);
    const struct statement *deny = job.file->statements, *network = deny->next, *when = network->next;
    (void)state;
    check_span(text, job.file->name.span, "\"t\"");
    check_span(text, deny->span, "deny write \"/a b\",\n /c\\*  except /d");
    check_span(text, deny->keyword, "deny write");
    check_span(text, deny->words.items[0].span, "\"/a b\"");
    check_span(text, deny->words.items[1].span, "/c\\*");
    check_span(text, network->parts->targets.items[0].span, "host a.example");
    check_span(text, network->parts->targets.items[0].word.span, "a.example");
    check_span(text, when->span, "when os linux {");
    check_span(text, when->keyword, "when os");
    arena_destroy(job.arena);
}

static void equal_words_have_one_address(void **state)
{
    struct job job = parse("sbx 1\npolicy \"t\"\ndeny /a, \"/a\", \\/a\n");
    const struct word_list *words = &job.file->statements->words;
    (void)state;
    assert_ptr_equal(words->items[0].bytes, words->items[1].bytes);
    assert_ptr_equal(words->items[0].bytes, words->items[2].bytes);
    arena_destroy(job.arena);
}

static void a_line_may_have_64_kib(void **state)
{
    struct arena *arena = arena_create(0);
    struct buffer text = buffer_in(arena);
    buffer_string(&text, "sbx 1\npolicy \"t\"\ndeny /");
    size_t start = text.length - strlen("deny /");
    while (text.length - start < LINE_LONGEST)
        buffer_byte(&text, 'a');
    buffer_string(&text, "\r\ndeny /b\n");
    struct job job = parse(text.bytes);
    (void)state;
    assert_int_equal(job.diagnostics.count, 0);
    assert_int_equal(job.file->statements->words.items[0].length, LINE_LONGEST - strlen("deny "));
    assert_string_equal(job.file->statements->next->words.items[0].bytes, "/b");
    arena_destroy(job.arena);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_statement_has_its_tree),  cmocka_unit_test(a_header_names_the_file),
        cmocka_unit_test(spans_are_the_text_as_written), cmocka_unit_test(equal_words_have_one_address),
        cmocka_unit_test(a_line_may_have_64_kib),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
