#include "emitters/seatbelt_pattern.h"

#include "base/escape.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

/* ---- characters ---- */

static void put_literal(struct buffer *out, char byte, bool fold)
{
    if (fold && isalpha((unsigned char)byte) && (unsigned char)byte < 0x80)
        buffer_format(out, "[%c%c]", toupper((unsigned char)byte), tolower((unsigned char)byte));
    else if (byte != '\0' && strchr("^.[]$()|*+?{}\\", byte) != NULL)
        buffer_format(out, "\\%c", byte);
    else
        buffer_byte(out, byte);
}

/* `bytes` in a normalisation form, or NULL if they are not UTF-8. */
static const char *normal_form(struct arena *arena, const char *bytes, size_t length, bool composed)
{
    utf8proc_uint8_t *made = NULL;
    utf8proc_option_t form = composed ? UTF8PROC_COMPOSE : UTF8PROC_DECOMPOSE;
    utf8proc_ssize_t size = utf8proc_map((const utf8proc_uint8_t *)bytes, (utf8proc_ssize_t)length, &made,
                                         UTF8PROC_STABLE | form);
    const char *copy = size < 0 ? NULL : arena_copy(arena, (const char *)made, (size_t)size);
    free(made);
    return copy;
}

static void put_bytes(struct buffer *out, const char *bytes)
{
    for (; *bytes != '\0'; bytes++)
        put_literal(out, *bytes, true);
}

/* A character beyond ASCII in every case and form, one of which is enough. */
static void put_variants(struct buffer *out, utf8proc_int32_t point)
{
    const utf8proc_int32_t cases[] = {point, utf8proc_tolower(point), utf8proc_toupper(point)};
    const char *seen[6] = {NULL};
    size_t count = 0;
    for (size_t i = 0; i < 6; i++) {
        utf8proc_uint8_t bytes[4];
        utf8proc_ssize_t size = utf8proc_encode_char(cases[i / 2], bytes);
        const char *form = normal_form(out->arena, (const char *)bytes, (size_t)size, i % 2 == 0);
        bool known = form == NULL;
        for (size_t j = 0; j < count && !known; j++)
            known = strcmp(seen[j], form) == 0;
        if (known)
            continue;
        buffer_byte(out, count == 0 ? '(' : '|');
        put_bytes(out, form);
        seen[count++] = form;
    }
    buffer_byte(out, ')');
}

/* Characters that stand for themselves. */
static void put_run(struct buffer *out, const char *bytes, size_t length, bool fold)
{
    const char *composed = fold ? normal_form(out->arena, bytes, length, true) : NULL;
    if (composed == NULL) {
        for (size_t i = 0; i < length; i++)
            put_literal(out, bytes[i], fold);
        return;
    }
    for (length = strlen(composed); length > 0;) {
        utf8proc_int32_t point = 0;
        utf8proc_ssize_t size =
            utf8proc_iterate((const utf8proc_uint8_t *)composed, (utf8proc_ssize_t)length, &point);
        if (point < 0x80)
            put_literal(out, composed[0], true);
        else
            put_variants(out, point);
        composed += size;
        length -= (size_t)size;
    }
}

/* ---- sets ---- */

struct set {
    bool has[128];
};

/* Reads a set behind its '[' and returns what comes after its ']'. */
static const char *read_set(const char *at, struct set *set)
{
    while (*at != ']') {
        if (*at == '\\')
            at++;
        unsigned char low = (unsigned char)*at++, high = low;
        if (*at == '-' && at[1] != ']') {
            at++;
            if (*at == '\\')
                at++;
            high = (unsigned char)*at++;
        }
        for (unsigned value = low; value <= high && value < 128; value++)
            set->has[value] = true;
    }
    return at + 1;
}

static unsigned range_end(const struct set *set, unsigned from)
{
    while (from + 1 < 128 && set->has[from + 1] && isalnum((int)from + 1) && isalnum((int)from))
        from++;
    return from;
}

/* The characters of a set, with ] first, then ranges, and ^ and - last, where they stand for themselves. */
static void put_set(struct buffer *out, struct set set, bool negated)
{
    bool caret = set.has['^'], dash = set.has['-'], bracket = set.has[']'];
    set.has['^'] = set.has['-'] = set.has[']'] = set.has['/'] = false;
    buffer_string(out, negated ? "[^" : "[");
    if (bracket)
        buffer_byte(out, ']');
    size_t start = out->length;
    for (unsigned value = 1; value < 128; value++) {
        if (!set.has[value])
            continue;
        unsigned end = range_end(&set, value);
        buffer_byte(out, (char)value);
        if (end > value + 1)
            buffer_format(out, "-%c", (char)end);
        else if (end > value)
            buffer_byte(out, (char)end);
        value = end;
    }
    if (negated)
        buffer_byte(out, '/');
    bool dash_first = dash && !bracket && out->length == start;
    buffer_string(out, dash_first ? "-" : "");
    buffer_string(out, caret ? "^" : "");
    buffer_string(out, dash && !dash_first ? "-]" : "]");
}

