#include "runtime/windows/system.h"

#include <windows.h>

const char *system_version(struct arena *arena)
{
    typedef LONG WINAPI version_call(RTL_OSVERSIONINFOW *);
    RTL_OSVERSIONINFOW version = {.dwOSVersionInfoSize = sizeof version};
    version_call *call =
        (version_call *)(void *)GetProcAddress(GetModuleHandleW(L"ntdll.dll"), "RtlGetVersion");

    if (call != NULL)
        call(&version);
    return arena_format(arena, "%lu.%lu.%lu", version.dwMajorVersion, version.dwMinorVersion,
                        version.dwBuildNumber);
}
