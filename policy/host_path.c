#include "policy/host_path.h"

#include <stdbool.h>
#include <string.h>

size_t host_top(const char *path)
{
    bool letter = (path[0] >= 'A' && path[0] <= 'Z') || (path[0] >= 'a' && path[0] <= 'z');
    return path[0] == '/' ? 1 : letter && path[1] == ':' && path[2] == '/' ? 3 : 0;
}

const char *host_join(struct arena *arena, const char *directory, const char *name)
{
    size_t top = host_top(directory);
    return arena_format(arena, "%s%s%s", directory, top > 0 && directory[top] == '\0' ? "" : "/", name);
}

const char *host_parent(struct arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t top = host_top(path), length = slash == NULL ? 0 : (size_t)(slash - path);
    if (slash == NULL || path[top] == '\0')
        return NULL;
    return arena_copy(arena, path, length < top ? top : length);
}
