/* Every rule of the text and the grammar has a text that breaks it. The place of each expected diagnostic
 * is marked in the text itself: `deny <005|,>` means SBX005 with just the comma as its span. */
#include "grammar/syntax.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MARKS_MOST = 8 };

struct mark {
    unsigned code;
    uint32_t start, end;
};

/* A text without its marks, and the marks. */
struct marked {
    struct buffer text;
    struct mark marks[MARKS_MOST];
    uint32_t count;
};

static struct marked read_marks(struct arena *arena, const char *text, size_t length)
{
    struct marked marked = {.text = buffer_in(arena)};
    buffer_string(&marked.text, "");
    for (size_t i = 0; i < length; i++) {
        struct mark *mark = &marked.marks[marked.count];
        if (text[i] == '<' && i + 4 < length && text[i + 4] == '|') {
            assert_true(marked.count < MARKS_MOST);
            *mark = (struct mark){(unsigned)strtoul(text + i + 1, NULL, 10), (uint32_t)marked.text.length, 0};
            i += 4;
        } else if (text[i] == '>') {
            mark->end = (uint32_t)marked.text.length;
            marked.count++;
        } else {
            buffer_byte(&marked.text, text[i]);
        }
    }
    return marked;
}

static struct diagnostic_list diagnose(struct arena *arena, const char *text, size_t length,
                                       struct syntax_file **file)
{
    struct source_list sources = {.arena = arena};
    struct diagnostic_list diagnostics = diagnostic_list_in(arena);
    uint32_t source = source_add(&sources, "t.sbx", text, (uint32_t)length);
    *file = syntax_parse(arena, intern_create(arena, 0), &sources, source, &diagnostics);
    return diagnostics;
}

static bool is_marked(const struct marked *marked, const struct diagnostic *diagnostic)
{
    for (uint32_t i = 0; i < marked->count; i++) {
        const struct mark *mark = &marked->marks[i];
        if (mark->code == (unsigned)diagnostic->code && mark->start == diagnostic->at.start &&
            mark->end == diagnostic->at.end)
            return true;
    }
    return false;
}

/* Says on standard error what differs, so that one run shows all that do. */
static bool matches_marks(const char *text, size_t length)
{
    struct arena *arena = arena_create(0);
    struct marked marked = read_marks(arena, text, length);
    struct syntax_file *file;
    struct diagnostic_list found = diagnose(arena, marked.text.bytes, marked.text.length, &file);
    bool good = true;
    for (uint32_t i = 0; i < found.count; i++) {
        const struct diagnostic *item = &found.items[i];
        assert_int_equal(item->severity, SEVERITY_ERROR);
        if (is_marked(&marked, item))
            continue;
        print_error("%s\nnot expected: SBX%03u at %u to %u: %s\n", text, (unsigned)item->code, item->at.start,
                    item->at.end, item->text);
        good = false;
    }
    if (found.count != marked.count)
        print_error("%s\n%u diagnostics, expected %u\n", text, found.count, marked.count);
    good &= found.count == marked.count;
    arena_destroy(arena);
    return good;
}

