#include "runtime/windows/managed.h"

#include "base/escape.h"
#include "base/vector.h"
#include "emitters/windows_spec.h"
#include "policy/file.h"
#include "policy/host_path.h"
#include "runtime/windows/open.h"
#include "runtime/windows/owner.h"
#include "runtime/windows/wide.h"

#include <stdlib.h>
#include <string.h>

#include <knownfolders.h>

enum { MANAGED_BYTES = 256 << 20 };

/* Who may have written what is read: administrators, and for --managed the caller. */
struct managed_walk {
    struct arena *arena;
    const struct windows_sid *also; /* NULL: nobody */
    struct managed_list *list;
    struct note_list *notes;
};

static bool refuse(const struct managed_walk *walk, const char *path, const char *reason)
{
    const char *shown = escape_windows(walk->arena, windows_path_from_model(walk->arena, path));
    note_add(walk->notes,
             (struct note){.code = SBX404_MANAGED_UNSAFE,
                           .text = arena_format(walk->arena, "managed policy %s: %s", shown, reason),
                           .help = walk->also == NULL
                                       ? "it must be a regular file in a regular directory, both owned by "
                                         "administrators and writable by nobody else"
                                       : "it must be a regular file in a regular directory, each owned by "
                                         "administrators or you and writable by nobody else"});
    return false;
}

