#include "base/escape.h"
#include "grammar/comments.h"
#include "grammar/parser.h"

#include <string.h>

enum { COLUMN_LAST = 100 };

static bool is_control(const char *bytes, size_t size)
{
    unsigned char first = (unsigned char)bytes[0];
    return (size == 1 && (first < 0x20 || first == 0x7F)) ||
           (size == 2 && first == 0xC2 && (unsigned char)bytes[1] < 0xA0);
}

/* Whether a word can only be written in quotes: it is empty or a sign, or holds what would end or break a
 * bare word. */
static bool needs_quotes(const struct word *word)
{
    if (word->length == 0 || (word->length == 1 && word->bytes[0] == '='))
        return true;
    for (uint32_t i = 0; i < word->length; i++)
        if (strchr(" ,#\"{}", word->bytes[i]) != NULL)
            return true;
    return false;
}

static bool is_keyword(const struct word *word)
{
    return keyword_find(word->bytes, word->length) != 0;
}

/* The characters of a word, escaped where they must be, bare and in quotes alike. */
static void characters_print(struct buffer *buffer, const struct word *word)
{
    for (uint32_t i = 0; i < word->length;) {
        const char *bytes = word->bytes + i;
        size_t size = utf8_character(bytes, word->length - i);
        bool literal = word->literal != NULL && word->literal[i];
        if (size == 0 || is_control(bytes, size)) {
            for (size_t left = size == 0 ? 1 : size; left > 0; left--)
                buffer_format(buffer, "\\x%02x", (unsigned)(unsigned char)word->bytes[i++]);
            continue;
        }
        if (literal || *bytes == '"' || *bytes == '\\')
            buffer_byte(buffer, '\\');
        buffer_bytes(buffer, bytes, size);
        i += (uint32_t)size;
    }
}

static void quoted_print(struct buffer *buffer, const struct word *word)
{
    buffer_byte(buffer, '"');
    characters_print(buffer, word);
    buffer_byte(buffer, '"');
}

/* Where no keyword can stand, a word may be spelled like one. */
static void bare_print(struct buffer *buffer, const struct word *word)
{
    if (needs_quotes(word))
        quoted_print(buffer, word);
    else
        characters_print(buffer, word);
}

void word_print(struct buffer *buffer, const struct word *word)
{
    if (is_keyword(word))
        quoted_print(buffer, word);
    else
        bare_print(buffer, word);
}

/* Starts the item that comes next in a list, after the comments before it. Returns where it starts in the
 * buffer. */
static size_t item_start(struct printer *printer, struct span span)
{
    struct buffer *buffer = printer->buffer;
    if (comments_in_list(printer, span.start))
        return SIZE_MAX;
    buffer_byte(buffer, ' ');
    return buffer->length;
}

/* Ends the item that starts at `at`: if it went too far to the right, it moves to a line of its own. */
static void item_end(struct printer *printer, size_t at, struct span span, bool first, bool last)
{
    struct buffer *buffer = printer->buffer;
    printer_read(printer, span);
    if (!last)
        buffer_byte(buffer, ',');
    if (first || at == SIZE_MAX || buffer->length - printer->line_start <= COLUMN_LAST)
        return;
    size_t length = buffer->length - at;
    const char *item = arena_copy(buffer->arena, buffer->bytes + at, length);
    buffer->length = at - 1;
    printer_line(printer, 1);
    buffer_bytes(buffer, item, length);
}

typedef void print_word(struct buffer *buffer, const struct word *word);

static void words_print(struct printer *printer, const struct word_list *words, print_word *print)
{
    for (uint32_t i = 0; i < words->count; i++) {
        struct span span = words->items[i].span;
        size_t at = item_start(printer, span);
        print(printer->buffer, &words->items[i]);
        item_end(printer, at, span, i == 0, i + 1 == words->count);
    }
}

