#include "emitters/seatbelt_lex.h"

#include "base/buffer.h"

#include <string.h>

enum { DEPTH_MOST = 500, STRING_MOST = 1024, ATOM_MOST = 1024 };

/* Where an error is, and where a value begins. */
struct place {
    uint32_t line, column;
};

static struct place here(const struct seatbelt_reader *reader)
{
    return (struct place){reader->line, (uint32_t)(reader->at - reader->line_start) + 1};
}

static const struct seatbelt_value *refuse(struct seatbelt_reader *reader, struct place place,
                                           const char *text)
{
    seatbelt_fail_at(reader->machine, place.line, place.column, text);
    return NULL;
}

static struct seatbelt_value *make(struct seatbelt_reader *reader, enum seatbelt_kind kind,
                                   struct place place)
{
    struct seatbelt_value *value = seatbelt_value(reader->machine, kind, NULL);
    value->line = place.line;
    value->column = place.column;
    return value;
}

static bool more(const struct seatbelt_reader *reader)
{
    return reader->at < reader->length;
}

static char peek(const struct seatbelt_reader *reader)
{
    return more(reader) ? reader->text[reader->at] : '\0';
}

static char advance(struct seatbelt_reader *reader)
{
    char byte = reader->text[reader->at++];
    if (byte == '\n') {
        reader->line++;
        reader->line_start = reader->at;
    }
    return byte;
}

static void skip_line(struct seatbelt_reader *reader)
{
    while (more(reader) && peek(reader) != '\n')
        reader->at++;
}

static bool is_space(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r' || byte == '\f' || byte == '\v';
}

static void skip_space(struct seatbelt_reader *reader)
{
    while (more(reader)) {
        if (is_space(peek(reader)))
            advance(reader);
        else if (peek(reader) == ';' || (peek(reader) == '#' && reader->at + 1 < reader->length &&
                                         reader->text[reader->at + 1] == '!'))
            skip_line(reader);
        else
            return;
    }
}

static bool ends_atom(char byte)
{
    return is_space(byte) || byte == '(' || byte == ')' || byte == ';' || byte == '"';
}

static int hex_digit(char byte)
{
    if (byte >= '0' && byte <= '9')
        return byte - '0';
    if (byte >= 'a' && byte <= 'f')
        return byte - 'a' + 10;
    return byte >= 'A' && byte <= 'F' ? byte - 'A' + 10 : -1;
}

/* \xHH or \NNN behind the backslash; -1 if it is not well formed. */
static int read_coded(struct seatbelt_reader *reader)
{
    int base = 8, digits = 3, value = 0, count = 0;
    if (peek(reader) == 'x') {
        reader->at++;
        base = 16;
        digits = 2;
    }
    for (; count < digits; count++) {
        int digit = hex_digit(peek(reader));
        if (digit < 0 || digit >= base)
            break;
        value = value * base + digit;
        reader->at++;
    }
    bool whole = base == 16 ? count == digits : count > 0;
    return whole && value > 0 && value < 256 ? value : -1;
}

static int read_escaped(struct seatbelt_reader *reader)
{
    char byte = peek(reader);
    if (byte == 'x' || (byte >= '0' && byte <= '7'))
        return read_coded(reader);
    advance(reader);
    switch (byte) {
    case 'n':
        return '\n';
    case 't':
        return '\t';
    case 'r':
        return '\r';
    default:
        return (unsigned char)byte;
    }
}

/* The string whose opening quote has been read. */
static const struct seatbelt_value *read_string(struct seatbelt_reader *reader, bool raw, struct place place)
{
    struct buffer out = buffer_in(reader->machine->arena);
    while (more(reader) && peek(reader) != '"') {
        int byte = (unsigned char)advance(reader);
        if (!raw && byte == '\\')
            byte = more(reader) ? read_escaped(reader) : -1;
        if (byte <= 0 || out.length >= STRING_MOST)
            return refuse(reader, place, "Error reading string");
        buffer_byte(&out, (char)byte);
    }
    if (!more(reader))
        return refuse(reader, place, "Error reading string");
    reader->at++;
    struct seatbelt_value *string = make(reader, SEATBELT_VALUE_STRING, place);
    string->as.string.bytes = out.length > 0 ? out.bytes : "";
    string->as.string.length = out.length;
    return string;
}

