#include "grammar/comments.h"

enum { INDENT = 4 };

void printer_line(struct printer *printer, uint32_t more)
{
    struct buffer *buffer = printer->buffer;
    if (printer->started)
        buffer_byte(buffer, '\n');
    printer->started = true;
    printer->opened = false;
    printer->line_start = buffer->length;
    buffer_format(buffer, "%*s", (int)((printer->depth + more) * INDENT), "");
}

void printer_read(struct printer *printer, struct span span)
{
    if (printer->source != NULL && span.end > printer->cursor)
        printer->cursor = span.end;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* The length of the comment at `at`, without its line end and the blanks before that. */
static uint32_t comment_length(const struct source *source, uint32_t at)
{
    uint32_t end = at;
    while (end < source->length && source->text[end] != '\n')
        end++;
    while (is_blank(source->text[end - 1]))
        end--;
    return end - at;
}

/* The text between two things that are printed, piece by piece. */
struct gap {
    uint32_t lines;    /* line ends since the last thing that was printed */
    uint32_t comments; /* printed so far */
};

/* Keeps one blank line where the text has some, but not where a file or block starts. */
static void keep_blank_line(struct printer *printer, const struct gap *gap)
{
    if (gap->lines > 1 && printer->started && !printer->opened)
        buffer_byte(printer->buffer, '\n');
}

static void comment_print(struct printer *printer, struct gap *gap, uint32_t more)
{
    uint32_t length = comment_length(printer->source, printer->cursor);
    if (gap->lines == 0 && printer->started) {
        buffer_string(printer->buffer, "  ");
    } else {
        if (more == 0)
            keep_blank_line(printer, gap);
        printer_line(printer, more);
    }
    buffer_bytes(printer->buffer, printer->source->text + printer->cursor, length);
    printer->cursor += length;
    gap->lines = 0;
    gap->comments++;
}

/* Prints the comments from the cursor up to `end`, or up to the first word or brace. */
static struct gap gap_print(struct printer *printer, uint32_t end, uint32_t more)
{
    struct gap gap = {0};
    while (printer->cursor < end) {
        char c = printer->source->text[printer->cursor];
        if (c == '#') {
            comment_print(printer, &gap, more);
            continue;
        }
        if (!is_blank(c) && c != '\n' && c != ',')
            break;
        gap.lines += c == '\n';
        printer->cursor++;
    }
    return gap;
}

void comments_before(struct printer *printer, uint32_t start)
{
    if (printer->source != NULL) {
        struct gap gap = gap_print(printer, start, 0);
        keep_blank_line(printer, &gap);
    }
    printer_line(printer, 0);
}

void comments_before_brace(struct printer *printer, uint32_t depth)
{
    printer->depth = depth + 1;
    if (printer->source != NULL) {
        gap_print(printer, printer->source->length, 0);
        printer->cursor++; /* the brace */
    }
    printer->depth = depth;
    printer_line(printer, 0);
}

static void skip_word(struct printer *printer)
{
    const struct source *source = printer->source;
    while (printer->cursor < source->length && is_blank(source->text[printer->cursor]))
        printer->cursor++;
    while (printer->cursor < source->length && source->text[printer->cursor] != '\n' &&
           !is_blank(source->text[printer->cursor]))
        printer->cursor++;
}

void comments_before_header(struct printer *printer, uint32_t words)
{
    comments_before(printer, printer->source == NULL ? 0 : printer->source->length);
    for (; words > 0 && printer->source != NULL; words--)
        skip_word(printer);
}

void comments_at_end(struct printer *printer)
{
    if (printer->source != NULL)
        gap_print(printer, printer->source->length, 0);
    buffer_byte(printer->buffer, '\n');
}

bool comments_in_list(struct printer *printer, uint32_t start)
{
    if (printer->source == NULL || gap_print(printer, start, 1).comments == 0)
        return false;
    printer_line(printer, 1);
    return true;
}
