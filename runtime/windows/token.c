/* token.c - see token.h. What is read back is in token_verify.c. */
#include "runtime/windows/token.h"

#include "runtime/windows/token_groups.h"
#include "runtime/windows/token_read.h"

#include <string.h>
#include <windows.h>

static bool token_refuse(struct note_list *notes, const char *what)
{
    note_add(notes, (struct note){
                        .code = SBX481_NO_TOKEN,
                        .text = arena_format(notes->arena, "%s (error %lu)", what, GetLastError()),
                    });
    return false;
}

/* The groups that rule the machine or the domain can only deny from now on. */
static uint32_t groups_to_give_up(struct arena *arena, HANDLE own, SID_AND_ATTRIBUTES **given_up)
{
    const TOKEN_GROUPS *groups = token_read(arena, own, TokenGroups);
    uint32_t count = 0;
    *given_up = arena_array(arena, groups != NULL ? groups->GroupCount : 0, sizeof **given_up);
    for (DWORD i = 0; groups != NULL && i < groups->GroupCount; i++) {
        struct windows_sid sid = sid_from(groups->Groups[i].Sid);
        if (token_group_is_powerful(&sid))
            (*given_up)[count++].Sid = groups->Groups[i].Sid;
    }
    return count;
}

static HANDLE token_restrict(struct arena *arena, HANDLE own, bool write_restricted,
                             const struct windows_identity *identity)
{
    SID_AND_ATTRIBUTES restricting[] = {
        {.Sid = sid_to(arena, &identity->run)},
        {.Sid = sid_to(arena, &identity->logon)},
    };
    SID_AND_ATTRIBUTES *given_up;
    uint32_t count = groups_to_give_up(arena, own, &given_up);
    DWORD flags = DISABLE_MAX_PRIVILEGE | LUA_TOKEN;
    HANDLE token;
    BOOL made = write_restricted
                    ? CreateRestrictedToken(own, flags | WRITE_RESTRICTED, count, given_up, 0, NULL, 2,
                                            restricting, &token)
                    : CreateRestrictedToken(own, flags, count, given_up, 0, NULL, 0, NULL, &token);
    return made ? token : NULL;
}

static bool token_lower(struct arena *arena, HANDLE token, bool low)
{
    struct windows_sid level = sid_named(low ? TOKEN_LOW : TOKEN_MEDIUM);
    TOKEN_MANDATORY_LABEL label = {.Label = {sid_to(arena, &level), SE_GROUP_INTEGRITY}};
    return SetTokenInformation(token, TokenIntegrityLevel, &label, (DWORD)(sizeof label + level.length));
}

static bool token_give(struct arena *arena, HANDLE token, const struct windows_identity *identity)
{
    struct token_default given = token_default(identity);
    ACL *acl = arena_alloc(arena, TOKEN_DEFAULT_SIZE);
    if (!InitializeAcl(acl, TOKEN_DEFAULT_SIZE, ACL_REVISION))
        return false;
    for (uint32_t i = 0; i < given.count; i++)
        if (!AddAccessAllowedAce(acl, ACL_REVISION, GENERIC_ALL, sid_to(arena, &given.sids[i])))
            return false;
    TOKEN_DEFAULT_DACL set = {acl};
    return SetTokenInformation(token, TokenDefaultDacl, &set, sizeof set);
}

bool token_make(struct arena *arena, const struct windows_spec *spec, const struct windows_identity *identity,
                void **token, struct note_list *notes)
{
    HANDLE own;
    *token = NULL;
    if (!OpenProcessToken(GetCurrentProcess(),
                          TOKEN_QUERY | TOKEN_DUPLICATE | TOKEN_ASSIGN_PRIMARY | TOKEN_ADJUST_DEFAULT, &own))
        return token_refuse(notes, "the caller's token cannot be opened");
    bool container = spec->tier == WINDOWS_APPCONTAINER;
    HANDLE made = token_restrict(arena, own, !container, identity);
    CloseHandle(own);
    if (made == NULL)
        return token_refuse(notes, "the restricted token could not be made");
    /* An AppContainer's level and the DACL of what it makes are given by Windows with the package. */
    if (container || (token_lower(arena, made, spec->tier == WINDOWS_RESTRICTED_LOW) &&
                      token_give(arena, made, identity))) {
        *token = made;
        return true;
    }
    token_refuse(notes, "the level or the default DACL of the token could not be set");
    CloseHandle(made);
    return false;
}
