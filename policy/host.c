#include "policy/host.h"

#include "base/escape.h"
#include "base/vector.h"
#include "policy/host_path.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef __APPLE__
extern char **environ;
static const enum system this_system = SYSTEM_MACOS;
#else
static const enum system this_system = SYSTEM_LINUX;
#endif

/* Where the platform keeps what belongs to a user, and the variable that moves it on Linux. */
static const struct {
    enum root root;
    const char *variable, *linux_place, *macos_place;
} user_places[] = {
    {ROOT_CONFIG, "XDG_CONFIG_HOME", ".config", "Library/Application Support"},
    {ROOT_CACHE, "XDG_CACHE_HOME", ".cache", "Library/Caches"},
    {ROOT_DATA, "XDG_DATA_HOME", ".local/share", "Library/Application Support"},
};

enum { USER_PLACES = sizeof user_places / sizeof *user_places, LINKS_MOST = 40 };

struct binder {
    struct arena *arena;
    const struct host_request *request;
    struct bindings *bindings;
    struct note_list *notes;
};

/* Where the dangling link `link` leads: its text, below the real directory that holds it. NULL if it is no link. */
static const char *dangling_aim(struct arena *arena, const char *link)
{
    char text[PATH_MAX];
    ssize_t length = readlink(link, text, sizeof text - 1);
    if (length <= 0)
        return NULL;
    text[length] = '\0';
    if (*text == '/')
        return arena_strdup(arena, text);
    const char *slash = strrchr(link, '/');
    const char *holder =
        host_resolve(arena, slash == link ? "/" : arena_copy(arena, link, (size_t)(slash - link)));
    return holder == NULL ? NULL : arena_format(arena, "%s/%s", strcmp(holder, "/") == 0 ? "" : holder, text);
}

static const char *canonical_within(struct arena *arena, const char *path, unsigned links)
{
    const char *rest = "";
    for (size_t length = strlen(path); length > 0;) {
        const char *head = arena_copy(arena, path, length);
        const char *resolved = host_resolve(arena, head);
        if (resolved != NULL)
            return arena_format(arena, "%s%s", strcmp(resolved, "/") == 0 && *rest != '\0' ? "" : resolved,
                                rest);
        if (errno != ENOENT)
            return NULL;
        const char *aim = dangling_aim(arena, head);
        if (aim != NULL)
            return links == 0 ? NULL
                              : canonical_within(arena, arena_format(arena, "%s%s", aim, rest), links - 1);
        const char *name = strrchr(head, '/') + 1;
        if (strcmp(name, "..") == 0)
            return NULL;
        if (*name != '\0' && strcmp(name, ".") != 0)
            rest = arena_format(arena, "/%s%s", name, rest);
        length = (size_t)(name - 1 - head);
    }
    return *rest == '\0' ? "/" : rest;
}

const char *host_canonical(struct arena *arena, const char *path)
{
    return canonical_within(arena, path, LINKS_MOST);
}

static const char *variable(const struct host_request *request, const char *name)
{
    for (uint32_t i = 0; i < request->environment_count; i++)
        if (strcmp(request->environment[i].name, name) == 0)
            return request->environment[i].value;
    return NULL;
}

static struct root_value bound_to(struct arena *arena, const char *path, const char *given)
{
    const char **paths = arena_alloc(arena, sizeof *paths);
    *paths = path;
    return (struct root_value){.state = ROOT_BOUND, .paths = paths, .count = 1, .given = given};
}

static void root_set(struct binder *binder, enum root root, const char *path)
{
    const char *place = path != NULL && *path == '/' ? host_canonical(binder->arena, path) : NULL;
    if (place != NULL) {
        binder->bindings->roots[root] = bound_to(binder->arena, place, path);
        return;
    }
    note_add(binder->notes,
             (struct note){
                 .code = SBX176_ROOT_NOT_FOUND,
                 .text = arena_format(binder->arena, "$%s is unset: %s cannot be resolved", root_names[root],
                                      path == NULL ? "its directory" : escape_string(binder->arena, path))});
}

/* Roots given by --root */

static enum root given_root(const char *name)
{
    for (enum root root = ROOT_WORK; root < ROOT_ENV; root++)
        if (strcmp(root_names[root], name) == 0)
            return root;
    return ROOTS;
}

