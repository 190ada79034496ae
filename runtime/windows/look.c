#include "base/escape.h"
#include "base/vector.h"
#include "emitters/windows_spec.h"
#include "policy/host.h"
#include "policy/host_look.h"
#include "policy/host_path.h"
#include "runtime/windows/open.h"
#include "runtime/windows/owner.h"
#include "runtime/windows/wide.h"

#include <string.h>

/* What policy/host.h and policy/host_look.h say, for Windows. */

enum { USER_CALLER = 1, USER_OTHER = 2 };

uint32_t look_user(void)
{
    return USER_CALLER;
}

/* ---- what lies at a path ---- */

static bool is_missing(DWORD error)
{
    return error == ERROR_FILE_NOT_FOUND || error == ERROR_PATH_NOT_FOUND || error == ERROR_INVALID_NAME ||
           error == ERROR_DIRECTORY || error == ERROR_BAD_NETPATH;
}

static struct look look_failed(struct arena *arena, DWORD error)
{
    if (is_missing(error))
        return (struct look){.kind = LOOK_MISSING};
    return (struct look){.kind = LOOK_UNKNOWN, .problem = wide_error(arena, error)};
}

/* A file whose descriptor cannot be read is nobody's that is known, and open to all. */
static struct look look_of(struct arena *arena, HANDLE file)
{
    BY_HANDLE_FILE_INFORMATION about;
    struct windows_descriptor descriptor;
    struct windows_sid caller = open_caller();
    if (!GetFileInformationByHandle(file, &about))
        return look_failed(arena, GetLastError());
    struct look look = {.kind = LOOK_FILE, .owner = USER_OTHER, .open = true};
    if ((about.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0)
        look.kind = LOOK_LINK;
    else if ((about.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0)
        look.kind = LOOK_DIRECTORY;
    else if ((about.dwFileAttributes & FILE_ATTRIBUTE_DEVICE) != 0 || GetFileType(file) != FILE_TYPE_DISK)
        look.kind = LOOK_OTHER;
    if (!open_descriptor(arena, file, &descriptor))
        return look;
    enum owner owner = owner_of(&descriptor, &caller);
    look.owner = owner == OWNER_SYSTEM ? LOOK_SYSTEM : owner == OWNER_CALLER ? USER_CALLER : USER_OTHER;
    look.open = owner_others_write(&descriptor, &caller);
    return look;
}

static HANDLE look_open(struct arena *arena, const char *path, DWORD access, bool follow)
{
    HANDLE file = open_path(arena, path, access | FILE_READ_ATTRIBUTES | READ_CONTROL, follow);
    return file != INVALID_HANDLE_VALUE || GetLastError() != ERROR_ACCESS_DENIED
               ? file
               : open_path(arena, path, access | FILE_READ_ATTRIBUTES, follow);
}

static struct look look(struct arena *arena, const char *path, bool follow)
{
    HANDLE file = look_open(arena, path, 0, follow);
    if (file == INVALID_HANDLE_VALUE)
        return look_failed(arena, GetLastError());
    struct look found = look_of(arena, file);
    CloseHandle(file);
    return found;
}

struct look look_at(struct arena *arena, const char *path)
{
    return look(arena, path, false);
}

struct look look_behind(struct arena *arena, const char *path)
{
    struct look found = look(arena, path, true);
    /* A reparse point that Windows does not take out of the way, such as a file kept elsewhere. */
    if (found.kind == LOOK_LINK)
        found.kind = LOOK_OTHER;
    return found;
}

bool look_into(struct arena *arena, const char *path, const char *name, struct look *holder,
               struct look *inside)
{
    HANDLE directory = look_open(arena, path, FILE_LIST_DIRECTORY, false);
    if (directory == INVALID_HANDLE_VALUE)
        return false;
    *holder = look_of(arena, directory);
    *inside = look_at(arena, host_join(arena, path, name));
    /* Where the open directory lies now: nobody put another in its place meanwhile. */
    const char *place = open_place(arena, directory);
    CloseHandle(directory);
    return holder->kind == LOOK_DIRECTORY && inside->kind != LOOK_MISSING && inside->kind != LOOK_UNKNOWN &&
           place != NULL && strcmp(place, path) == 0;
}

char *look_text(struct arena *arena, const char *path, size_t limit, size_t *length, struct look *file)
{
    const char *problem = NULL;
    HANDLE opened = open_path(arena, path, GENERIC_READ, false);
    if (opened == INVALID_HANDLE_VALUE)
        return NULL;
    *file = look_of(arena, opened);
    char *text =
        file->kind == LOOK_FILE && limit > 0 ? open_read(arena, opened, limit - 1, length, &problem) : NULL;
    CloseHandle(opened);
    return text;
}

enum look_kind look_directories(struct arena *arena, const char *path, struct look_names *names)
{
    WIN32_FIND_DATAW entry;
    struct look about = look_at(arena, path);
    if (about.kind != LOOK_DIRECTORY)
        return about.kind;
    const char *native = windows_path_from_model(arena, host_join(arena, path, "x"));
    char *every = arena_join(arena, "\\\\?\\", native);
    every[strlen(every) - 1] = '*';
    HANDLE search =
        FindFirstFileExW(wide_from(arena, every), FindExInfoBasic, &entry, FindExSearchNameMatch, NULL, 0);
    if (search == INVALID_HANDLE_VALUE)
        return GetLastError() == ERROR_FILE_NOT_FOUND ? LOOK_DIRECTORY
                                                      : look_failed(arena, GetLastError()).kind;
    enum look_kind kind = LOOK_DIRECTORY;
    do {
        const char *name = wide_to(arena, entry.cFileName);
        const DWORD both = FILE_ATTRIBUTE_DIRECTORY | FILE_ATTRIBUTE_REPARSE_POINT;
        if (name == NULL)
            kind = LOOK_UNKNOWN;
        else if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0 &&
                 (entry.dwFileAttributes & both) == FILE_ATTRIBUTE_DIRECTORY)
            VECTOR_PUSH(arena, names, name);
    } while (FindNextFileW(search, &entry));
    if (GetLastError() != ERROR_NO_MORE_FILES)
        kind = LOOK_UNKNOWN;
    FindClose(search);
    return kind;
}

/* ---- what policy/host.h says ---- */

/* What begins with a separator lies on the current drive, and with two of them on no drive at all. */
const char *host_slashes(struct arena *arena, const char *text)
{
    char *slashes = arena_strdup(arena, windows_path_to_model(arena, text));
    const char *rooted = slashes[0] == '/' ? open_absolute(arena, slashes) : NULL;
    if (host_top(slashes) == 3 && slashes[0] >= 'a' && slashes[0] <= 'z')
        slashes[0] = (char)(slashes[0] - 'a' + 'A');
    return rooted != NULL ? rooted : slashes;
}

char *file_read(struct arena *arena, const char *path, size_t limit, size_t *length, const char **error)
{
    const char *shown = escape_windows(arena, path), *place = open_absolute(arena, path), *problem = NULL;
    char *bytes = NULL;
    if (place == NULL) {
        *error = arena_format(arena, "cannot open %s: it is no path on a drive", shown);
        return NULL;
    }
    HANDLE file = open_path(arena, place, GENERIC_READ, true);
    if (file == INVALID_HANDLE_VALUE) {
        *error = arena_format(arena, "cannot open %s: %s", shown, wide_error(arena, GetLastError()));
        return NULL;
    }
    bytes = open_read(arena, file, limit, length, &problem);
    CloseHandle(file);
    if (bytes == NULL)
        *error = arena_format(arena, "cannot read %s: %s", shown, problem);
    return bytes;
}
