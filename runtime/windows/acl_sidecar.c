#include "runtime/windows/acl_sidecar.h"

#ifdef SBX_TEST_UNENFORCED

#include "runtime/windows/acl_win32.h"
#include "runtime/windows/fault.h"
#include "runtime/windows/wide.h"

#include <shlobj.h>
#include <string.h>

enum { SHARE_ALL = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE };

/* --- the file ------------------------------------------------------------------------------------------- */

/* Opens it for one operation, alone. */
static HANDLE lock_file(struct arena *arena)
{
    wchar_t *directory = NULL;
    OVERLAPPED all = {0};
    if (SHGetKnownFolderPath(&FOLDERID_LocalAppData, 0, NULL, &directory) != S_OK)
        return INVALID_HANDLE_VALUE;
    const char *path = arena_format(arena, "%s\\sbx-descriptors", wide_to(arena, directory));
    CoTaskMemFree(directory);
    HANDLE file = CreateFileW(acl_wide_path(arena, path), GENERIC_READ | GENERIC_WRITE, SHARE_ALL, NULL,
                              OPEN_ALWAYS, FILE_ATTRIBUTE_NORMAL, NULL);
    if (file == INVALID_HANDLE_VALUE || LockFileEx(file, LOCKFILE_EXCLUSIVE_LOCK, 0, 1, 1 << 20, &all))
        return file;
    CloseHandle(file);
    return INVALID_HANDLE_VALUE;
}

static char *read_file(struct arena *arena, HANDLE file)
{
    LARGE_INTEGER size, start = {.QuadPart = 0};
    DWORD read = 0;
    if (!GetFileSizeEx(file, &size) || !SetFilePointerEx(file, start, NULL, FILE_BEGIN))
        return arena_strdup(arena, "");
    char *text = arena_alloc(arena, (size_t)size.QuadPart + 1);
    if (!ReadFile(file, text, (DWORD)size.QuadPart, &read, NULL))
        read = 0;
    text[read] = '\0';
    return text;
}

static const char *key_of(struct arena *arena, const struct acl_identity *identity)
{
    struct buffer key = buffer_in(arena);
    buffer_format(&key, "%s ", identity->volume);
    for (int i = 0; i < ACL_ID_SIZE; i++)
        buffer_format(&key, "%02x", identity->id[i]);
    buffer_byte(&key, ' ');
    return key.bytes;
}

/* The line of an object, or NULL. */
static char *find_line(char *text, const char *key)
{
    size_t length = strlen(key);
    for (char *line = text; *line != '\0'; line += strcspn(line, "\n") + 1)
        if (strncmp(line, key, length) == 0)
            return line;
    return NULL;
}

/* Puts a line at the end, instead of the one that was there; without `descriptor` none. */
static bool write_line(struct arena *arena, HANDLE file, const char *key, const char *descriptor)
{
    char *text = read_file(arena, file), *line = find_line(text, key);
    struct buffer out = buffer_in(arena);
    DWORD written = 0;
    LARGE_INTEGER start = {.QuadPart = 0};
    if (line != NULL)
        memmove(line, line + strcspn(line, "\n") + 1, strlen(line + strcspn(line, "\n") + 1) + 1);
    buffer_string(&out, text);
    if (descriptor != NULL)
        buffer_format(&out, "%s%s\n", key, descriptor);
    return SetFilePointerEx(file, start, NULL, FILE_BEGIN) &&
           WriteFile(file, out.bytes, (DWORD)out.length, &written, NULL) && written == out.length &&
           SetEndOfFile(file);
}

/* --- operations ----------------------------------------------------------------------------------------- */

static uint32_t sidecar_open(const struct acl_operations *acl, struct arena *arena, const char *path,
                             unsigned access, struct acl_object **object)
{
    (void)acl;
    /* What only concerns descriptors is not asked of files that keep none. */
    return acl_machine()->open(acl_machine(), arena, path, access & (ACL_LIST | ACL_REMOVE), object);
}

static uint32_t sidecar_open_id(const struct acl_operations *acl, struct arena *arena,
                                const struct acl_identity *identity, unsigned access,
                                struct acl_object **object)
{
    (void)acl;
    return acl_machine()->open_id(acl_machine(), arena, identity, access & (ACL_LIST | ACL_REMOVE), object);
}

static uint32_t sidecar_identify(const struct acl_operations *acl, struct arena *arena,
                                 struct acl_object *object, struct acl_identity *identity)
{
    (void)acl;
    return acl_machine()->identify(acl_machine(), arena, object, identity);
}

/* What a user's own files usually have. */
static const char *usual(struct arena *arena, bool directory)
{
    uint8_t bytes[sizeof(TOKEN_USER) + WINDOWS_SID_SIZE];
    TOKEN_USER *user = (void *)bytes;
    DWORD size;
    HANDLE token;
    struct windows_sid sid = {0};
    if (OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &token)) {
        if (GetTokenInformation(token, TokenUser, user, sizeof bytes, &size))
            windows_sid_from_bytes(user->User.Sid, GetLengthSid(user->User.Sid), &sid);
        CloseHandle(token);
    }
    const char *me = windows_sid_text(arena, &sid), *flags = directory ? "OICIID" : "ID";
    return arena_format(
        arena, "O:%sG:%sD:AI(A;%s;0x1f01ff;;;S-1-5-18)(A;%s;0x1f01ff;;;S-1-5-32-544)(A;%s;0x1f01ff;;;%s)", me,
        me, flags, flags, flags, me);
}

