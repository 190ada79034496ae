#include "grammar/surprise.h"

#include "grammar/build.h"
#include "grammar/sbx.tab.h"
#include "grammar/surprise_help.h"
#include "grammar/token.h"

#include <string.h>

/* What kind of word follows a keyword. */
static const struct {
    int topic;
    const char *noun;
} nouns[] = {
    {TOKEN_SBX, "the version, 1"},
    {TOKEN_POLICY, "a name in quotes"},
    {TOKEN_MANAGED, "a name in quotes"},
    {TOKEN_PRESET, "a name in quotes"},
    {TOKEN_USE, "a preset such as std/dev, or a file in quotes"},
    {TOKEN_LET, "a name"},
    {TOKEN_EXCEPT, "a path"},
    {TOKEN_READ, "a path"},
    {TOKEN_WRITE, "a path"},
    {TOKEN_EXEC, "a path"},
    {TOKEN_SOCKET, "a path"},
    {TOKEN_DENY, "a path"},
    {TOKEN_EQUALS, "a path"},
    {TOKEN_ENV, "the name of a variable"},
    {TOKEN_SERVICE, "the name of a service"},
    {TOKEN_SYSCALL, "the name of a system call"},
    {TOKEN_HOST, "a host name"},
    {TOKEN_ADDRESS, "an address such as 192.0.2.0/24"},
    {TOKEN_PORT, "a port"},
    {TOKEN_PROCESSES, "a number"},
    {TOKEN_FILES, "a number"},
    {TOKEN_MEMORY, "a size such as 4GiB"},
    {TOKEN_TIME, "a duration such as 30m"},
    {TOKEN_ACCEPT, "a control such as fs.deny, or a code such as SBX201"},
    {TOKEN_ON, "a target such as bwrap"},
    {TOKEN_BECAUSE, "the reason in quotes"},
    {TOKEN_CONNECT, "a name and port such as example.com:443"},
    {TOKEN_LISTEN, "an address and port such as 127.0.0.1:3000"},
    {TOKEN_OS, "linux, macos or windows"},
    {TOKEN_COMMAND, "the name of a command"},
};

static const char *noun_of(const struct row *row, int topic)
{
    if (topic == TOKEN_EQUALS && row->first == TOKEN_SET)
        return "the value in quotes";
    for (size_t i = 0; i < sizeof nouns / sizeof *nouns; i++)
        if (nouns[i].topic == topic)
            return nouns[i].noun;
    return "a word";
}

/* Whether any word could stand there, be it spelled like a keyword or not. */
static bool takes_any_word(const struct surprise *surprise)
{
    return is_expected(surprise, TOKEN_WORD) && is_expected(surprise, TOKEN_LET);
}

static bool is_word(int token)
{
    return token != TOKEN_NL && token != TOKEN_COMMA && token != TOKEN_EQUALS && token != TOKEN_OPEN &&
           token != TOKEN_CLOSE;
}

/* One expected token in words; NULL for one that another one stands for. */
static const char *phrase(const struct surprise *surprise, const char *spelling)
{
    if (strcmp(spelling, token_spelling(TOKEN_WORD)) == 0)
        return surprise->noun;
    if (strcmp(spelling, token_spelling(TOKEN_QUOTED)) == 0)
        return is_expected(surprise, TOKEN_WORD) ? NULL : surprise->noun;
    if (strcmp(spelling, token_spelling(TOKEN_NL)) == 0)
        return spelling;
    if (strcmp(spelling, token_spelling(TOKEN_COMMA)) == 0)
        return "a comma";
    return takes_any_word(surprise) ? NULL : arena_format(surprise->parser->arena, "`%s`", spelling);
}

/* "a comma, `except` or the end of the line" */
static const char *expected_phrase(const struct surprise *surprise)
{
    struct buffer buffer = buffer_in(surprise->parser->arena);
    const char *pending = NULL;
    for (const char *const *item = surprise->expected; *item != NULL; item++) {
        const char *text = phrase(surprise, *item);
        if (text == NULL)
            continue;
        if (pending != NULL)
            buffer_format(&buffer, "%s%s", buffer.length > 0 ? ", " : "", pending);
        pending = text;
    }
    if (pending != NULL)
        buffer_format(&buffer, "%s%s", buffer.length > 0 ? " or " : "", pending);
    if (takes_any_word(surprise) && surprise->before == TOKEN_DENY && surprise->row->first == TOKEN_DENY)
        buffer_string(&buffer, ", `write`, `exec`, or a class such as `network`");
    if (takes_any_word(surprise) && surprise->before == TOKEN_TO)
        buffer_string(&buffer, ", or `nothing`");
    return buffer.bytes == NULL ? "something else" : buffer.bytes;
}

