/* package.c - see package.h. */
#include "runtime/windows/package.h"

#include "runtime/windows/token_read.h"
#include "runtime/windows/verify.h"
#include "runtime/windows/wide.h"

#include <string.h>
#include <windows.h>

#include <bcrypt.h>

static const char name_start[] = "sbx.";
enum { NAME_DIGITS = 32, NAME_LENGTH = sizeof name_start - 1 + NAME_DIGITS };

typedef HRESULT WINAPI create_call(PCWSTR, PCWSTR, PCWSTR, PSID_AND_ATTRIBUTES, DWORD, PSID *);
typedef HRESULT WINAPI derive_call(PCWSTR, PSID *);
typedef HRESULT WINAPI delete_call(PCWSTR);

static void *userenv_find(const char *name)
{
    HMODULE library = LoadLibraryExW(L"userenv.dll", NULL, LOAD_LIBRARY_SEARCH_SYSTEM32);
    return library != NULL ? (void *)GetProcAddress(library, name) : NULL;
}

static bool package_refuse(struct note_list *notes, const char *what, HRESULT result)
{
    note_add(notes, (struct note){
                        .code = SBX482_NO_PACKAGE,
                        .text = arena_format(notes->arena, "%s (0x%08lx)", what, (unsigned long)result),
                    });
    return false;
}

const char *package_name(struct arena *arena, struct note_list *notes)
{
    uint8_t bytes[NAME_DIGITS / 2];
    if (BCryptGenRandom(NULL, bytes, sizeof bytes, BCRYPT_USE_SYSTEM_PREFERRED_RNG) < 0) {
        package_refuse(notes, "Windows gives no random bytes", 0);
        return NULL;
    }
    char *name = arena_alloc(arena, NAME_LENGTH + 1);
    memcpy(name, name_start, sizeof name_start);
    for (size_t i = 0; i < sizeof bytes; i++) {
        name[sizeof name_start - 1 + 2 * i] = "0123456789abcdef"[bytes[i] >> 4];
        name[sizeof name_start + 2 * i] = "0123456789abcdef"[bytes[i] & 15];
    }
    return name;
}

/* Whether package_name could have made it; copies it for Windows. */
static bool name_is_own(const char *name, wchar_t wide[NAME_LENGTH + 1])
{
    if (strlen(name) != NAME_LENGTH || strncmp(name, name_start, sizeof name_start - 1) != 0 ||
        strspn(name + sizeof name_start - 1, "0123456789abcdef") != NAME_DIGITS)
        return false;
    for (size_t i = 0; i <= NAME_LENGTH; i++)
        wide[i] = (wchar_t)name[i];
    return true;
}

static struct windows_sid sid_take(PSID sid)
{
    struct windows_sid copy = sid_from(sid);
    if (sid != NULL)
        FreeSid(sid);
    return copy;
}

/* The name alone decides the SID: a profile with another one is not what was asked for. */
static bool package_read_back(const wchar_t *name, const struct windows_sid *made, struct note_list *notes)
{
    derive_call *derive = (derive_call *)userenv_find("DeriveAppContainerSidFromAppContainerName");
    PSID derived = NULL;
    if (derive == NULL || FAILED(derive(name, &derived)))
        return verify_refuse(notes, "the AppContainer: its identifier cannot be derived");
    struct windows_sid expected = sid_take(derived);
    static const uint8_t start[] = {1, 8, 0, 0, 0, 0, 0, 15, 2, 0, 0, 0};
    if (made->length == 0 || !windows_sid_equal(made, &expected) ||
        memcmp(made->bytes, start, sizeof start) != 0)
        return verify_refuse(notes, "the AppContainer: its identifier is not that of its name");
    return true;
}

/* Only the build for tests comes here: what it writes for a package names one that is nowhere. */
static bool package_imagine(struct windows_identity *identity)
{
    static const uint8_t start[] = {1, 8, 0, 0, 0, 0, 0, 15, 2, 0, 0, 0};
    memcpy(identity->package.bytes, start, sizeof start);
    identity->package.length = sizeof start + 28;
    return BCryptGenRandom(NULL, identity->package.bytes + sizeof start, 28,
                           BCRYPT_USE_SYSTEM_PREFERRED_RNG) >= 0;
}

bool package_create(struct windows_identity *identity, const char *name, struct note_list *notes)
{
    wchar_t wide[NAME_LENGTH + 1];
    create_call *create = (create_call *)userenv_find("CreateAppContainerProfile");
    if (!name_is_own(name, wide))
        return package_refuse(notes, "the name of the AppContainer is not one of sbx", 0);
    if (create == NULL)
        return verify_refuse(notes, "the AppContainer: this system has none") && package_imagine(identity);
    PSID sid = NULL;
    HRESULT result = create(wide, wide, L"a run of sbx-launch", NULL, 0, &sid);
    if (FAILED(result))
        return package_refuse(notes, "the AppContainer could not be made", result);
    identity->package = sid_take(sid);
    if (package_read_back(wide, &identity->package, notes))
        return true;
    package_remove(name);
    return false;
}

bool package_remove(const char *name)
{
    wchar_t wide[NAME_LENGTH + 1];
    delete_call *remove = (delete_call *)userenv_find("DeleteAppContainerProfile");
    if (!name_is_own(name, wide))
        return false;
    if (remove == NULL)
        return true; /* where none can be made, none is left */
    HRESULT result = remove(wide);
    return SUCCEEDED(result) || result == HRESULT_FROM_WIN32(ERROR_NOT_FOUND) ||
           result == HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND);
}

uint32_t package_capabilities(unsigned capabilities, struct windows_sid sids[PACKAGE_CAPABILITIES])
{
    static const struct {
        unsigned capability;
        const char *sid;
    } known[PACKAGE_CAPABILITIES] = {
        {WINDOWS_INTERNET_CLIENT, "S-1-15-3-1"},
        {WINDOWS_INTERNET_CLIENT_SERVER, "S-1-15-3-2"},
        {WINDOWS_PRIVATE_NETWORK, "S-1-15-3-3"},
    };
    uint32_t count = 0;
    for (size_t i = 0; i < PACKAGE_CAPABILITIES; i++)
        if ((capabilities & known[i].capability) != 0)
            sids[count++] = sid_named(known[i].sid);
    return count;
}
