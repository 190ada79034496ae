#include "runtime/windows/own_directory.h"

#include "runtime/report.h"
#include "runtime/windows/verify.h"
#include "runtime/windows/wide.h"

#include <string.h>
#include <windows.h>

enum { PATH_MOST = 32768 };

static const char prefix[] = "scratch-";

const char *own_directory_path(struct arena *arena, const char *parent, const char *id)
{
    return arena_format(arena, "%s\\sbx-%s", parent, id);
}

/* Any length of path. */
static const wchar_t *long_path(struct arena *arena, const char *path)
{
    return wide_from(arena, arena_format(arena, "\\\\?\\%s", path));
}

/* ---- the descriptor ---- */

static void fill(const struct own_directory_request *request, struct windows_descriptor *descriptor)
{
    struct windows_ace run = {.principal =
                                  request->spec->tier == WINDOWS_APPCONTAINER ? WINDOWS_PACKAGE : WINDOWS_RUN,
                              .mask = request->writable ? WINDOWS_ALLOW_WRITE : WINDOWS_ALLOW_READ,
                              .inherit = true};
    struct windows_label label = {.present = true, .level = WINDOWS_LOW, .policy = WINDOWS_NO_WRITE_UP};
    struct windows_entry entry = identity_entry(request->identity, &run, true);

    *descriptor = identity_closed(request->arena, request->identity, &entry, true);
    descriptor->labelled = request->spec->tier == WINDOWS_RESTRICTED_LOW;
    descriptor->label = identity_label(&label, true);
}

/* 0, or an error number of Windows. */
static uint32_t label_and_compare(const struct own_directory_request *request, struct acl_object *object,
                                  struct windows_descriptor *wanted)
{
    struct windows_descriptor found = {0};
    uint32_t error = ACL_OK;

    if (wanted->labelled)
        error = request->acl->write_label(request->acl, request->arena, object, wanted);
    if (error == ACL_OK)
        error = request->acl->read(request->acl, request->arena, object, &found);
    /* Nobody asked for these. */
    wanted->owner = found.owner;
    wanted->group = found.group;
    wanted->dacl_auto_inherited = found.dacl_auto_inherited;
    return error != ACL_OK || windows_descriptor_equal(&found, wanted) ? error : ERROR_INVALID_ACL;
}

/* Closed from its first moment: what opens it before stays inside. */
static uint32_t make_closed(const struct own_directory_request *request, const char *path)
{
    const struct acl_operations *acl = request->acl;
    struct windows_descriptor wanted;
    struct acl_object *object;

    fill(request, &wanted);
    uint32_t error = acl->make(acl, request->arena, path, NULL, &wanted, &object);
    if (error != ACL_OK)
        return error;
    error = label_and_compare(request, object, &wanted);
    acl->close(acl, object);
    return error;
}

/* ---- the record ---- */

/* Nobody else can open it while it is open here. */
static bool record_make(const struct own_directory_request *request, struct own_directory *made)
{
    const char *path = arena_format(request->arena, "%s\\%s%s", request->state, prefix, request->id);
    DWORD wrote;
    HANDLE record = CreateFileW(long_path(request->arena, path), GENERIC_READ | GENERIC_WRITE | DELETE, 0,
                                NULL, CREATE_NEW, FILE_ATTRIBUTE_NORMAL, NULL);

    if (record == INVALID_HANDLE_VALUE)
        return false;
    made->record = record;
    made->record_path = path;
    return WriteFile(record, made->path, (DWORD)strlen(made->path), &wrote, NULL) && FlushFileBuffers(record);
}

static void record_remove(struct arena *arena, struct own_directory *made)
{
    CloseHandle(made->record);
    DeleteFileW(long_path(arena, made->record_path));
    made->record = NULL;
}

bool own_directory_make(const struct own_directory_request *request, struct own_directory *made,
                        struct note_list *notes)
{
    *made = (struct own_directory){.path = own_directory_path(request->arena, request->parent, request->id)};
    if (!record_make(request, made)) {
        const char *error = wide_error(request->arena, GetLastError());
        note_add(notes,
                 (struct note){.code = SBX414_BACKEND_FAILED,
                               .text = arena_format(request->arena, "scratch cannot be recorded in %s: %s",
                                                    report_safe(request->arena, request->state), error)});
        return false;
    }
    uint32_t error = make_closed(request, made->path);
    if (error == ACL_OK)
        return true;
    if (error == ERROR_INVALID_ACL)
        return verify_refuse(notes, "the descriptor of %s", report_safe(request->arena, made->path));
    note_add(notes, (struct note){.code = SBX414_BACKEND_FAILED,
                                  .text = arena_format(request->arena, "scratch %s cannot be made: %s",
                                                       report_safe(request->arena, made->path),
                                                       wide_error(request->arena, error))});
    return false;
}

