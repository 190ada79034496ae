#include "grammar/build.h"

#include "base/vector.h"
#include "grammar/lexeme.h"
#include "grammar/sbx.tab.h"
#include "grammar/shape.h"
#include "grammar/token.h"

#include <string.h>

struct span join(struct span first, struct span last)
{
    return (struct span){first.source, first.start, last.end};
}

struct word word_of_keyword(struct parser *parser, struct span span)
{
    uint32_t length = span.end - span.start;
    const char *bytes = intern(parser->pool, parser->text + span.start, length);
    return (struct word){.span = span, .bytes = bytes, .length = length};
}

void words_add(struct parser *parser, const struct word *word)
{
    VECTOR_PUSH(parser->arena, &parser->words, *word);
}

/* A list is copied at its own size, but one that is large is handed over as it is. */
enum { LIST_COPIED = 1024 };

struct word_list words_take(struct parser *parser)
{
    struct word_list list = parser->words;
    if (list.count > LIST_COPIED) {
        parser->words = (struct word_list){0};
        return list;
    }
    list.items = arena_array(parser->arena, list.count, sizeof *list.items);
    list.capacity = list.count;
    memcpy(list.items, parser->words.items, list.count * sizeof *list.items);
    parser->words.count = 0;
    return list;
}

void targets_add(struct parser *parser, const struct target_syntax *target)
{
    VECTOR_PUSH(parser->arena, &parser->targets, *target);
}

struct target_list targets_take(struct parser *parser)
{
    uint32_t count = parser->targets.count;
    struct target_list list = {arena_array(parser->arena, count, sizeof *list.items), count, count};
    memcpy(list.items, parser->targets.items, count * sizeof *list.items);
    parser->targets.count = 0;
    return list;
}

struct statement *statement_new(struct parser *parser, enum statement_kind kind, struct span keyword)
{
    static const struct statement_parts none = {0};
    struct statement *statement = arena_alloc(parser->arena, sizeof *statement);
    statement->kind = kind;
    statement->keyword = keyword;
    statement->parts = &none;
    return statement;
}

/* Gives a new statement parts of its own. */
static struct statement_parts *parts_new(struct parser *parser, struct statement *statement)
{
    struct statement_parts *parts = arena_alloc(parser->arena, sizeof *parts);
    statement->parts = parts;
    return parts;
}

struct statement *statement_list(struct parser *parser, enum statement_kind kind, struct span keyword,
                                 enum verb verb, struct word_list words)
{
    struct statement *statement = statement_new(parser, kind, keyword);
    statement->verb = verb;
    statement->words = words;
    return statement;
}

struct statement *statement_expect(struct parser *parser, struct span keyword, enum verb verb,
                                   struct word operation, enum aspect aspect, struct word_list words)
{
    struct statement *statement = statement_list(parser, STATEMENT_EXPECT, keyword, verb, words);
    statement->aspect = aspect;
    parts_new(parser, statement)->subject = operation;
    return statement;
}

struct statement *statement_path(struct parser *parser, struct span keyword, enum verb verb,
                                 enum aspect aspect, struct word_list words)
{
    struct statement *statement = statement_list(parser, STATEMENT_PATH, keyword, verb, words);
    statement->aspect = aspect;
    return statement;
}

struct statement *statement_let(struct parser *parser, struct span keyword, const struct word *name,
                                struct word_list words)
{
    struct statement *statement = statement_new(parser, STATEMENT_LET, keyword);
    check_name(parser, name);
    statement->words = words;
    *parts_new(parser, statement) = (struct statement_parts){.subject = *name};
    return statement;
}

struct statement *statement_set_env(struct parser *parser, struct span keyword, const struct word *name,
                                    const struct word *value)
{
    struct statement *statement = statement_new(parser, STATEMENT_SET_ENV, keyword);
    check_name(parser, name);
    *parts_new(parser, statement) = (struct statement_parts){.subject = *name, .value = *value};
    return statement;
}

struct statement *statement_use(struct parser *parser, struct span keyword, const struct word *subject,
                                struct word_list except)
{
    struct statement *statement = statement_new(parser, STATEMENT_USE, keyword);
    check_preset(parser, subject);
    statement->except = except;
    *parts_new(parser, statement) = (struct statement_parts){.subject = *subject};
    return statement;
}

struct statement *statement_network(struct parser *parser, enum statement_kind kind, struct span keyword,
                                    struct target_list targets, struct word_list ports,
                                    enum protocol protocol)
{
    struct statement *statement = statement_new(parser, kind, keyword);
    statement->protocol = protocol;
    *parts_new(parser, statement) = (struct statement_parts){.targets = targets, .ports = ports};
    return statement;
}

struct statement *statement_listen(struct parser *parser, struct span keyword, enum verb verb,
                                   const struct word *reach, struct word_list ports, enum protocol protocol)
{
    struct statement *statement = statement_new(parser, STATEMENT_LISTEN, keyword);
    statement->verb = verb;
    statement->protocol = protocol;
    *parts_new(parser, statement) = (struct statement_parts){.subject = *reach, .ports = ports};
    return statement;
}

