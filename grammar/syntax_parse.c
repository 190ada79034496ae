#include "base/escape.h"
#include "grammar/build.h"
#include "grammar/lexeme.h"
#include "grammar/sbx.tab.h"

#include <string.h>

struct span span_of(const struct parser *parser, uint32_t start, uint32_t end)
{
    return (struct span){parser->source, start, end};
}

void parser_error_with(struct parser *parser, struct diagnostic diagnostic)
{
    if (parser->stopped)
        return;
    diagnostic_add(parser->diagnostics, diagnostic);
    if (++parser->reported < ERRORS_MOST)
        return;
    parser->stopped = true;
    const char *text =
        arena_format(parser->arena, "this file has %d errors: the rest of it was not read", ERRORS_MOST);
    diagnostic_add(parser->diagnostics,
                   (struct diagnostic){.code = SBX082_TOO_MANY_ERRORS, .at = diagnostic.at, .text = text});
}

void parser_error(struct parser *parser, enum code code, struct span at, const char *text, const char *help)
{
    parser_error_with(parser, (struct diagnostic){.code = code, .at = at, .text = text, .help = help});
}

enum { SHOWN_LONGEST = 60 };

/* What stands at `span`, safe to show, at most about `most` bytes of it. */
static const char *show_some(struct parser *parser, struct span span, uint32_t most)
{
    uint32_t length = span.end - span.start, kept = 0;
    const char *bytes = parser->text + span.start;
    while (kept < length && kept < most) {
        size_t size = utf8_character(bytes + kept, length - kept);
        kept += size == 0 ? 1 : (uint32_t)size;
    }
    /* Backslashes are shown as they were written. */
    struct buffer buffer = buffer_in(parser->arena);
    for (uint32_t i = 0, start = 0; i <= kept; i++) {
        if (i < kept && bytes[i] != '\\')
            continue;
        buffer_string(&buffer, escape_text(parser->arena, bytes + start, i - start));
        if (i < kept)
            buffer_byte(&buffer, '\\');
        start = i + 1;
    }
    if (kept < length)
        buffer_string(&buffer, "...");
    return buffer.bytes;
}

const char *shown(struct parser *parser, struct span span)
{
    return show_some(parser, span, SHOWN_LONGEST);
}

const char *verbatim(struct parser *parser, struct span span)
{
    uint32_t length = span.end - span.start;
    if (length > HELP_LINE_LONGEST)
        return NULL;
    const char *text = show_some(parser, span, HELP_LINE_LONGEST);
    bool same = strlen(text) == length && memcmp(text, parser->text + span.start, length) == 0;
    return same ? text : NULL;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static struct span line_around(const struct parser *parser, struct span span)
{
    uint32_t start = span.start, end = span.end;
    while (start > 0 && parser->text[start - 1] != '\n')
        start--;
    while (end < parser->length && parser->text[end] != '\n' && parser->text[end] != '\r')
        end++;
    while (start < span.start && is_blank(parser->text[start]))
        start++;
    while (end > span.end && is_blank(parser->text[end - 1]))
        end--;
    return span_of(parser, start, end);
}

const char *help_replace(struct parser *parser, struct span span, const char *replacement)
{
    struct span line = line_around(parser, span);
    const char *before = verbatim(parser, span_of(parser, line.start, span.start));
    const char *after = verbatim(parser, span_of(parser, span.end, line.end));
    if (before == NULL || after == NULL)
        return arena_format(parser->arena, "write %s", replacement);
    return arena_format(parser->arena, "write %s%s%s", before, replacement, after);
}

/* Some errors are only known at the end of the file; a person reads them from top to bottom. Few stand far
 * from their place, so moving each to it is fast. */
static void sort_by_place(struct diagnostic_list *list, uint32_t first)
{
    for (uint32_t i = first + 1; i < list->count; i++) {
        struct diagnostic moved = list->items[i];
        uint32_t to = i;
        for (; to > first && list->items[to - 1].at.start > moved.at.start; to--)
            list->items[to] = list->items[to - 1];
        list->items[to] = moved;
    }
}

static bool is_too_large(struct parser *parser)
{
    if (parser->length <= SOURCE_LARGEST)
        return false;
    const char *text =
        arena_format(parser->arena, "this file has %u bytes; a policy file has at most %d (64 MiB)",
                     parser->length, SOURCE_LARGEST);
    parser_error(parser, SBX080_FILE_TOO_LARGE, span_of(parser, 0, 0), text,
                 "move parts of it into presets and `use` them");
    return true;
}

struct syntax_file *syntax_parse(struct arena *arena, struct intern_pool *pool, struct source_list *sources,
                                 uint32_t source, struct diagnostic_list *diagnostics)
{
    struct syntax_file *file = arena_alloc(arena, sizeof *file);
    uint32_t first = diagnostics->count;
    file->source = source;
    struct parser parser = {
        .arena = arena,
        .pool = pool,
        .diagnostics = diagnostics,
        .file = file,
        .text = sources->items[source].text,
        .length = sources->items[source].length,
        .source = source,
        .bytes = buffer_in(arena),
        .literal = buffer_in(arena),
        .end = &file->statements,
    };
    if (is_too_large(&parser))
        return file;
    parser.lexer = lexer_create(&parser);
    lexer_line(&parser);
    sbx_parse(&parser);
    file_end(&parser);
    sort_by_place(diagnostics, first);
    return file;
}