static uint32_t read_locked(struct arena *arena, HANDLE file, const struct acl_identity *identity,
                            struct windows_descriptor *descriptor)
{
    const char *key = key_of(arena, identity);
    char *line = find_line(read_file(arena, file), key);
    const char *text = usual(arena, identity->directory);
    if (line != NULL) {
        line += strlen(key);
        text = arena_copy(arena, line, strcspn(line, "\n"));
    }
    return windows_descriptor_read(arena, text, descriptor) ? ACL_OK : ERROR_INVALID_SECURITY_DESCR;
}

static uint32_t sidecar_read(const struct acl_operations *acl, struct arena *arena, struct acl_object *object,
                             struct windows_descriptor *descriptor)
{
    struct acl_identity identity;
    uint32_t code = acl->identify(acl, arena, object, &identity);
    if (code != ACL_OK)
        return code;
    HANDLE file = lock_file(arena);
    if (file == INVALID_HANDLE_VALUE)
        return acl_last_error();
    code = read_locked(arena, file, &identity, descriptor);
    CloseHandle(file);
    return code;
}

/* `label`: the label of `descriptor` is taken over, else its DACL. */
static uint32_t describe(const struct acl_operations *acl, struct arena *arena, struct acl_object *object,
                         const struct windows_descriptor *descriptor, bool label)
{
    struct acl_identity identity;
    struct windows_descriptor now, changed = *descriptor;
    uint32_t code = acl->identify(acl, arena, object, &identity);
    HANDLE file = code == ACL_OK ? lock_file(arena) : INVALID_HANDLE_VALUE;
    if (file == INVALID_HANDLE_VALUE)
        return code != ACL_OK ? code : acl_last_error();
    code = read_locked(arena, file, &identity, &now);
    if (label) {
        changed = now;
        changed.labelled = descriptor->labelled;
        changed.label = descriptor->label;
    } else {
        changed.owner = now.owner;
        changed.group = now.group;
        changed.labelled = now.labelled;
        changed.label = now.label;
    }
    if (code == ACL_OK &&
        !write_line(arena, file, key_of(arena, &identity), windows_descriptor_text(arena, &changed)))
        code = acl_last_error();
    CloseHandle(file);
    return code;
}

static uint32_t change(const struct acl_operations *acl, struct arena *arena, struct acl_object *object,
                       const struct windows_descriptor *descriptor, bool label)
{
    fault_step();
    return describe(acl, arena, object, descriptor, label);
}

static uint32_t sidecar_write_entries(const struct acl_operations *acl, struct arena *arena,
                                      struct acl_object *object, const struct windows_descriptor *descriptor)
{
    return change(acl, arena, object, descriptor, false);
}

static uint32_t sidecar_write_label(const struct acl_operations *acl, struct arena *arena,
                                    struct acl_object *object, const struct windows_descriptor *descriptor)
{
    return change(acl, arena, object, descriptor, true);
}

static uint32_t sidecar_list(const struct acl_operations *acl, struct arena *arena, struct acl_object *object,
                             struct acl_names *names)
{
    (void)acl;
    return acl_machine()->list(acl_machine(), arena, object, names);
}

/* The number of an object that is gone becomes that of another. */
static void forget(struct arena *arena, const struct acl_identity *identity)
{
    HANDLE file = lock_file(arena);
    if (file == INVALID_HANDLE_VALUE)
        return;
    write_line(arena, file, key_of(arena, identity), NULL);
    CloseHandle(file);
}

static uint32_t sidecar_make(const struct acl_operations *acl, struct arena *arena, const char *path,
                             const char *content, const struct windows_descriptor *first,
                             struct acl_object **object)
{
    struct acl_identity identity;
    fault_step();
    uint32_t code = acl_machine()->make(acl_machine(), arena, path, content, first, object);
    if (code == ACL_OK && acl->identify(acl, arena, *object, &identity) == ACL_OK)
        forget(arena, &identity);
    if (code == ACL_OK && first != NULL && (code = describe(acl, arena, *object, first, false)) != ACL_OK)
        acl->close(acl, *object);
    return code;
}

static uint32_t sidecar_rename(const struct acl_operations *acl, struct arena *arena,
                               struct acl_object *object, const char *path)
{
    (void)acl;
    fault_step();
    return acl_machine()->rename(acl_machine(), arena, object, path);
}

static uint32_t sidecar_remove(const struct acl_operations *acl, struct arena *arena,
                               struct acl_object *object, const char *content)
{
    struct acl_identity identity;
    bool known = acl->identify(acl, arena, object, &identity) == ACL_OK;
    fault_step();
    uint32_t code = acl_machine()->remove(acl_machine(), arena, object, content);
    if (code == ACL_OK && known)
        forget(arena, &identity);
    return code;
}

static void sidecar_close(const struct acl_operations *acl, struct acl_object *object)
{
    (void)acl;
    acl_machine()->close(acl_machine(), object);
}

static const struct acl_operations operations = {
    .open = sidecar_open,
    .open_id = sidecar_open_id,
    .identify = sidecar_identify,
    .read = sidecar_read,
    .write_entries = sidecar_write_entries,
    .write_label = sidecar_write_label,
    .list = sidecar_list,
    .make = sidecar_make,
    .rename = sidecar_rename,
    .remove = sidecar_remove,
    .close = sidecar_close,
};

const struct acl_operations *acl_sidecar(void)
{
    return &operations;
}

#endif