struct statement *statement_limit(struct parser *parser, enum statement_kind kind, struct span keyword,
                                  enum aspect aspect, struct word_list words)
{
    struct statement *statement = statement_new(parser, kind, keyword);
    statement->aspect = aspect;
    statement->words = words;
    return statement;
}

struct statement *statement_limit_nothing(struct parser *parser, enum statement_kind kind,
                                          struct span keyword, enum aspect aspect)
{
    struct statement *statement = statement_limit(parser, kind, keyword, aspect, (struct word_list){0});
    statement->nothing = true;
    return statement;
}

struct statement *statement_amount(struct parser *parser, struct span keyword, enum aspect aspect,
                                   const struct word *amount)
{
    struct statement *statement = statement_new(parser, STATEMENT_LIMIT_AMOUNT, keyword);
    check_amount(parser, amount, aspect);
    statement->aspect = aspect;
    *parts_new(parser, statement) = (struct statement_parts){.subject = *amount};
    return statement;
}

struct statement *statement_accept(struct parser *parser, struct span keyword, const struct word *control,
                                   const struct word *target, const struct word *reason)
{
    struct statement *statement = statement_new(parser, STATEMENT_ACCEPT_CONTROL, keyword);
    *parts_new(parser, statement) =
        (struct statement_parts){.subject = *control, .second = *target, .value = *reason};
    return statement;
}

struct statement *statement_accept_code(struct parser *parser, struct span keyword, const struct word *code,
                                        const struct word *reason)
{
    struct statement *statement = statement_new(parser, STATEMENT_ACCEPT_CODE, keyword);
    check_code(parser, code);
    *parts_new(parser, statement) = (struct statement_parts){.subject = *code, .value = *reason};
    return statement;
}

/* The innermost block that is kept apart, or NULL outside all. */
static struct block *innermost(struct parser *parser)
{
    uint32_t kept = parser->depth < NESTING_DEEPEST ? parser->depth : NESTING_DEEPEST;
    return kept == 0 ? NULL : &parser->blocks[kept - 1];
}

static void link_statement(struct parser *parser, struct statement *statement)
{
    struct block *block = innermost(parser);
    struct statement ***end = block == NULL ? &parser->end : &block->end;
    **end = statement;
    *end = &statement->next;
}

/* Any statement but the header's own two: reports a header that is not there. */
static void header_over(struct parser *parser, struct span at)
{
    if (parser->header == HEADER_NONE)
        parser_error(parser, SBX030_MISSING_HEADER, at, "a policy starts with `sbx 1` and then its name",
                     "begin the file with the lines `sbx 1` and `policy \"NAME\"`");
    if (parser->header == HEADER_VERSION)
        parser_error(parser, SBX032_MISSING_NAME, at, "after `sbx 1` the file's name must follow",
                     "write `policy \"NAME\"`, `managed \"NAME\"` or `preset \"NAME\"` before this line");
    parser->header = HEADER_NAMED;
}

static void line_over(struct parser *parser, bool brace_may_follow)
{
    parser->brace_may_follow = brace_may_follow;
    row_end(parser);
}

void statement_end(struct parser *parser, struct statement *statement, struct span span)
{
    statement->span = span;
    header_over(parser, statement->keyword);
    if (!parser->row.faulty)
        link_statement(parser, statement);
    line_over(parser, false);
}

static void header_repeated(struct parser *parser, struct span keyword)
{
    parser_error(parser, SBX034_MISPLACED_HEADER, keyword,
                 "`sbx 1` and the file's name stand once, as the first two lines", "take this line away");
}

static bool is_other_version(const struct word *version)
{
    return !version->quoted && version->length > 0 && strcmp(version->bytes, "1") != 0 &&
           strspn(version->bytes, "0123456789") == version->length;
}

void header_version(struct parser *parser, struct span keyword, const struct word *version)
{
    if (parser->header != HEADER_NONE || parser->depth > 0) {
        header_repeated(parser, keyword);
    } else {
        parser->header = HEADER_VERSION;
        parser->file->has_header = check_version(parser, version) && !parser->row.faulty;
        /* Another version may have other statements: what would be said about them could be wrong. */
        parser->stopped |= is_other_version(version);
    }
    line_over(parser, false);
}

void header_name(struct parser *parser, struct span keyword, enum file_kind kind, const struct word *name)
{
    if (parser->file->name.bytes != NULL || parser->header == HEADER_NAMED || parser->depth > 0) {
        header_repeated(parser, keyword);
    } else {
        if (parser->header == HEADER_NONE)
            header_over(parser, keyword);
        parser->header = HEADER_NAMED;
        parser->file->kind = kind;
        parser->file->name = *name;
        parser->file->has_header &= check_policy_name(parser, name) && !parser->row.faulty &&
                                    (kind != FILE_MANAGED || check_managed_name(parser, name));
    }
    line_over(parser, false);
}

