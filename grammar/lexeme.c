#include "grammar/lexeme.h"

#include "base/escape.h"
#include "grammar/sbx.tab.h"

#include <string.h>

size_t lexer_feed(struct parser *parser, char *bytes, size_t most)
{
    size_t rest = parser->length - parser->fed, count = rest < most ? rest : most;
    memcpy(bytes, parser->text + parser->fed, count);
    parser->fed += (uint32_t)count;
    return count;
}

/* Where the line that starts at `start` ends, without its line end. */
static uint32_t line_end(const struct parser *parser, uint32_t start)
{
    const char *feed = memchr(parser->text + start, '\n', parser->length - start);
    uint32_t end = feed == NULL ? parser->length : (uint32_t)(feed - parser->text);
    return feed != NULL && end > start && feed[-1] == '\r' ? end - 1 : end;
}

void lexer_line(struct parser *parser)
{
    uint32_t start = parser->offset, end = line_end(parser, start);
    while (end - start > LINE_LONGEST) {
        const char *text =
            arena_format(parser->arena, "this line has %u bytes; a line has at most %d (64 KiB)", end - start,
                         LINE_LONGEST);
        parser_error(parser, SBX081_LINE_TOO_LONG, span_of(parser, start, end), text,
                     "break the list after a comma: it goes on with the next line");
        const char *feed = memchr(parser->text + end, '\n', parser->length - end);
        start = feed == NULL ? parser->length : (uint32_t)(feed - parser->text) + 1;
        parser->offset = parser->fed = start;
        lexer_discard(parser);
        end = line_end(parser, start);
    }
}

bool word_is_faulty(const struct word *word)
{
    return word->length == 0 && !word->quoted;
}

bool byte_is_sign(char byte)
{
    return byte != '\0' && strchr("~$*?[]!-^:\\", byte) != NULL;
}

static struct word faulty_word(struct parser *parser)
{
    parser->row.faulty = true;
    return (struct word){.span = span_of(parser, parser->start, parser->offset), .bytes = ""};
}

struct word lexeme_plain(struct parser *parser)
{
    uint32_t length = parser->offset - parser->start;
    return (struct word){
        .span = span_of(parser, parser->start, parser->offset),
        .bytes = intern(parser->pool, parser->text + parser->start, length),
        .length = length,
    };
}

struct word lexeme_plain_quoted(struct parser *parser)
{
    uint32_t length = parser->offset - parser->start - 2;
    return (struct word){
        .span = span_of(parser, parser->start, parser->offset),
        .bytes = intern(parser->pool, parser->text + parser->start + 1, length),
        .length = length,
        .quoted = true,
    };
}

