#include "runtime/windows/journal_store.h"

#include "runtime/windows/acl_win32.h"
#include "runtime/windows/fault.h"
#include "runtime/windows/wide.h"

#include "base/vector.h"

#include <bcrypt.h>
#include <sddl.h>
#include <shlobj.h>
#include <stdio.h>
#include <string.h>

enum { JOURNAL_MOST = 1 << 30, POLL = 2 };

struct journal_file {
    HANDLE handle;
    const char *directory;
    struct arena *arena; /* of who opened it */
};

struct store_state {
    struct arena *arena;
    const char *directory;
    HANDLE turn; /* the file "turn" */
};

static const struct store_state *state_of(const struct journal_store *store)
{
    return store->state;
}

static const char *path_in(struct arena *arena, const struct journal_store *store, const char *name)
{
    return arena_format(arena, "%s\\%s", state_of(store)->directory, name);
}

/* --- locks ---------------------------------------------------------------------------------------------- */

/* Locks are on bytes far behind all data: a lock keeps others from reading what it covers. */
enum { LIFE = 1, TURN = 2, QUEUE = 3 };

static OVERLAPPED far_byte(DWORD which)
{
    return (OVERLAPPED){.Offset = which, .OffsetHigh = 0x40000000};
}

static bool try_lock(HANDLE file, DWORD which)
{
    OVERLAPPED at = far_byte(which);
    return LockFileEx(file, LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &at);
}

static void unlock(HANDLE file, DWORD which)
{
    OVERLAPPED at = far_byte(which);
    UnlockFileEx(file, 0, 1, 0, &at);
}

static bool wait_lock(HANDLE file, DWORD which)
{
    ULONGLONG end = GetTickCount64() + JOURNAL_PATIENCE;
    while (!try_lock(file, which)) {
        if (GetTickCount64() >= end)
            return false;
        Sleep(POLL);
    }
    return true;
}

/* Who waits is at the head of the queue, where who had the turn just now has to wait too. */
static bool store_turn_begin(const struct journal_store *store)
{
    HANDLE file = state_of(store)->turn;
    if (!wait_lock(file, QUEUE))
        return false;
    bool mine = wait_lock(file, TURN);
    unlock(file, QUEUE);
    return mine;
}

static void store_turn_end(const struct journal_store *store)
{
    unlock(state_of(store)->turn, TURN);
}

/* --- files ---------------------------------------------------------------------------------------------- */

static uint32_t store_list(const struct journal_store *store, struct arena *arena, struct acl_names *names)
{
    WIN32_FIND_DATAW found;
    HANDLE search = FindFirstFileW(acl_wide_path(arena, path_in(arena, store, "*")), &found);
    if (search == INVALID_HANDLE_VALUE)
        return acl_last_error();
    do {
        const char *name = wide_to(arena, found.cFileName);
        if (name != NULL && (found.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) == 0)
            VECTOR_PUSH(arena, names, name);
    } while (FindNextFileW(search, &found));
    DWORD code = GetLastError();
    FindClose(search);
    return code == ERROR_NO_MORE_FILES ? ACL_OK : code;
}

/* Others may read it, and see by its lock that this process lives. */
static uint32_t open_journal(const struct journal_store *store, struct arena *arena, const char *name,
                             DWORD how, struct journal_file **file)
{
    HANDLE handle = CreateFileW(acl_wide_path(arena, path_in(arena, store, name)),
                                GENERIC_READ | FILE_APPEND_DATA | DELETE | SYNCHRONIZE,
                                FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL, how,
                                FILE_ATTRIBUTE_NORMAL | FILE_FLAG_OPEN_REPARSE_POINT, NULL);
    if (handle == INVALID_HANDLE_VALUE)
        return acl_last_error();
    if (!try_lock(handle, LIFE)) {
        CloseHandle(handle);
        return ERROR_LOCK_VIOLATION;
    }
    *file = arena_alloc(arena, sizeof **file);
    **file = (struct journal_file){handle, state_of(store)->directory, arena};
    return ACL_OK;
}

static uint32_t store_create(const struct journal_store *store, struct arena *arena, const char *name,
                             struct journal_file **file)
{
    fault_step();
    return open_journal(store, arena, name, CREATE_NEW, file);
}

static enum journal_lock store_take(const struct journal_store *store, struct arena *arena, const char *name,
                                    struct journal_file **file)
{
    switch (open_journal(store, arena, name, OPEN_EXISTING, file)) {
    case ACL_OK:
        return JOURNAL_TAKEN;
    case ERROR_LOCK_VIOLATION:
        return JOURNAL_HELD;
    case ACL_MISSING:
        return JOURNAL_GONE;
    default:
        return JOURNAL_BROKEN;
    }
}