static void target_print(struct buffer *buffer, const struct target_syntax *target)
{
    static const char *const names[] = {
        [TARGET_HOST] = "host ", [TARGET_ADDRESS] = "address ",  [TARGET_LOOPBACK] = "loopback",
        [TARGET_LAN] = "lan",    [TARGET_INTERNET] = "internet", [TARGET_ANY] = "any",
    };
    buffer_string(buffer, names[target->kind]);
    if (target->kind == TARGET_HOST || target->kind == TARGET_ADDRESS)
        bare_print(buffer, &target->word);
}

static void targets_print(struct printer *printer, const struct target_list *targets)
{
    for (uint32_t i = 0; i < targets->count; i++) {
        struct span span = targets->items[i].span;
        size_t at = item_start(printer, span);
        target_print(printer->buffer, &targets->items[i]);
        item_end(printer, at, span, i == 0, i + 1 == targets->count);
    }
}

static void word_after(struct buffer *buffer, const char *before, const struct word *word, print_word *print)
{
    buffer_string(buffer, before);
    print(buffer, word);
}

static void reach_print(struct printer *printer, const struct statement *statement)
{
    static const char *const protocols[] = {
        [PROTOCOL_UNSAID] = "", [PROTOCOL_TCP] = " tcp", [PROTOCOL_UDP] = " udp"};
    if (statement->parts->ports.count > 0)
        buffer_string(printer->buffer, " port");
    words_print(printer, &statement->parts->ports, bare_print);
    buffer_string(printer->buffer, protocols[statement->protocol]);
}

static void except_print(struct printer *printer, const struct statement *statement)
{
    if (statement->except.count > 0)
        buffer_string(printer->buffer, " except");
    words_print(printer, &statement->except, bare_print);
}

static const char *const aspects[] = {
    [ASPECT_NONE] = "",           [ASPECT_READ] = "read",           [ASPECT_WRITE] = "write",
    [ASPECT_EXEC] = "exec",       [ASPECT_SOCKET] = "socket",       [ASPECT_ENV] = "env",
    [ASPECT_SERVICE] = "service", [ASPECT_PROCESSES] = "processes", [ASPECT_FILES] = "files",
    [ASPECT_MEMORY] = "memory",   [ASPECT_TIME] = "time",
};

static const char *const verbs[] = {[VERB_NONE] = "", [VERB_GRANT] = "grant", [VERB_DENY] = "deny"};

static void path_print(struct printer *printer, const struct statement *statement)
{
    const char *blank = statement->aspect == ASPECT_NONE ? "" : " ";
    if (statement->automatic)
        buffer_string(printer->buffer, "auto ");
    buffer_format(printer->buffer, "%s%s%s", verbs[statement->verb], blank, aspects[statement->aspect]);
    words_print(printer, &statement->words, statement->aspect == ASPECT_NONE ? word_print : bare_print);
    except_print(printer, statement);
}

static void limit_print(struct printer *printer, const struct statement *statement)
{
    bool network = statement->kind == STATEMENT_LIMIT_NETWORK;
    buffer_format(printer->buffer, "limit %s to", network ? "network" : aspects[statement->aspect]);
    if (statement->nothing)
        buffer_string(printer->buffer, " nothing");
    words_print(printer, &statement->words, word_print);
    targets_print(printer, &statement->parts->targets);
    reach_print(printer, statement);
}

static void accept_print(struct buffer *buffer, const struct statement *statement)
{
    word_after(buffer, "accept ", &statement->parts->subject, bare_print);
    if (statement->kind == STATEMENT_ACCEPT_CONTROL)
        word_after(buffer, " on ", &statement->parts->second, bare_print);
    word_after(buffer, " because ", &statement->parts->value, quoted_print);
}

static void class_print(struct printer *printer, const struct statement *statement, const char *class)
{
    buffer_format(printer->buffer, "%s %s", verbs[statement->verb], class);
    words_print(printer, &statement->words, bare_print);
    targets_print(printer, &statement->parts->targets);
    if (statement->kind == STATEMENT_LISTEN)
        word_after(printer->buffer, " ", &statement->parts->subject, bare_print);
    reach_print(printer, statement);
}

