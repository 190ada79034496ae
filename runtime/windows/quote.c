#include "runtime/windows/quote.h"

#include "base/escape.h"

#include <string.h>
#include <strings.h>

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/* What no reader of a line takes for more than itself; even wildcards are expanded by some. */
static const char plain_marks[] = "_-./\\:+@";

/* What cmd.exe and a batch file that hands its words on take for themselves between double quotes. */
static const char batch_marks[] = "_-./\\:+@=,~# ";

static bool made_of(const char *word, const char *marks)
{
    for (const char *at = word; *at != '\0'; at++)
        if (strchr(letters, *at) == NULL && strchr(marks, *at) == NULL)
            return false;
    return true;
}

static size_t backslashes_at(const char *at)
{
    return strspn(at, "\\");
}

/* Backslashes count only before a double quote, where each pair means one. */
static void add_quoted(struct buffer *line, const char *word)
{
    buffer_byte(line, '"');
    for (const char *at = word; *at != '\0'; at++) {
        size_t count = backslashes_at(at);
        bool before_quote = at[count] == '"' || at[count] == '\0';

        for (size_t i = 0; i < (before_quote ? 2 * count : count); i++)
            buffer_byte(line, '\\');
        at += count;
        if (*at == '\0')
            break;
        if (*at == '"')
            buffer_byte(line, '\\');
        buffer_byte(line, *at);
    }
    buffer_byte(line, '"');
}

static void add_word(struct buffer *line, const char *word)
{
    buffer_byte(line, ' ');
    if (*word != '\0' && made_of(word, plain_marks))
        buffer_string(line, word);
    else
        add_quoted(line, word);
}

/* UTF-16 units of valid UTF-8: one a character, two where it takes four bytes. */
static size_t units(const struct buffer *line)
{
    size_t count = 0;

    for (size_t i = 0; i < line->length; i++) {
        unsigned char byte = (unsigned char)line->bytes[i];
        count += (byte & 0xC0) != 0x80;
        count += byte >= 0xF0;
    }
    return count;
}

static const char *too_long(const struct buffer *line, size_t most)
{
    size_t count = units(line);

    return count <= most ? NULL
                         : arena_format(line->arena, "its command line has %zu characters; Windows takes %zu",
                                        count, most);
}

bool quote_is_batch(const char *path)
{
    size_t length = strlen(path);

    while (length > 0 && (path[length - 1] == '.' || path[length - 1] == ' '))
        length--;
    return length >= 4 &&
           (strncasecmp(path + length - 4, ".bat", 4) == 0 || strncasecmp(path + length - 4, ".cmd", 4) == 0);
}

/* The first word is taken apart by rules of its own, which know no escape. */
static const char *add_program(struct buffer *line, const char *name)
{
    if (strchr(name, '"') != NULL)
        return "a program's name holds no double quote";
    buffer_format(line, "\"%s\"", name);
    return NULL;
}

const char *quote_words(struct buffer *line, char *const *command)
{
    const char *wrong = add_program(line, command[0]);

    for (char *const *word = command + 1; wrong == NULL && *word != NULL; word++)
        add_word(line, *word);
    return wrong != NULL ? wrong : too_long(line, QUOTE_LONGEST);
}

const char *quote_batch(struct buffer *line, const char *interpreter, const char *path, char *const *command)
{
    const char *wrong = add_program(line, interpreter);

    if (wrong == NULL && strpbrk(path, "\"%\r\n") != NULL)
        wrong = "cmd.exe would not take its path as it is written";
    /* With /s exactly the outer pair of quotes goes; /d and /v:off leave out what the registry says. */
    buffer_format(line, " /d /e:on /v:off /s /c \"\"%s\"", path);
    for (char *const *word = command + 1; wrong == NULL && *word != NULL; word++) {
        if (!made_of(*word, batch_marks))
            wrong = arena_format(line->arena, "a batch file could take the word %s for more than a word",
                                 escape_windows(line->arena, *word));
        add_word(line, *word);
    }
    buffer_byte(line, '"');
    return wrong != NULL ? wrong : too_long(line, QUOTE_LONGEST_BATCH);
}