static uint32_t store_read(const struct journal_store *store, struct arena *arena, const char *name,
                           struct buffer *bytes)
{
    LARGE_INTEGER size = {.QuadPart = 0};
    DWORD read = 0;
    HANDLE file = CreateFileW(acl_wide_path(arena, path_in(arena, store, name)), GENERIC_READ,
                              FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL, OPEN_EXISTING,
                              FILE_ATTRIBUTE_NORMAL | FILE_FLAG_OPEN_REPARSE_POINT, NULL);
    if (file == INVALID_HANDLE_VALUE)
        return acl_last_error();
    uint32_t code = ACL_OK;
    if (!GetFileSizeEx(file, &size))
        code = acl_last_error();
    else if (size.QuadPart > JOURNAL_MOST)
        code = ERROR_FILE_TOO_LARGE;
    else if (!ReadFile(file, buffer_extend(bytes, (size_t)size.QuadPart), (DWORD)size.QuadPart, &read, NULL))
        code = acl_last_error();
    bytes->length -= code == ACL_OK ? (size_t)size.QuadPart - read : bytes->length;
    CloseHandle(file);
    return code;
}

static uint32_t store_append(const struct journal_store *store, struct journal_file *file, const void *bytes,
                             size_t length, bool flush)
{
    (void)store;
    DWORD written = 0, room = (DWORD)fault_room(length);
    OVERLAPPED end = {.Offset = UINT32_MAX, .OffsetHigh = UINT32_MAX}; /* where the file ends */
    fault_step();
    if (!WriteFile(file->handle, bytes, room, &written, &end))
        return acl_last_error();
    if (written < length)
        return ERROR_DISK_FULL;
    fault_step();
    return !flush || FlushFileBuffers(file->handle) ? ACL_OK : acl_last_error();
}

static void store_close(const struct journal_store *store, struct journal_file *file)
{
    (void)store;
    CloseHandle(file->handle);
}

static uint32_t store_remove(const struct journal_store *store, struct journal_file *file)
{
    FILE_DISPOSITION_INFO remove = {.DeleteFile = TRUE};
    fault_step();
    uint32_t code = SetFileInformationByHandle(file->handle, FileDispositionInfo, &remove, sizeof remove)
                        ? ACL_OK
                        : acl_last_error();
    store_close(store, file);
    return code;
}

static uint32_t store_rename(const struct journal_store *store, struct journal_file *file, const char *name)
{
    struct acl_object *object = acl_object_of(file->arena, file->handle);
    fault_step();
    uint32_t code =
        acl_machine()->rename(acl_machine(), file->arena, object, path_in(file->arena, store, name));
    store_close(store, file);
    return code;
}

static bool store_name(const struct journal_store *store, char name[33])
{
    (void)store;
    unsigned char bytes[16];
    if (BCryptGenRandom(NULL, bytes, sizeof bytes, BCRYPT_USE_SYSTEM_PREFERRED_RNG) != 0)
        return false;
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(name + 2 * i, 3, "%02x", bytes[i]);
    return true;
}

/* --- the directory -------------------------------------------------------------------------------------- */

const char *journal_state_directory(struct arena *arena, const char **error)
{
    wchar_t *local = NULL;
    const char *path = NULL;
    if (SHGetKnownFolderPath(&FOLDERID_LocalAppData, KF_FLAG_DONT_VERIFY, NULL, &local) == S_OK)
        path = wide_to(arena, local);
    CoTaskMemFree(local);
    if (path == NULL)
        *error = "Windows does not say where data of local programs lies";
    return path == NULL ? NULL : arena_format(arena, "%s\\sbx", path);
}

static bool user_sid(struct arena *arena, struct windows_sid *sid)
{
    HANDLE token;
    DWORD size = sizeof(TOKEN_USER) + WINDOWS_SID_SIZE;
    TOKEN_USER *user = arena_alloc(arena, size);
    if (!OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &token))
        return false;
    bool known = GetTokenInformation(token, TokenUser, user, size, &size) &&
                 windows_sid_from_bytes(user->User.Sid, GetLengthSid(user->User.Sid), sid);
    CloseHandle(token);
    return known;
}

/* The user alone, whoever may do what in the directory above. */
static struct windows_descriptor closed_to_others(struct arena *arena, const struct windows_sid *user)
{
    struct windows_descriptor closed = {
        .owner = *user, .dacl_present = true, .dacl_protected = true, .count = 1};
    closed.entries = arena_alloc(arena, sizeof *closed.entries);
    closed.entries[0] = (struct windows_entry){.type = WINDOWS_ENTRY_ALLOW,
                                               .flags = WINDOWS_OBJECT_INHERIT | WINDOWS_CONTAINER_INHERIT,
                                               .mask = FILE_ALL_ACCESS,
                                               .sid = *user};
    return closed;
}

static uint32_t make_directory(struct arena *arena, const char *path, const struct windows_descriptor *closed)
{
    struct buffer bytes = buffer_in(arena);
    if (!windows_descriptor_write(closed, &bytes))
        return ERROR_INVALID_ACL;
    SECURITY_ATTRIBUTES attributes = {.nLength = sizeof attributes, .lpSecurityDescriptor = bytes.bytes};
    if (CreateDirectoryW(acl_wide_path(arena, path), &attributes) || GetLastError() == ERROR_ALREADY_EXISTS)
        return ACL_OK;
    return acl_last_error();
}

