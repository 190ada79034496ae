#include "emitters/windows_pattern.h"

#include "base/buffer.h"
#include "base/vector.h"
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

/* ---- one pattern inside another ---- */

struct components {
    const char **items;
    uint32_t count, capacity;
};

static struct components components_of(struct arena *arena, const char *pattern)
{
    struct components components = {0};
    while (*pattern != '\0') {
        size_t length = strcspn(pattern, "/");
        if (length > 0)
            VECTOR_PUSH(arena, &components, arena_copy(arena, pattern, length));
        pattern += length + (pattern[length] == '/');
    }
    return components;
}

static bool is_any(const char *component)
{
    return strcmp(component, "**") == 0;
}

/* The name of a component without a sign, or NULL. */
static const char *plain_name(struct arena *arena, const char *component)
{
    const char *text = arena_join(arena, "/", component);
    size_t length = strlen(text);
    return pattern_fixed_prefix(text) == length ? pattern_plain(arena, text, length) : NULL;
}

static bool may_be_same(struct arena *arena, const char *a, const char *b)
{
    const char *left = plain_name(arena, a), *right = plain_name(arena, b);
    if (left == NULL && right == NULL)
        return true;
    const char *plain = left != NULL ? left : right, *other = left != NULL ? b : a;
    struct pattern *pattern = pattern_compile(arena, arena_join(arena, "/", other), true);
    return pattern_matches(pattern, plain, strlen(plain));
}

/* From the end: whether what is left of `outer` from i on may match a beginning of what is left of `inner` from j on. */
bool windows_pattern_may_hold(struct arena *arena, const char *outer, const char *inner)
{
    struct components a = components_of(arena, outer), b = components_of(arena, inner);
    bool *below = arena_array(arena, b.count + 1, sizeof *below),
         *row = arena_array(arena, b.count + 1, sizeof *row);
    for (uint32_t j = 0; j < b.count; j++)
        below[j] = true;
    for (uint32_t i = a.count; i-- > 0;) {
        for (uint32_t j = b.count + 1; j-- > 0;) {
            bool end = j == b.count;
            if (is_any(a.items[i]) && i + 1 == a.count)
                row[j] = j + 1 < b.count || (!end && is_any(b.items[j])); /* one name at least */
            else if (is_any(a.items[i]))
                row[j] = below[j] || (!end && row[j + 1]);
            else if (end)
                row[j] = false;
            else if (is_any(b.items[j]))
                row[j] = row[j + 1] || below[j];
            else
                row[j] = below[j + 1] && may_be_same(arena, a.items[i], b.items[j]);
        }
        bool *done = below;
        below = row;
        row = done;
    }
    return below[0];
}
