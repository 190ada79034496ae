#include "emitters/json_place.h"

#include "base/buffer.h"
#include "base/escape.h"
#include "base/vector.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

/* --- folding -------------------------------------------------------------------------------------------- */

static void fold_name(struct buffer *out, const char *name, size_t length)
{
    utf8proc_uint8_t *folded = NULL;
    utf8proc_option_t options = UTF8PROC_CASEFOLD | UTF8PROC_COMPOSE | UTF8PROC_STABLE;
    utf8proc_ssize_t count = -1;
    if (utf8_valid(name, length))
        count = utf8proc_map((const utf8proc_uint8_t *)name, (utf8proc_ssize_t)length, &folded, options);
    if (count >= 0)
        buffer_bytes(out, folded, (size_t)count);
    for (size_t i = 0; count < 0 && i < length; i++)
        buffer_byte(out, name[i] >= 'A' && name[i] <= 'Z' ? (char)(name[i] | 0x20) : name[i]);
    free(folded);
}

static bool is_ascii(const char *path)
{
    for (; *path != '\0'; path++)
        if ((unsigned char)*path >= 0x80)
            return false;
    return true;
}

const char *json_fold(struct arena *arena, const char *path)
{
    struct buffer out = buffer_in(arena);
    if (is_ascii(path)) {
        char *folded = arena_strdup(arena, path);
        for (char *at = folded; *at != '\0'; at++)
            *at = *at >= 'A' && *at <= 'Z' ? (char)(*at | 0x20) : *at;
        return folded;
    }
    while (*path != '\0') {
        size_t length = strcspn(path, "/");
        fold_name(&out, path, length);
        path += length;
        if (*path == '/')
            buffer_byte(&out, *path++);
    }
    return out.length > 0 ? out.bytes : "";
}

bool json_is_above(const char *path, const char *below)
{
    size_t length = strlen(path);
    if (length > 0 && path[length - 1] == '/')
        length--; /* the root directory, or a drive */
    return strncmp(path, below, length) == 0 && (below[length] == '\0' || below[length] == '/');
}

/* --- one component -------------------------------------------------------------------------------------- */

static size_t character_length(const char *text, size_t length)
{
    size_t valid = utf8_character(text, length);
    return valid > 0 ? valid : 1;
}

static const char *set_close(const char *set, const char *end)
{
    const char *at = set + 1;
    while (at < end && *at != ']')
        at += *at == '\\' ? 2 : 1;
    return at;
}

static bool set_has(const char *set, const char *close, char byte)
{
    const char *at = set[1] == '!' ? set + 2 : set + 1;
    while (at < close) {
        char low = *at == '\\' ? *++at : *at;
        char high = low;
        at++;
        if (at + 1 < close && *at == '-') {
            at++;
            high = *at == '\\' ? *++at : *at;
            at++;
        }
        if (byte >= low && byte <= high)
            return true;
    }
    return false;
}

/* With `fold` a letter matches if it does so in either case. */
static bool set_matches(const char *set, const char *close, const char *text, size_t length, bool fold)
{
    bool negated = set[1] == '!', is_ascii_character = length == 1 && (unsigned char)*text < 0x80;
    if (!is_ascii_character)
        return negated;
    if (!fold || !isalpha((unsigned char)*text))
        return set_has(set, close, *text) != negated;
    return set_has(set, close, (char)tolower((unsigned char)*text)) != negated ||
           set_has(set, close, (char)toupper((unsigned char)*text)) != negated;
}

struct glob {
    const char *pattern, *pattern_end, *text, *text_end;
};

/* Matches one sign or byte of the pattern and moves both on. */
static bool match_one(struct glob *glob, bool fold)
{
    const char *at = glob->pattern;
    if (at == glob->pattern_end || glob->text == glob->text_end)
        return false;
    size_t character = character_length(glob->text, (size_t)(glob->text_end - glob->text));
    if (*at == '?') {
        glob->pattern++;
        glob->text += character;
        return true;
    }
    if (*at == '[') {
        const char *close = set_close(at, glob->pattern_end);
        bool matches = set_matches(at, close, glob->text, character, fold);
        glob->pattern = close + 1;
        glob->text += character;
        return matches;
    }
    if (*at == '\\')
        at++;
    glob->pattern = at + 1;
    return *at == *glob->text++;
}