static const char *place_phrase(const struct surprise *surprise)
{
    return arena_format(surprise->parser->arena, "after `%s`", shown(surprise->parser, surprise->before_at));
}

static void report(const struct surprise *surprise, enum code code, const char *text, const char *help)
{
    parser_error(surprise->parser, code, surprise->at, text, help);
}

/* ---- the first word of a line ---- */

static void surprised_by_first(const struct surprise *surprise)
{
    struct parser *parser = surprise->parser;
    const char *text = arena_format(parser->arena, "no statement starts with `%s`", surprise->written);
    if (surprise->token == TOKEN_QUOTED)
        report(surprise, SBX008_NEEDS_NO_QUOTES,
               "a quoted word is never a keyword, and a statement starts with one", "leave out the quotes");
    else if (surprise->token == TOKEN_OPEN && parser->brace_may_follow)
        return; /* the line before said so */
    else if (surprise->token == TOKEN_OPEN)
        report(surprise, SBX016_MISPLACED_BRACE, "`{` belongs at the end of its `when` line", NULL);
    else if (surprise->token == TOKEN_COMMA)
        report(surprise, SBX006_EMPTY_ITEM, "a line cannot start with a comma",
               "put the comma at the end of the line before");
    else
        report(surprise, SBX001_UNKNOWN_STATEMENT, text, help_first_word(surprise));
}

static void report_trailing_comma(const struct surprise *surprise)
{
    parser_error(surprise->parser, SBX005_TRAILING_COMMA, surprise->before_at,
                 "the comma says that the list goes on, but it ends here", "take the comma away");
}

static void report_incomplete(const struct surprise *surprise)
{
    report(surprise, SBX003_INCOMPLETE,
           arena_format(surprise->parser->arena, "the statement is not complete: %s comes %s",
                        place_phrase(surprise), expected_phrase(surprise)),
           NULL);
}

/* ---- the line's end ---- */

static void surprised_by_end(const struct surprise *surprise)
{
    struct parser *parser = surprise->parser;
    const struct row *row = surprise->row;
    if (row->last_faulty)
        return;
    if (surprise->before == TOKEN_COMMA)
        report_trailing_comma(surprise);
    else if (is_expected(surprise, TOKEN_OPEN))
        report(surprise, SBX015_MISSING_BRACE, "a `when` line ends with `{`",
               help_replace(parser, surprise->at, " {"));
    else if (is_expected(surprise, TOKEN_EQUALS))
        report(surprise, SBX009_MISSING_EQUALS, "`=` is missing here, with a blank on both sides",
               help_split(surprise));
    else
        report_incomplete(surprise);
}

/* ---- signs ---- */

static void surprised_by_comma(const struct surprise *surprise)
{
    struct parser *parser = surprise->parser;
    if (surprise->before == TOKEN_COMMA) {
        report(surprise, SBX006_EMPTY_ITEM, "between two commas a word is missing", "take one comma away");
        return;
    }
    if (surprise->before == TOKEN_NOTHING) {
        report(surprise, SBX014_NOTHING_NOT_ALONE, "`nothing` stands alone: no list goes on after it", NULL);
        return;
    }
    const char *text = arena_format(parser->arena, "no comma can stand %s: here comes %s",
                                    place_phrase(surprise), expected_phrase(surprise));
    parser->row.no_list = is_expected(surprise, TOKEN_NL);
    report(surprise, SBX006_EMPTY_ITEM, text, help_for_slip(surprise));
}

static void surprised_by_brace(const struct surprise *surprise)
{
    bool opens_early = surprise->token == TOKEN_OPEN && surprise->row->first == TOKEN_WHEN;
    if (opens_early && surprise->before == TOKEN_COMMA)
        report_trailing_comma(surprise);
    else if (opens_early && surprise->before != TOKEN_OPEN)
        report_incomplete(surprise);
    else if (surprise->token == TOKEN_CLOSE)
        report(surprise, SBX018_BRACE_NOT_ALONE, "`}` stands alone on its line", "put it on the next line");
    else
        report(surprise, SBX016_MISPLACED_BRACE, "`{` stands only at the end of a `when` line",
               "quote it if it is part of a word");
}

/* ---- words ---- */

static void surprised_after_brace(const struct surprise *surprise)
{
    if (surprise->before == TOKEN_OPEN)
        report(surprise, SBX016_MISPLACED_BRACE, "`{` ends its line",
               "put the block's statements on lines of their own");
    else
        report(surprise, SBX018_BRACE_NOT_ALONE, "`}` stands alone on its line", "put this on the next line");
}

