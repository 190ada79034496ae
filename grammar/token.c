#include "grammar/token.h"

#include "grammar/lexeme.h"
#include "grammar/sbx.tab.h"

/* Made by flex from sbx.l. */
int lexer_next(SBX_STYPE *value, void *scanner);

/* Whether `token` says what kind of word comes next (surprise.c has the words for it). */
static bool is_topic(int token)
{
    switch (token) {
    case TOKEN_WORD:
    case TOKEN_QUOTED:
    case TOKEN_COMMA:
    case TOKEN_OPEN:
    case TOKEN_CLOSE:
    case TOKEN_TO:
    case TOKEN_NL:
        return false;
    default:
        return true;
    }
}

static void row_add(struct parser *parser, int token, struct span span, bool faulty)
{
    struct row *row = &parser->row;
    if (row->count++ == 0) {
        row->first = token;
        row->first_span = span;
    }
    row->before_before = row->before_last;
    row->before_last = row->last;
    row->before_last_span = row->last_span;
    row->last = token;
    row->last_span = span;
    row->last_faulty = faulty;
    row->topic_before = row->topic;
    row->opens |= token == TOKEN_OPEN;
    row->closes |= token == TOKEN_CLOSE;
    if (is_topic(token))
        row->topic = token;
}

void row_end(struct parser *parser)
{
    parser->row = (struct row){0};
}

static int end_of_line(struct parser *parser, struct span *span)
{
    parser->row.over = true;
    *span = span_of(parser, parser->row.last_span.end, parser->row.last_span.end);
    return TOKEN_NL;
}

/* A list that ends with a comma is over where the block or the file ends. */
static bool ends_list(const struct parser *parser, int token, uint32_t lines)
{
    return token == 0 || (token == TOKEN_CLOSE && lines > 0 && parser->row.last == TOKEN_COMMA);
}

int sbx_lex(union SBX_STYPE *value, struct span *span, struct parser *parser)
{
    uint32_t lines = 0;
    int token = parser->held;
    if (token != 0) {
        *span = parser->held_span;
        parser->held = 0;
        row_add(parser, token, *span, false);
        return token;
    }
    for (;;) {
        token = parser->stopped || parser->ended ? 0 : lexer_next(value, parser->lexer);
        if (token != TOKEN_NL)
            break;
        if (parser->row.count > 0 && parser->row.last != TOKEN_COMMA)
            return end_of_line(parser, span);
        lines++;
    }
    *span = span_of(parser, parser->start, parser->offset);
    if (token == 0) {
        parser->ended = true;
        *span = span_of(parser, parser->length, parser->length);
    }
    if (parser->row.count > 0 && ends_list(parser, token, lines)) {
        parser->held = token;
        parser->held_span = *span;
        return end_of_line(parser, span);
    }
    if (lines > 0 && parser->row.count > 0) {
        parser->row.joined = parser->row.count + 1;
        parser->row.joined_comma = parser->row.last_span;
    }
    bool word = token == TOKEN_WORD || token == TOKEN_QUOTED;
    if (token != 0)
        row_add(parser, token, *span, word && word_is_faulty(&value->word));
    return token;
}
