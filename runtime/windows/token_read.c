/* token_read.c - see token_read.h. */
#include "runtime/windows/token_read.h"

#include <string.h>

void *token_read(struct arena *arena, HANDLE token, TOKEN_INFORMATION_CLASS about)
{
    DWORD size = 0;
    GetTokenInformation(token, about, NULL, 0, &size);
    if (size == 0)
        return NULL;
    void *answer = arena_alloc(arena, size);
    return GetTokenInformation(token, about, answer, size, &size) ? answer : NULL;
}

bool token_read_number(HANDLE token, TOKEN_INFORMATION_CLASS about, DWORD *number)
{
    DWORD size = 0;
    return GetTokenInformation(token, about, number, sizeof *number, &size) && size == sizeof *number;
}

struct windows_sid sid_from(PSID sid)
{
    struct windows_sid copy = {0};
    if (sid == NULL || !IsValidSid(sid))
        return copy;
    DWORD length = GetLengthSid(sid);
    if (length > WINDOWS_SID_SIZE)
        return copy;
    copy.length = (uint8_t)length;
    memcpy(copy.bytes, sid, length);
    return copy;
}

PSID sid_to(struct arena *arena, const struct windows_sid *sid)
{
    void *copy = arena_alloc(arena, WINDOWS_SID_SIZE);
    memcpy(copy, sid->bytes, sid->length);
    return copy;
}

struct windows_sid sid_named(const char *text)
{
    struct windows_sid sid = {0};
    windows_sid_parse(text, &sid);
    return sid;
}