/* Nobody has rights there but the user, and who has them everywhere. */
static bool is_closed(const struct windows_descriptor *found, const struct windows_sid *user)
{
    struct windows_sid system = {0}, administrators = {0};
    windows_sid_parse("S-1-5-18", &system);
    windows_sid_parse("S-1-5-32-544", &administrators);
    for (uint32_t i = 0; i < found->count; i++) {
        const struct windows_entry *entry = &found->entries[i];
        if (entry->type != WINDOWS_ENTRY_DENY && !windows_sid_equal(&entry->sid, user) &&
            !windows_sid_equal(&entry->sid, &system) && !windows_sid_equal(&entry->sid, &administrators))
            return false;
    }
    return found->dacl_present;
}

/* One that another user owns could be changed by them at any time. */
static const char *judge_directory(struct arena *arena, const char *path, const struct acl_identity *identity,
                                   const struct windows_descriptor *found,
                                   const struct windows_descriptor *closed)
{
    if (identity->link || !identity->directory)
        return arena_format(arena, "%s is not a directory", path);
    if (!windows_sid_equal(&found->owner, &closed->owner))
        return arena_format(arena, "%s belongs to somebody else (%s)", path,
                            windows_sid_text(arena, &found->owner));
    return NULL;
}

/* Looks at the directory and, if it was made open to others, closes it. */
static const char *check_directory(struct arena *arena, const char *path,
                                   const struct windows_descriptor *closed)
{
    const struct acl_operations *acl = acl_machine();
    struct acl_object *object;
    struct acl_identity identity;
    struct windows_descriptor found;
    const char *error = NULL;
    uint32_t code = acl->open(acl, arena, path, ACL_WRITE, &object);
    if (code != ACL_OK)
        return arena_format(arena, "%s: %s", path, acl_error(arena, code));
    code = acl->identify(acl, arena, object, &identity);
    if (code == ACL_OK)
        code = acl->read(acl, arena, object, &found);
    if (code == ACL_OK)
        error = judge_directory(arena, path, &identity, &found, closed);
    if (code == ACL_OK && error == NULL && !is_closed(&found, &closed->owner)) {
        code = acl->write_entries(acl, arena, object, closed);
        if (code == ACL_OK)
            code = acl->read(acl, arena, object, &found);
        if (code == ACL_OK && !is_closed(&found, &closed->owner))
            error = arena_format(arena, "%s is open to others", path);
    }
    acl->close(acl, object);
    return code != ACL_OK ? arena_format(arena, "%s: %s", path, acl_error(arena, code)) : error;
}

static const char *prepare_directory(struct arena *arena, const char *path,
                                     const struct windows_descriptor *closed)
{
    uint32_t code = make_directory(arena, path, closed);
    return code != ACL_OK ? arena_format(arena, "%s cannot be made: %s", path, acl_error(arena, code))
                          : check_directory(arena, path, closed);
}

static const struct journal_store operations = {
    .list = store_list,
    .create = store_create,
    .take = store_take,
    .read = store_read,
    .append = store_append,
    .remove = store_remove,
    .rename = store_rename,
    .close = store_close,
    .turn_begin = store_turn_begin,
    .turn_end = store_turn_end,
    .name = store_name,
};

const struct journal_store *journal_store_open(struct arena *arena, const char **error)
{
    struct windows_sid user = {0};
    const char *directory = journal_state_directory(arena, error);
    if (directory == NULL)
        return NULL;
    *error = user_sid(arena, &user) ? NULL : "Windows does not say who the user is";
    struct windows_descriptor closed = closed_to_others(arena, &user);
    if (*error == NULL)
        *error = prepare_directory(arena, directory, &closed);
    struct store_state *state = arena_alloc(arena, sizeof *state);
    *state = (struct store_state){.arena = arena, .directory = arena_format(arena, "%s\\journal", directory)};
    if (*error == NULL)
        *error = prepare_directory(arena, state->directory, &closed);
    if (*error != NULL)
        return NULL;
    state->turn = CreateFileW(acl_wide_path(arena, arena_format(arena, "%s\\turn", state->directory)),
                              GENERIC_READ | GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE, NULL,
                              OPEN_ALWAYS, FILE_ATTRIBUTE_NORMAL | FILE_FLAG_OPEN_REPARSE_POINT, NULL);
    if (state->turn == INVALID_HANDLE_VALUE) {
        *error = arena_format(arena, "%s\\turn cannot be opened: %s", state->directory,
                              acl_error(arena, acl_last_error()));
        return NULL;
    }
    struct journal_store *store = arena_alloc(arena, sizeof *store);
    *store = operations;
    store->state = state;
    return store;
}
