#include "policy/pattern.h"

#include <string.h>

/* One character in brackets at `*at`, moved behind it; -1 with *at on it if it cannot stand there. */
static int bracket_character(const char *text, size_t *at)
{
    size_t here = *at;
    if (text[here] == '\\')
        here++;
    unsigned char byte = (unsigned char)text[here];
    if (byte < 0x20 || byte >= 0x7F || byte == '/') {
        *at = here;
        return -1;
    }
    *at = here + 1;
    return byte;
}

/* What is wrong at `*at`; brackets that never end are reported where they start. */
static const char *bracket_error(const char *text, size_t open, size_t *at)
{
    if (text[*at] == '/')
        return "brackets cannot hold a /";
    if (text[*at] != '\0')
        return "brackets hold ASCII characters only";
    *at = open;
    return "brackets are not closed";
}

/* Checks the brackets that start at `*at` and moves behind them, or onto what is wrong. */
static const char *check_brackets(const char *text, size_t *at)
{
    size_t open = (*at)++;
    if (text[*at] == '^')
        return "brackets are negated with !, not with ^";
    if (text[*at] == ':')
        return "there are no character classes such as [:alpha:]";
    if (text[*at] == '!')
        ++*at;
    if (text[*at] == ']') {
        *at = open;
        return "brackets are empty";
    }
    while (text[*at] != ']') {
        size_t start = *at;
        if (text[*at] == '[' && text[*at + 1] == ':')
            return "there are no character classes such as [:alpha:]";
        int low = bracket_character(text, at);
        if (low < 0)
            return bracket_error(text, open, at);
        if (text[*at] != '-' || text[*at + 1] == ']')
            continue;
        ++*at;
        int high = bracket_character(text, at);
        if (high < 0)
            return bracket_error(text, open, at);
        if (high < low) {
            *at = start;
            return "a range in brackets must rise";
        }
    }
    ++*at;
    return NULL;
}

/* Checks the component at `*at` and moves to its end, or onto what is wrong. */
static const char *check_component(const char *text, size_t *at, bool first)
{
    size_t start = *at;
    bool signs = false;
    while (text[*at] != '\0' && text[*at] != '/') {
        size_t here = *at;
        const char *error = NULL;
        signs = signs || strchr("*?[", text[here]) != NULL;
        if (text[here] == '\\' && text[here + 1] == '\0')
            return "a backslash at the end escapes nothing";
        if (text[here] == '[') {
            if ((error = check_brackets(text, at)) != NULL)
                return error;
            continue;
        }
        if (text[here] == '*' && text[here + 1] == '*') {
            bool alone = here == start && (text[here + 2] == '/' || text[here + 2] == '\0');
            if (!alone)
                return "** must be a whole component";
            ++*at;
        }
        *at += text[here] == '\\' ? 2 : 1;
    }
    if (signs && first) {
        *at = start;
        return "what comes first after / or a drive must be fixed";
    }
    return NULL;
}

const char *pattern_check(const char *text, size_t *at)
{
    bool root = text[0] == '$';
    const char *slash = strchr(text, '/');
    *at = 0;
    if (text[0] != '/' && !root && !(text[0] != '\0' && text[1] == ':'))
        return "a pattern must start with /, a drive or a root";
    if (slash == NULL)
        return NULL;
    *at = (size_t)(slash - text);
    for (bool first = !root; text[*at] == '/'; first = false) {
        ++*at;
        const char *error = check_component(text, at, first);
        if (error != NULL)
            return error;
    }
    *at = 0;
    return NULL;
}
