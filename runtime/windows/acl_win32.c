#include "runtime/windows/acl_win32.h"

#include "runtime/windows/acl_sidecar.h"
#include "runtime/windows/wide.h"

#include "base/vector.h"

#include <string.h>

enum { SHARE_ALL = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE };
enum { AS_IT_IS = FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT };
enum { PATH_MOST = 32800, DESCRIPTOR_MOST = 1 << 18, NAMES = 1 << 16, CONTENT_MOST = 4096 };

struct acl_object {
    HANDLE handle;
};

uint32_t acl_last_error(void)
{
    DWORD code = GetLastError();
    switch (code) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
    case ERROR_DELETE_PENDING:
        return ACL_MISSING;
    case ERROR_FILE_EXISTS:
    case ERROR_ALREADY_EXISTS:
        return ACL_EXISTS;
    case ERROR_SUCCESS:
        return ERROR_GEN_FAILURE;
    default:
        return code;
    }
}

HANDLE acl_handle(const struct acl_object *object)
{
    return object->handle;
}

struct acl_object *acl_object_of(struct arena *arena, HANDLE handle)
{
    struct acl_object *object = arena_alloc(arena, sizeof *object);
    object->handle = handle;
    return object;
}

const wchar_t *acl_wide_path(struct arena *arena, const char *path)
{
    bool whole = strncmp(path, "\\\\?\\", 4) == 0;
    return wide_from(arena, whole ? path : arena_format(arena, "\\\\?\\%s", path));
}

/* --- opening -------------------------------------------------------------------------------------------- */

static DWORD rights(unsigned access)
{
    DWORD wanted = READ_CONTROL | FILE_READ_ATTRIBUTES | SYNCHRONIZE;
    wanted |= (access & ACL_WRITE) != 0 ? WRITE_DAC : 0;
    wanted |= (access & ACL_WRITE_LABEL) != 0 ? WRITE_OWNER : 0;
    wanted |= (access & ACL_LIST) != 0 ? FILE_LIST_DIRECTORY : 0;
    wanted |= (access & ACL_REMOVE) != 0 ? DELETE | FILE_READ_DATA : 0;
    return wanted;
}

static uint32_t take_handle(struct arena *arena, HANDLE handle, struct acl_object **object)
{
    if (handle == INVALID_HANDLE_VALUE)
        return acl_last_error();
    *object = acl_object_of(arena, handle);
    return ACL_OK;
}

static uint32_t machine_open(const struct acl_operations *acl, struct arena *arena, const char *path,
                             unsigned access, struct acl_object **object)
{
    (void)acl;
    const wchar_t *wide = acl_wide_path(arena, path);
    if (wide == NULL)
        return ERROR_INVALID_NAME;
    return take_handle(
        arena, CreateFileW(wide, rights(access), SHARE_ALL, NULL, OPEN_EXISTING, AS_IT_IS, NULL), object);
}

/* A volume that is not there now says nothing about what is on it. */
static HANDLE open_volume(struct arena *arena, const char *volume)
{
    const wchar_t *wide = wide_from(arena, volume);
    return wide == NULL
               ? INVALID_HANDLE_VALUE
               : CreateFileW(wide, 0, SHARE_ALL, NULL, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL);
}

static uint32_t open_moved(struct arena *arena, const struct acl_identity *identity, unsigned access,
                           struct acl_object **object)
{
    HANDLE volume = open_volume(arena, identity->volume);
    if (volume == INVALID_HANDLE_VALUE)
        return ERROR_DEV_NOT_EXIST;
    FILE_ID_DESCRIPTOR wanted = {.dwSize = sizeof wanted, .Type = ExtendedFileIdType};
    memcpy(&wanted.ExtendedFileId, identity->id, ACL_ID_SIZE);
    HANDLE handle = OpenFileById(volume, &wanted, rights(access), SHARE_ALL, NULL, AS_IT_IS);
    DWORD code = GetLastError();
    CloseHandle(volume);
    SetLastError(code);
    /* What NTFS says of a number that no file has. */
    if (handle == INVALID_HANDLE_VALUE && code == ERROR_INVALID_PARAMETER)
        return ACL_MISSING;
    return take_handle(arena, handle, object);
}

