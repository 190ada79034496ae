/* subject.c - what the tests start under Windows: says what it was given, and does what must end with its run. */
#include <fcntl.h>
#include <io.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#include <windows.h>

static void say(const wchar_t *text)
{
    char bytes[65536];
    int length = WideCharToMultiByte(CP_UTF8, 0, text, -1, bytes, sizeof bytes, NULL, NULL);

    if (length > 0)
        fwrite(bytes, 1, (size_t)length, stdout); /* with the NUL, which ends each answer */
}

static int words(int count, wchar_t **given)
{
    for (int i = 0; i < count; i++)
        say(given[i]);
    return 0;
}

static int environment(int count, wchar_t **given)
{
    (void)count;
    (void)given;
    for (const wchar_t *at = GetEnvironmentStringsW(); *at != L'\0'; at += wcslen(at) + 1)
        say(at);
    return 0;
}

static int directory(int count, wchar_t **given)
{
    wchar_t path[4096];

    (void)count;
    (void)given;
    GetCurrentDirectoryW(4096, path);
    say(path);
    return 0;
}

/* A number as it is, of 32 bits. */
static int end(int count, wchar_t **given)
{
    ExitProcess(count > 0 ? (UINT)wcstoul(given[0], NULL, 0) : 0);
}

static int crash(int count, wchar_t **given)
{
    (void)count;
    (void)given;
    RaiseException(0xC0000005, EXCEPTION_NONCONTINUABLE, 0, NULL);
    return 0;
}

static int copy(int count, wchar_t **given)
{
    char bytes[10000];
    size_t got;

    (void)count;
    (void)given;
    while ((got = fread(bytes, 1, sizeof bytes, stdin)) > 0)
        if (fwrite(bytes, 1, got, stdout) != got)
            return 3;
    return 0;
}

/* So many bytes to standard output and to standard error by turns. */
static int both(int count, wchar_t **given)
{
    static char bytes[1 << 16];
    uint64_t left = count > 0 ? wcstoull(given[0], NULL, 0) : 0;

    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)(i * 7);
    while (left > 0) {
        size_t now = left < sizeof bytes ? (size_t)left : sizeof bytes;
        if (fwrite(bytes, 1, now, stdout) != now || fwrite(bytes, 1, now, stderr) != now ||
            fflush(stdout) != 0)
            return 3;
        left -= now;
    }
    return 0;
}

/* Adds a byte to a file every 20 milliseconds, without end: while it grows, somebody lives. */
static int beat(int count, wchar_t **given)
{
    DWORD wrote;
    HANDLE file = count == 0 ? INVALID_HANDLE_VALUE
                             : CreateFileW(given[0], FILE_APPEND_DATA, FILE_SHARE_READ | FILE_SHARE_WRITE,
                                           NULL, OPEN_ALWAYS, 0, NULL);

    while (WriteFile(file, ".", 1, &wrote, NULL))
        Sleep(20);
    return 3;
}

static DWORD start(const wchar_t *rest, DWORD flags, bool inherit, DWORD *code, bool wait)
{
    wchar_t own[4096], line[8192];
    STARTUPINFOW startup = {.cb = sizeof startup};
    PROCESS_INFORMATION started;

    GetModuleFileNameW(NULL, own, 4096);
    swprintf(line, 8192, L"\"%ls\" %ls", own, rest);
    if (!CreateProcessW(NULL, line, NULL, NULL, inherit, flags, NULL, NULL, &startup, &started))
        return GetLastError();
    if (wait) {
        WaitForSingleObject(started.hProcess, INFINITE);
        GetExitCodeProcess(started.hProcess, code);
    }
    return 0;
}

/* A process that lives on by itself; then ends, or waits too with a second word. */
static int leave(int count, wchar_t **given)
{
    wchar_t line[4096];

    swprintf(line, 4096, L"beat \"%ls\"", given[0]);
    if (start(line, DETACHED_PROCESS | CREATE_NEW_PROCESS_GROUP, false, NULL, false) != 0)
        return 3;
    if (count > 1)
        Sleep(INFINITE);
    /* Until it is seen to live. */
    for (int i = 0; i < 500 && GetFileAttributesW(given[0]) == INVALID_FILE_ATTRIBUTES; i++)
        Sleep(10);
    return 0;
}

/* The same, one process deeper. */
static int deeper(int count, wchar_t **given)
{
    wchar_t line[4096];
    DWORD code = 3;

    (void)count;
    swprintf(line, 4096, L"leave \"%ls\"", given[0]);
    return start(line, 0, false, &code, true) == 0 ? (int)code : 3;
}

/* The error with which leaving the job is refused. */
static int escape(int count, wchar_t **given)
{
    wchar_t text[32];
    DWORD code;

    (void)count;
    (void)given;
    swprintf(text, 32, L"%lu", start(L"exit 0", CREATE_BREAKAWAY_FROM_JOB, false, &code, true));
    say(text);
    return 0;
}