/* Each is a file of its own after the header. */
static const char *const bodies[] = {
    /* the first word */
    "<001|grnt> read /a",
    "<001|read> /a",
    "<001|/home/me>",
    "<001|=> /a",
    "<008|\"grant\"> read /a",
    "<001|gr\\-ant> read /a",
    "<006|,> /a",
    "<016|{>\n}",
    "deny /a\n<001|grnt> /b\ndeny /c\n<001|lett> X = /d",

    /* classes and keywords */
    "grant <002|raed> /a",
    "grant <002|/a>",
    "grant <008|\"read\"> /a",
    "grant <002|exec> /a",
    "auto <011|deny> /a",
    "auto grant <002|exec> /a",
    "limit <002|procesess> to 5",
    "limit processes <011|512>",
    "limit read <011|/a>",
    "limit <002|listen> to any",
    "permit <011|scratch>",
    "set <011|environment> A = \"b\"",
    "expect <002|grant> read /a",
    "expect allow <002|reed> /a",
    "expect allow <002|network> a.example:80",
    "grant network <002|a.example>",
    "deny network <008|\"any\">",
    "grant listen <002|lan>",
    "accept fs.deny <002|in> bwrap because \"a\"",
    "accept fs.deny on bwrap <011|as> \"a\"",
    "when <002|linux> {\n}",
    "use <002|except> /a",

    /* too early an end */
    "grant<003|>",
    "grant read<003|>",
    "deny<003|>  # comment",
    "deny write<003|>",
    "deny /a except<003|>",
    "use<003|>",
    "let<003|>",
    "let A =<003|>",
    "set env A =<003|>",
    "grant network host<003|>",
    "grant network any port<003|>",
    "limit read to<003|>",
    "limit memory to<003|>",
    "permit<003|>",
    "accept fs.deny on bwrap<003|>",
    "accept fs.deny on bwrap because<003|>",
    "accept fs.deny<003|>",
    "expect allow read<003|>",
    "when os<003|>\n}",

    /* lists */
    "grant read /a <004|/b>",
    "grant read /a/my <004|file>",
    "deny <002|read> /a",
    "deny /a <002|excpet> /b",
    "grant network any <002|prt> 80",
    "deny /a<005|,>",
    "deny /a<005|,>\n\n# end\n",
    "when os linux {\ndeny /a<005|,>\n}",
    "deny /a<005|,>\ndeny /b",
    "grant network any<005|,>\nlet A = /b",
    "deny /a,<006|,> /b",
    "deny <006|,>/a",
    "grant read<006|,> write /a",
    "grant read /a <013|except> /b",
    "deny socket /a <013|except> /b",
    "grant scratch <012|/tmp>",
    "permit bypass <012|now>",
    "limit processes to 5 <012|6>",
    "grant network any tcp <012|udp>",
    "grant network host a port 80, <002|host> b",
    "set env A = \"b\" <012|\"c\">",

    /* quotes, =, nothing */
    "set env A = <007|b>",
    "set env A = <007|'b'>",
    "accept fs.deny on bwrap because <007|known>",
    "accept SBX201 because <007|known>",
    "grant network any port <008|\"80\">",
    "limit memory to <008|\"4GiB\">",
    "let A <009|/b>",
    "let A=/b<009|>",
    "set env A<009|>",
    "set env A=b<009|>",
    "set env A <009|\"b\">",
    "deny <010|=>",
    "let A = /a, <010|=>",
    "grant env A <010|=> \"b\"",
    "limit env to nothing<014|,> CI",
    "limit env to CI, <014|nothing>",
    "limit service to gpu, <014|nothing>",
    "limit read to nothing<014|,> /a",
    "limit network to nothing<014|,> any",

    /* blocks */
    "when os linux<015|>\n}",
    "when os linux<015|>\n{\n}",
    "when os linux <004|grant> read /a\n}",
    "when os linux { <016|grant> read /a }",
    "when os linux { <016|{>\n}",
    "grant read /a <016|{>\n}",
    "when os linux<060|{>\ngrant read /a\n}",
    "when <003|{>\n}",
    "when os <003|{>\n}",
    "when os linux<005|,> {\n}",
    "<017|}>",
    "when os linux {\n}\n<017|}>",
    "grant read /a <018|}>",
    "when os linux {\ngrant read /a <018|}>",
    "when os linux {\n} <018|else>\ndeny /a",
    "<019|when os> linux {\ndeny /a",
    "<019|when os> linux {\n<019|when command> git {\n",
    "when os linux {\n<020|when os> macos {\n}\n}",
    "when os linux {\nwhen command git {\n<020|when os> linux {\n}\n}\n}",
    "when command a {\n<020|when command> b {\n}\n}",
    "when os <022|osx> {\n}",
    "when os linux, <022|darwin>, <022|\"Linux\"> {\n}",

    /* the header's words again */
    "<034|sbx> 1",
    "<034|policy> \"again\"",
    "when os linux {\n<034|preset> \"p\"\n}",

    /* numbers */
    "limit processes to <040|0>",
    "limit processes to <040|007>",
    "limit processes to <040|-1>",
    "limit processes to <040|+1>",
    "limit files to <040|1k>",
    "limit files to <040|1000000000000000>",
    "limit files to <040|\\x31>",
    "grant network any port <041|0>",
    "grant network any port <041|080>",
    "grant network any port <041|65536>",
    "grant network any port <041|80-70>",
    "grant network any port <041|80->",
    "grant network any port <041|-80>",
    "grant network any port <041|1-2-3>",
    "grant network any port <041|http>",
    "grant network any port 80, <041|x>",
    "limit memory to <042|4>",
    "limit memory to <042|4GB>",
    "limit memory to <042|0MiB>",
    "limit memory to <042|4gib>",
    "limit memory to <042|999999999999999GiB>",
    "limit memory to <042|4> GiB",
    "limit time to <043|90>",
    "limit time to <043|90d>",
    "limit time to <043|h>",
    "limit time to <043|999999999999999999999s>",

    /* names */
    "let <044|$A> = /a",
    "let <044|1A> = /a",
    "let <044|A-B> = /a",
    "let <044|\"A\"> = /a",
    "set env <044|A.B> = \"b\"",
    "set env <044|\xC3\xA4> = \"b\"",
    "use dev",
    "use <045|./team.sbx>",
    "use <045|$WORK/team>",
    "use <045|std/>",
    "use <045|std//dev>",
    "use <045|team/a.sbx>",
    "accept <046|fs.deny> because \"a\"",
    "accept <046|SBX12> because \"a\"",
    "accept <046|\"SBX201\"> because \"a\"",

    /* signs in words */
    "deny /a<060|#>b",
    "deny /a<060|\">b\"",
    "deny /a<060|{>b}",
    "deny /a<060|}>",
    "deny <060|{>a",
    "deny /a, /b<060|#>",
    "deny /a\\\\<060|#>",

    /* escapes */
    "deny /a<061|\\q>",
    "deny C:<061|\\U>sers<061|\\m>e",
    "deny \"/a<061|\\n>\"",
    "deny /a<061|\\>",
    "deny /a<061|\\>\ndeny /b",
    "deny /a<061|\\>\r\ndeny /b",
    "deny <061|\\>",
    "deny /a<061|\\x>",
    "deny /a<061|\\x>4",
    "deny /a<061|\\x>4g",
    "deny /a<061|\\X>41",
    "deny /a<061|\\\xC3\xA9>",
    "deny /a<062|\\x00>b",
    "deny /a<062|\\x2f>b",
    "deny \"/a<062|\\x2F>b\"",

    /* quoted words */
    "deny <063|\"/a>",
    "deny <063|\"/a\\\">",
    "deny <063|\">",
    "deny \"/a\"<064|b>",
    "deny \"/a\"<064|#b>",
    "deny \"/a\"<064|\"/b\">",
    "deny \"/a\"<064|/b>, /c",

    /* characters */
    "deny /a<065|\x01>b",
    "deny \"/a<065|\x7F>\"",
    "deny <065|\x0B>",
    "deny /a<065|\xC2\x85>",
    "deny /a # <065|\x1B>[0m",
    "# <065|\x08><065|\x08>",
    "deny /a<066|\xFF\xFE>",
    "deny /a<066|\xC3>",
    "deny \"/<066|\xC0\xAF>\"",
    "deny /<066|\xED\xA0\x80>",
    "deny /<066|\xF4\x90\x80\x80>",
    "# caf<066|\xE9>",
    "deny /a<067|\r>",
    "deny /a <067|\r>/b\n<001|grnt>",

    /* several in one statement */
    "<001|grnt> read /a<061|\\q> # <065|\x01>",
    "deny /a<061|\\q>, /b<060|#>c, <063|\"/d>",
};