/* Where it was before, most often. */
static uint32_t machine_open_id(const struct acl_operations *acl, struct arena *arena,
                                const struct acl_identity *identity, unsigned access,
                                struct acl_object **object)
{
    struct acl_identity now;
    uint32_t code = acl->open(acl, arena, identity->path, access, object);
    if (code == ACL_OK) {
        code = acl->identify(acl, arena, *object, &now);
        if (code == ACL_OK && acl_identity_same(&now, identity))
            return ACL_OK;
        acl->close(acl, *object);
    }
    return open_moved(arena, identity, access, object);
}

static void machine_close(const struct acl_operations *acl, struct acl_object *object)
{
    (void)acl;
    CloseHandle(object->handle);
}

/* --- identity ------------------------------------------------------------------------------------------- */

static const char *final_path(struct arena *arena, HANDLE handle, DWORD form)
{
    wchar_t wide[PATH_MOST];
    DWORD length = GetFinalPathNameByHandleW(handle, wide, PATH_MOST, form);
    return length > 0 && length < PATH_MOST ? wide_to(arena, wide) : NULL;
}

/* "\\?\Volume{...}\" of a path that begins so, or NULL. */
static const char *volume_of(struct arena *arena, const char *path)
{
    const char *end =
        path != NULL && strncmp(path, "\\\\?\\Volume{", 11) == 0 ? strchr(path + 11, '\\') : NULL;
    return end != NULL ? arena_copy(arena, path, (size_t)(end + 1 - path)) : NULL;
}

