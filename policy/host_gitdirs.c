#include "policy/host.h"

#include "base/escape.h"
#include "base/vector.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { DIRECTORIES_MOST = 100000 };

struct path_vector {
    const char **items;
    uint32_t count, capacity;
};

struct search {
    struct arena *arena;
    struct path_vector waiting; /* directories whose entries are still to be seen */
    struct path_vector found;
};

static bool holds_file(const struct search *search, const char *directory, const char *name)
{
    struct stat about;
    const char *path = arena_format(search->arena, "%s/%s", directory, name);
    return lstat(path, &about) == 0 ? !S_ISDIR(about.st_mode) : errno != ENOENT && errno != ENOTDIR;
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

static bool is_directory(const char *path, unsigned char type)
{
    struct stat about;
    if (type != DT_UNKNOWN)
        return type == DT_DIR;
    return lstat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

/* Looks at the entries of one directory. One that cannot be listed counts as a Git directory: whoever holds
 * its denied paths then has to judge it. */
static void directory_search(struct search *search, const char *path)
{
    DIR *directory = opendir(path);
    if (directory == NULL && errno != ENOENT && errno != ENOTDIR)
        VECTOR_PUSH(search->arena, &search->found, path);
    if (directory == NULL)
        return;
    bool of_git = is_git_directory(search, path);
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        const char *name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || (of_git && is_data(name)))
            continue;
        const char *child = arena_format(search->arena, "%s/%s", path, name);
        if (!is_directory(child, entry->d_type))
            continue;
        VECTOR_PUSH(search->arena, &search->waiting, child);
        if (is_git_directory(search, child))
            VECTOR_PUSH(search->arena, &search->found, child);
    }
    closedir(directory);
}

static int compare_paths(const void *one, const void *other)
{
    return strcmp(*(const char *const *)one, *(const char *const *)other);
}

void gitdirs_find(struct arena *arena, const struct root_value *gitdir, struct root_value *gitdirs,
                  struct note_list *notes)
{
    struct search search = {.arena = arena};
    *gitdirs = (struct root_value){.state = ROOT_UNSET};
    if (gitdir->state != ROOT_BOUND || gitdir->count == 0)
        return;
    for (uint32_t i = 0; i < gitdir->count; i++) {
        VECTOR_PUSH(arena, &search.waiting, arena_format(arena, "%s/worktrees", gitdir->paths[i]));
        VECTOR_PUSH(arena, &search.waiting, arena_format(arena, "%s/modules", gitdir->paths[i]));
    }
    for (uint32_t i = 0; i < search.waiting.count && i < DIRECTORIES_MOST; i++)
        directory_search(&search, search.waiting.items[i]);
    if (search.waiting.count > DIRECTORIES_MOST)
        note_add(notes, (struct note){
                            .code = SBX178_GITDIRS_TOO_MANY,
                            .text = arena_format(
                                arena, "%s holds more than %d directories of worktrees and submodules",
                                escape_string(arena, gitdir->paths[0]), DIRECTORIES_MOST),
                        });
    if (search.found.count > 0)
        qsort(search.found.items, search.found.count, sizeof *search.found.items, compare_paths);
    *gitdirs =
        (struct root_value){.state = ROOT_BOUND, .paths = search.found.items, .count = search.found.count};
}
