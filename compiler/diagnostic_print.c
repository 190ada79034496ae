#include "compiler/diagnostic_print.h"

#include "base/escape.h"
#include "compiler/place.h"

#include <string.h>
#include <utf8proc.h>

const struct diagnostic_format diagnostic_formats[] = {
    {"text", diagnostics_print_text},
    {"json", diagnostics_print_json},
    {NULL, NULL},
};

struct printer {
    struct buffer *out;
    struct source_list *sources;
    bool color;
};

static void paint(struct printer *printer, const char *color, const char *text)
{
    if (printer->color)
        buffer_format(printer->out, "\x1b[%sm%s\x1b[0m", color, text);
    else
        buffer_string(printer->out, text);
}

/* --- the source line ------------------------------------------------------------------------------------ */

/* Appends one character of a source line as it may be shown and returns its length; `*columns` is how wide it
 * is. */
static size_t put_character(struct buffer *out, const char *text, size_t left, size_t *columns)
{
    size_t size = utf8_character(text, left);
    if (size == 0)
        size = 1;
    if (*text == '\t' || *text == '\\' || (*text >= ' ' && *text <= '~')) {
        buffer_byte(out, *text);
        *columns = 1;
        return size;
    }
    const char *shown = escape_text(out->arena, text, size);
    buffer_string(out, shown);
    utf8proc_int32_t point = 0;
    bool escaped = *shown == '\\';
    utf8proc_iterate((const utf8proc_uint8_t *)text, (utf8proc_ssize_t)size, &point);
    *columns = escaped ? strlen(shown) : (size_t)utf8proc_charwidth(point);
    return size;
}

enum { LINE_BEFORE = 160, LINE_SHOWN = 320 };

/* Where a long line begins to be shown, so that the span is in view. */
static uint32_t window_start(const struct position *position)
{
    uint32_t start = 0;
    if (position->text_length <= LINE_SHOWN || position->first_byte <= LINE_BEFORE)
        return 0;
    start = position->first_byte - LINE_BEFORE;
    while (start > 0 && (position->text[start] & 0xC0) == 0x80)
        start--;
    return start;
}

/* Two lines: the text, and below it a caret under the span; a tab stands under a tab, so that both lines
 * agree. */
static void put_line(struct printer *printer, const struct position *position)
{
    struct buffer carets = buffer_in(printer->out->arena);
    uint32_t start = window_start(position), end = position->text_length;
    if (end - start > LINE_SHOWN)
        end = start + LINE_SHOWN;
    buffer_format(printer->out, "%4u | %s", position->line, start > 0 ? "..." : "");
    buffer_string(&carets, start > 0 ? "   " : "");
    bool inside = false;
    for (uint32_t at = start; at < end;) {
        size_t columns = 0;
        bool marked = at >= position->first_byte && at < position->last_byte;
        char below = position->text[at] == '\t' ? '\t' : ' ';
        at +=
            (uint32_t)put_character(printer->out, position->text + at, position->text_length - at, &columns);
        if (at > position->last_byte && !marked)
            continue;
        for (size_t i = 0; i < columns; i++) {
            buffer_byte(&carets, !marked ? below : inside ? '~' : '^');
            inside = inside || marked;
        }
    }
    if (!inside)
        buffer_byte(&carets, '^'); /* behind the last character */
    buffer_format(printer->out, "%s\n     | ", end < position->text_length ? "..." : "");
    paint(printer, "1;32", carets.bytes);
    buffer_byte(printer->out, '\n');
}

/* --- one diagnostic ------------------------------------------------------------------------------------- */

static const char *const severity_words[] = {"note", "warning", "error"};
static const char *const severity_colors[] = {"1;36", "1;35", "1;31"};

static void put_place(struct printer *printer, const char *name, const struct position *position)
{
    const char *place =
        arena_format(printer->out->arena, "%s:%u:%u: ", escape_string(printer->out->arena, name),
                     position->line, position->column);
    paint(printer, "1", place);
}

static void put_more(struct printer *printer, const struct diagnostic *diagnostic)
{
    for (uint32_t i = 0; i < DIAGNOSTIC_MORE && diagnostic->more[i].text != NULL; i++) {
        struct span at = diagnostic->more[i].at;
        if (at.source == SOURCE_NONE)
            continue;
        struct position position = source_position(printer->sources, at);
        put_place(printer, printer->sources->items[at.source].name, &position);
        buffer_format(printer->out, "%s\n", diagnostic->more[i].text);
        put_line(printer, &position);
    }
}

static void put_diagnostic(struct printer *printer, const struct diagnostic *diagnostic)
{
    struct position position = {0};
    bool placed = diagnostic->at.source != SOURCE_NONE;
    if (placed) {
        position = source_position(printer->sources, diagnostic->at);
        put_place(printer, printer->sources->items[diagnostic->at.source].name, &position);
    }
    paint(printer, severity_colors[diagnostic->severity],
          arena_format(printer->out->arena, "%s[SBX%03u]:", severity_words[diagnostic->severity],
                       (unsigned)diagnostic->code));
    buffer_format(printer->out, " %s\n", diagnostic->text);
    if (placed)
        put_line(printer, &position);
    put_more(printer, diagnostic);
    if (diagnostic->help != NULL)
        buffer_format(printer->out, "help: %s\n", diagnostic->help);
}

void diagnostics_print_text(struct buffer *out, struct source_list *sources,
                            const struct diagnostic_list *list, const struct diagnostic_style *style)
{
    struct printer printer = {out, sources, style->color};
    for (uint32_t i = 0; i < list->count; i++)
        if (list->items[i].severity >= style->least)
            put_diagnostic(&printer, &list->items[i]);
}

/* --- notes ---------------------------------------------------------------------------------------------- */

void diagnostic_place(struct diagnostic *diagnostic, struct compilation *compilation,
                      const struct policy *policy, const struct rule *rule)
{
    const struct origin *origin = &rule->origin;
    diagnostic->at = (struct span){.source = SOURCE_NONE};
    if (origin->source >= policy->source_count)
        return;
    uint32_t source = compilation_source(compilation, policy, origin->source);
    if (source != SOURCE_NONE)
        diagnostic->at = place_span(&compilation->sources, source, origin->line, origin->column);
    else
        diagnostic->text =
            arena_format(compilation->arena, "%s:%u: %s",
                         escape_string(compilation->arena, policy->sources[origin->source].name),
                         origin->line, diagnostic->text);
}

void diagnostics_add_notes(struct diagnostic_list *list, struct compilation *compilation,
                           const struct policy *policy, const struct note_list *notes)
{
    for (uint32_t i = 0; i < notes->count; i++) {
        const struct note *note = &notes->items[i];
        struct diagnostic diagnostic = {.code = note->code,
                                        .severity = note->severity,
                                        .at = {.source = SOURCE_NONE},
                                        .text = note->text,
                                        .help = note->help};
        if (note->rule != NULL)
            diagnostic_place(&diagnostic, compilation, policy, note->rule);
        diagnostic_add(list, diagnostic);
    }
}