static void given_refuse(struct binder *binder, const struct variable *given, const char *cause)
{
    const char *name = escape_string(binder->arena, given->name),
               *path = escape_string(binder->arena, given->value);
    note_add(binder->notes,
             (struct note){.code = SBX175_GIVEN_ROOT,
                           .text = arena_format(binder->arena, "--root %s=%s: %s", name, path, cause)});
}

static void given_add(struct binder *binder, const struct variable *given)
{
    enum root root = given_root(given->name);
    if (root == ROOTS) {
        given_refuse(binder, given, "there is no such root");
        return;
    }
    struct root_value *value = &binder->bindings->roots[root];
    const char *path = *given->value == '/' ? host_resolve(binder->arena, given->value) : NULL;
    if (*given->value != '/') {
        given_refuse(binder, given, "the path is not absolute");
    } else if (path == NULL) {
        given_refuse(binder, given, strerror(errno));
    } else if (value->state == ROOT_BOUND && !root_is_list(root)) {
        given_refuse(binder, given, "the root is given twice");
    } else {
        const char **paths = arena_array(binder->arena, value->count + 1, sizeof *paths);
        if (value->count > 0)
            memcpy(paths, value->paths, value->count * sizeof *paths);
        paths[value->count] = path;
        *value = (struct root_value){
            .state = ROOT_BOUND, .paths = paths, .count = value->count + 1, .given = given->value};
    }
}

/* Roots found on this machine */

static void home_refuse(struct root_value *home, const char *cause)
{
    *home = (struct root_value){.state = ROOT_UNSET, .refused = cause};
}

static void home_find(struct binder *binder)
{
    struct root_value *home = &binder->bindings->roots[ROOT_HOME];
    const char *given = variable(binder->request, "HOME"), *path = given;
    if (home->state != ROOT_BOUND) {
        if (path == NULL || *path == '\0')
            home_refuse(home, "is not set");
        else if (*path != '/')
            home_refuse(home, "is not an absolute path");
        else if ((path = host_resolve(binder->arena, path)) == NULL)
            home_refuse(home, "names no directory");
        else
            *home = bound_to(binder->arena, path, given);
    }
    struct stat about;
    if (home->state == ROOT_BOUND && (stat(home->paths[0], &about) != 0 || !S_ISDIR(about.st_mode) ||
                                      about.st_uid != binder->request->uid))
        home_refuse(home, "is no directory that belongs to the caller");
}

static const char *place_below(struct arena *arena, const char *home, uint32_t place)
{
    const char *below =
        this_system == SYSTEM_MACOS ? user_places[place].macos_place : user_places[place].linux_place;
    return arena_format(arena, "%s/%s", home, below);
}

static void user_places_find(struct binder *binder)
{
    const struct root_value *home = &binder->bindings->roots[ROOT_HOME];
    for (uint32_t i = 0; i < USER_PLACES; i++) {
        if (binder->bindings->roots[user_places[i].root].state == ROOT_BOUND)
            continue;
        const char *moved =
            this_system == SYSTEM_LINUX ? variable(binder->request, user_places[i].variable) : NULL;
        if (moved != NULL && *moved == '/')
            root_set(binder, user_places[i].root, moved);
        else
            root_set(binder, user_places[i].root,
                     home->state == ROOT_BOUND ? place_below(binder->arena, home->paths[0], i) : NULL);
    }
}

static void work_find(struct binder *binder)
{
    if (binder->bindings->roots[ROOT_WORK].state == ROOT_BOUND)
        return;
    const char *work = binder->request->work;
    root_set(binder, ROOT_WORK,
             work != NULL ? host_resolve(binder->arena, work) : host_resolve(binder->arena, "."));
}

static void temporary_find(struct binder *binder)
{
    if (binder->bindings->roots[ROOT_TMP].state == ROOT_BOUND)
        return;
    const char *directory = variable(binder->request, "TMPDIR");
    root_set(binder, ROOT_TMP, directory != NULL && *directory == '/' ? directory : "/tmp");
}

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