static bool same_kind(const struct statement *a, const struct statement *b)
{
    return strcmp(a->parts->subject.bytes, b->parts->subject.bytes) == 0;
}

/* A `when` of the same kind around `when`, whose own line is complete; or NULL. */
static const struct statement *find_same_kind(const struct parser *parser, const struct statement *when)
{
    for (uint32_t i = 0; i < parser->depth && i < NESTING_DEEPEST; i++) {
        const struct block *block = &parser->blocks[i];
        if (!block->lost && same_kind(block->when, when))
            return block->when;
    }
    return NULL;
}

static void report_same_kind(struct parser *parser, struct statement *when, const struct statement *outer)
{
    when->broken = true;
    parser_error_with(parser,
                      (struct diagnostic){
                          .code = SBX020_NESTED_WHEN,
                          .at = when->keyword,
                          .more[0] = {.at = outer->keyword, .text = "the block around it"},
                          .text = arena_format(parser->arena, "a `when %s` cannot stand inside another one",
                                               when->parts->subject.bytes),
                          .help = "close the outer block first, or put both conditions' rules side by side",
                      });
}

static void block_push(struct parser *parser, struct statement *when, bool lost)
{
    if (parser->depth == NESTING_DEEPEST)
        parser_error(parser, SBX021_NESTED_TOO_DEEP, when->span, "blocks are nested too deep",
                     "a `when os` may hold a `when command`, and the other way round; nothing needs more");
    if (parser->depth < NESTING_DEEPEST) {
        link_statement(parser, when);
        parser->blocks[parser->depth] = (struct block){when, &when->children, lost};
    }
    parser->depth++;
}

void block_open(struct parser *parser, struct span span, struct word condition, struct word_list words)
{
    struct statement *when = statement_new(parser, STATEMENT_WHEN, join(span, condition.span));
    header_over(parser, when->keyword);
    when->span = span;
    parts_new(parser, when)->subject = condition;
    when->words = words;
    if (strcmp(condition.bytes, "os") == 0)
        for (uint32_t i = 0; i < words.count; i++)
            check_os(parser, &words.items[i]);
    const struct statement *outer = find_same_kind(parser, when);
    if (outer != NULL && parser->depth < NESTING_DEEPEST)
        report_same_kind(parser, when, outer);
    when->broken |= parser->row.faulty;
    block_push(parser, when, false);
    line_over(parser, false);
}

static void block_pop(struct parser *parser, struct span at)
{
    if (parser->depth > 0)
        parser->depth--;
    else
        parser_error(parser, SBX017_STRAY_BRACE, at, "this `}` closes nothing: no block is open here",
                     "take it away, or look for a `when` line above that lacks its `{`");
}

void block_close(struct parser *parser, struct span span)
{
    header_over(parser, span);
    block_pop(parser, span);
    line_over(parser, false);
}

/* A statement with an error has said so. What is left to do is to keep blocks balanced: a `when` opens one
 * whatever is wrong with it, and so does a brace at the wrong place. */
void statement_failed(struct parser *parser)
{
    const struct row row = parser->row;
    bool late_brace = row.first == TOKEN_OPEN && parser->brace_may_follow;
    bool opens = (row.first == TOKEN_WHEN || row.opens) && !late_brace;

    parser->words.count = parser->targets.count = 0;
    bool names = row.first == TOKEN_POLICY || row.first == TOKEN_MANAGED || row.first == TOKEN_PRESET;
    parser->header = parser->header == HEADER_NONE && !names ? HEADER_VERSION : HEADER_NAMED;
    if (row.first == TOKEN_CLOSE)
        block_pop(parser, row.first_span);
    if (opens) {
        struct statement *when = statement_new(parser, STATEMENT_WHEN, row.first_span);
        when->broken = true;
        parts_new(parser, when)->subject.bytes = "";
        when->span = join(row.first_span, row.last_span);
        block_push(parser, when, !row.opens);
    }
    if (row.first != TOKEN_CLOSE && row.closes && parser->depth > 0)
        block_pop(parser, row.last_span);
    line_over(parser, row.first == TOKEN_WHEN && !row.opens);
}

static void report_unclosed(struct parser *parser)
{
    for (uint32_t i = 0; i < parser->depth && i < NESTING_DEEPEST; i++) {
        const struct block *block = &parser->blocks[i];
        if (!block->lost)
            parser_error(parser, SBX019_UNCLOSED_BLOCK, block->when->keyword,
                         "the block that starts here is not closed",
                         "write `}` on a line of its own where it ends");
    }
}

void file_end(struct parser *parser)
{
    if (parser->stopped)
        return;
    header_over(parser, span_of(parser, parser->length, parser->length));
    report_unclosed(parser);
}