static size_t atom_length(const struct seatbelt_reader *reader)
{
    size_t length = 0;
    while (reader->at + length < reader->length && !ends_atom(reader->text[reader->at + length]))
        length++;
    return length;
}

static bool parse_number(const char *bytes, size_t length, int base, int64_t *number)
{
    bool negative = length > 1 && (*bytes == '-' || *bytes == '+');
    size_t at = negative ? 1 : 0;
    int64_t value = 0;
    if (at == length)
        return false;
    for (; at < length; at++) {
        int digit = hex_digit(bytes[at]);
        if (digit < 0 || digit >= base || value > (INT64_MAX - digit) / base)
            return false;
        value = value * base + digit;
    }
    *number = negative && *bytes == '-' ? -value : value;
    return true;
}

static const struct seatbelt_value *make_number(struct seatbelt_reader *reader, int64_t number,
                                                struct place place)
{
    struct seatbelt_value *value = make(reader, SEATBELT_VALUE_NUMBER, place);
    value->as.number = number;
    return value;
}

static const struct seatbelt_value *read_character(struct seatbelt_reader *reader, const char *atom,
                                                   size_t length, struct place place)
{
    struct seatbelt_value *value = make(reader, SEATBELT_VALUE_CHARACTER, place);
    if (length == 1)
        value->as.number = (unsigned char)*atom;
    else if (length == 5 && memcmp(atom, "space", length) == 0)
        value->as.number = ' ';
    else if (length == 7 && memcmp(atom, "newline", length) == 0)
        value->as.number = '\n';
    else if (length == 3 && memcmp(atom, "tab", length) == 0)
        value->as.number = '\t';
    else
        return refuse(reader, place, "undefined sharp expression");
    return value;
}

static int sharp_base(char byte)
{
    return byte == 'x' ? 16 : byte == 'd' ? 10 : byte == 'o' ? 8 : byte == 'b' ? 2 : 0;
}

/* What follows #, which has been read: #t #f #\c #oNNN. */
static const struct seatbelt_value *read_sharp_atom(struct seatbelt_reader *reader, struct place place)
{
    const char *atom = reader->text + reader->at;
    size_t length = atom_length(reader);
    /* A character may be one that ends atoms elsewhere. */
    if (length == 1 && *atom == '\\' && reader->at + 1 < reader->length)
        length = 2;
    for (size_t i = 0; i < length; i++)
        advance(reader);
    int64_t number;
    if (length == 1 && (*atom == 't' || *atom == 'f')) {
        struct seatbelt_value *value = make(reader, SEATBELT_VALUE_BOOLEAN, place);
        value->as.boolean = *atom == 't';
        return value;
    }
    if (length > 1 && *atom == '\\')
        return read_character(reader, atom + 1, length - 1, place);
    if (length > 1 && sharp_base(*atom) > 0 && parse_number(atom + 1, length - 1, sharp_base(*atom), &number))
        return make_number(reader, number, place);
    return refuse(reader, place, "undefined sharp expression");
}

static const struct seatbelt_value *make_symbol(struct seatbelt_reader *reader, const char *bytes,
                                                size_t length, struct place place)
{
    struct seatbelt_value *value = make(reader, SEATBELT_VALUE_SYMBOL, place);
    value->as.symbol = intern(reader->machine->names, bytes, length);
    return value;
}

static const struct seatbelt_value *read_atom(struct seatbelt_reader *reader, struct place place)
{
    const char *atom = reader->text + reader->at;
    size_t length = atom_length(reader);
    int64_t number;
    if (length == 0 || length > ATOM_MOST || memchr(atom, '\0', length) != NULL)
        return refuse(reader, place, "syntax error: illegal token");
    reader->at += length;
    if (parse_number(atom, length, 10, &number))
        return make_number(reader, number, place);
    return make_symbol(reader, atom, length, place);
}