/* Whether handle number given[0] is open on the file given[1]. */
static int handle(int count, wchar_t **given)
{
    wchar_t path[4096] = L"";
    HANDLE asked = (HANDLE)(uintptr_t)wcstoull(given[0], NULL, 0);

    if (count < 2 || GetFinalPathNameByHandleW(asked, path, 4096, 0) == 0)
        path[0] = L'\0';
    say(path[0] != L'\0' && wcsstr(path, given[1]) != NULL ? L"open" : L"closed");
    return 0;
}

/* Starts the words that follow with an inheritable handle of given[0] open, whose number replaces the word "HANDLE". */
static int leak(int count, wchar_t **given)
{
    SECURITY_ATTRIBUTES inherited = {sizeof inherited, NULL, TRUE};
    STARTUPINFOW startup = {.cb = sizeof startup};
    PROCESS_INFORMATION started;
    wchar_t line[8192] = L"";
    DWORD code = 3;
    HANDLE file = CreateFileW(given[0], GENERIC_READ, FILE_SHARE_READ, &inherited, OPEN_EXISTING, 0, NULL);

    for (int i = 1; i < count; i++) {
        wchar_t word[4096];
        if (wcscmp(given[i], L"HANDLE") == 0)
            swprintf(word, 4096, L" %llu", (unsigned long long)(uintptr_t)file);
        else
            swprintf(word, 4096, L" \"%ls\"", given[i]);
        wcscat(line, word);
    }
    if (file == INVALID_HANDLE_VALUE ||
        !CreateProcessW(NULL, line + 1, NULL, NULL, TRUE, 0, NULL, NULL, &startup, &started))
        return 3;
    WaitForSingleObject(started.hProcess, INFINITE);
    GetExitCodeProcess(started.hProcess, &code);
    return (int)code;
}

/* Starts the words that follow without any standard stream. */
static int bare(int count, wchar_t **given)
{
    STARTUPINFOW startup = {.cb = sizeof startup, .dwFlags = STARTF_USESTDHANDLES};
    PROCESS_INFORMATION started;
    wchar_t line[8192] = L"";
    DWORD code = 3;

    for (int i = 0; i < count; i++) {
        wcscat(line, i == 0 ? L"" : L" ");
        wcscat(line, given[i]);
    }
    if (!CreateProcessW(NULL, line, NULL, NULL, FALSE, DETACHED_PROCESS, NULL, NULL, &startup, &started))
        return 3;
    WaitForSingleObject(started.hProcess, INFINITE);
    GetExitCodeProcess(started.hProcess, &code);
    return (int)code;
}

/* What it has of the caller's: its desktop, whether a console can be opened, and what its standard streams are. */
static int place(int count, wchar_t **given)
{
    wchar_t name[256] = L"";
    static const DWORD streams[] = {STD_INPUT_HANDLE, STD_OUTPUT_HANDLE, STD_ERROR_HANDLE};

    (void)count;
    (void)given;
    GetUserObjectInformationW(GetThreadDesktop(GetCurrentThreadId()), UOI_NAME, name, sizeof name, NULL);
    say(name);
    for (int i = 0; i < 3; i++)
        say(GetFileType(GetStdHandle(streams[i])) == FILE_TYPE_PIPE ? L"pipe" : L"other");
    return 0;
}

/* Waits so many milliseconds. */
static int sleep_for(int count, wchar_t **given)
{
    Sleep(count > 0 ? (DWORD)wcstoul(given[0], NULL, 0) : INFINITE);
    return 0;
}

/* Puts a file with a child directory at given[0]. */
static int put(int count, wchar_t **given)
{
    wchar_t path[4096];

    (void)count;
    swprintf(path, 4096, L"%ls\\deep", given[0]);
    if (!CreateDirectoryW(path, NULL))
        return 3;
    wcscat(path, L"\\file");
    HANDLE file = CreateFileW(path, GENERIC_WRITE, 0, NULL, CREATE_NEW, FILE_ATTRIBUTE_READONLY, NULL);
    if (file == INVALID_HANDLE_VALUE)
        return 4;
    CloseHandle(file);
    return 0;
}

static const struct {
    const wchar_t *name;
    int (*act)(int count, wchar_t **given);
} acts[] = {
    {L"words", words},         {L"environment", environment},
    {L"directory", directory}, {L"exit", end},
    {L"crash", crash},         {L"copy", copy},
    {L"both", both},           {L"beat", beat},
    {L"leave", leave},         {L"deeper", deeper},
    {L"escape", escape},       {L"handle", handle},
    {L"leak", leak},           {L"place", place},
    {L"wait", sleep_for},      {L"put", put},
    {L"bare", bare},
};

/* The name is Windows' own. */
int wmain(int count, wchar_t **given);

int wmain(int count, wchar_t **given)
{
    for (int i = 0; i < 3; i++)
        _setmode(i, _O_BINARY);
    for (size_t i = 0; count > 1 && i < sizeof acts / sizeof acts[0]; i++)
        if (wcscmp(given[1], acts[i].name) == 0) {
            int code = acts[i].act(count - 2, given + 2);
            fflush(stdout);
            return code;
        }
    return 3;
}