static void every_rule_has_a_text_that_breaks_it(void **state)
{
    bool good = true;
    (void)state;
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        struct arena *arena = arena_create(0);
        const char *text = arena_format(arena, "sbx 1\npolicy \"t\"\n%s", bodies[i]);
        good &= matches_marks(text, strlen(text));
        arena_destroy(arena);
    }
    assert_true(good);
}

static const char *const files[] = {
    "<030|>",
    "\n# nothing\n<030|>",
    "<030|grant read> /a",
    "<030|policy> \"t\"\ngrant read /a",
    "<030|grant read> /a\n<034|sbx> 1\n<034|policy> \"t\"",
    "<001|sxb> 1\npolicy \"t\"",
    "<008|\"sbx\"> 1\npolicy \"t\"",
    "sbx<003|>\npolicy \"t\"",
    "sbx <031|2>\npolicy \"t\"\nforbid everything",
    "sbx <031|01>\npolicy \"t\"",
    "sbx <031|one>\npolicy \"t\"\n<001|forbid> everything",
    "sbx <008|\"1\">\npolicy \"t\"",
    "sbx 1 <012|policy> \"t\"\n<032|>",
    "sbx 1\n<032|>",
    "sbx 1\n<032|grant read> /a",
    "sbx 1\n<032|grant read> /a\n<034|policy> \"t\"",
    "sbx 1\n<034|sbx> 1\npolicy \"t\"",
    "sbx 1\npolicy <007|t>",
    "sbx 1\npolicy<003|>",
    "sbx 1\npolicy <033|\"\">",
    "sbx 1\npolicy <033|\"-t\">",
    "sbx 1\npolicy <033|\"a/b\">",
    "sbx 1\npolicy \"a<065|\t>b\"",
    "sbx 1\npolicy <033|\"\xC3\xA9\">",
    "sbx 1\npolicy <033|\"01234567890123456789012345678901234567890123456789012345678901234\">",
    "sbx 1\npolicy \"t\" <012|\"u\">",
    "sbx 1\npolicy \"t\"\n<001|\xEF\xBB\xBFgrant> read /a",
};