static void repository_bind(struct binder *binder)
{
    struct arena *arena = binder->arena;
    struct root_value *roots = binder->bindings->roots;
    struct root_value repo = {.state = ROOT_UNSET}, gitdir = repo;
    struct git_trees trees = {0};
    bool given = roots[ROOT_REPO].state == ROOT_BOUND || roots[ROOT_GITDIR].state == ROOT_BOUND;
    if (roots[ROOT_WORK].state == ROOT_BOUND &&
        (roots[ROOT_REPO].state != ROOT_BOUND || roots[ROOT_GITDIR].state != ROOT_BOUND)) {
        repository_find(arena, roots[ROOT_WORK].paths[0], binder->request->uid, &repo, &gitdir,
                        binder->notes);
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
        gitdirs_find(arena, &trees, &roots[ROOT_GITDIRS], binder->notes);
        roots[ROOT_GITDIRS].deny_paths = roots[ROOT_GITDIRS].paths;
        roots[ROOT_GITDIRS].deny_count = roots[ROOT_GITDIRS].count;
    }
}

/* Managed layers do not ask the environment, which whoever runs the command chooses. */
static void managed_bind(struct binder *binder)
{
    struct root_value *managed = binder->bindings->managed_roots;
    memcpy(managed, binder->bindings->roots, sizeof binder->bindings->roots);
    managed[ROOT_HOME] = (struct root_value){.state = ROOT_UNSET};
    const char *given = account_home(binder->arena, binder->request->uid), *home = given;
    if (home != NULL)
        home = host_canonical(binder->arena, home);
    if (home != NULL)
        managed[ROOT_HOME] = bound_to(binder->arena, home, given);
    for (uint32_t i = 0; i < USER_PLACES; i++) {
        const char *below = home == NULL ? NULL : place_below(binder->arena, home, i);
        const char *place = home == NULL ? NULL : host_canonical(binder->arena, below);
        managed[user_places[i].root] = (struct root_value){.state = ROOT_UNSET};
        if (place != NULL)
            managed[user_places[i].root] = bound_to(binder->arena, place, below);
    }
}

/* The host as binding sees it */

static const char *view_canonical(void *context, struct arena *arena, const char *path)
{
    (void)context;
    return host_resolve(arena, path);
}

static bool view_is_directory(void *context, const char *path)
{
    (void)context;
    struct stat about;
    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

static const struct host_view host_view = {.canonical = view_canonical, .is_directory = view_is_directory};

void host_bind(struct arena *arena, const struct host_request *request, struct bindings *bindings,
               struct note_list *notes)
{
    struct binder binder = {arena, request, bindings, notes};
    *bindings = (struct bindings){
        .system = this_system,
        .environment = request->environment,
        .environment_count = request->environment_count,
        .environment_known = true,
        .command = bindings->command,
        .host = &host_view,
    };
    for (uint32_t i = 0; i < request->given_root_count; i++)
        given_add(&binder, &request->given_roots[i]);
    work_find(&binder);
    home_find(&binder);
    temporary_find(&binder);
    user_places_find(&binder);
    repository_bind(&binder);
    managed_bind(&binder);
}

/* The environment */

/* By name; of a name that stands twice the first, which is the one that getenv finds, comes first. */
static int compare_entries(const void *left, const void *right)
{
    char *const *a = *(char *const *const *)left, *const *b = *(char *const *const *)right;
    size_t a_name = strcspn(*a, "="), b_name = strcspn(*b, "=");
    int order = memcmp(*a, *b, a_name < b_name ? a_name : b_name);
    if (order != 0 || a_name != b_name)
        return order != 0 ? order : a_name < b_name ? -1 : 1;
    return a < b ? -1 : a > b;
}

struct variable_list host_environment(struct arena *arena)
{
    struct variable_list list = {0};
    size_t count = 0;
    while (environ != NULL && environ[count] != NULL)
        count++;
    char ***entries = arena_array(arena, count, sizeof *entries);
    for (size_t i = 0; i < count; i++)
        entries[i] = &environ[i];
    qsort(entries, count, sizeof *entries, compare_entries);
    for (size_t i = 0; i < count; i++) {
        const char *entry = *entries[i], *equals = strchr(entry, '=');
        if (equals == NULL || equals == entry)
            continue;
        const char *name = arena_copy(arena, entry, (size_t)(equals - entry));
        if (list.count == 0 || strcmp(list.items[list.count - 1].name, name) != 0)
            VECTOR_PUSH(arena, &list, (struct variable){name, arena_strdup(arena, equals + 1)});
    }
    return list;
}
