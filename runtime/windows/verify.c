/* verify.c - see verify.h.
 *
 * SBX_TEST_ANY_NAME (tests alone) knows Wine neither by its name nor by its age: what is read back has to
 * refuse by itself.
 */
#include "runtime/windows/verify.h"

#include "emitters/windows_spec.h"
#include "runtime/windows/wide.h"

#include <string.h>
#include <windows.h>

/* The build as the kernel knows it: what other calls say depends on the program's manifest. */
static bool verify_build(struct note_list *notes)
{
    typedef LONG WINAPI version_call(RTL_OSVERSIONINFOW *);
    RTL_OSVERSIONINFOW version = {.dwOSVersionInfoSize = sizeof version};
    version_call *call =
        (version_call *)(void *)GetProcAddress(GetModuleHandleW(L"ntdll.dll"), "RtlGetVersion");
    if (call == NULL || call(&version) != 0)
        return verify_refuse(notes, "the version of Windows: it cannot be read");
    if (version.dwMajorVersion < 10 || version.dwBuildNumber < WINDOWS_MIN_BUILD)
        return verify_refuse(
            notes, "the version of Windows: it is %lu.%lu.%lu, and build %d or newer is needed",
            version.dwMajorVersion, version.dwMinorVersion, version.dwBuildNumber, WINDOWS_MIN_BUILD);
    return true;
}

static bool is_wine(void)
{
    return GetProcAddress(GetModuleHandleW(L"ntdll.dll"), "wine_get_version") != NULL;
}

#ifdef SBX_TEST_ANY_NAME
enum { NAME_COUNTS = false };
#else
enum { NAME_COUNTS = true };
#endif

bool verify_system(struct note_list *notes)
{
    if (!NAME_COUNTS)
        return true;
    if (is_wine() &&
        !verify_refuse(notes,
                       "that anything is enforced: this is Wine, which reports success without effect"))
        return false;
    return verify_build(notes);
}

const char *verify_volume(struct arena *arena, const char *volume)
{
    wchar_t system[MAX_PATH + 1] = {0};
    DWORD flags = 0;
    const wchar_t *root = wide_from(arena, volume);
    if (root == NULL || !GetVolumeInformationW(root, NULL, 0, NULL, NULL, &flags, system, MAX_PATH))
        return arena_format(arena, "its volume cannot be looked at (error %lu)", GetLastError());
    if ((flags & FILE_PERSISTENT_ACLS) == 0)
        return "its volume keeps no access control lists";
    if (wcscmp(system, L"NTFS") != 0 && wcscmp(system, L"ReFS") != 0)
        return "its volume is neither NTFS nor ReFS";
    return NULL;
}
