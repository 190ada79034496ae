#include "runtime/windows/program.h"

#include "runtime/windows/wide.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>
#include <windows.h>

/* In the order in which Windows tries them. */
static const char *const endings[] = {".com", ".exe", ".bat", ".cmd"};
enum { ENDINGS = sizeof endings / sizeof endings[0] };

static bool has_ending(const char *word)
{
    size_t length = strlen(word);

    for (int i = 0; i < ENDINGS; i++)
        if (length > 4 && strcasecmp(word + length - 4, endings[i]) == 0)
            return true;
    return false;
}

/* As Windows will read it: separators, dots and what stands at the ends of names. NULL if no file is there. */
static const char *file_at(struct arena *arena, const char *path)
{
    const wchar_t *wide = wide_from(arena, path);
    DWORD size = wide == NULL ? 0 : GetFullPathNameW(wide, 0, NULL, NULL);

    if (size == 0)
        return NULL;
    wchar_t *full = arena_array(arena, size, sizeof *full);
    DWORD length = GetFullPathNameW(wide, size, full, NULL);
    DWORD attributes = length == 0 || length >= size ? INVALID_FILE_ATTRIBUTES : GetFileAttributesW(full);
    return attributes == INVALID_FILE_ATTRIBUTES || (attributes & FILE_ATTRIBUTE_DIRECTORY) != 0
               ? NULL
               : wide_to(arena, full);
}

static const char *file_with_ending(struct arena *arena, const char *path, bool bare)
{
    const char *found = NULL;

    if (has_ending(path))
        return file_at(arena, path);
    for (int i = 0; found == NULL && i < ENDINGS; i++)
        found = file_at(arena, arena_join(arena, path, endings[i]));
    return found == NULL && bare ? file_at(arena, path) : found;
}

static bool is_separator(char byte)
{
    return byte == '\\' || byte == '/';
}

static bool is_absolute(const char *path)
{
    return isalpha((unsigned char)path[0]) && path[1] == ':' && is_separator(path[2]);
}

/* NULL: "C:a" depends on what else ran in this console. */
static const char *against(struct arena *arena, const char *word, const char *directory)
{
    if (is_absolute(word) || (is_separator(word[0]) && is_separator(word[1])))
        return word;
    if (word[0] != '\0' && word[1] == ':')
        return NULL;
    return is_separator(word[0]) ? arena_format(arena, "%.2s%s", directory, word)
                                 : arena_format(arena, "%s\\%s", directory, word);
}

/* One item of PATH and the rest; an item in quotes may hold semicolons. */
static const char *next_item(struct arena *arena, const char **rest)
{
    const char *at = *rest;
    bool quoted = *at == '"';
    const char *start = at + quoted, *end = strchr(start, quoted ? '"' : ';');

    if (end == NULL)
        end = start + strlen(start);
    at = strchr(end, ';');
    *rest = at == NULL ? NULL : at + 1;
    return arena_copy(arena, start, (size_t)(end - start));
}

const char *program_find(struct arena *arena, const char *word, const char *directory, const char *path)
{
    const char *found = NULL;

    if (*word == '\0')
        return NULL;
    if (strpbrk(word, "\\/:") != NULL) {
        const char *whole = against(arena, word, directory);
        return whole == NULL ? NULL : file_with_ending(arena, whole, true);
    }
    while (found == NULL && path != NULL) {
        const char *item = next_item(arena, &path);
        if (is_absolute(item))
            found = file_with_ending(arena, arena_format(arena, "%s\\%s", item, word), false);
    }
    return found;
}