/* Behind `deny` any word may be a path, so a misspelt class shows only at the word after it. */
static bool surprised_by_misspelt_class(const struct surprise *surprise)
{
    struct parser *parser = surprise->parser;
    const struct row *row = surprise->row;
    const char *written = shown(parser, surprise->before_at);
    if (row->first != TOKEN_DENY || row->count != 3 || surprise->before != TOKEN_WORD)
        return false;
    const char *near = nearest_word(written, (const char *[]){"write", "exec", "network", "listen", "socket",
                                                              "env", "service", "syscall", NULL});
    if (near == NULL)
        return false;
    parser_error(parser, SBX002_UNEXPECTED_WORD, surprise->before_at,
                 arena_format(parser->arena, "`%s` is neither a path nor what can be denied", written),
                 arena_format(parser->arena, "did you mean `%s`? %s", near,
                              help_replace(parser, surprise->before_at, near)));
    return true;
}

static void surprised_in_list(const struct surprise *surprise)
{
    static const char except_once[] = "`except` stands once: what follows it is a list";
    struct parser *parser = surprise->parser;
    const char *near = nearest_expected(surprise);
    bool read_denied = surprise->row->first == TOKEN_DENY && surprise->before == TOKEN_READ;
    if (surprised_by_misspelt_class(surprise))
        return;
    bool again = surprise->before == TOKEN_EXCEPT && surprise->row->before_before == TOKEN_COMMA;
    if (again) {
        parser_error(parser, SBX013_MISPLACED_EXCEPT, surprise->before_at, except_once,
                     help_replace(parser, join(surprise->before_at, surprise->at), surprise->written));
    } else if (surprise->token == TOKEN_EXCEPT && surprise->topic == TOKEN_EXCEPT) {
        struct span gap = join(surprise->before_at, surprise->at);
        gap.start = surprise->before_at.end;
        report(surprise, SBX013_MISPLACED_EXCEPT, except_once, help_replace(parser, gap, ","));
    } else if (surprise->token == TOKEN_EXCEPT) {
        report(surprise, SBX013_MISPLACED_EXCEPT, "`except` belongs to `use` and to a `deny` of files only",
               surprise->row->first == TOKEN_DENY
                   ? "name what is meant without the exception, one by one"
                   : "a more specific grant needs no exception: the longest path decides between grants");
    } else if (near != NULL && surprise->token == TOKEN_WORD) {
        report(surprise, SBX002_UNEXPECTED_WORD,
               arena_format(parser->arena, "`%s` cannot stand here; expected %s", surprise->written,
                            expected_phrase(surprise)),
               did_you_mean(surprise, near));
    } else if (read_denied) {
        parser_error(parser, SBX002_UNEXPECTED_WORD, surprise->before_at,
                     "`deny` closes reading and writing alike, so it takes no `read`",
                     help_replace(parser, join(surprise->before_at, surprise->at), surprise->written));
    } else {
        report(surprise, SBX004_MISSING_COMMA,
               arena_format(parser->arena, "the words of a list are separated by commas; expected %s",
                            expected_phrase(surprise)),
               help_in_list(surprise));
    }
}

/* A statement that takes nothing more. A misshapen last word often has its other half here: one report is
 * enough. */
static void surprised_after_all(const struct surprise *surprise)
{
    if (surprise->row->faulty)
        return;
    report(surprise, SBX012_EXTRA_WORDS,
           arena_format(surprise->parser->arena, "the statement is complete before `%s`", surprise->written),
           "put what follows on its own line, or take it away");
}

static void surprised_unquoted(const struct surprise *surprise)
{
    struct parser *parser = surprise->parser;
    report(surprise, SBX007_NEEDS_QUOTES,
           arena_format(parser->arena, "%s comes %s", place_phrase(surprise), surprise->noun),
           help_replace(parser, surprise->at, quoted_form(surprise)));
}

static void surprised_by_keyword_place(const struct surprise *surprise)
{
    struct parser *parser = surprise->parser;
    const char *text = arena_format(parser->arena, "`%s` cannot stand here: %s comes %s", surprise->written,
                                    place_phrase(surprise), expected_phrase(surprise));
    const char *near = nearest_expected(surprise), *help = help_for_slip(surprise);
    if (near != NULL)
        help = did_you_mean(surprise, near);
    else if (help == NULL && count_expected(surprise) == 1)
        help = help_insert(surprise, surprise->expected[0]);
    report(surprise, count_expected(surprise) == 1 ? SBX011_MISSING_WORD : SBX002_UNEXPECTED_WORD, text,
           help);
}

