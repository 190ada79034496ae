#include "runtime/windows/machine.h"

#include "base/vector.h"
#include "emitters/windows_spec.h"
#include "policy/host_look.h"
#include "policy/host_path.h"
#include "policy/host_roots.h"
#include "runtime/windows/open.h"
#include "runtime/windows/wide.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <knownfolders.h>
#include <shlobj.h>
#include <userenv.h>

/* ---- paths ---- */

static int error_number(DWORD error)
{
    if (error == ERROR_FILE_NOT_FOUND || error == ERROR_PATH_NOT_FOUND || error == ERROR_INVALID_NAME)
        return ENOENT;
    return error == ERROR_ACCESS_DENIED || error == ERROR_SHARING_VIOLATION ? EACCES : EIO;
}

/* The place of what an absolute model path names. NULL with errno set. */
static const char *place_of(struct arena *arena, const char *path)
{
    HANDLE file = open_path(arena, path, FILE_READ_ATTRIBUTES, true);
    if (file == INVALID_HANDLE_VALUE) {
        errno = error_number(GetLastError());
        return NULL;
    }
    const char *place = open_place(arena, file);
    CloseHandle(file);
    if (place == NULL)
        errno = EACCES;
    return place;
}

static const char *absolute(struct arena *arena, const char *path)
{
    const char *found = open_absolute(arena, path);
    if (found == NULL)
        errno = ENOENT;
    return found;
}

const char *host_resolve(struct arena *arena, const char *path)
{
    path = absolute(arena, path);
    return path == NULL ? NULL : place_of(arena, path);
}

const char *host_canonical(struct arena *arena, const char *path)
{
    const char *rest = "";
    for (path = absolute(arena, path); path != NULL; path = host_parent(arena, path)) {
        const char *place = place_of(arena, path);
        if (place != NULL)
            return *rest == '\0' ? place : host_join(arena, place, rest);
        /* A link that leads nowhere: what would lie behind it is not known. */
        if (errno != ENOENT || look_at(arena, path).kind != LOOK_MISSING) {
            errno = EACCES;
            return NULL;
        }
        const char *name = strrchr(path, '/') + 1;
        rest = *rest == '\0' ? name : host_join(arena, name, rest);
    }
    errno = ENOENT;
    return NULL;
}

bool machine_is_directory(const char *path)
{
    struct arena *arena = arena_create(0);
    bool directory = arena != NULL && look_behind(arena, path).kind == LOOK_DIRECTORY;
    arena_destroy(arena);
    return directory;
}

/* ---- known folders ---- */

/* A folder of Windows or of this user, canonical; NULL if Windows does not say. */
static const char *folder(struct arena *arena, const KNOWNFOLDERID *id)
{
    const char *path = open_folder(arena, id);
    return path == NULL ? NULL : host_canonical(arena, path);
}

/* The user's profile as the list of profiles has it. */
static const char *profile(struct arena *arena)
{
    wchar_t *wide = arena_array(arena, MAX_PATH + 1, sizeof *wide);
    DWORD length = MAX_PATH + 1;
    HANDLE token = NULL;
    const char *path = NULL;
    if (!OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &token))
        return NULL;
    if (GetUserProfileDirectoryW(token, wide, &length))
        path = wide_to(arena, wide);
    CloseHandle(token);
    return path == NULL ? NULL : host_canonical(arena, path);
}

static const char *temporary_folder(struct arena *arena)
{
    const char *local = folder(arena, &FOLDERID_LocalAppData);
    return local == NULL ? NULL : host_canonical(arena, host_join(arena, local, "Temp"));
}

struct machine_paths machine_guarded(struct arena *arena)
{
    static const KNOWNFOLDERID *const ids[] = {
        &FOLDERID_Windows,        &FOLDERID_System,          &FOLDERID_ProgramFiles,
        &FOLDERID_ProgramData,    &FOLDERID_ProgramFilesX86, &FOLDERID_ProgramFilesX64,
        &FOLDERID_UserProfiles,   &FOLDERID_Profile,         &FOLDERID_Public,
        &FOLDERID_RoamingAppData, &FOLDERID_LocalAppData,    &FOLDERID_LocalAppDataLow,
    };
    struct machine_paths paths = {0};
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        const char *path = folder(arena, ids[i]);
        if (path != NULL)
            VECTOR_PUSH(arena, &paths, path);
    }
    return paths;
}

