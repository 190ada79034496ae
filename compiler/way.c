#include "compiler/way.h"

#include "base/buffer.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* The real directory of `file` with a slash at its end, or NULL. */
static const char *directory_of(struct arena *arena, const char *file)
{
    char resolved[PATH_MAX];
    const char *slash = strrchr(file, '/');
    const char *directory = slash == NULL ? "." : arena_copy(arena, file, (size_t)(slash - file) + 1);
    if (realpath(directory, resolved) == NULL)
        return NULL;
    return strcmp(resolved, "/") == 0 ? "/" : arena_format(arena, "%s/", resolved);
}

const char *way_between(struct arena *arena, const char *from, const char *file)
{
    const char *start = directory_of(arena, from), *end = directory_of(arena, file);
    size_t common = 0;
    if (start == NULL || end == NULL)
        return "";
    for (size_t i = 0; start[i] != '\0' && start[i] == end[i]; i++)
        if (start[i] == '/')
            common = i + 1;
    struct buffer way = buffer_in(arena);
    buffer_string(&way, "");
    for (const char *at = start + common; (at = strchr(at, '/')) != NULL; at++)
        buffer_string(&way, "../");
    buffer_string(&way, end + common);
    return way.bytes;
}
