#include "runtime/windows/open.h"

#include "base/buffer.h"
#include "emitters/windows_spec.h"
#include "runtime/windows/wide.h"

#include <string.h>

#include <shlobj.h>

enum { READ_SIZE = 64 * 1024, PLACE_LONGEST = 32768 };

/* ---- paths ---- */

static bool component_is_plain(struct arena *arena, const char *name, size_t length)
{
    if (length == 0 || (length == 1 && name[0] == '.') || (length == 2 && name[0] == '.' && name[1] == '.'))
        return true;
    return windows_path_problem(arena_join(arena, "C:\\", arena_copy(arena, name, length))) == NULL;
}

/* Whether each name means what it says, so that Windows' own cleaning of `path` takes nothing away but
 * dots. */
static bool names_are_plain(struct arena *arena, const char *path)
{
    bool letter = (path[0] >= 'A' && path[0] <= 'Z') || (path[0] >= 'a' && path[0] <= 'z');
    if (letter && path[1] == ':')
        path += 2;
    for (;;) {
        size_t length = strcspn(path, "\\/");
        if (!component_is_plain(arena, path, length))
            return false;
        if (path[length] == '\0')
            return true;
        path += length + 1;
    }
}

static const char *model_path(struct arena *arena, const wchar_t *wide)
{
    const char *path = wide_to(arena, wide);
    if (path == NULL || path[0] == '\0' || path[1] != ':' || path[2] != '\\')
        return NULL;
    char *model = arena_strdup(arena, windows_path_to_model(arena, path));
    if (model[0] >= 'a' && model[0] <= 'z')
        model[0] = (char)(model[0] - 'a' + 'A');
    size_t length = strlen(model);
    while (length > 3 && model[length - 1] == '/')
        model[--length] = '\0';
    return windows_path_problem(windows_path_from_model(arena, model)) == NULL ? model : NULL;
}

const char *open_absolute(struct arena *arena, const char *path)
{
    bool rooted = (path[0] == '\\' || path[0] == '/') && (path[1] == '\\' || path[1] == '/');
    if (path[0] == '\0' || rooted || !names_are_plain(arena, path))
        return NULL;
    const wchar_t *wide = wide_from(arena, path);
    if (wide == NULL)
        return NULL;
    wchar_t *full = arena_array(arena, PLACE_LONGEST, sizeof *full);
    DWORD length = GetFullPathNameW(wide, PLACE_LONGEST, full, NULL);
    return length == 0 || length >= PLACE_LONGEST ? NULL : model_path(arena, full);
}

HANDLE open_path(struct arena *arena, const char *path, DWORD access, bool follow)
{
    const char *native = windows_path_from_model(arena, path);
    if (native == NULL || windows_path_problem(native) != NULL) {
        SetLastError(ERROR_INVALID_NAME);
        return INVALID_HANDLE_VALUE;
    }
    DWORD flags = FILE_FLAG_BACKUP_SEMANTICS | (follow ? 0 : FILE_FLAG_OPEN_REPARSE_POINT);
    return CreateFileW(wide_from(arena, arena_join(arena, "\\\\?\\", native)), access | SYNCHRONIZE,
                       FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL, OPEN_EXISTING, flags,
                       NULL);
}

const char *open_place(struct arena *arena, HANDLE file)
{
    wchar_t *place = arena_array(arena, PLACE_LONGEST, sizeof *place);
    DWORD length =
        GetFinalPathNameByHandleW(file, place, PLACE_LONGEST, FILE_NAME_NORMALIZED | VOLUME_NAME_DOS);
    if (length < 4 || length >= PLACE_LONGEST || wcsncmp(place, L"\\\\?\\", 4) != 0)
        return NULL;
    return model_path(arena, place + 4);
}

/* ---- what is in them ---- */

bool open_descriptor(struct arena *arena, HANDLE file, struct windows_descriptor *descriptor)
{
    const SECURITY_INFORMATION parts =
        OWNER_SECURITY_INFORMATION | GROUP_SECURITY_INFORMATION | DACL_SECURITY_INFORMATION;
    DWORD length = 0;
    GetKernelObjectSecurity(file, parts, NULL, 0, &length);
    if (length == 0)
        return false;
    uint8_t *bytes = arena_alloc(arena, length);
    if (!GetKernelObjectSecurity(file, parts, bytes, length, &length))
        return false;
    SetLastError(ERROR_INVALID_SECURITY_DESCR);
    return windows_descriptor_parse(arena, bytes, length, descriptor);
}

/* Reads to the end, as long as that is no more than `limit`. */
static char *read_all(struct arena *arena, HANDLE file, size_t limit, size_t *length, const char **problem)
{
    struct buffer bytes = buffer_in(arena);
    char *chunk = arena_alloc(arena, READ_SIZE);
    DWORD got = 0;
    buffer_string(&bytes, "");
    do {
        if (!ReadFile(file, chunk, READ_SIZE, &got, NULL)) {
            *problem = wide_error(arena, GetLastError());
            return NULL;
        }
        if (got > limit - bytes.length) {
            *problem = arena_format(arena, "it is larger than %zu bytes", limit);
            return NULL;
        }
        buffer_bytes(&bytes, chunk, got);
    } while (got > 0);
    *length = bytes.length;
    return bytes.bytes;
}

char *open_read(struct arena *arena, HANDLE file, size_t limit, size_t *length, const char **problem)
{
    BY_HANDLE_FILE_INFORMATION about;
    if (GetFileType(file) != FILE_TYPE_DISK) {
        *problem = "it is not a regular file";
        return NULL;
    }
    if (!GetFileInformationByHandle(file, &about)) {
        *problem = wide_error(arena, GetLastError());
        return NULL;
    }
    if ((about.dwFileAttributes & (FILE_ATTRIBUTE_DIRECTORY | FILE_ATTRIBUTE_REPARSE_POINT)) != 0) {
        *problem =
            (about.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0 ? "it is a directory" : "it is a link";
        return NULL;
    }
    return read_all(arena, file, limit, length, problem);
}

struct windows_sid open_caller(void)
{
    union {
        TOKEN_USER user;
        uint8_t bytes[sizeof(TOKEN_USER) + WINDOWS_SID_SIZE];
    } read;
    struct windows_sid sid = {0};
    HANDLE token;
    DWORD length = 0;
    if (!OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &token))
        return sid;
    if (GetTokenInformation(token, TokenUser, &read, sizeof read, &length) &&
        IsValidSid(read.user.User.Sid)) {
        sid.length = (uint8_t)GetLengthSid(read.user.User.Sid);
        memcpy(sid.bytes, read.user.User.Sid, sid.length);
    }
    CloseHandle(token);
    return sid;
}

/* With the user's token Windows looks into the registry of the user, and not at variables of this process. */
const char *open_folder(struct arena *arena, const KNOWNFOLDERID *id)
{
    wchar_t *wide = NULL;
    HANDLE token = NULL;
    const char *path = NULL;
    if (!OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY | TOKEN_IMPERSONATE | TOKEN_DUPLICATE, &token))
        return NULL;
    if (SHGetKnownFolderPath(id, KF_FLAG_DONT_VERIFY, token, &wide) == S_OK)
        path = wide_to(arena, wide);
    CoTaskMemFree(wide);
    CloseHandle(token);
    return path == NULL ? NULL : open_absolute(arena, path);
}