static void every_rule_of_the_header_has_a_file_that_breaks_it(void **state)
{
    bool good = true;
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        good &= matches_marks(files[i], strlen(files[i]));
    assert_true(good);
}

static void a_nul_byte_is_a_control_character(void **state)
{
    static const char text[] = "sbx 1\npolicy \"t\"\ndeny /a<065|\0>b\n# <065|\0>\n<065|\0>\n\"<065|\0>\"";
    (void)state;
    assert_true(matches_marks(text, sizeof text - 1));
}

static const struct {
    const char *body, *help;
} helps[] = {
    {"grnt read /a", "did you mean `grant`? write grant read /a"},
    {"  grant raed /a  # why", "did you mean `read`? write grant read /a  # why"},
    {"set env A = b", "write set env A = \"b\""},
    {"set env A = 'b'", "write set env A = \"b\""},
    {"set env A=b", "write set env A = \"b\""},
    {"let A=/b", "write let A = /b"},
    {"deny /a#b", "write deny \"/a#b\""},
    {"deny /a\"b\\c", "write deny \"/a\\\"b\\c\""},
    {"deny /a /b", "write deny /a, /b"},
    {"deny read /a", "write deny /a"},
    {"read /a", "write grant read /a"},
    {"limit processes 512", "write limit processes to 512"},
    {"when os linux", "write when os linux {"},
    {"when os linux{\n}", "write when os linux {"},
    {"when os osx {\n}", NULL},
    {"when os macosx {\n}", "write when os macos {"},
    {"grant network a.example", "write grant network host a.example"},
    {"grant network 192.0.2.1", "write grant network address 192.0.2.1"},
    {"grant network any port \"80\"", "write grant network any port 80"},
    {"use team.sbx", "write use \"team.sbx\""},
    {"allow read /a", "did you mean `grant`? write grant read /a"},
    {"env CI", "write grant env CI"},
    {"auto read /a", "write auto grant read /a"},
    {"auto deny /a", "only grants can be automatic: a deny always holds"},
    {"grant exec /a", "what may be read may be executed: `grant read` is enough"},
    {"grant read, write /a", "what may be written may be read: `grant write PATH` grants both"},
    {"permit read /a", "`permit` only takes `bypass`; to open something, write `grant`"},
    {"set A = \"b\"", "write set env A = \"b\""},
    {"when linux {\n}", "write when os linux {"},
    {"grant network host a.example 443", "write grant network host a.example port 443"},
    {"grant network host a.example b.example", "write grant network host a.example, host b.example"},
    {"grant network any port 80 - 90", "a range is one word, such as 3000-3010"},
    {"deny /a excpet /b", "did you mean `except`? write deny /a except /b"},
    {"deny /a except /b except /c", "write deny /a except /b, /c"},
    {"deny /a except /b, except /c", "write deny /a except /b, /c"},
    {"deny env A except B", "name what is meant without the exception, one by one"},
    {"grant read /a except /b",
     "a more specific grant needs no exception: the longest path decides between grants"},
    {"auto grant env CI", "only `grant read` and `grant write` can be automatic"},
    {"auto grant raed /a", "did you mean `read`? write auto grant read /a"},
    {"auto \"grant\" read /a", "write auto grant read /a"},
    {"accept sbx201 because \"b\"", "a code is SBX, in capitals, and three digits"},
    {"accept mounts because \"b\"", "write accept mounts on bwrap because \"b\""},
};