/* Files in the cloud and compressed ones are reparse points too, but lead nowhere. */
static bool is_link(const FILE_ATTRIBUTE_TAG_INFO *tag)
{
    enum { NAME_SURROGATE = 0x20000000 };
    return (tag->FileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0 &&
           (tag->ReparseTag & NAME_SURROGATE) != 0;
}

static uint32_t machine_identify(const struct acl_operations *acl, struct arena *arena,
                                 struct acl_object *object, struct acl_identity *identity)
{
    (void)acl;
    FILE_ID_INFO id;
    FILE_STANDARD_INFO standard;
    FILE_ATTRIBUTE_TAG_INFO tag;
    HANDLE handle = object->handle;
    if (!GetFileInformationByHandleEx(handle, FileIdInfo, &id, sizeof id) ||
        !GetFileInformationByHandleEx(handle, FileStandardInfo, &standard, sizeof standard) ||
        !GetFileInformationByHandleEx(handle, FileAttributeTagInfo, &tag, sizeof tag))
        return acl_last_error();
    if (standard.DeletePending)
        return ACL_MISSING;
    *identity = (struct acl_identity){
        .directory = standard.Directory != 0, .link = is_link(&tag), .links = standard.NumberOfLinks};
    memcpy(identity->id, &id.FileId, ACL_ID_SIZE);
    const char *whole = final_path(arena, handle, FILE_NAME_NORMALIZED | VOLUME_NAME_GUID);
    const char *path = final_path(arena, handle, FILE_NAME_NORMALIZED | VOLUME_NAME_DOS);
    identity->volume = volume_of(arena, whole);
    if (identity->volume == NULL)
        return ERROR_INVALID_NAME;
    /* A volume may have no letter. */
    identity->path = path == NULL ? whole : path + (strncmp(path, "\\\\?\\", 4) == 0 ? 4 : 0);
    return ACL_OK;
}

/* --- descriptors ---------------------------------------------------------------------------------------- */

static uint32_t machine_read(const struct acl_operations *acl, struct arena *arena, struct acl_object *object,
                             struct windows_descriptor *descriptor)
{
    (void)acl;
    enum {
        WANTED = OWNER_SECURITY_INFORMATION | GROUP_SECURITY_INFORMATION | DACL_SECURITY_INFORMATION |
                 LABEL_SECURITY_INFORMATION
    };
    DWORD size = 1024, needed = 0;
    uint8_t *bytes = arena_alloc(arena, size);
    while (!GetKernelObjectSecurity(object->handle, WANTED, bytes, size, &needed)) {
        if (GetLastError() != ERROR_INSUFFICIENT_BUFFER || needed <= size || needed > DESCRIPTOR_MOST)
            return acl_last_error();
        size = needed;
        bytes = arena_alloc(arena, size);
    }
    return windows_descriptor_parse(arena, bytes, size, descriptor) ? ACL_OK : ERROR_INVALID_SECURITY_DESCR;
}

static uint32_t set_security(struct acl_object *object, SECURITY_INFORMATION what, void *descriptor)
{
    return SetKernelObjectSecurity(object->handle, what, descriptor) ? ACL_OK : acl_last_error();
}

/* The DACL alone, for a call of Windows; NULL if it cannot be written down. */
static SECURITY_DESCRIPTOR_RELATIVE *dacl_of(struct arena *arena, const struct windows_descriptor *descriptor)
{
    struct windows_descriptor dacl = *descriptor;
    struct buffer bytes = buffer_in(arena);
    dacl.owner.length = dacl.group.length = 0;
    dacl.labelled = false;
    if (!windows_descriptor_write(&dacl, &bytes))
        return NULL;
    SECURITY_DESCRIPTOR_RELATIVE *header = (void *)bytes.bytes;
    /* What stands for "no DACL" must be said; and that entries came by inheritance is kept only on
     * request. */
    header->Control |= SE_DACL_PRESENT;
    if (dacl.dacl_auto_inherited)
        header->Control |= SE_DACL_AUTO_INHERIT_REQ;
    return header;
}

/* By handle and for this object alone: SetSecurityInfo would rewrite all that lies below. */
static uint32_t machine_write_entries(const struct acl_operations *acl, struct arena *arena,
                                      struct acl_object *object, const struct windows_descriptor *descriptor)
{
    (void)acl;
    SECURITY_DESCRIPTOR_RELATIVE *dacl = dacl_of(arena, descriptor);
    return dacl == NULL ? ERROR_INVALID_ACL : set_security(object, DACL_SECURITY_INFORMATION, dacl);
}

/* A SACL without entries takes a label away. */
static uint32_t machine_write_label(const struct acl_operations *acl, struct arena *arena,
                                    struct acl_object *object, const struct windows_descriptor *descriptor)
{
    (void)acl;
    enum { ROOM = 256 };
    SECURITY_DESCRIPTOR security;
    struct windows_entry label = descriptor->label;
    ACL *sacl = arena_alloc(arena, ROOM);
    if (!InitializeSecurityDescriptor(&security, SECURITY_DESCRIPTOR_REVISION) ||
        !InitializeAcl(sacl, ROOM, ACL_REVISION) ||
        (descriptor->labelled &&
         !AddMandatoryAce(sacl, ACL_REVISION, label.flags, label.mask, label.sid.bytes)) ||
        !SetSecurityDescriptorSacl(&security, TRUE, sacl, FALSE))
        return acl_last_error();
    return set_security(object, LABEL_SECURITY_INFORMATION, &security);
}

/* --- directories ---------------------------------------------------------------------------------------- */

static bool add_name(struct arena *arena, const FILE_ID_BOTH_DIR_INFO *entry, struct acl_names *names)
{
    size_t length = entry->FileNameLength / sizeof(wchar_t);
    wchar_t *wide = arena_array(arena, length + 1, sizeof *wide);
    memcpy(wide, entry->FileName, length * sizeof *wide);
    if (wcscmp(wide, L".") == 0 || wcscmp(wide, L"..") == 0)
        return true;
    const char *name = wide_to(arena, wide);
    if (name != NULL)
        VECTOR_PUSH(arena, names, name);
    return name != NULL;
}

static uint32_t machine_list(const struct acl_operations *acl, struct arena *arena, struct acl_object *object,
                             struct acl_names *names)
{
    (void)acl;
    char *buffer = arena_alloc(arena, NAMES);
    FILE_INFO_BY_HANDLE_CLASS next = FileIdBothDirectoryRestartInfo;
    while (GetFileInformationByHandleEx(object->handle, next, buffer, NAMES)) {
        const FILE_ID_BOTH_DIR_INFO *entry = (const void *)buffer;
        bool known = add_name(arena, entry, names);
        while (known && entry->NextEntryOffset != 0) {
            entry = (const void *)((const char *)entry + entry->NextEntryOffset);
            known = add_name(arena, entry, names);
        }
        /* A name that is no valid text could be opened by no path. */
        if (!known)
            return ERROR_INVALID_NAME;
        next = FileIdBothDirectoryInfo;
    }
    return GetLastError() == ERROR_NO_MORE_FILES ? ACL_OK : acl_last_error();
}

/* --- making and removing -------------------------------------------------------------------------------- */

static bool write_content(HANDLE handle, const char *content)
{
    DWORD length = (DWORD)strlen(content), written = 0;
    return WriteFile(handle, content, length, &written, NULL) && written == length;
}

/* Where a user may only modify, even a new directory's owner may not give it a label. */
static uint32_t open_made(const struct acl_operations *acl, struct arena *arena, const char *path,
                          struct acl_object **object)
{
    uint32_t code = acl->open(acl, arena, path, ACL_WRITE | ACL_WRITE_LABEL | ACL_REMOVE, object);
    return code != ACL_DENIED ? code : acl->open(acl, arena, path, ACL_WRITE | ACL_REMOVE, object);
}

static uint32_t machine_make(const struct acl_operations *acl, struct arena *arena, const char *path,
                             const char *content, const struct windows_descriptor *first,
                             struct acl_object **object)
{
    SECURITY_ATTRIBUTES made_with = {.nLength = sizeof made_with}, *with = first != NULL ? &made_with : NULL;
    const wchar_t *wide = acl_wide_path(arena, path);
    if (wide == NULL)
        return ERROR_INVALID_NAME;
    if (first != NULL && (made_with.lpSecurityDescriptor = dacl_of(arena, first)) == NULL)
        return ERROR_INVALID_ACL;
    if (content == NULL)
        return CreateDirectoryW(wide, with) ? open_made(acl, arena, path, object) : acl_last_error();
    HANDLE file = CreateFileW(wide, GENERIC_WRITE | DELETE, SHARE_ALL, with, CREATE_NEW, AS_IT_IS, NULL);
    if (file == INVALID_HANDLE_VALUE)
        return acl_last_error();
    uint32_t code = write_content(file, content) ? ACL_OK : acl_last_error();
    if (code == ACL_OK)
        code = open_made(acl, arena, path, object);
    CloseHandle(file);
    if (code != ACL_OK)
        DeleteFileW(wide);
    return code;
}

static uint32_t machine_rename(const struct acl_operations *acl, struct arena *arena,
                               struct acl_object *object, const char *path)
{
    (void)acl;
    const wchar_t *wide = acl_wide_path(arena, path);
    if (wide == NULL)
        return ERROR_INVALID_NAME;
    size_t length = wcslen(wide), size = sizeof(FILE_RENAME_INFO) + (length + 1) * sizeof(wchar_t);
    FILE_RENAME_INFO *info = arena_alloc(arena, size);
    info->ReplaceIfExists = FALSE;
    info->FileNameLength = (DWORD)(length * sizeof(wchar_t));
    memcpy(info->FileName, wide, (length + 1) * sizeof(wchar_t));
    return SetFileInformationByHandle(object->handle, FileRenameInfo, info, (DWORD)size) ? ACL_OK
                                                                                         : acl_last_error();
}

static bool holds_exactly(HANDLE handle, const char *content)
{
    char found[CONTENT_MOST];
    size_t length = strlen(content);
    DWORD read = 0;
    LARGE_INTEGER start = {.QuadPart = 0};
    return length < sizeof found && SetFilePointerEx(handle, start, NULL, FILE_BEGIN) &&
           ReadFile(handle, found, (DWORD)length + 1, &read, NULL) && read == length &&
           memcmp(found, content, length) == 0;
}

static uint32_t machine_remove(const struct acl_operations *acl, struct arena *arena,
                               struct acl_object *object, const char *content)
{
    FILE_DISPOSITION_INFO remove = {.DeleteFile = TRUE};
    struct acl_identity identity;
    uint32_t code = acl->identify(acl, arena, object, &identity);
    if (code != ACL_OK)
        return code;
    if (identity.link || identity.directory != (content == NULL) ||
        (content != NULL && (identity.links != 1 || !holds_exactly(object->handle, content))))
        return ACL_NOT_EMPTY;
    return SetFileInformationByHandle(object->handle, FileDispositionInfo, &remove, sizeof remove)
               ? ACL_OK
               : acl_last_error();
}

static const struct acl_operations operations = {
    .open = machine_open,
    .open_id = machine_open_id,
    .identify = machine_identify,
    .read = machine_read,
    .write_entries = machine_write_entries,
    .write_label = machine_write_label,
    .list = machine_list,
    .make = machine_make,
    .rename = machine_rename,
    .remove = machine_remove,
    .close = machine_close,
};

const struct acl_operations *acl_machine(void)
{
    return &operations;
}

const struct acl_operations *acl_windows(struct arena *arena)
{
    (void)arena;
#ifdef SBX_TEST_UNENFORCED
    return acl_sidecar();
#else
    return acl_machine();
#endif
}
