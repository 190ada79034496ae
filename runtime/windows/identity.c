/* identity.c - see identity.h. */
#include "runtime/windows/identity.h"

#include "runtime/windows/token_read.h"

#include <string.h>
#include <windows.h>

#include <bcrypt.h>

static bool identity_refuse(struct note_list *notes, const char *what)
{
    note_add(notes, (struct note){
                        .code = SBX481_NO_TOKEN,
                        .text = arena_format(notes->arena, "%s (error %lu)", what, GetLastError()),
                    });
    return false;
}

static bool random_bytes(void *bytes, ULONG length)
{
    return BCryptGenRandom(NULL, bytes, length, BCRYPT_USE_SYSTEM_PREFERRED_RNG) >= 0;
}

/* S-1-5-21-a-b-c-d: the form of accounts, since CreateRestrictedToken takes not every other. */
static bool run_sid(struct windows_sid *sid)
{
    static const uint8_t start[] = {1, 5, 0, 0, 0, 0, 0, 5, 21, 0, 0, 0};
    memcpy(sid->bytes, start, sizeof start);
    sid->length = sizeof start + 16;
    return random_bytes(sid->bytes + sizeof start, 16);
}

static struct windows_sid logon_sid(struct arena *arena, HANDLE token)
{
    const TOKEN_GROUPS *groups = token_read(arena, token, TokenGroups);
    for (DWORD i = 0; groups != NULL && i < groups->GroupCount; i++)
        if ((groups->Groups[i].Attributes & SE_GROUP_LOGON_ID) == SE_GROUP_LOGON_ID)
            return sid_from(groups->Groups[i].Sid);
    return (struct windows_sid){0};
}

bool identity_make(struct windows_identity *identity, struct note_list *notes)
{
    HANDLE token;
    *identity = (struct windows_identity){0};
    if (!OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &token))
        return identity_refuse(notes, "the caller's token cannot be opened");
    const TOKEN_USER *user = token_read(notes->arena, token, TokenUser);
    identity->user = sid_from(user != NULL ? user->User.Sid : NULL);
    identity->logon = logon_sid(notes->arena, token);
    CloseHandle(token);
    if (identity->user.length == 0)
        return identity_refuse(notes, "the caller's token names no user");
    if (identity->logon.length == 0)
        return identity_refuse(notes, "the caller's token belongs to no logon session");
    if (!run_sid(&identity->run))
        return identity_refuse(notes, "Windows gives no random bytes");
    return true;
}
