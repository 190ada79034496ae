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

void row_cut(struct parser *parser, bool second)
{
    struct row *row = &parser->row;
    parser->cut = true;
    parser->held_count = 0;
    if (second)
        parser->held[parser->held_count++] =
            (struct token){.number = row->before_last, .span = row->before_last_span};
    parser->held[parser->held_count++] = parser->last;
}

static int take_held(struct parser *parser, union SBX_STYPE *value, struct span *span)
{
    struct token token = parser->held[0];
    parser->held[0] = parser->held[1];
    parser->held_count--;
    parser->last = token;
    *span = token.span;
    value->word = token.word;
    row_add(parser, token.number, token.span, false);
    return token.number;
}

int sbx_lex(union SBX_STYPE *value, struct span *span, struct parser *parser)
{
    uint32_t lines = 0;
    int token = 0;
    if (parser->cut) {
        parser->cut = false;
        return end_of_line(parser, span);
    }
    if (parser->held_count > 0)
        return take_held(parser, value, span);
    for (;;) {
        token = parser->stopped || parser->ended ? 0 : lexer_next(value, parser->lexer);
        if (token != TOKEN_NL)
            break;
        if (parser->row.count > 0 && (parser->row.last != TOKEN_COMMA || parser->row.no_list))
            return end_of_line(parser, span);
        lines++;
    }
    *span = span_of(parser, parser->start, parser->offset);
    if (token == 0) {
        parser->ended = true;
        *span = span_of(parser, parser->length, parser->length);
    }
    if (parser->row.count > 0 && ends_list(parser, token, lines)) {
        if (token != 0)
            parser->held[parser->held_count++] = (struct token){.number = token, .span = *span};
        return end_of_line(parser, span);
    }
    if (lines > 0 && parser->row.count > 0) {
        parser->row.joined = parser->row.count + 1;
        parser->row.joined_comma = parser->row.last_span;
    }
    bool word = token == TOKEN_WORD || token == TOKEN_QUOTED;
    if (token != 0)
        row_add(parser, token, *span, word && word_is_faulty(&value->word));
    parser->last = (struct token){.number = token, .span = *span};
    if (word)
        parser->last.word = value->word;
    return token;
}
