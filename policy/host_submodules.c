#include "policy/host.h"

#include "policy/git_index.h"

#include <string.h>
#include <sys/stat.h>

enum { INDEX_LARGEST = 256 * 1024 * 1024 };

/* What a repository at `path` would be planted in: its .git, or the directory that has none yet. NULL behind a link. */
static const char *protected_place(struct arena *arena, const char *path)
{
    const char *git = arena_format(arena, "%s/.git", path), *real = host_canonical(arena, path);
    struct stat about;
    if (real == NULL || strcmp(real, path) != 0)
        return NULL;
    return lstat(git, &about) == 0 ? git : path;
}

void submodules_find(struct arena *arena, const struct root_value *repo, const struct root_value *gitdir,
                     struct root_value *submodules)
{
    *submodules = (struct root_value){.state = ROOT_UNSET};
    if (repo->state != ROOT_BOUND || gitdir->state != ROOT_BOUND || repo->count == 0 || gitdir->count == 0)
        return;
    submodules->state = ROOT_BOUND;
    size_t length;
    const char *error, *index = arena_format(arena, "%s/index", gitdir->paths[0]);
    const char *bytes = file_read(arena, index, INDEX_LARGEST, &length, &error);
    const struct git_paths *found = bytes == NULL ? NULL : git_index_submodules(arena, bytes, length);
    if (found == NULL || found->count == 0)
        return;

    const char **paths = arena_array(arena, found->count, sizeof *paths);
    uint32_t count = 0;
    for (uint32_t i = 0; i < found->count; i++) {
        const char *place =
            protected_place(arena, arena_format(arena, "%s/%s", repo->paths[0], found->items[i]));
        if (place != NULL)
            paths[count++] = place;
    }
    submodules->paths = paths;
    submodules->count = count;
}