static const struct seatbelt_value *read_required(struct seatbelt_reader *reader)
{
    const struct seatbelt_value *value = seatbelt_next(reader);
    if (value == NULL)
        (void)refuse(reader, here(reader), "syntax error: expecting ')'");
    return value;
}

/* 'x, `x, ,x and ,@x stand for (quote x) and so on. */
static const struct seatbelt_value *read_quoted(struct seatbelt_reader *reader, const char *word,
                                                struct place place)
{
    struct seatbelt_machine *machine = reader->machine;
    if (++reader->depth > DEPTH_MOST)
        return refuse(reader, place, "the profile is nested too deeply");
    const struct seatbelt_value *quoted = read_required(reader);
    if (quoted == NULL)
        return NULL;
    reader->depth--;
    const struct seatbelt_value *name = make_symbol(reader, word, strlen(word), place);
    const struct seatbelt_value *end = make(reader, SEATBELT_VALUE_NIL, place);
    return seatbelt_pair(machine, name, seatbelt_pair(machine, quoted, end, name), name);
}

/* The one value behind a dot and the parenthesis that closes the list. */
static const struct seatbelt_value *read_dotted(struct seatbelt_reader *reader)
{
    const struct seatbelt_value *tail = read_required(reader);
    skip_space(reader);
    if (tail != NULL && peek(reader) != ')')
        return refuse(reader, here(reader), "syntax error: expecting ')'");
    return tail;
}

static bool at_dot(const struct seatbelt_reader *reader)
{
    return peek(reader) == '.' && atom_length(reader) == 1;
}

/* The list whose opening parenthesis has been read. */
static const struct seatbelt_value *read_list(struct seatbelt_reader *reader, struct place place)
{
    struct seatbelt_value *first = make(reader, SEATBELT_VALUE_NIL, place), *last = first;
    if (++reader->depth > DEPTH_MOST)
        return refuse(reader, place, "the profile is nested too deeply");
    for (skip_space(reader); peek(reader) != ')'; skip_space(reader)) {
        if (at_dot(reader) && last != first) {
            reader->at++;
            const struct seatbelt_value *tail = read_dotted(reader);
            if (tail == NULL)
                return NULL;
            *last = *tail;
            break;
        }
        const struct seatbelt_value *item = read_required(reader);
        if (item == NULL)
            return NULL;
        /* The end of the list becomes its next pair. */
        struct seatbelt_value *end = make(reader, SEATBELT_VALUE_NIL, here(reader));
        last->kind = SEATBELT_VALUE_PAIR;
        last->as.pair.head = item;
        last->as.pair.tail = end;
        last = end;
    }
    reader->at++;
    reader->depth--;
    return first;
}

/* #"raw", or #(...), a constant list that nothing in a profile tells from another list; else an atom. */
static const struct seatbelt_value *read_sharp(struct seatbelt_reader *reader, struct place place)
{
    if (peek(reader) == '(')
        return read_quoted(reader, "quote", place);
    if (peek(reader) != '"')
        return read_sharp_atom(reader, place);
    reader->at++;
    return read_string(reader, true, place);
}

const struct seatbelt_value *seatbelt_next(struct seatbelt_reader *reader)
{
    skip_space(reader);
    if (!more(reader) || reader->machine->failed)
        return NULL;
    struct place place = here(reader);
    switch (peek(reader)) {
    case '(':
        reader->at++;
        return read_list(reader, place);
    case ')':
        return refuse(reader, place, "syntax error: illegal token");
    case '"':
        reader->at++;
        return read_string(reader, false, place);
    case '#':
        reader->at++;
        return read_sharp(reader, place);
    case '\'':
        reader->at++;
        return read_quoted(reader, "quote", place);
    case '`':
        reader->at++;
        return read_quoted(reader, "quasiquote", place);
    case ',':
        reader->at++;
        if (peek(reader) != '@')
            return read_quoted(reader, "unquote", place);
        reader->at++;
        return read_quoted(reader, "unquote-splicing", place);
    default:
        return read_atom(reader, place);
    }
}
