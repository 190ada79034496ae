#include "policy/host_path.h"

#include "base/buffer.h"

#include <stdlib.h>
#include <string.h>

const char *host_join(struct arena *arena, const char *directory, const char *name)
{
    return arena_format(arena, "%s/%s", strcmp(directory, "/") == 0 ? "" : directory, name);
}

const char *host_parent(struct arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL || path[1] == '\0')
        return NULL;
    return slash == path ? "/" : arena_copy(arena, path, (size_t)(slash - path));
}

const char *host_resolve(struct arena *arena, const char *path)
{
    char *resolved = realpath(path, NULL);
    if (resolved == NULL)
        return NULL;
    const char *copy = arena_strdup(arena, resolved);
    free(resolved);
    return copy;
}
