#include "runtime/windows/wide.h"

#include "base/escape.h"

#include <string.h>
#include <windows.h>

wchar_t *wide_from(struct arena *arena, const char *text)
{
    int length = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text, -1, NULL, 0);

    /* Some versions of Windows let through what RFC 3629 does not. */
    if (length <= 0 || !utf8_valid(text, strlen(text)))
        return NULL;
    wchar_t *wide = arena_array(arena, (size_t)length, sizeof *wide);
    MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text, -1, wide, length);
    return wide;
}

char *wide_to(struct arena *arena, const wchar_t *text)
{
    int length = WideCharToMultiByte(CP_UTF8, WC_ERR_INVALID_CHARS, text, -1, NULL, 0, NULL, NULL);

    if (length <= 0)
        return NULL;
    char *bytes = arena_alloc(arena, (size_t)length);
    WideCharToMultiByte(CP_UTF8, WC_ERR_INVALID_CHARS, text, -1, bytes, length, NULL, NULL);
    return utf8_valid(bytes, strlen(bytes)) ? bytes : NULL;
}

const char *wide_error(struct arena *arena, unsigned long code)
{
    wchar_t text[512];
    DWORD length = FormatMessageW(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS, NULL, code, 0,
                                  text, sizeof text / sizeof text[0], NULL);

    while (length > 0 && wcschr(L"\r\n. ", text[length - 1]) != NULL)
        length--;
    text[length < 512 ? length : 511] = L'\0';
    const char *said = length == 0 ? NULL : wide_to(arena, text);
    return said == NULL ? arena_format(arena, "error %lu", code)
                        : arena_format(arena, "%s (error %lu)", escape_windows(arena, said), code);
}
