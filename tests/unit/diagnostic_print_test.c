/* The text form of diagnostics, byte by byte. */
#include "compiler/diagnostic_print.h"

#include <cmocka.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct row {
    const char *text;
    uint32_t start, end;
    const char *printed;
};

static const struct row rows[] = {
    {"a\nbb cc\n", 5, 7, "f.sbx:2:4: error[SBX104]: wrong\n   2 | bb cc\n     |    ^~\nhelp: do it\n"},
    {"x", 0, 1, "f.sbx:1:1: error[SBX104]: wrong\n   1 | x\n     | ^\nhelp: do it\n"},
    {"\tx\ty z", 3, 4, "f.sbx:1:4: error[SBX104]: wrong\n   1 | \tx\ty z\n     | \t \t^\nhelp: do it\n"},
    {"\xc3\xa4 b", 3, 4, "f.sbx:1:3: error[SBX104]: wrong\n   1 | \xc3\xa4 b\n     |   ^\nhelp: do it\n"},
    {"\xe6\x97\xa5 b", 4, 5,
     "f.sbx:1:3: error[SBX104]: wrong\n   1 | \xe6\x97\xa5 b\n     |    ^\nhelp: do it\n"},
    {"\xe6\x97\xa5", 0, 3, "f.sbx:1:1: error[SBX104]: wrong\n   1 | \xe6\x97\xa5\n     | ^~\nhelp: do it\n"},
    {"a \x1b[1m", 3, 6,
     "f.sbx:1:4: error[SBX104]: wrong\n   1 | a \\x1b[1m\n     |       ^~~\nhelp: do it\n"},
    {"\xff b", 2, 3, "f.sbx:1:3: error[SBX104]: wrong\n   1 | \\xff b\n     |      ^\nhelp: do it\n"},
    {"a\\b c", 4, 5, "f.sbx:1:5: error[SBX104]: wrong\n   1 | a\\b c\n     |     ^\nhelp: do it\n"},
    {"ab", 2, 2, "f.sbx:1:3: error[SBX104]: wrong\n   1 | ab\n     |   ^\nhelp: do it\n"},
    {"ab\r\n", 1, 2, "f.sbx:1:2: error[SBX104]: wrong\n   1 | ab\n     |  ^\nhelp: do it\n"},
};

static const char *print(struct arena *arena, const char *text, uint32_t start, uint32_t end,
                         const struct diagnostic_style *style)
{
    struct source_list sources = {.arena = arena};
    struct diagnostic_list list = diagnostic_list_in(arena);
    struct buffer out = buffer_in(arena);
    source_add(&sources, "f.sbx", text, (uint32_t)strlen(text));
    diagnostic_add(
        &list, (struct diagnostic){
                   .code = SBX104_RELATIVE_PATH, .at = {0, start, end}, .text = "wrong", .help = "do it"});
    buffer_string(&out, "");
    diagnostics_print_text(&out, &sources, &list, style);
    return out.bytes;
}

static void carets_stand_under_their_words(void **state)
{
    (void)state;
    const struct diagnostic_style plain = {false, SEVERITY_NOTE};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena *arena = arena_create(0);
        assert_string_equal(print(arena, rows[i].text, rows[i].start, rows[i].end, &plain), rows[i].printed);
        arena_destroy(arena);
    }
}

static void a_long_line_is_shown_around_its_span(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);
    const struct diagnostic_style plain = {false, SEVERITY_NOTE};
    char text[5001];
    memset(text, 'x', 5000);
    text[5000] = '\0';
    text[3000] = 'Y';
    const char *printed = print(arena, text, 3000, 3001, &plain);
    assert_non_null(strchr(printed, 'Y'));
    assert_true(strlen(printed) < 1000);
    assert_non_null(strstr(printed, "1:3001: "));
    const char *line = strstr(printed, " | ..."), *carets = strstr(line, "\n     | ");
    assert_int_equal(strchr(line, 'Y') - line, strchr(carets, '^') - (carets + 5));
    arena_destroy(arena);
}

static void further_places_and_colors(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);
    struct source_list sources = {.arena = arena};
    struct diagnostic_list list = diagnostic_list_in(arena);
    struct buffer out = buffer_in(arena), colored = buffer_in(arena), quiet = buffer_in(arena);
    const char *text = "let A = /a\nlet A = /b\n";
    source_add(&sources, "f.sbx", text, (uint32_t)strlen(text));
    diagnostic_add(&list, (struct diagnostic){
                              .code = SBX164_EXPECT_LEFT_OUT, .at = {SOURCE_NONE, 0, 0}, .text = "left out"});
    diagnostic_add(&list, (struct diagnostic){.code = SBX115_NAME_TAKEN,
                                              .at = {0, 15, 16},
                                              .more = {{{0, 4, 5}, "first defined here"}},
                                              .text = "$A is defined twice"});
    diagnostics_print_text(&out, &sources, &list, &(struct diagnostic_style){false, SEVERITY_NOTE});
    assert_string_equal(out.bytes,
                        "note[SBX164]: left out\n"
                        "f.sbx:2:5: error[SBX115]: $A is defined twice\n   2 | let A = /b\n     |     ^\n"
                        "f.sbx:1:5: first defined here\n   1 | let A = /a\n     |     ^\n");
    diagnostics_print_text(&quiet, &sources, &list, &(struct diagnostic_style){false, SEVERITY_ERROR});
    assert_null(strstr(quiet.bytes, "left out"));
    diagnostics_print_text(&colored, &sources, &list, &(struct diagnostic_style){true, SEVERITY_NOTE});
    assert_non_null(strstr(colored.bytes, "\x1b[1;31merror[SBX115]:\x1b[0m"));
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(carets_stand_under_their_words),
        cmocka_unit_test(a_long_line_is_shown_around_its_span),
        cmocka_unit_test(further_places_and_colors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
