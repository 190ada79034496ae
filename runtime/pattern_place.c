#include "runtime/pattern_place.h"

#include "policy/pattern.h"

#include <string.h>

const char *pattern_start(struct arena *arena, const char *text)
{
    size_t length = pattern_fixed_prefix(text);
    char *path = arena_copy(arena, text, length), *out = path;
    for (const char *at = path; *at != '\0'; at++) {
        if (*at == '\\' && at[1] != '\0')
            at++;
        *out++ = *at;
    }
    *out = '\0';
    return path[0] == '\0' ? "/" : path;
}

static void pattern_literal(struct buffer *pattern, const char *path)
{
    for (; *path != '\0'; path++) {
        if (strchr("*?[]\\", *path) != NULL)
            buffer_byte(pattern, '\\');
        buffer_byte(pattern, *path);
    }
}

const struct resolved *place_find(struct resolver *resolver, struct arena *arena, const struct bound_path *at)
{
    return resolver_find(resolver, at->pattern ? pattern_start(arena, at->path) : at->path);
}

const char *place_without_links(struct arena *arena, const struct bound_path *at,
                                const struct resolved *leads)
{
    if (!at->pattern)
        return leads->path;
    struct buffer pattern = buffer_in(arena);
    if (strcmp(leads->path, "/") != 0)
        pattern_literal(&pattern, leads->path);
    buffer_string(&pattern, at->path + pattern_fixed_prefix(at->path));
    return pattern.bytes;
}