/* ---- removing ---- */

static bool is_itself_or_above(const wchar_t *name)
{
    return wcscmp(name, L".") == 0 || wcscmp(name, L"..") == 0;
}

/* Puts the name of something in the directory `path` behind it. False if there is nothing. */
static bool descend(wchar_t *path, DWORD *attributes)
{
    WIN32_FIND_DATAW entry = {0};
    size_t length = wcslen(path);
    bool found;

    if (length + 3 > PATH_MOST)
        return false;
    wcscpy(path + length, L"\\*");
    HANDLE search = FindFirstFileW(path, &entry);
    found = search != INVALID_HANDLE_VALUE;
    while (found && is_itself_or_above(entry.cFileName))
        found = FindNextFileW(search, &entry) != 0;
    if (search != INVALID_HANDLE_VALUE)
        FindClose(search);
    found = found && length + 1 + wcslen(entry.cFileName) < PATH_MOST;
    path[length + (found ? 1 : 0)] = L'\0';
    if (found) {
        wcscat(path, entry.cFileName);
        *attributes = entry.dwFileAttributes;
    }
    return found;
}

static bool is_directory(DWORD attributes)
{
    return (attributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
}

/* A link of either kind is removed as what it looks like; nothing goes where it leads. */
static bool remove_one(const wchar_t *path, DWORD attributes)
{
    if ((attributes & FILE_ATTRIBUTE_READONLY) != 0)
        SetFileAttributesW(path, attributes & ~(DWORD)FILE_ATTRIBUTE_READONLY);
    return is_directory(attributes) ? RemoveDirectoryW(path) != 0 : DeleteFileW(path) != 0;
}

/* However deep it is: one step down or up at a time. Whether it is gone. */
static bool remove_tree(struct arena *arena, const char *directory)
{
    const wchar_t *start = long_path(arena, directory);
    wchar_t *path = arena_array(arena, PATH_MOST, sizeof *path);
    size_t top = start == NULL ? PATH_MOST : wcslen(start);
    DWORD attributes = top >= PATH_MOST ? INVALID_FILE_ATTRIBUTES : GetFileAttributesW(start);

    if (attributes == INVALID_FILE_ATTRIBUTES)
        return true;
    wcscpy(path, start);
    while (wcslen(path) >= top) {
        if (is_directory(attributes) && (attributes & FILE_ATTRIBUTE_REPARSE_POINT) == 0 &&
            descend(path, &attributes))
            continue;
        if (!remove_one(path, attributes))
            return false;
        *wcsrchr(path, L'\\') = L'\0';
        attributes = GetFileAttributesW(path);
    }
    return true;
}

void own_directory_remove(struct arena *arena, struct own_directory *made)
{
    if (made->record == NULL)
        return;
    if (remove_tree(arena, made->path))
        record_remove(arena, made);
    else
        CloseHandle(made->record); /* the next start tries again */
    *made = (struct own_directory){0};
}

/* What a record names, if it can be that of its own number. */
static const char *record_place(struct arena *arena, HANDLE record, const char *id)
{
    char *place = arena_alloc(arena, PATH_MOST);
    DWORD length = 0;

    if (!ReadFile(record, place, PATH_MOST - 1, &length, NULL) || strlen(place) != length)
        return NULL;
    const char *name = strrchr(place, '\\');
    return name != NULL && windows_path_problem(place) == NULL && place[1] == ':' &&
                   strcmp(name + 1, arena_format(arena, "sbx-%s", id)) == 0
               ? place
               : NULL;
}

static void leftover_remove(struct arena *arena, const char *state, const char *name)
{
    const char *path = arena_format(arena, "%s\\%s", state, name);
    HANDLE record = CreateFileW(long_path(arena, path), GENERIC_READ | DELETE, 0, NULL, OPEN_EXISTING,
                                FILE_FLAG_OPEN_REPARSE_POINT, NULL);

    if (record == INVALID_HANDLE_VALUE)
        return;
    struct own_directory left = {
        .path = record_place(arena, record, name + sizeof prefix - 1), .record = record, .record_path = path};
    if (left.path != NULL)
        own_directory_remove(arena, &left);
    else
        record_remove(arena, &left);
}

void own_directory_recover(struct arena *arena, const char *state)
{
    struct arena *scratch = arena_child(arena);
    WIN32_FIND_DATAW entry;
    HANDLE search =
        FindFirstFileW(long_path(scratch, arena_format(scratch, "%s\\%s*", state, prefix)), &entry);

    while (search != INVALID_HANDLE_VALUE) {
        const char *name = wide_to(scratch, entry.cFileName);
        if (name != NULL)
            leftover_remove(scratch, state, name);
        if (!FindNextFileW(search, &entry))
            break;
    }
    if (search != INVALID_HANDLE_VALUE)
        FindClose(search);
    arena_destroy(scratch);
}
