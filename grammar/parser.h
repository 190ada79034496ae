/* parser.h - what the lexer, the grammar and their helpers share while one file is parsed.
 *
 * Private to grammar/, as are all headers here but source.h and syntax.h.
 *
 * The way of a byte: sbx.l cuts the text into tokens, token.c turns them into the stream of statements
 * that the grammar reads (no blank lines, lists joined over line ends), sbx.y recognises statements,
 * build.c puts them into blocks. shape.c checks single words; surprise.c words what the grammar did not
 * expect.
 */
#pragma once

#include "base/buffer.h"
#include "grammar/syntax.h"

enum {
    ERRORS_MOST = 4000,   /* diagnostics for one file; what comes after is not looked at */
    NESTING_DEEPEST = 16, /* blocks that are kept apart; the language itself needs two */
    HELP_LINE_LONGEST = 160,
    TOKENS_HELD = 2,
};

struct token {
    int number;
    struct span span;
    struct word word; /* of words only */
};

/* An open block. */
struct block {
    struct statement *when;
    struct statement **end; /* where its next statement is linked in */
    bool lost;              /* its line had no brace, so nobody knows where it ends */
};

/* The statement that is being read, as a row of tokens. */
struct row {
    uint32_t count;
    int first, before_before, before_last, last; /* token numbers; before_before comes before before_last */
    struct span first_span, before_last_span, last_span;
    int topic, topic_before; /* the last keyword or sign that tells the next word; the one before `last` */
    uint32_t joined;         /* number of the token that a comma brought in from the next line, or 0 */
    struct span joined_comma;
    bool no_list;       /* its last comma begins nothing */
    bool opens, closes; /* has `{`, has `}` */
    bool faulty;        /* something in it was reported */
    bool last_faulty;   /* `last` is a word without meaning */
    bool over;          /* the end of its line was read */
};

enum header { HEADER_NONE, HEADER_VERSION, HEADER_NAMED };

struct parser {
    struct arena *arena;
    struct intern_pool *pool;
    struct diagnostic_list *diagnostics;
    struct syntax_file *file;
    const char *text;
    uint32_t source, length;
    uint32_t reported; /* diagnostics of this file */
    bool stopped;      /* nothing more is read: too many errors, or another version */

    void *lexer;
    bool ended;             /* the lexer has nothing more */
    uint32_t start, offset; /* of the lexeme that was matched last */
    uint32_t fed;           /* bytes given to the lexer so far */
    struct buffer bytes;    /* scratch of the word that is being unescaped */
    struct buffer literal;

    struct row row;
    struct token last;              /* the one read last, with its word */
    bool cut;                       /* the row ends here, whatever the text says */
    struct token held[TOKENS_HELD]; /* tokens that come after an inserted end of line */
    uint32_t held_count;

    struct word_list words; /* scratch of the list that is being read */
    struct target_list targets;

    enum header header;
    struct statement **end; /* where the next statement outside blocks is linked in */
    struct block blocks[NESTING_DEEPEST];
    uint32_t depth;        /* open blocks, also those beyond NESTING_DEEPEST */
    bool brace_may_follow; /* the line before was a `when` without its brace */
};

/* The token numbers' spelling: keywords and signs as written, classes of words as a person would call
 * them. */
const char *token_spelling(int token);
/* The keyword that `bytes` spells, or 0. */
int keyword_find(const char *bytes, uint32_t length);

struct span span_of(const struct parser *parser, uint32_t start, uint32_t end);

/* Queues an error, unless the file has too many already. */
void parser_error(struct parser *parser, enum code code, struct span at, const char *text, const char *help);
void parser_error_with(struct parser *parser, struct diagnostic diagnostic);

/* What was written at `span`, safe to show and shortened if it is long. */
const char *shown(struct parser *parser, struct span span);

/* What was written at `span` if it can be shown as it stands and is no longer than HELP_LINE_LONGEST, else
 * NULL. */
const char *verbatim(struct parser *parser, struct span span);

/* "write LINE", LINE being the line around `span` with `span` replaced by `replacement`; if that line is
 * too long or unsafe to show, only the replacement. */
const char *help_replace(struct parser *parser, struct span span, const char *replacement);
