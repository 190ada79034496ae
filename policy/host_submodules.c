#include "policy/host.h"

#include "base/vector.h"
#include "policy/git_index.h"

#include <limits.h>
#include <string.h>
#include <sys/stat.h>

enum { INDEX_LARGEST = 256 * 1024 * 1024, POINTER_LARGEST = PATH_MAX + 16 };

/* A working tree whose index is still to be read. */
struct working_tree {
    const char *top, *gitdir;
};

struct search {
    struct arena *arena;
    struct {
        struct working_tree *items;
        uint32_t count, capacity;
    } waiting;
    struct {
        const char **items;
        uint32_t count, capacity;
    } found;
};

/* The Git directory that a submodule's .git is or names, or NULL. */
static const char *gitdir_of(struct arena *arena, const char *top, const char *git, const struct stat *about)
{
    static const char title[] = "gitdir: ";
    size_t length;
    const char *error;
    if (S_ISDIR(about->st_mode))
        return git;
    char *line = S_ISREG(about->st_mode) ? file_read(arena, git, POINTER_LARGEST, &length, &error) : NULL;
    if (line == NULL || strncmp(line, title, strlen(title)) != 0)
        return NULL;
    const char *named = line + strlen(title);
    line[strcspn(line, "\r\n")] = '\0';
    return *named == '/' ? named : arena_format(arena, "%s/%s", top, named);
}

/* A repository would be planted in a submodule's .git, or in its directory while it has none. One behind a
 * link is none to Git. */
static void submodule_add(struct search *search, const char *top)
{
    struct arena *arena = search->arena;
    const char *git = arena_format(arena, "%s/.git", top), *real = host_canonical(arena, top);
    struct stat about;
    if (real == NULL || strcmp(real, top) != 0)
        return;
    bool populated = lstat(git, &about) == 0;
    VECTOR_PUSH(arena, &search->found, populated ? git : top);
    const char *gitdir = populated ? gitdir_of(arena, top, git, &about) : NULL;
    if (gitdir != NULL)
        VECTOR_PUSH(arena, &search->waiting, (struct working_tree){top, gitdir});
}

static void index_search(struct search *search, struct working_tree tree)
{
    size_t length;
    const char *error, *index = arena_format(search->arena, "%s/index", tree.gitdir);
    const char *bytes = file_read(search->arena, index, INDEX_LARGEST, &length, &error);
    const struct git_paths *paths = bytes == NULL ? NULL : git_index_submodules(search->arena, bytes, length);
    /* Git refuses an index that is not in order, so a path can stand in it once. */
    for (uint32_t i = 0; paths != NULL && i < paths->count; i++)
        if (i == 0 || strcmp(paths->items[i - 1], paths->items[i]) < 0)
            submodule_add(search, arena_format(search->arena, "%s/%s", tree.top, paths->items[i]));
}

void submodules_find(struct arena *arena, const struct root_value *repo, const struct root_value *gitdir,
                     struct root_value *submodules)
{
    struct search search = {.arena = arena};
    *submodules = (struct root_value){.state = ROOT_UNSET};
    if (repo->state != ROOT_BOUND || gitdir->state != ROOT_BOUND || repo->count == 0 || gitdir->count == 0)
        return;
    VECTOR_PUSH(arena, &search.waiting, (struct working_tree){repo->paths[0], gitdir->paths[0]});
    /* Each submodule lies below the one before it, so the way down ends. */
    for (uint32_t i = 0; i < search.waiting.count; i++)
        index_search(&search, search.waiting.items[i]);
    *submodules =
        (struct root_value){.state = ROOT_BOUND, .paths = search.found.items, .count = search.found.count};
}
