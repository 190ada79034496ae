#include "policy/host_roots.h"

#include "base/escape.h"
#include "base/vector.h"
#include "policy/host_path.h"

#include <errno.h>
#include <string.h>

struct root_value host_bound_to(struct arena *arena, const char *path, const char *given)
{
    const char **paths = arena_alloc(arena, sizeof *paths);
    *paths = path;
    return (struct root_value){.state = ROOT_BOUND, .paths = paths, .count = 1, .given = given};
}

void host_root_set(struct host_roots *host, enum root root, const char *path)
{
    const char *place = path != NULL && host_top(path) > 0 ? host_canonical(host->arena, path) : NULL;
    if (place != NULL) {
        host->bindings->roots[root] = host_bound_to(host->arena, place, path);
        return;
    }
    note_add(host->notes,
             (struct note){
                 .code = SBX176_ROOT_NOT_FOUND,
                 .text = arena_format(host->arena, "$%s is unset: %s cannot be resolved", root_names[root],
                                      path == NULL ? "its directory" : escape_string(host->arena, path))});
}

/* Roots given by --root */

static enum root given_root(const char *name)
{
    for (enum root root = ROOT_WORK; root < ROOT_ENV; root++)
        if (strcmp(root_names[root], name) == 0)
            return root;
    return ROOTS;
}

static void given_refuse(struct host_roots *host, const struct variable *given, const char *cause)
{
    const char *name = escape_string(host->arena, given->name),
               *path = escape_string(host->arena, given->value);
    note_add(host->notes,
             (struct note){.code = SBX175_GIVEN_ROOT,
                           .text = arena_format(host->arena, "--root %s=%s: %s", name, path, cause)});
}

static void given_add(struct host_roots *host, const struct variable *given)
{
    enum root root = given_root(given->name);
    if (root == ROOTS) {
        given_refuse(host, given, "there is no such root");
        return;
    }
    struct root_value *value = &host->bindings->roots[root];
    const char *text = host_slashes(host->arena, given->value);
    const char *path = host_top(text) > 0 ? host_resolve(host->arena, text) : NULL;
    if (host_top(text) == 0) {
        given_refuse(host, given, "the path is not absolute");
    } else if (path == NULL) {
        given_refuse(host, given, strerror(errno));
    } else if (value->state == ROOT_BOUND && !root_is_list(root)) {
        given_refuse(host, given, "the root is given twice");
    } else {
        const char **paths = arena_array(host->arena, value->count + 1, sizeof *paths);
        if (value->count > 0)
            memcpy(paths, value->paths, value->count * sizeof *paths);
        paths[value->count] = path;
        *value = (struct root_value){
            .state = ROOT_BOUND, .paths = paths, .count = value->count + 1, .given = text};
    }
}

void host_given_set(struct host_roots *host)
{
    for (uint32_t i = 0; i < host->request->given_root_count; i++)
        given_add(host, &host->request->given_roots[i]);
}

/* Roots of the repository */

struct path_vector {
    const char **items;
    uint32_t count, capacity;
};

static void path_add(struct arena *arena, struct path_vector *list, const char *path)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i], path) == 0)
            return;
    VECTOR_PUSH(arena, list, path);
}

/* The whole of what a deny covers: what counts, and the rest of what was found. */
static void deny_paths_set(struct arena *arena, struct root_value *value, struct path_vector *more,
                           const char *unknown)
{
    struct path_vector all = {0};
    for (uint32_t i = 0; i < value->count; i++)
        path_add(arena, &all, value->paths[i]);
    for (uint32_t i = 0; i < more->count; i++)
        path_add(arena, &all, more->items[i]);
    value->unknown = unknown;
    value->deny_paths = all.items;
    value->deny_count = all.count;
}

/* $REPO is the nearest working tree, so those above the one that counts are none of it. Their Git directories
 * are held none the less: a .git that was planted below must not take that away. */
static void repository_denies(struct arena *arena, const struct git_trees *trees, struct root_value *repo,
                              struct root_value *gitdir)
{
    struct path_vector tops = {0}, gitdirs = {0};
    bool below = true;
    for (uint32_t i = 0; i < trees->count; i++) {
        const struct git_tree *tree = &trees->items[i];
        if (below)
            path_add(arena, &tops, tree->top);
        below = below && (repo->count == 0 || strcmp(repo->paths[0], tree->top) != 0);
        if (tree->gitdir != NULL)
            path_add(arena, &gitdirs, tree->gitdir);
        if (tree->common != NULL)
            path_add(arena, &gitdirs, tree->common);
    }
    deny_paths_set(arena, repo, &tops, trees->unknown);
    deny_paths_set(arena, gitdir, &gitdirs, trees->unknown);
}

/* The working trees that the caller names by --root. */
static struct git_trees given_trees(struct arena *arena, const struct root_value *repo,
                                    const struct root_value *gitdir)
{
    struct git_trees trees = {0};
    for (uint32_t i = 0; gitdir->state == ROOT_BOUND && i < gitdir->count; i++) {
        bool has_top = i == 0 && repo->state == ROOT_BOUND && repo->count > 0;
        VECTOR_PUSH(arena, &trees,
                    (struct git_tree){.top = has_top ? repo->paths[0] : NULL, .gitdir = gitdir->paths[i]});
    }
    return trees;
}

void host_repository_set(struct host_roots *host)
{
    struct arena *arena = host->arena;
    struct root_value *roots = host->bindings->roots;
    struct root_value repo = {.state = ROOT_UNSET}, gitdir = repo;
    struct git_trees trees = {0};
    bool given = roots[ROOT_REPO].state == ROOT_BOUND || roots[ROOT_GITDIR].state == ROOT_BOUND;
    if (roots[ROOT_WORK].state == ROOT_BOUND &&
        (roots[ROOT_REPO].state != ROOT_BOUND || roots[ROOT_GITDIR].state != ROOT_BOUND)) {
        repository_find(arena, roots[ROOT_WORK].paths[0], host->request->uid, &repo, &gitdir, host->notes);
        git_trees_find(arena, roots[ROOT_WORK].paths[0], &trees);
        repository_denies(arena, &trees, &repo, &gitdir);
        if (roots[ROOT_REPO].state != ROOT_BOUND)
            roots[ROOT_REPO] = repo;
        if (roots[ROOT_GITDIR].state != ROOT_BOUND)
            roots[ROOT_GITDIR] = gitdir;
    }
    if (given)
        trees = given_trees(arena, &roots[ROOT_REPO], &roots[ROOT_GITDIR]);
    if (roots[ROOT_SUBMODULES].state != ROOT_BOUND) {
        submodules_find(arena, &trees, &roots[ROOT_SUBMODULES]);
        roots[ROOT_SUBMODULES].deny_paths = roots[ROOT_SUBMODULES].paths;
        roots[ROOT_SUBMODULES].deny_count = roots[ROOT_SUBMODULES].count;
    }
    if (roots[ROOT_GITDIRS].state != ROOT_BOUND) {
        gitdirs_find(arena, &trees, &roots[ROOT_GITDIRS], host->notes);
        roots[ROOT_GITDIRS].deny_paths = roots[ROOT_GITDIRS].paths;
        roots[ROOT_GITDIRS].deny_count = roots[ROOT_GITDIRS].count;
    }
}
