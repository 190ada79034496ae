#include "grammar/surprise_help.h"

#include "grammar/build.h"
#include "grammar/sbx.tab.h"

#include <string.h>

bool is_expected(const struct surprise *surprise, int token)
{
    const char *spelling = token_spelling(token);
    for (const char *const *item = surprise->expected; *item != NULL; item++)
        if (strcmp(*item, spelling) == 0)
            return true;
    return false;
}

uint32_t count_expected(const struct surprise *surprise)
{
    uint32_t count = 0;
    while (surprise->expected[count] != NULL)
        count++;
    return count;
}

const char *nearest_expected(const struct surprise *surprise)
{
    const char *keywords[64];
    uint32_t count = 0;
    for (const char *const *item = surprise->expected; *item != NULL && count < 63; item++)
        if (keyword_find(*item, (uint32_t)strlen(*item)) != 0)
            keywords[count++] = *item;
    keywords[count] = NULL;
    return nearest_word(surprise->written, keywords);
}

const char *did_you_mean(const struct surprise *surprise, const char *word)
{
    return arena_format(surprise->parser->arena, "did you mean `%s`? %s", word,
                        help_replace(surprise->parser, surprise->at, word));
}

const char *help_insert(const struct surprise *surprise, const char *word)
{
    struct parser *parser = surprise->parser;
    return help_replace(parser, span_of(parser, surprise->at.start, surprise->at.start),
                        arena_format(parser->arena, "%s ", word));
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Whether the token looks like a path. */
static bool is_path(const struct surprise *surprise)
{
    return strchr("/~$", surprise->written[0]) != NULL || strncmp(surprise->written, "\"/", 2) == 0;
}

/* What people often write: `token` after `before` (0: at the start of a line). INSERT and REPLACE name a
 * word, SAY is the help itself. */
enum remedy { INSERT, REPLACE, SAY };

static const struct {
    int before, token;
    enum remedy remedy;
    const char *text;
} slips[] = {
    {0, TOKEN_READ, INSERT, "grant"},
    {0, TOKEN_WRITE, INSERT, "grant"},
    {0, TOKEN_NETWORK, INSERT, "grant"},
    {0, TOKEN_ENV, INSERT, "grant"},
    {0, TOKEN_SERVICE, INSERT, "grant"},
    {0, TOKEN_EXEC, INSERT, "deny"},
    {0, TOKEN_OS, INSERT, "when"},
    {0, TOKEN_COMMAND, INSERT, "when"},
    {0, TOKEN_ALLOW, REPLACE, "grant"},
    {0, TOKEN_EXCEPT, SAY, "`except` belongs on the line of its `deny` or `use`"},
    {TOKEN_GRANT, TOKEN_EXEC, SAY, "what may be read may be executed: `grant read` is enough"},
    {TOKEN_GRANT, TOKEN_ALLOW, SAY, "`grant` alone allows; `allow` belongs to `expect`"},
    {TOKEN_AUTO, TOKEN_READ, INSERT, "grant"},
    {TOKEN_AUTO, TOKEN_WRITE, INSERT, "grant"},
    {TOKEN_AUTO, TOKEN_DENY, SAY, "only grants can be automatic: a deny always holds"},
};

/* For a comma before a list's first word. */
static const char *help_early_comma(const struct surprise *surprise)
{
    struct parser *parser = surprise->parser;
    const char *after = parser->text + surprise->at.end;
    after += strspn(after, " \t");
    if (surprise->before == TOKEN_READ && strncmp(after, "write", strlen("write")) == 0)
        return "what may be written may be read: `grant write PATH` grants both";
    return is_expected(surprise, TOKEN_WORD) ? help_replace(parser, surprise->at, "") : NULL;
}

const char *help_for_slip(const struct surprise *surprise)
{
    int before = surprise->row->count == 1 ? 0 : surprise->before;
    for (size_t i = 0; i < sizeof slips / sizeof *slips; i++) {
        if (slips[i].before != before || slips[i].token != surprise->token)
            continue;
        if (slips[i].remedy == SAY)
            return slips[i].text;
        return slips[i].remedy == INSERT ? help_insert(surprise, slips[i].text)
                                         : did_you_mean(surprise, slips[i].text);
    }
    if (surprise->token == TOKEN_COMMA)
        return help_early_comma(surprise);
    if (surprise->row->first == TOKEN_AUTO && before != 0 && surprise->token != TOKEN_WORD)
        return "only `grant read` and `grant write` can be automatic";
    if (before == TOKEN_SET && strncmp(surprise->written, "env", strlen("env")) == 0)
        return help_replace(surprise->parser, surprise->at, "env");
    if (before == TOKEN_GRANT && is_path(surprise))
        return help_insert(surprise, "read");
    if (before == TOKEN_PERMIT)
        return "`permit` only takes `bypass`; to open something, write `grant`";
    if (before == TOKEN_WHEN && strstr("linux macos windows", surprise->written) != NULL)
        return help_insert(surprise, "os");
    if (surprise->token == TOKEN_WORD && is_expected(surprise, TOKEN_HOST) &&
        strcmp(surprise->written, "*") == 0)
        return help_replace(surprise->parser, surprise->at, "any");
    if (surprise->token == TOKEN_WORD && is_expected(surprise, TOKEN_HOST))
        return help_insert(surprise, is_digit(surprise->written[0]) ? "address" : "host");
    if (surprise->topic == TOKEN_PORT && is_expected(surprise, TOKEN_WORD))
        return "`port` belongs to every target of its statement: start a new one for other ports";
    return NULL;
}

const char *help_first_word(const struct surprise *surprise)
{
    const char *near = nearest_expected(surprise), *slip = help_for_slip(surprise);
    if (near != NULL)
        return did_you_mean(surprise, near);
    if (slip != NULL)
        return slip;
    if (is_path(surprise))
        return arena_format(surprise->parser->arena,
                            "a list that goes on needs a comma at the end of the line before; or is a "
                            "statement meant? %s",
                            help_insert(surprise, "grant read"));
    return "a statement starts with use, let, grant, auto, deny, set, limit, permit, accept, expect or when";
}

/* Two words between single quotes, which do not quote here: the path with real ones, if it is one; else
 * NULL. */
static const char *quoted_path(const struct surprise *surprise)
{
    struct parser *parser = surprise->parser;
    const char *text = verbatim(parser, join(surprise->before_at, surprise->at));
    size_t length = text == NULL ? 0 : strlen(text);
    if (length < 3 || text[0] != '\'' || text[length - 1] != '\'' || strpbrk(text, "\"\\") != NULL)
        return NULL;
    const char *root = strchr("/~$", text[1]) != NULL ? "" : "$WORK/";
    return arena_format(parser->arena, "\"%s%.*s\"", root, (int)length - 2, text + 1);
}

const char *help_in_list(const struct surprise *surprise)
{
    struct parser *parser = surprise->parser;
    struct span gap = span_of(parser, surprise->before_at.end, surprise->at.start);
    if (surprise->topic == TOKEN_PORT && surprise->written[0] == '-')
        return "a range is one word, such as 3000-3010";
    if (is_expected(surprise, TOKEN_PORT) && is_digit(surprise->written[0]))
        return help_insert(surprise, "port");
    const char *quoted = quoted_path(surprise);
    if (quoted != NULL)
        return help_replace(parser, join(surprise->before_at, surprise->at), quoted);
    return help_replace(parser, gap, is_expected(surprise, TOKEN_PORT) ? ", host " : ", ");
}

const char *help_split(const struct surprise *surprise)
{
    struct parser *parser = surprise->parser;
    const char *word = verbatim(parser, surprise->before_at),
               *equals = word == NULL ? NULL : strchr(word, '=');
    if (surprise->before != TOKEN_WORD || equals == NULL || equals == word)
        return NULL;
    const char *quote = surprise->row->first == TOKEN_SET ? "\"" : "";
    const char *split =
        arena_format(parser->arena, "%.*s = %s%s%s", (int)(equals - word), word, quote, equals + 1, quote);
    return help_replace(parser, surprise->before_at, split);
}

const char *help_equals(const struct surprise *surprise)
{
    bool sign = strcmp(surprise->written, "==") == 0 || strcmp(surprise->written, ":=") == 0;
    if (sign || strcmp(surprise->written, "to") == 0)
        return help_replace(surprise->parser, surprise->at, "=");
    return help_insert(surprise, "=");
}

/* The word in quotes; single quotes around it are taken for a slip. */
const char *quoted_form(const struct surprise *surprise)
{
    const char *written = surprise->written;
    size_t length = strlen(written), skip = 0;
    if (length >= 2 && written[0] == '\'' && written[length - 1] == '\'')
        skip = 1;
    return arena_format(surprise->parser->arena, "\"%.*s\"", (int)(length - 2 * skip), written + skip);
}
