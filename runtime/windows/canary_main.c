/* canary_main.c - the canary's side, in the sandbox: see canary.h. */
#include "runtime/windows/canary.h"
#include "runtime/windows/canary_words.h"
#include "runtime/windows/wide.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

enum { SHARE_ALL = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE };

/* The path as Windows takes it at any length, and as it stands. */
static const wchar_t *path_of(struct arena *arena, const char *path)
{
    return wide_from(arena, arena_join(arena, "\\\\?\\", path));
}

static DWORD try_create(const wchar_t *path)
{
    HANDLE file = CreateFileW(path, GENERIC_WRITE, 0, NULL, CREATE_NEW, FILE_ATTRIBUTE_NORMAL, NULL);
    if (file == INVALID_HANDLE_VALUE)
        return GetLastError();
    DWORD written = 0;
    DWORD error = WriteFile(file, ".", 1, &written, NULL) ? 0 : GetLastError();
    CloseHandle(file);
    return error;
}

static DWORD try_read(const wchar_t *path)
{
    HANDLE file = CreateFileW(path, GENERIC_READ, SHARE_ALL, NULL, OPEN_EXISTING, 0, NULL);
    if (file == INVALID_HANDLE_VALUE)
        return GetLastError();
    char byte;
    DWORD read = 0;
    DWORD error = ReadFile(file, &byte, 1, &read, NULL) ? 0 : GetLastError();
    CloseHandle(file);
    return error;
}

static DWORD try_open(const wchar_t *path, DWORD rights)
{
    HANDLE file = CreateFileW(path, rights, SHARE_ALL, NULL, OPEN_EXISTING,
                              FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT, NULL);
    if (file == INVALID_HANDLE_VALUE)
        return GetLastError();
    CloseHandle(file);
    return 0;
}

unsigned long canary_try(struct arena *arena, const char *word, const char *path)
{
    const size_t open = sizeof CANARY_OPEN - 1;
    const wchar_t *wide = path_of(arena, path);
    if (wide == NULL)
        return ERROR_INVALID_NAME;
    if (strcmp(word, CANARY_CREATE) == 0)
        return try_create(wide);
    if (strcmp(word, CANARY_READ) == 0)
        return try_read(wide);
    if (strncmp(word, CANARY_OPEN, open) == 0)
        return try_open(wide, (DWORD)strtoul(word + open, NULL, 16));
    return ERROR_INVALID_PARAMETER;
}

int canary_main(int count, char *const *arguments)
{
    struct arena *arena = arena_create(0);
    if (arena == NULL)
        return EXIT_FAILURE;
    for (int i = 0; i + 1 < count; i += 2)
        printf("%d %lu\n", i / 2, canary_try(arena, arguments[i], arguments[i + 1]));
    puts(CANARY_END);
    arena_destroy(arena);
    return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
