#include "policy/host.h"

#include "base/vector.h"
#include "policy/git_index.h"
#include "policy/host_look.h"
#include "policy/host_path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { INDEX_LARGEST = 256 * 1024 * 1024 };

struct search {
    struct arena *arena;
    struct git_trees trees; /* whose index is still to be read */
    struct {
        const char **items;
        uint32_t count, capacity;
    } found;
};

/* A repository would be planted in a submodule's .git, or in its directory while it has none. One behind a
 * link is none to Git. */
static void submodule_add(struct search *search, const char *top)
{
    struct arena *arena = search->arena;
    errno = 0;
    const char *git = host_join(arena, top, ".git"), *real = host_canonical(arena, top);
    if (real == NULL && errno == EACCES)
        git_unknown(arena, &search->trees, top, strerror(errno));
    if (real == NULL || strcmp(real, top) != 0)
        return;
    enum look_kind kind = look_at(arena, git).kind;
    VECTOR_PUSH(arena, &search->found, kind != LOOK_MISSING && kind != LOOK_UNKNOWN ? git : top);
    git_tree_add(arena, top, &search->trees);
}

/* The index at `path`, or NULL: there is none, or the cause is in search->trees. */
static const struct git_index *index_read(struct search *search, const char *path, bool may_lack)
{
    size_t length;
    const char *error;
    if (may_lack && look_at(search->arena, path).kind == LOOK_MISSING)
        return NULL;
    const char *bytes = file_read(search->arena, path, INDEX_LARGEST, &length, &error);
    if (bytes == NULL) {
        git_unknown(search->arena, &search->trees, path, error);
        return NULL;
    }
    const struct git_index *index = git_index_read(search->arena, bytes, length);
    if (index == NULL)
        git_unknown(search->arena, &search->trees, path, "it is no index that is understood");
    return index;
}

static void submodules_add(struct search *search, const char *top, const struct git_paths *paths)
{
    /* Git refuses an index that is not in order, so a path can stand in it once. */
    for (uint32_t i = 0; i < paths->count; i++)
        if (i == 0 || strcmp(paths->items[i - 1], paths->items[i]) < 0)
            submodule_add(search, host_join(search->arena, top, paths->items[i]));
}

/* A split index stands on a shared one. What it deletes there is kept: a path too many is only denied. */
static void index_search(struct search *search, struct git_tree tree)
{
    if (tree.gitdir == NULL || tree.top == NULL)
        return;
    const char *path = arena_format(search->arena, "%s/index", tree.gitdir);
    enum look_kind holder = look_behind(search->arena, tree.gitdir).kind;
    const struct git_index *index =
        index_read(search, path, holder == LOOK_DIRECTORY || holder == LOOK_MISSING);
    if (index == NULL)
        return;
    submodules_add(search, tree.top, &index->submodules);
    if (index->shared == NULL)
        return;
    path = arena_format(search->arena, "%s/sharedindex.%s", tree.gitdir, index->shared);
    const struct git_index *shared = index_read(search, path, false);
    if (shared == NULL)
        return;
    submodules_add(search, tree.top, &shared->submodules);
    struct git_paths replaced = git_index_replaced(search->arena, shared, index);
    submodules_add(search, tree.top, &replaced);
}

static int compare_paths(const void *one, const void *other)
{
    return strcmp(*(const char *const *)one, *(const char *const *)other);
}

static void found_unite(struct search *search)
{
    uint32_t kept = 0;
    if (search->found.count > 0)
        qsort(search->found.items, search->found.count, sizeof *search->found.items, compare_paths);
    for (uint32_t i = 0; i < search->found.count; i++)
        if (kept == 0 || strcmp(search->found.items[kept - 1], search->found.items[i]) != 0)
            search->found.items[kept++] = search->found.items[i];
    search->found.count = kept;
}

void submodules_find(struct arena *arena, const struct git_trees *trees, struct root_value *submodules)
{
    struct search search = {.arena = arena};
    *submodules = (struct root_value){.state = ROOT_UNSET, .unknown = trees->unknown};
    if (trees->count == 0)
        return;
    for (uint32_t i = 0; i < trees->count; i++)
        VECTOR_PUSH(arena, &search.trees, trees->items[i]);
    search.trees.unknown = trees->unknown;
    /* Each submodule lies below the one before it, so the way down ends. */
    for (uint32_t i = 0; i < search.trees.count; i++) {
        const char *unknown = search.trees.unknown;
        bool foreign = search.trees.items[i].foreign;
        index_search(&search, search.trees.items[i]);
        if (foreign)
            search.trees.unknown = unknown;
    }
    found_unite(&search);
    *submodules = (struct root_value){.state = ROOT_BOUND,
                                      .paths = search.found.items,
                                      .count = search.found.count,
                                      .unknown = search.trees.unknown};
}