/* A statement without the children of a `when`. */
static void statement_print(struct printer *printer, const struct statement *statement)
{
    struct buffer *buffer = printer->buffer;
    switch (statement->kind) {
    case STATEMENT_USE:
        word_after(buffer, "use ", &statement->parts->subject,
                   statement->parts->subject.quoted ? quoted_print : bare_print);
        except_print(printer, statement);
        break;
    case STATEMENT_LET:
        word_after(buffer, "let ", &statement->parts->subject, bare_print);
        buffer_string(buffer, " =");
        words_print(printer, &statement->words, bare_print);
        break;
    case STATEMENT_PATH:
        path_print(printer, statement);
        break;
    case STATEMENT_SOCKET:
        class_print(printer, statement, "socket");
        break;
    case STATEMENT_NETWORK:
        class_print(printer, statement, "network");
        break;
    case STATEMENT_LISTEN:
        class_print(printer, statement, "listen");
        break;
    case STATEMENT_ENV:
        class_print(printer, statement, "env");
        break;
    case STATEMENT_SERVICE:
        class_print(printer, statement, "service");
        break;
    case STATEMENT_SYSCALL:
        class_print(printer, statement, "syscall");
        break;
    case STATEMENT_SCRATCH:
        class_print(printer, statement, "scratch");
        break;
    case STATEMENT_BYPASS:
        class_print(printer, statement, "bypass");
        break;
    case STATEMENT_SET_ENV:
        word_after(buffer, "set env ", &statement->parts->subject, bare_print);
        word_after(buffer, " = ", &statement->parts->value, quoted_print);
        break;
    case STATEMENT_LIMIT_PATHS:
    case STATEMENT_LIMIT_NETWORK:
    case STATEMENT_LIMIT_NAMES:
        limit_print(printer, statement);
        break;
    case STATEMENT_PERMIT_BYPASS:
        buffer_string(buffer, "permit bypass");
        break;
    case STATEMENT_LIMIT_AMOUNT:
        buffer_format(buffer, "limit %s to", aspects[statement->aspect]);
        word_after(buffer, " ", &statement->parts->subject, bare_print);
        break;
    case STATEMENT_ACCEPT_CONTROL:
    case STATEMENT_ACCEPT_CODE:
        accept_print(buffer, statement);
        break;
    case STATEMENT_EXPECT:
        word_after(buffer, statement->verb == VERB_GRANT ? "expect allow " : "expect deny ",
                   &statement->parts->subject, bare_print);
        words_print(printer, &statement->words, bare_print);
        break;
    case STATEMENT_WHEN:
        word_after(buffer, "when ", &statement->parts->subject, bare_print);
        words_print(printer, &statement->words, bare_print);
        buffer_string(buffer, " {");
        break;
    }
}

/* The parser nests blocks at most sixteen deep, so this may call itself. */
static void statements_print(struct printer *printer, const struct statement *statement, uint32_t depth)
{
    for (; statement != NULL; statement = statement->next) {
        printer->depth = depth;
        comments_before(printer, statement->span.start);
        statement_print(printer, statement);
        printer_read(printer, statement->span);
        if (statement->kind == STATEMENT_WHEN) {
            printer->opened = true;
            statements_print(printer, statement->children, depth + 1);
            comments_before_brace(printer, depth);
            buffer_byte(printer->buffer, '}');
        }
    }
}

static void file_print(struct printer *printer, const struct syntax_file *file)
{
    static const char *const kinds[] = {
        [FILE_POLICY] = "policy ", [FILE_MANAGED] = "managed ", [FILE_PRESET] = "preset "};
    comments_before_header(printer, 2);
    buffer_string(printer->buffer, "sbx 1");
    comments_before_header(printer, 1);
    word_after(printer->buffer, kinds[file->kind], &file->name, quoted_print);
    printer_read(printer, file->name.span);
    statements_print(printer, file->statements, 0);
    comments_at_end(printer);
}

void syntax_print(struct buffer *buffer, const struct syntax_file *file)
{
    struct printer printer = {.buffer = buffer, .line_start = buffer->length};
    file_print(&printer, file);
}

void syntax_format(struct buffer *buffer, const struct syntax_file *file, const struct source *source)
{
    struct printer printer = {.buffer = buffer, .line_start = buffer->length, .source = source};
    file_print(&printer, file);
}
