#include "grammar/shape.h"

#include "base/escape.h"
#include "grammar/lexeme.h"

#include <string.h>
#include <strings.h>

static void misshapen(struct parser *parser, enum code code, const struct word *word, const char *text,
                      const char *help)
{
    parser_error(parser, code, word->span, text, help);
    parser->row.faulty = true;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Whether a word is bare and was written without any backslash, as numbers and names must be. */
static bool is_as_written(const struct word *word)
{
    return !word->quoted && word->span.end - word->span.start == word->length;
}

enum { NUMBER_DIGITS = 15 };

/* The number that `length` digits at `bytes` write: at least 1, no leading zero; 0 if they write none. */
static uint64_t number_read(const char *bytes, uint32_t length)
{
    uint64_t number = 0;
    if (length == 0 || length > NUMBER_DIGITS || bytes[0] == '0')
        return 0;
    for (uint32_t i = 0; i < length; i++) {
        if (!is_digit(bytes[i]))
            return 0;
        number = number * 10 + (uint64_t)(bytes[i] - '0');
    }
    return number;
}

static uint32_t count_digits(const struct word *word)
{
    uint32_t digits = 0;
    while (digits < word->length && is_digit(word->bytes[digits]))
        digits++;
    return digits;
}

void check_name(struct parser *parser, const struct word *word)
{
    bool good = is_as_written(word) && word->length > 0 && !is_digit(word->bytes[0]);
    if (word_is_faulty(word))
        return;
    for (uint32_t i = 0; i < word->length && good; i++)
        good = is_letter(word->bytes[i]) || is_digit(word->bytes[i]) || word->bytes[i] == '_';
    if (good)
        return;
    bool dollar = word->length > 1 && word->bytes[0] == '$';
    misshapen(parser, SBX044_BAD_NAME, word,
              "a name is a letter or _, then letters, digits and _, without quotes",
              dollar ? "leave out the $ here: it stands only where the name is used" : NULL);
}

bool check_version(struct parser *parser, const struct word *word)
{
    if (word_is_faulty(word))
        return false;
    if (is_as_written(word) && word->length == 1 && word->bytes[0] == '1')
        return true;
    bool number = is_as_written(word) && number_read(word->bytes, word->length) > 0;
    misshapen(parser, SBX031_UNKNOWN_VERSION, word,
              number ? arena_format(parser->arena,
                                    "version %s of the language is not known here: this is version 1",
                                    word->bytes)
                     : "`sbx` is followed by the version of the language, a number",
              "write `sbx 1`");
    return false;
}

enum { POLICY_NAME_LONGEST = 64 };

bool check_policy_name(struct parser *parser, const struct word *word)
{
    const char *bytes = word->bytes;
    bool good =
        word->length > 0 && word->length <= POLICY_NAME_LONGEST && (is_letter(*bytes) || is_digit(*bytes));
    if (word_is_faulty(word))
        return false;
    for (uint32_t i = 1; i < word->length && good; i++)
        good = is_letter(bytes[i]) || is_digit(bytes[i]) ||
               (bytes[i] != '\0' && strchr("._ -", bytes[i]) != NULL);
    if (!good)
        misshapen(
            parser, SBX033_BAD_POLICY_NAME, word,
            "the name starts with a letter or digit, then come letters, digits, `.`, `_`, `-` and blanks, "
            "64 characters in all at most",
            NULL);
    return good;
}

bool check_managed_name(struct parser *parser, const struct word *word)
{
    if (strcmp(word->bytes, "policy") != 0 && strcmp(word->bytes, "itself") != 0)
        return true;
    misshapen(parser, SBX033_BAD_POLICY_NAME, word,
              arena_format(parser->arena,
                           "no managed file can be named \"%s\": answers say it of other rules", word->bytes),
              "name it after whoever answers for it, such as \"corp\"");
    return false;
}

/* What to write instead of `word` behind `use`, or a remark where that cannot be told. */
static const char *preset_help(struct parser *parser, const struct word *word)
{
    const char *bytes = word->bytes;
    struct buffer name = buffer_in(parser->arena);
    if (word->length > 0 && strchr("/~$", bytes[0]) != NULL)
        return "a file is named relative to this one, in quotes, such as \"../team/base.sbx\"";
    if (strcmp(bytes, "std") == 0 || strcmp(bytes, "std/") == 0)
        return "name the preset, such as std/dev";
    if (strncmp(bytes, "std/", strlen("std/")) != 0)
        return help_replace(parser, word->span,
                            arena_format(parser->arena, "\"%s\"", shown(parser, word->span)));
    for (uint32_t i = 0; i < word->length; i++)
        if (bytes[i] != '/' || (i + 1 < word->length && bytes[i + 1] != '/'))
            buffer_byte(&name, bytes[i]);
    size_t suffix = strlen(".sbx");
    if (name.length > suffix && memcmp(name.bytes + name.length - suffix, ".sbx", suffix) == 0)
        name.length -= suffix;
    return help_replace(parser, word->span, escape_text(parser->arena, name.bytes, name.length));
}

/* A plain name without a folder is looked for among the presets, where it can be told what is near it. */
static bool is_short_name(const struct word *word)
{
    for (uint32_t i = 0; i < word->length; i++)
        if (!is_letter(word->bytes[i]) && word->bytes[i] != '-')
            return false;
    return word->length > 0 && strcmp(word->bytes, "std") != 0;
}

void check_preset(struct parser *parser, const struct word *word)
{
    bool good = word->length > 0 && word->bytes[0] != '/' && word->bytes[word->length - 1] != '/';
    if (word->quoted || word_is_faulty(word) || is_short_name(word))
        return;
    if (good && memchr(word->bytes, '/', word->length) != NULL && strchr("~$.", word->bytes[0]) == NULL &&
        strstr(word->bytes, "//") == NULL && strstr(word->bytes, ".sbx") == NULL)
        return;
    misshapen(parser, SBX045_BAD_PRESET, word,
              "a preset has a name such as std/dev; a file is written in quotes", preset_help(parser, word));
}

static void bad_port(struct parser *parser, const struct word *word, const char *text, const char *help)
{
    misshapen(parser, SBX041_BAD_PORT, word, text, help);
}

void check_port(struct parser *parser, const struct word *word)
{
    const char *dash = memchr(word->bytes, '-', word->length);
    uint32_t first = dash == NULL ? word->length : (uint32_t)(dash - word->bytes);
    uint64_t low = number_read(word->bytes, first), high = low;
    if (word_is_faulty(word))
        return;
    if (dash != NULL)
        high = number_read(dash + 1, word->length - first - 1);
    if (!is_as_written(word) || low == 0 || high == 0)
        bad_port(parser, word, "a port is a number from 1 to 65535, a range such as 3000-3010, or `any`",
                 NULL);
    else if (low > 65535 || high > 65535)
        bad_port(parser, word, "the highest port is 65535", NULL);
    else if (low > high)
        bad_port(parser, word, "the lower port comes first",
                 help_replace(parser, word->span,
                              arena_format(parser->arena, "%u-%u", (unsigned)high, (unsigned)low)));
}

struct unit {
    const char *name;
    uint64_t factor;
};

static const struct unit sizes[] = {{"KiB", 1u << 10}, {"MiB", 1u << 20}, {"GiB", 1u << 30}, {NULL, 0}};
static const struct unit durations[] = {{"s", 1}, {"m", 60}, {"h", 3600}, {NULL, 0}};

static bool has_unit(const struct word *word, const struct unit *units)
{
    uint32_t digits = count_digits(word);
    uint64_t number = number_read(word->bytes, digits);
    if (number == 0)
        return false;
    for (; units->name != NULL; units++)
        if (strcmp(word->bytes + digits, units->name) == 0)
            return number <= INT64_MAX / units->factor;
    return false;
}

void check_amount(struct parser *parser, const struct word *word, enum aspect aspect)
{
    if (word_is_faulty(word))
        return;
    bool written = is_as_written(word);
    if (aspect == ASPECT_MEMORY) {
        if (!written || !has_unit(word, sizes))
            misshapen(parser, SBX042_BAD_SIZE, word,
                      "a size is a number from 1 with KiB, MiB or GiB right after it",
                      "for example 512MiB or 4GiB");
    } else if (aspect == ASPECT_TIME) {
        if (!written || !has_unit(word, durations))
            misshapen(parser, SBX043_BAD_DURATION, word,
                      "a duration is a number from 1 with s, m or h right after it",
                      "for example 90s, 30m or 2h");
    } else if (!written || number_read(word->bytes, word->length) == 0) {
        misshapen(parser, SBX040_BAD_NUMBER, word,
                  "a number is decimal, at least 1 and at most 15 digits, without sign or leading zero",
                  NULL);
    }
}

void check_code(struct parser *parser, const struct word *word)
{
    const char *bytes = word->bytes;
    if (word_is_faulty(word))
        return;
    if (is_as_written(word) && word->length == 6 && memcmp(bytes, "SBX", 3) == 0 && is_digit(bytes[3]) &&
        is_digit(bytes[4]) && is_digit(bytes[5]))
        return;
    const char *control = arena_format(parser->arena, "%s on bwrap", shown(parser, word->span));
    misshapen(parser, SBX046_BAD_CODE, word, "without a target, `accept` takes a code such as SBX201",
              strncasecmp(bytes, "SBX", 3) == 0 ? "a code is SBX, in capitals, and three digits"
                                                : help_replace(parser, word->span, control));
}

void check_os(struct parser *parser, const struct word *word)
{
    static const char *const systems[] = {"linux", "macos", "windows", NULL};
    if (word_is_faulty(word))
        return;
    for (uint32_t i = 0; systems[i] != NULL; i++)
        if (strcmp(word->bytes, systems[i]) == 0)
            return;
    const char *near = nearest_word(word->bytes, systems);
    misshapen(parser, SBX022_UNKNOWN_SYSTEM, word, "the operating systems are linux, macos and windows",
              near == NULL ? NULL : help_replace(parser, word->span, near));
}

void check_no_nothing(struct parser *parser, const struct word *word)
{
    if (is_as_written(word) && strcmp(word->bytes, "nothing") == 0)
        misshapen(parser, SBX014_NOTHING_NOT_ALONE, word, "`nothing` stands alone: it is no item of a list",
                  help_replace(parser, word->span, "\"nothing\""));
}
