#include "policy/host.h"

#include "base/escape.h"
#include "base/vector.h"
#include "policy/host_look.h"

#include <stdlib.h>
#include <string.h>

enum { DIRECTORIES_MOST = 100000 };

struct path_vector {
    const char **items;
    uint32_t count, capacity;
};

struct search {
    struct arena *arena;
    struct path_vector waiting; /* directories whose entries are still to be seen */
    struct path_vector found;
    struct path_vector searched; /* Git directories whose insides are */
};

static bool holds_file(const struct search *search, const char *directory, const char *name)
{
    enum look_kind kind = look_at(search->arena, arena_format(search->arena, "%s/%s", directory, name)).kind;
    return kind != LOOK_DIRECTORY && kind != LOOK_MISSING;
}

/* The command may have taken HEAD away in an earlier run to hide a Git directory; never one of the others. */
static bool is_git_directory(const struct search *search, const char *path)
{
    static const char *const marks[] = {"HEAD", "config", "commondir", "gitdir"};
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++)
        if (holds_file(search, path, marks[i]))
            return true;
    return false;
}

/* Where Git and its extensions keep a file or directory for each object or branch. Everything else is
 * searched, also inside a Git directory: a planted HEAD must not hide what lies below it. */
static bool is_data(const char *name)
{
    static const char *const names[] = {"objects", "refs", "logs", "lfs", "annex"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* Looks at the entries of one directory. One that cannot be listed counts as a Git directory: whoever holds
 * its denied paths then has to judge it. */
static void directory_search(struct search *search, const char *path)
{
    struct look_names names = {0};
    enum look_kind kind = look_directories(search->arena, path, &names);
    if (kind != LOOK_DIRECTORY && kind != LOOK_MISSING)
        VECTOR_PUSH(search->arena, &search->found, path);
    if (kind != LOOK_DIRECTORY)
        return;
    bool of_git = is_git_directory(search, path);
    for (uint32_t i = 0; i < names.count; i++) {
        if (of_git && is_data(names.items[i]))
            continue;
        const char *child = arena_format(search->arena, "%s/%s", path, names.items[i]);
        VECTOR_PUSH(search->arena, &search->waiting, child);
        if (is_git_directory(search, child))
            VECTOR_PUSH(search->arena, &search->found, child);
    }
}

static int compare_paths(const void *one, const void *other)
{
    return strcmp(*(const char *const *)one, *(const char *const *)other);
}

static void gitdir_search(struct search *search, const char *gitdir)
{
    for (uint32_t i = 0; i < search->searched.count; i++)
        if (strcmp(search->searched.items[i], gitdir) == 0)
            return;
    VECTOR_PUSH(search->arena, &search->searched, gitdir);
    VECTOR_PUSH(search->arena, &search->waiting, arena_format(search->arena, "%s/worktrees", gitdir));
    VECTOR_PUSH(search->arena, &search->waiting, arena_format(search->arena, "%s/modules", gitdir));
}

/* One repository's Git directory can lie in that of another. */
static void found_unite(struct path_vector *found)
{
    uint32_t kept = 0;
    if (found->count > 0)
        qsort(found->items, found->count, sizeof *found->items, compare_paths);
    for (uint32_t i = 0; i < found->count; i++)
        if (kept == 0 || strcmp(found->items[kept - 1], found->items[i]) != 0)
            found->items[kept++] = found->items[i];
    found->count = kept;
}

void gitdirs_find(struct arena *arena, const struct git_trees *trees, struct root_value *gitdirs,
                  struct note_list *notes)
{
    struct search search = {.arena = arena};
    *gitdirs = (struct root_value){.state = ROOT_UNSET, .unknown = trees->unknown};
    for (uint32_t i = 0; i < trees->count; i++) {
        if (trees->items[i].gitdir != NULL)
            gitdir_search(&search, trees->items[i].gitdir);
        if (trees->items[i].common != NULL)
            gitdir_search(&search, trees->items[i].common);
    }
    if (search.searched.count == 0)
        return;
    for (uint32_t i = 0; i < search.waiting.count && i < DIRECTORIES_MOST; i++)
        directory_search(&search, search.waiting.items[i]);
    if (search.waiting.count > DIRECTORIES_MOST)
        note_add(notes, (struct note){
                            .code = SBX178_GITDIRS_TOO_MANY,
                            .text = arena_format(
                                arena, "%s holds more than %d directories of worktrees and submodules",
                                escape_string(arena, search.searched.items[0]), DIRECTORIES_MOST),
                        });
    found_unite(&search.found);
    gitdirs->state = ROOT_BOUND;
    gitdirs->paths = search.found.items;
    gitdirs->count = search.found.count;
}