struct word lexeme_carriage_return(struct parser *parser)
{
    parser_error(parser, SBX067_LONE_CARRIAGE_RETURN, span_of(parser, parser->start, parser->offset),
                 "a carriage return without a line feed is a control character",
                 "end lines with a line feed, or with carriage return and line feed");
    return faulty_word(parser);
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static bool is_punctuation(char c)
{
    return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') ||
           (c >= '{' && c <= '~');
}

static void add_byte(struct parser *parser, char byte, bool escaped)
{
    buffer_byte(&parser->bytes, byte);
    buffer_byte(&parser->literal, escaped && byte_is_sign(byte));
}

static const char *escape_fault(struct parser *parser, uint32_t at, uint32_t end)
{
    if (at + 1 >= end)
        return "a `\\` at the line's end escapes nothing";
    if (parser->text[at + 1] == 'x')
        return "`\\x` needs two hexadecimal digits, as in `\\x0a`";
    return arena_format(parser->arena,
                        "`\\` cannot stand before `%s`: only before punctuation, a blank or xHH",
                        shown(parser, span_of(parser, at + 1, at + 2)));
}

/* Length of the control character at the start of `text`, or 0 if there is none. */
static uint32_t control_character(const char *text, size_t left)
{
    unsigned char byte = (unsigned char)text[0];
    if (byte < 0x20 || byte == 0x7F)
        return 1;
    bool c1 = byte == 0xC2 && left >= 2 && (unsigned char)text[1] >= 0x80 && (unsigned char)text[1] <= 0x9F;
    return c1 ? 2 : 0;
}

static const char *hex_spelling(struct parser *parser, uint32_t start, uint32_t end)
{
    struct buffer buffer = buffer_in(parser->arena);
    for (uint32_t i = start; i < end; i++)
        buffer_format(&buffer, "\\x%02x", (unsigned)(unsigned char)parser->text[i]);
    return buffer.bytes;
}

/* Reports the control character or the bytes that are no UTF-8 at `at`; returns where the text goes on, or
 * `at` if nothing is wrong there. */
static uint32_t report_unprintable(struct parser *parser, uint32_t at, uint32_t end)
{
    const char *text = parser->text + at;
    uint32_t next = at + control_character(text, end - at);
    if (next > at) {
        const char *spelling = hex_spelling(parser, at, next);
        const char *help =
            *text == '\0' ? NULL : arena_format(parser->arena, "in a path, write `%s`", spelling);
        parser_error(
            parser, SBX065_CONTROL_CHARACTER, span_of(parser, at, next),
            arena_format(parser->arena, "the control character %s may not stand in a policy", spelling),
            help);
        return next;
    }
    while (next < end && utf8_character(parser->text + next, end - next) == 0)
        next++;
    if (next > at) {
        uint32_t few = next - at > 4 ? at + 4 : next;
        const char *spelling = hex_spelling(parser, at, few);
        parser_error(parser, SBX066_INVALID_UTF8, span_of(parser, at, next), "these bytes are not UTF-8",
                     arena_format(parser->arena,
                                  "save the file as UTF-8; in a path, write such bytes as `%s%s`", spelling,
                                  few < next ? "..." : ""));
    }
    return next;
}

/* Reads the escape at `at`; returns where the text goes on. */
static uint32_t read_escape(struct parser *parser, uint32_t at, uint32_t end)
{
    const char *text = parser->text + at;
    uint32_t left = end - at;
    if (left >= 2 && (is_punctuation(text[1]) || text[1] == ' ')) {
        add_byte(parser, text[1], true);
        return at + 2;
    }
    if (left >= 4 && text[1] == 'x' && hex_digit(text[2]) >= 0 && hex_digit(text[3]) >= 0) {
        char byte = (char)(hex_digit(text[2]) * 16 + hex_digit(text[3]));
        if (byte == '\0' || byte == '/') {
            parser_error(parser, SBX062_FORBIDDEN_BYTE, span_of(parser, at, at + 4),
                         byte == '/' ? "`\\x2f` is not allowed: a `/` always separates"
                                     : "`\\x00` is not allowed",
                         byte == '/' ? "write / itself" : NULL);
            parser->row.faulty = true;
        }
        add_byte(parser, byte, true);
        return at + 4;
    }
    if (left >= 2 && text[1] == '\t') {
        report_unprintable(parser, at + 1, end);
        parser->row.faulty = true;
        return at + 2;
    }
    size_t size = left >= 2 ? utf8_character(text + 1, left - 1) : 0;
    uint32_t next = left < 2 ? end : at + 1 + (size == 0 ? 1 : (uint32_t)size);
    parser_error(parser, SBX061_BAD_ESCAPE, span_of(parser, at, next), escape_fault(parser, at, end),
                 "a path is written with / on every system; a backslash itself is `\\\\`");
    parser->row.faulty = true;
    return next;
}

/* Where the character that starts at `at` ends; nothing is wrong with it. */
static uint32_t after_character(const struct parser *parser, uint32_t at, uint32_t end)
{
    return at + (uint32_t)utf8_character(parser->text + at, end - at);
}

/* Unescapes [at, end) into the scratch buffers and reports what is wrong in it. */
static void read_text(struct parser *parser, uint32_t at, uint32_t end)
{
    parser->bytes.length = parser->literal.length = 0;
    while (at < end) {
        if (parser->text[at] == '\\') {
            at = read_escape(parser, at, end);
            continue;
        }
        uint32_t next = report_unprintable(parser, at, end);
        if (next > at) {
            parser->row.faulty = true;
            at = next;
            continue;
        }
        for (next = after_character(parser, at, end); at < next; at++)
            add_byte(parser, parser->text[at], false);
    }
}

static struct word word_read(struct parser *parser, uint32_t start, uint32_t end, bool quoted)
{
    uint32_t before = parser->diagnostics->errors;
    read_text(parser, start, end);
    if (parser->diagnostics->errors != before || parser->stopped)
        return faulty_word(parser);
    uint32_t length = (uint32_t)parser->bytes.length;
    struct word word = {
        .span = span_of(parser, parser->start, parser->offset), .length = length, .quoted = quoted};
    word.bytes = intern(parser->pool, length == 0 ? "" : parser->bytes.bytes, length);
    if (length > 0 && memchr(parser->literal.bytes, 1, length) != NULL) {
        bool *literal = arena_array(parser->arena, length, sizeof *literal);
        memcpy(literal, parser->literal.bytes, length);
        word.literal = literal;
    }
    return word;
}

/* The first `#`, `"`, `{` or `}` in a bare word that no backslash makes a plain character; `end` if there
 * is none. */
static uint32_t find_sign(const struct parser *parser, uint32_t at, uint32_t end)
{
    for (; at < end; at++) {
        if (parser->text[at] == '\\')
            at++;
        else if (strchr("#\"{}", parser->text[at]) != NULL && parser->text[at] != '\0')
            return at;
    }
    return end;
}

/* `word` between quotes; a quote in it gets a backslash. */
static const char *quoted_spelling(struct parser *parser, const char *word)
{
    struct buffer buffer = buffer_in(parser->arena);
    buffer_byte(&buffer, '"');
    for (; *word != '\0'; word++) {
        if (*word == '\\' && word[1] != '\0')
            buffer_byte(&buffer, *word++);
        else if (*word == '"')
            buffer_byte(&buffer, '\\');
        buffer_byte(&buffer, *word);
    }
    buffer_byte(&buffer, '"');
    return buffer.bytes;
}

/* `${NAME}` at the start of a word, as shells write it: the word without the braces; else NULL. */
static const char *unbraced(struct parser *parser, const char *word)
{
    const char *close = strchr(word, '}');
    if (strncmp(word, "${", 2) != 0 || close == NULL || strpbrk(close + 1, "#\"{}") != NULL)
        return NULL;
    return arena_format(parser->arena, "$%.*s%s", (int)(close - word - 2), word + 2, close + 1);
}

/* `NAME="VALUE"` in one piece behind `set env`: its parts; else NULL. */
static const char *set_apart(struct parser *parser, const char *word)
{
    const char *quote = strstr(word, "=\"");
    size_t length = strlen(word);
    if (parser->row.first != TOKEN_SET || quote == NULL || word[length - 1] != '"' ||
        quote + 2 == word + length)
        return NULL;
    return arena_format(parser->arena, "%.*s = %s", (int)(quote - word), word, quote + 1);
}

/* Help for a sign at `at`, the last byte of the lexeme if `brace`. */
static const char *sign_help(struct parser *parser, uint32_t at, bool brace)
{
    struct span lexeme = span_of(parser, parser->start, parser->offset);
    const char *word = verbatim(parser, brace ? span_of(parser, parser->start, at) : lexeme);
    if (word == NULL)
        return "put the whole word between quotes; a quote inside is written \\\"";
    if (brace)
        return help_replace(parser, lexeme, arena_format(parser->arena, "%s {", word));
    if (parser->row.first == TOKEN_WHEN && strncmp(word, "{", 1) == 0)
        return "a block opens with { at its line's end and closes with } on a line of its own";
    const char *plain = unbraced(parser, word), *parts = set_apart(parser, word);
    return help_replace(parser, lexeme,
                        plain != NULL   ? plain
                        : parts != NULL ? parts
                                        : quoted_spelling(parser, word));
}

static void report_sign(struct parser *parser, uint32_t at)
{
    bool brace = parser->row.first == TOKEN_WHEN && at + 1 == parser->offset && parser->text[at] == '{';
    const char *text =
        arena_format(parser->arena, "`%c` inside a word needs quotes around the word%s", parser->text[at],
                     brace ? "; to open a block it needs a blank before it" : "");
    parser_error(parser, SBX060_SIGN_IN_WORD, span_of(parser, at, at + 1), text,
                 sign_help(parser, at, brace));
    parser->row.opens |= brace;
}

struct word lexeme_rough(struct parser *parser)
{
    uint32_t sign = find_sign(parser, parser->start, parser->offset);
    if (sign < parser->offset) {
        report_sign(parser, sign);
        read_text(parser, parser->start, parser->offset);
        return faulty_word(parser);
    }
    return word_read(parser, parser->start, parser->offset, false);
}

/* The quote that ends the word which starts with a quote at `start`; `end` if there is none. */
static uint32_t find_quote(const struct parser *parser, uint32_t start, uint32_t end)
{
    for (uint32_t at = start + 1; at < end; at++) {
        if (parser->text[at] == '\\')
            at++;
        else if (parser->text[at] == '"')
            return at;
    }
    return end;
}

struct word lexeme_rough_quoted(struct parser *parser)
{
    uint32_t quote = find_quote(parser, parser->start, parser->offset);
    if (quote == parser->offset) {
        parser_error(parser, SBX063_UNCLOSED_QUOTE, span_of(parser, parser->start, parser->offset),
                     "the quote that opens here is not closed on this line",
                     "close it with \"; a quote inside is written \\\"");
        read_text(parser, parser->start + 1, parser->offset);
        return faulty_word(parser);
    }
    if (quote + 1 < parser->offset) {
        parser_error(parser, SBX064_TEXT_AFTER_QUOTE, span_of(parser, quote + 1, parser->offset),
                     "a closing quote ends the word: a blank, a comma or the line's end must follow",
                     "put the whole word between the quotes; a quote inside is written \\\"");
        read_text(parser, parser->start + 1, quote);
        return faulty_word(parser);
    }
    return word_read(parser, parser->start + 1, quote, true);
}

void lexeme_comment(struct parser *parser)
{
    for (uint32_t at = parser->start; at < parser->offset;) {
        bool tab = parser->text[at] == '\t';
        uint32_t next = tab ? at : report_unprintable(parser, at, parser->offset);
        if (next > at)
            parser->row.faulty = parser->row.count > 0;
        at = next > at ? next : after_character(parser, at, parser->offset);
    }
}