/* Whether a component matches; a star takes as little as it can, and more if what follows does not match. */
static bool match_name(const char *pattern, size_t pattern_length, const char *text, size_t length, bool fold)
{
    struct glob glob = {pattern, pattern + pattern_length, text, text + length};
    struct glob star = {0};
    while (glob.text < glob.text_end || glob.pattern < glob.pattern_end) {
        if (glob.pattern < glob.pattern_end && *glob.pattern == '*') {
            glob.pattern++;
            star = glob;
            continue;
        }
        if (match_one(&glob, fold))
            continue;
        if (star.text == NULL || star.text == star.text_end)
            return false;
        star.text++;
        glob = star;
    }
    return true;
}

bool json_name_matches(const char *pattern, const char *name, bool fold)
{
    const char *star = NULL, *mark = NULL;
    while (*name != '\0') {
        if (*pattern == '*') {
            star = ++pattern;
            mark = name;
        } else if (*pattern == *name || (fold && *pattern != '\0' &&
                                         tolower((unsigned char)*pattern) == tolower((unsigned char)*name))) {
            pattern++;
            name++;
        } else if (star != NULL) {
            pattern = star;
            name = ++mark;
        } else {
            return false;
        }
    }
    return pattern[strspn(pattern, "*")] == '\0';
}

/* --- whole paths ---------------------------------------------------------------------------------------- */

struct names {
    struct name {
        const char *text;
        size_t length;
    } * items;
    uint32_t count, capacity;
};

static struct names cut(struct arena *arena, const char *path)
{
    struct names names = {0};
    for (;;) {
        size_t length = strcspn(path, "/");
        VECTOR_PUSH(arena, &names, (struct name){path, length});
        if (path[length] == '\0')
            return names;
        path += length + 1;
    }
}

static bool is_two_stars(const struct name *name)
{
    return name->length == 2 && memcmp(name->text, "**", 2) == 0;
}

/* Whether the pattern matches a whole directory on the way to the path or the path itself. */
static bool covers(const struct names *pattern, const struct names *path, bool fold)
{
    uint32_t at = 0, name = 0, star = UINT32_MAX, mark = 0;
    for (;;) {
        if (at == pattern->count)
            return true;
        /* At the end two stars are one component and whatever lies below. */
        bool any = is_two_stars(&pattern->items[at]);
        if (any && at + 1 < pattern->count) {
            star = ++at;
            mark = name;
            continue;
        }
        if (name < path->count &&
            (any || match_name(pattern->items[at].text, pattern->items[at].length, path->items[name].text,
                               path->items[name].length, fold))) {
            at++;
            name++;
            continue;
        }
        if (star == UINT32_MAX || mark >= path->count)
            return false;
        at = star;
        name = ++mark;
    }
}

bool json_pattern_covers(struct arena *arena, const char *pattern, const struct json_path_text *path,
                         bool folds)
{
    struct names names = cut(arena, pattern), exact = cut(arena, path->exact);
    if (covers(&names, &exact, false))
        return true;
    if (!folds || path->folded == NULL)
        return false;
    struct names folded_pattern = cut(arena, json_fold(arena, pattern)), folded = cut(arena, path->folded);
    return covers(&folded_pattern, &folded, true);
}

const char *json_pattern_start(struct arena *arena, const char *pattern)
{
    struct buffer out = buffer_in(arena);
    size_t whole = 0;
    for (const char *at = pattern; *at != '\0' && strchr("*?[", *at) == NULL; at++) {
        if (*at == '/')
            whole = out.length;
        if (*at == '\\' && at[1] != '\0')
            at++;
        buffer_byte(&out, *at);
    }
    return whole > 0 ? arena_copy(arena, out.bytes, whole) : "/";
}