static void help_is_the_line_to_write_instead(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof helps / sizeof *helps; i++) {
        struct arena *arena = arena_create(0);
        const char *text = arena_format(arena, "sbx 1\npolicy \"t\"\n%s", helps[i].body);
        struct syntax_file *file;
        struct diagnostic_list found = diagnose(arena, text, strlen(text), &file);
        assert_true(found.count >= 1);
        if (helps[i].help == NULL)
            assert_null(found.items[0].help);
        else
            assert_string_equal(found.items[0].help, helps[i].help);
        arena_destroy(arena);
    }
}

static void a_faulty_statement_leaves_no_node(void **state)
{
    static const char text[] = "sbx 1\npolicy \"t\"\ndeny /a\\q\ngrnt\nlet 1A = /a\ndeny /ok\n";
    struct arena *arena = arena_create(0);
    struct syntax_file *file;
    (void)state;
    diagnose(arena, text, strlen(text), &file);
    assert_non_null(file->statements);
    assert_string_equal(file->statements->words.items[0].bytes, "/ok");
    assert_null(file->statements->next);
    arena_destroy(arena);
}

static void a_faulty_when_line_still_opens_its_block(void **state)
{
    static const char *const lines[] = {
        "when os osx {",    "when os linux",     "when os linux{",   "when {",
        "when os linux, {", "when os \"linux {", "when os linux\n{", "whne os linux {",
    };
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct arena *arena = arena_create(0);
        const char *text = arena_format(arena, "sbx 1\npolicy \"t\"\n%s\ndeny /in\n}\ndeny /out\n", lines[i]);
        struct syntax_file *file;
        struct diagnostic_list found = diagnose(arena, text, strlen(text), &file);
        if (found.count != 1)
            fail_msg("%s: %s", lines[i], found.items[1].text);
        assert_int_equal(file->statements->kind, STATEMENT_WHEN);
        assert_true(file->statements->broken);
        assert_string_equal(file->statements->children->words.items[0].bytes, "/in");
        assert_string_equal(file->statements->next->words.items[0].bytes, "/out");
        arena_destroy(arena);
    }
}

static struct diagnostic_list diagnose_repeated(struct arena *arena, const char *line, uint32_t times)
{
    struct buffer text = buffer_in(arena);
    struct syntax_file *file;
    buffer_string(&text, "sbx 1\npolicy \"t\"\n");
    for (uint32_t i = 0; i < times; i++)
        buffer_string(&text, line);
    return diagnose(arena, text.bytes, text.length, &file);
}

static bool has_code(const struct diagnostic_list *list, enum code code)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (list->items[i].code == code)
            return true;
    return false;
}

static void the_number_of_errors_is_bounded(void **state)
{
    struct arena *arena = arena_create(0);
    struct diagnostic_list found = diagnose_repeated(arena, "[\n", 1000000);
    (void)state;
    assert_in_range(found.count, 1000, 5000);
    assert_true(has_code(&found, SBX082_TOO_MANY_ERRORS));
    arena_destroy(arena);
}

