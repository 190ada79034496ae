#include "emitters/windows_pattern.h"

#include "base/buffer.h"
#include "emitters/windows_spec.h"
#include "policy/pattern.h"

#include <string.h>

static const char no_backslash[] = "holds a backslash, which no name has on Windows";
static const char no_name[] = "holds a character that no name has on Windows";
static const char no_class[] =
    "has brackets with ], - or ^ as a character, which cannot be written for Windows";

/* The class at `at`, which begins with '['; moves behind it. What is escaped in one cannot stand bare there. */
static const char *put_class(struct buffer *out, const char **at)
{
    do {
        if (**at == '\\')
            return (*at)[1] == '\\' ? no_backslash : no_class;
        buffer_byte(out, *(*at)++);
    } while (**at != ']' && **at != '\0');
    buffer_byte(out, ']');
    *at += **at == ']';
    return NULL;
}

static const char *put_escaped(struct buffer *out, char byte)
{
    if (byte == '\\')
        return no_backslash;
    if (byte == '*' || byte == '?')
        return no_name;
    buffer_string(out, byte == '[' ? "[[]" : "");
    if (byte != '[')
        buffer_byte(out, byte);
    return NULL;
}

static const char *put_character(struct buffer *out, const char **at)
{
    char byte = **at;
    if (byte == '\\') {
        const char *problem = put_escaped(out, (*at)[1]);
        *at += 2;
        return problem;
    }
    if (byte == '[')
        return put_class(out, at);
    buffer_byte(out, byte == '/' ? '\\' : byte);
    ++*at;
    return NULL;
}

/* What is wrong with the names in it, signs put aside. */
static const char *name_problem(struct arena *arena, const char *pattern)
{
    char *plain = arena_strdup(arena, pattern);
    for (char *at = plain; *at != '\0'; at++)
        if (*at == '*' || *at == '?')
            *at = 'x';
    return windows_path_problem(plain);
}

const char *windows_pattern_name(struct arena *arena, const char *pattern, const char **problem)
{
    struct buffer out = buffer_in(arena);
    *problem = NULL;
    for (const char *at = pattern; *problem == NULL && *at != '\0';)
        *problem = put_character(&out, &at);
    if (*problem == NULL)
        *problem = name_problem(arena, out.bytes);
    return *problem == NULL ? out.bytes : NULL;
}

/* A character for the class at `at`, which begins with '['; moves behind it. */
static char of_class(const char **at)
{
    bool negated = (*at)[1] == '!';
    char first = (*at)[1 + negated];
    if (first == '\\')
        first = (*at)[2 + negated];
    while (**at != ']' && **at != '\0')
        *at += **at == '\\' ? 2 : 1;
    *at += **at == ']';
    return negated ? (char)(first == 'q' ? 'z' : 'q') : first;
}

const char *windows_pattern_sample(struct arena *arena, const char *pattern)
{
    struct buffer out = buffer_in(arena);
    for (const char *at = pattern; *at != '\0';) {
        if (*at == '[') {
            buffer_byte(&out, of_class(&at));
        } else if (*at == '*') {
            buffer_byte(&out, 'q');
            at += strspn(at, "*");
        } else {
            at += *at == '\\';
            buffer_byte(&out, *at == '?' ? 'q' : *at);
            at++;
        }
    }
    const char *sample = out.bytes;
    return sample != NULL && pattern_matches(pattern_compile(arena, pattern, true), sample, strlen(sample))
               ? sample
               : NULL;
}