static void surprised_by_quotes(const struct surprise *surprise)
{
    struct parser *parser = surprise->parser;
    struct span inner = span_of(parser, surprise->at.start + 1, surprise->at.end - 1);
    report(surprise, SBX008_NEEDS_NO_QUOTES,
           arena_format(parser->arena, "a word in quotes cannot stand here: %s comes %s",
                        place_phrase(surprise), expected_phrase(surprise)),
           help_replace(parser, surprise->at, shown(parser, inner)));
}

/* Whether one keyword and nothing else could stand there, and it does not stand there in quotes. */
static bool is_keyword_missing(const struct surprise *surprise)
{
    const char *only = surprise->expected[0];
    return count_expected(surprise) == 1 && keyword_find(only, (uint32_t)strlen(only)) != 0 &&
           strcmp(surprise->written, arena_format(surprise->parser->arena, "\"%s\"", only)) != 0;
}

static void surprised_by_word(const struct surprise *surprise)
{
    if (surprise->before == TOKEN_OPEN || surprise->before == TOKEN_CLOSE)
        surprised_after_brace(surprise);
    else if (is_expected(surprise, TOKEN_EQUALS))
        report(surprise, SBX009_MISSING_EQUALS, "`=` is missing here, with a blank on both sides",
               help_equals(surprise));
    else if (is_expected(surprise, TOKEN_COMMA))
        surprised_in_list(surprise);
    else if (is_expected(surprise, TOKEN_NL) && count_expected(surprise) == 1)
        surprised_after_all(surprise);
    else if (!is_expected(surprise, TOKEN_WORD) && is_expected(surprise, TOKEN_QUOTED))
        surprised_unquoted(surprise);
    else if (surprise->token == TOKEN_QUOTED && !is_keyword_missing(surprise))
        surprised_by_quotes(surprise);
    else
        surprised_by_keyword_place(surprise);
}

static bool starts_statement(int token)
{
    switch (token) {
    case TOKEN_USE:
    case TOKEN_LET:
    case TOKEN_GRANT:
    case TOKEN_AUTO:
    case TOKEN_DENY:
    case TOKEN_SET:
    case TOKEN_LIMIT:
    case TOKEN_PERMIT:
    case TOKEN_ACCEPT:
    case TOKEN_EXPECT:
    case TOKEN_WHEN:
        return true;
    default:
        return false;
    }
}

/* Whether a comma at a line's end made the next statement part of a list. */
static bool surprised_by_joined_line(const struct surprise *surprise)
{
    const struct row *row = surprise->row;
    bool first = row->joined == row->count && starts_statement(surprise->token);
    bool second = row->joined + 1 == row->count && starts_statement(surprise->before);
    if (row->over || row->joined == 0 || (!first && !second))
        return false;
    parser_error(surprise->parser, SBX005_TRAILING_COMMA, row->joined_comma,
                 "after this comma the list goes on with the next line, but there a statement starts",
                 "take the comma away");
    row_cut(surprise->parser, second);
    return true;
}

void parser_surprised(struct parser *parser, const char *const *expected)
{
    const struct row *row = &parser->row;
    struct surprise surprise = {.parser = parser, .row = row, .expected = expected};
    if (row->over) {
        surprise.token = TOKEN_NL;
        surprise.at = span_of(parser, row->last_span.end, row->last_span.end);
        surprise.before = row->last;
        surprise.before_at = row->last_span;
    } else {
        surprise.token = row->last;
        surprise.at = row->last_span;
        surprise.before = row->before_last;
        surprise.before_at = row->before_last_span;
    }
    surprise.written = shown(parser, surprise.at);
    surprise.topic = row->over ? row->topic : row->topic_before;
    surprise.noun = noun_of(row, surprise.topic);
    if (row->over)
        surprised_by_end(&surprise);
    else if (row->last_faulty)
        return;
    else if (surprised_by_joined_line(&surprise))
        return;
    else if (row->count == 1)
        surprised_by_first(&surprise);
    else if (surprise.token == TOKEN_COMMA)
        surprised_by_comma(&surprise);
    else if (surprise.token == TOKEN_EQUALS)
        report(&surprise, SBX010_STRAY_EQUALS, "`=` stands only in `let NAME = ...` and `set env NAME = ...`",
               "quote it if it is a word");
    else if (!is_word(surprise.token))
        surprised_by_brace(&surprise);
    else
        surprised_by_word(&surprise);
}