static void a_long_line_costs_itself_only(void **state)
{
    struct arena *arena = arena_create(0);
    struct buffer text = buffer_in(arena);
    struct syntax_file *file;
    buffer_string(&text, "sbx 1\npolicy \"t\"\n");
    uint32_t start = (uint32_t)text.length;
    for (uint32_t i = 0; i < 10 * 1024 * 1024; i++)
        buffer_byte(&text, '[');
    uint32_t end = (uint32_t)text.length;
    buffer_string(&text, "\ngrnt\ndeny /b\n");
    struct diagnostic_list found = diagnose(arena, text.bytes, text.length, &file);
    (void)state;
    assert_int_equal(found.count, 2);
    assert_int_equal(found.items[0].code, SBX081_LINE_TOO_LONG);
    assert_int_equal(found.items[0].at.start, start);
    assert_int_equal(found.items[0].at.end, end);
    assert_non_null(strstr(found.items[0].text, "64 KiB"));
    assert_int_equal(found.items[1].at.start, end + 1);
    assert_string_equal(file->statements->words.items[0].bytes, "/b");
    arena_destroy(arena);
}

static void a_first_line_can_be_too_long(void **state)
{
    struct arena *arena = arena_create(0);
    struct syntax_file *file;
    char *text = arena_alloc(arena, LINE_LONGEST + 2);
    (void)state;
    memset(text, 'a', LINE_LONGEST + 1);
    struct diagnostic_list found = diagnose(arena, text, LINE_LONGEST + 1, &file);
    assert_int_equal(found.count, 2);
    assert_int_equal(found.items[0].code, SBX081_LINE_TOO_LONG);
    assert_int_equal(found.items[1].code, SBX030_MISSING_HEADER);
    arena_destroy(arena);
}

static void a_file_beyond_64_mib_is_not_read(void **state)
{
    struct arena *arena = arena_create(0);
    struct syntax_file *file;
    struct diagnostic_list found = diagnose(arena, "sbx 1\n", SOURCE_LARGEST + 1u, &file);
    (void)state;
    assert_int_equal(found.count, 1);
    assert_int_equal(found.items[0].code, SBX080_FILE_TOO_LARGE);
    assert_non_null(strstr(found.items[0].text, "64 MiB"));
    assert_false(file->has_header);
    arena_destroy(arena);
}

static void deep_nesting_is_an_error_and_no_crash(void **state)
{
    struct arena *arena = arena_create(0);
    struct diagnostic_list found = diagnose_repeated(arena, "when os linux {\n", 100000);
    (void)state;
    assert_in_range(found.count, 1, 40);
    assert_true(has_code(&found, SBX021_NESTED_TOO_DEEP));
    arena_destroy(arena);
}

static void every_code_has_a_page_with_an_example(void **state)
{
    uint32_t count;
    const struct code_page *pages = code_pages(&count);
    (void)state;
    for (uint32_t i = 0; i < count && pages[i].code < 100; i++) {
        assert_true(strlen(pages[i].title) > 0);
        assert_non_null(strstr(pages[i].help, "\n    "));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_rule_has_a_text_that_breaks_it),
        cmocka_unit_test(every_rule_of_the_header_has_a_file_that_breaks_it),
        cmocka_unit_test(a_nul_byte_is_a_control_character),
        cmocka_unit_test(help_is_the_line_to_write_instead),
        cmocka_unit_test(a_faulty_statement_leaves_no_node),
        cmocka_unit_test(a_faulty_when_line_still_opens_its_block),
        cmocka_unit_test(the_number_of_errors_is_bounded),
        cmocka_unit_test(a_long_line_costs_itself_only),
        cmocka_unit_test(a_first_line_can_be_too_long),
        cmocka_unit_test(a_file_beyond_64_mib_is_not_read),
        cmocka_unit_test(deep_nesting_is_an_error_and_no_crash),
        cmocka_unit_test(every_code_has_a_page_with_an_example),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
