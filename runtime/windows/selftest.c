/* selftest.c - main of sbx-selftest.exe: see selftest.h. */
#include "runtime/windows/selftest.h"

#include "runtime/windows/verify.h"
#include "runtime/windows/wide.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <shellapi.h>

static const char usage[] = "sbx-selftest [--network ADDRESS:PORT]\n"
                            "\n"
                            "Measures how this machine treats the sandboxes of sbx and prints a report that "
                            "can be pasted into an issue.\n"
                            "Works in a fresh directory of its own and removes it. With --network it also "
                            "connects to that address.\n";

/* SBX_TEST_ANY_NAME (tests alone) goes on under Wine, to see that nothing stays behind. */
static bool is_wine(void)
{
#ifdef SBX_TEST_ANY_NAME
    return false;
#endif
    return GetProcAddress(GetModuleHandleW(L"ntdll.dll"), "wine_get_version") != NULL;
}

static void report_system(struct selftest *selftest)
{
    typedef LONG WINAPI version_call(RTL_OSVERSIONINFOW *);
    RTL_OSVERSIONINFOW version = {.dwOSVersionInfoSize = sizeof version};
    version_call *call =
        (version_call *)(void *)GetProcAddress(GetModuleHandleW(L"ntdll.dll"), "RtlGetVersion");
    buffer_format(&selftest->report, "sbx-selftest " SBX_VERSION "\n");
    if (call != NULL && call(&version) == 0)
        buffer_format(&selftest->report, "Windows %lu.%lu.%lu\n", version.dwMajorVersion,
                      version.dwMinorVersion, version.dwBuildNumber);
}

static void report_tiers(struct selftest *selftest)
{
    for (int tier = 0; tier < WINDOWS_TIERS; tier++)
        if (selftest->tiers[tier].why_not != NULL)
            selftest_say(selftest, NOT_AVAILABLE, (enum windows_tier)tier, "all of it", "%s",
                         selftest->tiers[tier].why_not);
        else
            selftest_say(selftest, MEASURED, (enum windows_tier)tier, "its token",
                         "as asked in everything that is read back");
}

/* Calls there succeed without effect, so that nothing that came out would say anything about Windows. */
static void measure(struct selftest *selftest)
{
    const char *why;
    if (is_wine()) {
        buffer_string(&selftest->report, "This is Wine, which enforces none of it: nothing was measured.\n");
        return;
    }
    if (!selftest_begin(selftest, &why)) {
        buffer_format(&selftest->report, "Nothing was measured: %s.\n", why);
        return;
    }
    report_tiers(selftest);
    selftest_rights(selftest);
    selftest_programs(selftest);
    selftest_end(selftest);
}

static int run(struct arena *arena, int count, char **words)
{
    if (count == 4 && strcmp(words[1], "--try") == 0)
        return selftest_child(2, words + 2);
    struct selftest selftest = {
        .arena = arena,
        .notes = note_list_in(arena),
        .acl = acl_windows(arena),
        .report = buffer_in(arena),
    };
    if (count == 3 && strcmp(words[1], "--network") == 0) {
        selftest.outside = words[2];
    } else if (count != 1) {
        fputs(usage, stderr);
        return 2;
    }
    report_system(&selftest);
    measure(&selftest);
    fputs(selftest.report.bytes, stdout);
    return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(void)
{
    struct arena *arena = arena_create(0);
    int count = 0;
    wchar_t **wide = CommandLineToArgvW(GetCommandLineW(), &count);
    /* As the launcher does: nothing that lies beside this program is taken for a library of Windows. */
    if (arena == NULL || wide == NULL || !SetDefaultDllDirectories(LOAD_LIBRARY_SEARCH_SYSTEM32))
        return EXIT_FAILURE;
    char **words = arena_array(arena, (size_t)count + 1, sizeof *words);
    for (int i = 0; i < count; i++)
        if ((words[i] = wide_to(arena, wide[i])) == NULL)
            return EXIT_FAILURE;
    int code = run(arena, count, words);
    arena_destroy(arena);
    return code;
}