static bool is_empty(const struct set *set)
{
    for (unsigned value = 0; value < 128; value++)
        if (set->has[value])
            return false;
    return true;
}

/* Nobody says whether a backslash inside brackets stands for itself, nor may ^ stand there alone: both come
 * before them. */
static void put_listed(struct buffer *out, struct set set)
{
    bool caret = set.has['^'], backslash = set.has['\\'];
    set.has['\\'] = set.has['^'] = false;
    bool alone = is_empty(&set);
    buffer_string(out, backslash || caret ? "(" : "");
    buffer_string(out, backslash ? "\\\\" : "");
    buffer_string(out, backslash && caret ? "|" : "");
    buffer_string(out, caret ? "\\^" : "");
    if (!alone) {
        buffer_string(out, backslash || caret ? "|" : "");
        put_set(out, set, false);
    }
    buffer_string(out, backslash || caret ? ")" : "");
}

static void put_others(struct buffer *out, struct set set)
{
    struct set others = {0};
    for (unsigned value = ' '; value <= '~'; value++)
        others.has[value] = !set.has[value] && value != '/';
    put_listed(out, others);
}

/* Every character but those of the set, and with each the bytes beyond ASCII that follow. */
static void put_others_to_close(struct buffer *out, struct set set)
{
    if (!set.has['\\']) {
        put_set(out, set, true);
        buffer_string(out, "[^ -~]*");
        return;
    }
    buffer_byte(out, '(');
    put_others(out, set);
    buffer_string(out, "|[^ -~])[^ -~]*");
}

/* What a set matches by bytes it matches in any case, a negated one too: that leaves out a letter only in
 * both cases (language.md 3). */
static void fold_set(struct set *set, bool negated)
{
    for (int letter = 'a'; letter <= 'z'; letter++) {
        bool lower = set->has[letter], upper = set->has[toupper(letter)];
        set->has[letter] = set->has[toupper(letter)] = negated ? lower && upper : lower || upper;
    }
}

/* Where bytes are matched, two of these behind each other would match one character beyond ASCII: the second
 * is then one of ASCII, and no letter that the set holds in either case. */
static void put_others_to_except(struct buffer *out, struct set set, bool second)
{
    if (!second && !set.has['\\']) {
        put_set(out, set, true);
        return;
    }
    fold_set(&set, false);
    put_others(out, set);
}

static const char *put_brackets(struct buffer *out, const char *at, bool closes, bool second)
{
    struct set set = {0};
    bool negated = *at == '!';
    const char *end = read_set(at + negated, &set);
    if (closes)
        fold_set(&set, negated);
    if (!negated)
        put_listed(out, set);
    else if (closes)
        put_others_to_close(out, set);
    else
        put_others_to_except(out, set, second);
    return end;
}

/* ---- components ---- */

static void put_component(struct buffer *out, const char *at, size_t length, bool closes)
{
    const char *end = at + length;
    struct buffer run = buffer_in(out->arena);
    bool second = false; /* nothing but * stands between here and a negated set */
    while (at < end) {
        bool sign = *at == '*' || *at == '?' || *at == '[';
        if (!sign) {
            at += *at == '\\' && at + 1 < end;
            buffer_byte(&run, *at++);
            if (at < end)
                continue;
        }
        if (run.length > 0) {
            put_run(out, run.bytes, run.length, closes);
            second = false;
        }
        run.length = 0;
        if (!sign)
            break;
        if (*at == '[') {
            bool negated = at[1] == '!';
            at = put_brackets(out, at + 1, closes, second);
            second = negated;
            continue;
        }
        second = second && *at == '*';
        buffer_string(out, *at == '*' ? "[^/]*" : closes ? "[^/][^ -~]*" : "[\001-.0-\177]");
        at++;
    }
}

/* Where the component at `at` ends: a slash in brackets cannot be. */
static size_t component_length(const char *at)
{
    return strcspn(at, "/");
}

bool pattern_is_narrowed(const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '?' || (*text == '[' && text[1] == '!'))
            return true;
        text += *text == '\\' && text[1] != '\0';
    }
    return false;
}

void pattern_regex(struct buffer *out, const char *text, bool closes, bool exact)
{
    bool slash = true;
    while (*text == '/') {
        size_t length = component_length(++text);
        bool any = length == 2 && strncmp(text, "**", 2) == 0, last = text[length] == '\0';
        if (slash)
            buffer_byte(out, '/');
        slash = true;
        if (any && last) {
            buffer_string(out, "[^/]");
            exact = false;
            slash = false;
        } else if (any) {
            buffer_string(out, "([^/]+/)*");
            slash = false;
        } else {
            put_component(out, text, length, closes);
        }
        text += length;
    }
    if (exact)
        buffer_byte(out, '$');
    else if (slash)
        buffer_string(out, "(/[^/]*)*$");
}