/* ---- binding ---- */

/* Where Windows keeps what belongs to a user, besides $HOME and $TMP. */
static const struct {
    enum root root;
    const KNOWNFOLDERID *id;
} user_folders[] = {
    {ROOT_CONFIG, &FOLDERID_RoamingAppData},
    {ROOT_CACHE, &FOLDERID_LocalAppData},
    {ROOT_DATA, &FOLDERID_LocalAppData},
};

/* Managed layers take what Windows says, whatever --root says. */
static void folder_set(struct host_roots *host, enum root root, const char *path)
{
    struct bindings *bindings = host->bindings;
    if (bindings->roots[root].state != ROOT_BOUND)
        host_root_set(host, root, path);
    bindings->managed_roots[root] = (struct root_value){.state = ROOT_UNSET};
    if (path != NULL)
        bindings->managed_roots[root] = host_bound_to(host->arena, path, NULL);
}

static void folders_set(struct host_roots *host)
{
    struct root_value *home = &host->bindings->roots[ROOT_HOME];
    folder_set(host, ROOT_HOME, profile(host->arena));
    folder_set(host, ROOT_TMP, temporary_folder(host->arena));
    for (size_t i = 0; i < sizeof user_folders / sizeof user_folders[0]; i++)
        folder_set(host, user_folders[i].root, folder(host->arena, user_folders[i].id));
    if (home->state != ROOT_BOUND || !machine_is_directory(home->paths[0]))
        *home = (struct root_value){.state = ROOT_UNSET, .refused = "is no directory of this machine"};
}

static const char *view_canonical(void *context, struct arena *arena, const char *path)
{
    (void)context;
    return host_resolve(arena, path);
}

static bool view_is_directory(void *context, const char *path)
{
    (void)context;
    return machine_is_directory(path);
}

static const struct host_view machine_view = {.canonical = view_canonical, .is_directory = view_is_directory};

void host_bind(struct arena *arena, const struct host_request *request, struct bindings *bindings,
               struct note_list *notes)
{
    struct host_roots host = {arena, request, bindings, notes};
    *bindings = (struct bindings){
        .system = SYSTEM_WINDOWS,
        .environment = request->environment,
        .environment_count = request->environment_count,
        .environment_known = true,
        .command = bindings->command,
        .host = &machine_view,
    };
    host_given_set(&host);
    if (bindings->roots[ROOT_WORK].state != ROOT_BOUND)
        host_root_set(&host, ROOT_WORK, host_resolve(arena, request->work != NULL ? request->work : "."));
    host_repository_set(&host);
    memcpy(bindings->managed_roots, bindings->roots, sizeof bindings->roots);
    folders_set(&host);
}

/* ---- the environment ---- */

static int compare_variables(const void *left, const void *right)
{
    const struct variable *a = left, *b = right;
    return strcmp(a->name, b->name);
}

struct variable_list host_environment(struct arena *arena)
{
    struct variable_list list = {0};
    wchar_t *block = GetEnvironmentStringsW();
    for (const wchar_t *entry = block; entry != NULL && *entry != L'\0'; entry += wcslen(entry) + 1) {
        const char *text = wide_to(arena, entry), *equals = text == NULL ? NULL : strchr(text, '=');
        /* Those that begin with '=' are current directories of drives. */
        if (equals == NULL || equals == text)
            continue;
        const char *name = arena_copy(arena, text, (size_t)(equals - text));
        VECTOR_PUSH(arena, &list, (struct variable){name, equals + 1});
    }
    if (block != NULL)
        FreeEnvironmentStringsW(block);
    if (list.count > 0)
        qsort(list.items, list.count, sizeof *list.items, compare_variables);
    return list;
}
