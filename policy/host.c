#include "policy/host.h"

#include "base/vector.h"
#include "policy/host_path.h"
#include "policy/host_roots.h"

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

/* Where the dangling link `link` leads: its text, below the real directory that holds it. NULL if it is no
 * link. */
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

/* Roots found on this machine */

static void home_refuse(struct root_value *home, const char *cause)
{
    *home = (struct root_value){.state = ROOT_UNSET, .refused = cause};
}

static void home_find(struct host_roots *host)
{
    struct root_value *home = &host->bindings->roots[ROOT_HOME];
    const char *given = variable(host->request, "HOME"), *path = given;
    if (home->state != ROOT_BOUND) {
        if (path == NULL || *path == '\0')
            home_refuse(home, "is not set");
        else if (*path != '/')
            home_refuse(home, "is not an absolute path");
        else if ((path = host_resolve(host->arena, path)) == NULL)
            home_refuse(home, "names no directory");
        else
            *home = host_bound_to(host->arena, path, given);
    }
    struct stat about;
    if (home->state == ROOT_BOUND &&
        (stat(home->paths[0], &about) != 0 || !S_ISDIR(about.st_mode) || about.st_uid != host->request->uid))
        home_refuse(home, "is no directory that belongs to the caller");
}

static const char *place_below(struct arena *arena, const char *home, uint32_t place)
{
    const char *below =
        this_system == SYSTEM_MACOS ? user_places[place].macos_place : user_places[place].linux_place;
    return arena_format(arena, "%s/%s", home, below);
}

static void user_places_find(struct host_roots *host)
{
    const struct root_value *home = &host->bindings->roots[ROOT_HOME];
    for (uint32_t i = 0; i < USER_PLACES; i++) {
        if (host->bindings->roots[user_places[i].root].state == ROOT_BOUND)
            continue;
        const char *moved =
            this_system == SYSTEM_LINUX ? variable(host->request, user_places[i].variable) : NULL;
        if (moved != NULL && *moved == '/')
            host_root_set(host, user_places[i].root, moved);
        else
            host_root_set(host, user_places[i].root,
                          home->state == ROOT_BOUND ? place_below(host->arena, home->paths[0], i) : NULL);
    }
}

static void work_find(struct host_roots *host)
{
    if (host->bindings->roots[ROOT_WORK].state == ROOT_BOUND)
        return;
    const char *work = host->request->work;
    host_root_set(host, ROOT_WORK,
                  work != NULL ? host_resolve(host->arena, work) : host_resolve(host->arena, "."));
}

static void temporary_find(struct host_roots *host)
{
    if (host->bindings->roots[ROOT_TMP].state == ROOT_BOUND)
        return;
    const char *directory = variable(host->request, "TMPDIR");
    host_root_set(host, ROOT_TMP, directory != NULL && *directory == '/' ? directory : "/tmp");
}

/* Managed layers do not ask the environment, which whoever runs the command chooses. */
static void managed_bind(struct host_roots *host)
{
    struct root_value *managed = host->bindings->managed_roots;
    memcpy(managed, host->bindings->roots, sizeof host->bindings->roots);
    managed[ROOT_HOME] = (struct root_value){.state = ROOT_UNSET};
    const char *given = account_home(host->arena, host->request->uid), *home = given;
    if (home != NULL)
        home = host_canonical(host->arena, home);
    if (home != NULL)
        managed[ROOT_HOME] = host_bound_to(host->arena, home, given);
    for (uint32_t i = 0; i < USER_PLACES; i++) {
        const char *below = home == NULL ? NULL : place_below(host->arena, home, i);
        const char *place = home == NULL ? NULL : host_canonical(host->arena, below);
        managed[user_places[i].root] = (struct root_value){.state = ROOT_UNSET};
        if (place != NULL)
            managed[user_places[i].root] = host_bound_to(host->arena, place, below);
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
    struct host_roots host = {arena, request, bindings, notes};
    *bindings = (struct bindings){
        .system = this_system,
        .environment = request->environment,
        .environment_count = request->environment_count,
        .environment_known = true,
        .command = bindings->command,
        .host = &host_view,
    };
    host_given_set(&host);
    work_find(&host);
    home_find(&host);
    temporary_find(&host);
    user_places_find(&host);
    host_repository_set(&host);
    managed_bind(&host);
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