static const char *kind_problem(HANDLE file, bool directory)
{
    BY_HANDLE_FILE_INFORMATION about;
    if (GetFileType(file) != FILE_TYPE_DISK || !GetFileInformationByHandle(file, &about))
        return "it cannot be looked at";
    if ((about.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0)
        return "it is a link or a junction";
    if (((about.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0) != directory)
        return directory ? "it is no directory" : "it is no regular file";
    return NULL;
}

static const char *owner_problem(const struct managed_walk *walk, HANDLE file)
{
    struct windows_descriptor descriptor;
    if (!open_descriptor(walk->arena, file, &descriptor))
        return "whose it is cannot be seen";
    enum owner owner = owner_of(&descriptor, walk->also);
    if (owner != OWNER_SYSTEM && (owner != OWNER_CALLER || walk->also == NULL))
        return "it belongs to another user";
    return owner_others_write(&descriptor, walk->also) ? "others may write it" : NULL;
}

/* Opens `path` without following a link at its end, and checks what it is and whose. While it is open it
 * keeps its name. INVALID_HANDLE_VALUE after a note. */
static HANDLE open_safe(const struct managed_walk *walk, const char *path, bool directory)
{
    const char *native = arena_join(walk->arena, "\\\\?\\", windows_path_from_model(walk->arena, path));
    HANDLE file =
        CreateFileW(wide_from(walk->arena, native), GENERIC_READ | READ_CONTROL, FILE_SHARE_READ, NULL,
                    OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT, NULL);
    if (file == INVALID_HANDLE_VALUE) {
        refuse(walk, path, wide_error(walk->arena, GetLastError()));
        return file;
    }
    const char *reason = kind_problem(file, directory), *place = open_place(walk->arena, file);
    if (reason == NULL)
        reason = owner_problem(walk, file);
    if (reason == NULL && (place == NULL || !windows_path_equal(windows_path_from_model(walk->arena, place),
                                                                windows_path_from_model(walk->arena, path))))
        reason = "the way to it leads through a link or a junction";
    if (reason == NULL)
        return file;
    refuse(walk, path, reason);
    CloseHandle(file);
    return INVALID_HANDLE_VALUE;
}

static bool read_policy(const struct managed_walk *walk, const char *path)
{
    const struct policy *policy = NULL;
    const char *error = "it cannot be read";
    size_t length = 0;
    HANDLE file = open_safe(walk, path, false);
    if (file == INVALID_HANDLE_VALUE)
        return false;
    const char *bytes = open_read(walk->arena, file, MANAGED_BYTES, &length, &error);
    CloseHandle(file);
    if (bytes != NULL)
        policy = policy_read(walk->arena, bytes, length, &error);
    if (policy != NULL && policy->layers[0].kind != LAYER_MANAGED) {
        policy = NULL;
        error = "it holds a policy, not a managed one";
    }
    if (policy != NULL) {
        VECTOR_PUSH(walk->arena, walk->list, (struct managed_file){.path = path, .policy = policy});
        return true;
    }
    const char *shown = escape_windows(walk->arena, windows_path_from_model(walk->arena, path));
    note_add(walk->notes,
             (struct note){.code = SBX405_MANAGED_UNREADABLE,
                           .text = arena_format(walk->arena, "managed policy %s: %s", shown, error),
                           .help = "compile it again with sbxc and put it there anew"});
    return false;
}

struct name_list {
    const char **items;
    uint32_t count, capacity;
};

static int name_order(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool is_policy_name(const wchar_t *name)
{
    size_t length = wcslen(name);
    return length > 4 && _wcsicmp(name + length - 4, L".bin") == 0;
}

/* The names of all policies in a directory, in byte order. */
static bool list_policies(const struct managed_walk *walk, const char *path, struct name_list *names)
{
    WIN32_FIND_DATAW entry;
    char *every = arena_join(walk->arena, "\\\\?\\",
                             windows_path_from_model(walk->arena, host_join(walk->arena, path, "x")));
    every[strlen(every) - 1] = '*';
    HANDLE search = FindFirstFileExW(wide_from(walk->arena, every), FindExInfoBasic, &entry,
                                     FindExSearchNameMatch, NULL, 0);
    if (search == INVALID_HANDLE_VALUE)
        return GetLastError() == ERROR_FILE_NOT_FOUND ||
               refuse(walk, path, wide_error(walk->arena, GetLastError()));
    bool good = true;
    do {
        const char *name = wide_to(walk->arena, entry.cFileName);
        if (!is_policy_name(entry.cFileName))
            continue;
        if (name == NULL)
            good = refuse(walk, path, "it holds a policy whose name is no text");
        else
            VECTOR_PUSH(walk->arena, names, name);
    } while (FindNextFileW(search, &entry));
    if (GetLastError() != ERROR_NO_MORE_FILES)
        good = refuse(walk, path, wide_error(walk->arena, GetLastError()));
    FindClose(search);
    if (names->count > 0)
        qsort(names->items, names->count, sizeof *names->items, name_order);
    return good;
}

static bool read_directory(const struct managed_walk *walk, const char *path)
{
    struct name_list names = {0};
    bool good = list_policies(walk, path, &names);
    for (uint32_t i = 0; i < names.count && good; i++)
        good = read_policy(walk, host_join(walk->arena, path, names.items[i]));
    return good;
}

const char *managed_place(struct arena *arena)
{
    const char *top = open_folder(arena, &FOLDERID_ProgramData);
    return top == NULL ? NULL : host_join(arena, top, "sbx/managed.d");
}

static bool is_missing(struct arena *arena, const char *path)
{
    HANDLE file = open_path(arena, path, FILE_READ_ATTRIBUTES, false);
    if (file == INVALID_HANDLE_VALUE)
        return GetLastError() == ERROR_FILE_NOT_FOUND || GetLastError() == ERROR_PATH_NOT_FOUND;
    CloseHandle(file);
    return false;
}

bool managed_system(struct arena *arena, struct managed_list *list, struct note_list *notes)
{
    static const char *const steps[] = {"sbx", "managed.d"};
    struct managed_walk walk = {.arena = arena, .list = list, .notes = notes};
    HANDLE open[sizeof steps / sizeof steps[0]];
    size_t depth = 0;
    const char *path = open_folder(arena, &FOLDERID_ProgramData);
    bool good = path != NULL || refuse(&walk, "C:/", "Windows does not say where %ProgramData% is"),
         there = good;

    /* Each directory stays open, and so where it is, while what lies in it is read. Everybody may make
     * directories in %ProgramData% itself, but not take those of others away. */
    while (good && there && depth < sizeof steps / sizeof steps[0]) {
        path = host_join(arena, path, steps[depth]);
        there = !is_missing(arena, path);
        if (!there)
            break;
        open[depth] = open_safe(&walk, path, true);
        good = open[depth] != INVALID_HANDLE_VALUE;
        depth += good;
    }
    if (good && there)
        good = read_directory(&walk, path);
    while (depth > 0)
        CloseHandle(open[--depth]);
    return good;
}

bool managed_directory(struct arena *arena, const char *directory, struct managed_list *list,
                       struct note_list *notes)
{
    struct windows_sid caller = open_caller();
    struct managed_walk walk = {.arena = arena, .also = &caller, .list = list, .notes = notes};
    const char *path = open_absolute(arena, directory);
    if (path == NULL)
        return refuse(&walk, directory, "it is no path on a drive");
    HANDLE opened = open_safe(&walk, path, true);
    if (opened == INVALID_HANDLE_VALUE)
        return false;
    bool good = read_directory(&walk, path);
    CloseHandle(opened);
    return good;
}
