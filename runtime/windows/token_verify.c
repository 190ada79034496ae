/* token_verify.c - reads back what token.c asked for: the property as Windows has it, not the answer of the
 * call that set it. */
#include "runtime/windows/package.h"
#include "runtime/windows/token.h"
#include "runtime/windows/token_groups.h"
#include "runtime/windows/token_read.h"
#include "runtime/windows/verify.h"

#include <windows.h>

/* A token that is looked at, and what is wanted of it. */
struct subject {
    struct arena *arena;
    const struct windows_spec *spec;
    const struct windows_identity *identity;
    HANDLE token;
    struct note_list *notes;
};

static const char *text_of(const struct subject *subject, const struct windows_sid *sid)
{
    return windows_sid_text(subject->arena, sid);
}

static bool groups_hold(const TOKEN_GROUPS *groups, const struct windows_sid *sid)
{
    for (DWORD i = 0; i < groups->GroupCount; i++) {
        struct windows_sid one = sid_from(groups->Groups[i].Sid);
        if (windows_sid_equal(&one, sid))
            return true;
    }
    return false;
}

static bool verify_user(const struct subject *subject)
{
    DWORD type = 0;
    const TOKEN_USER *user = token_read(subject->arena, subject->token, TokenUser);
    struct windows_sid sid = sid_from(user != NULL ? user->User.Sid : NULL);
    if (sid.length == 0 || !windows_sid_equal(&sid, &subject->identity->user))
        return verify_refuse(subject->notes, "the token: its user is not the caller");
    if (!token_read_number(subject->token, TokenType, &type) || type != TokenPrimary)
        return verify_refuse(subject->notes, "the token: it is not a primary one");
    return true;
}

/* Traversal alone stays: without it no path could be walked whose parents are closed. */
static bool verify_privileges(const struct subject *subject)
{
    const TOKEN_PRIVILEGES *held = token_read(subject->arena, subject->token, TokenPrivileges);
    LUID traversal;
    if (held == NULL || !LookupPrivilegeValueW(NULL, SE_CHANGE_NOTIFY_NAME, &traversal))
        return verify_refuse(subject->notes, "the token: its privileges cannot be read");
    for (DWORD i = 0; i < held->PrivilegeCount; i++) {
        LUID one = held->Privileges[i].Luid;
        if (one.LowPart != traversal.LowPart || one.HighPart != traversal.HighPart)
            return verify_refuse(subject->notes, "the token: privilege %lu is still in it", one.LowPart);
    }
    return true;
}

static bool verify_groups(const struct subject *subject)
{
    const TOKEN_GROUPS *groups = token_read(subject->arena, subject->token, TokenGroups);
    if (groups == NULL)
        return verify_refuse(subject->notes, "the token: its groups cannot be read");
    for (DWORD i = 0; i < groups->GroupCount; i++) {
        struct windows_sid sid = sid_from(groups->Groups[i].Sid);
        DWORD attributes = groups->Groups[i].Attributes;
        if (token_group_is_powerful(&sid) &&
            (attributes & (SE_GROUP_USE_FOR_DENY_ONLY | SE_GROUP_ENABLED)) != SE_GROUP_USE_FOR_DENY_ONLY)
            return verify_refuse(subject->notes, "the token: group %s still gives rights",
                                 text_of(subject, &sid));
    }
    return true;
}

static bool verify_integrity(const struct subject *subject, const char *level)
{
    const TOKEN_MANDATORY_LABEL *label = token_read(subject->arena, subject->token, TokenIntegrityLevel);
    struct windows_sid is = sid_from(label != NULL ? label->Label.Sid : NULL), wanted = sid_named(level);
    if (is.length == 0 || !windows_sid_equal(&is, &wanted))
        return verify_refuse(subject->notes, "the token: its integrity level is %s, not %s",
                             is.length != 0 ? text_of(subject, &is) : "unknown", level);
    return true;
}

/* Labels bind a token only under this policy. */
static bool verify_mandatory(const struct subject *subject)
{
    const TOKEN_MANDATORY_POLICY *policy = token_read(subject->arena, subject->token, TokenMandatoryPolicy);
    if (policy == NULL || (policy->Policy & TOKEN_MANDATORY_POLICY_NO_WRITE_UP) == 0)
        return verify_refuse(subject->notes, "the token: integrity levels do not bind it");
    return true;
}

/* With it a program may send input to windows of a higher level. */
static bool verify_interface(const struct subject *subject)
{
    DWORD access = 1;
    if (!token_read_number(subject->token, TokenUIAccess, &access) || access != 0)
        return verify_refuse(subject->notes, "the token: it may drive windows of a higher level");
    return true;
}

static bool verify_restricting(const struct subject *subject)
{
    const struct windows_identity *identity = subject->identity;
    if (!IsTokenRestricted(subject->token))
        return verify_refuse(subject->notes, "the token: it is not restricted");
    const TOKEN_GROUPS *list = token_read(subject->arena, subject->token, TokenRestrictedSids);
    if (list == NULL)
        return verify_refuse(subject->notes, "the token: its restricting list cannot be read");
    if (list->GroupCount != 2 || !groups_hold(list, &identity->run) || !groups_hold(list, &identity->logon))
        return verify_refuse(subject->notes,
                             "the token: its restricting list is not this run and this session");
    return true;
}

/* Whether entry `number` of `acl` gives all rights to one of `given`, who is then marked in *seen. */
static bool default_entry(const ACL *acl, DWORD number, const struct token_default *given, unsigned *seen)
{
    void *at;
    if (!GetAce((ACL *)acl, number, &at))
        return false;
    ACCESS_ALLOWED_ACE *entry = at;
    if (entry->Header.AceType != ACCESS_ALLOWED_ACE_TYPE || entry->Header.AceFlags != 0 ||
        entry->Mask != GENERIC_ALL)
        return false;
    struct windows_sid sid = sid_from(&entry->SidStart);
    for (uint32_t i = 0; i < given->count; i++)
        if (windows_sid_equal(&sid, &given->sids[i])) {
            *seen |= 1u << i;
            return true;
        }
    return false;
}

static bool verify_default(const struct subject *subject)
{
    const TOKEN_DEFAULT_DACL *is = token_read(subject->arena, subject->token, TokenDefaultDacl);
    struct token_default given = token_default(subject->identity);
    unsigned seen = 0;
    if (is == NULL || is->DefaultDacl == NULL)
        return verify_refuse(subject->notes, "the token: its default DACL cannot be read");
    for (DWORD i = 0; i < is->DefaultDacl->AceCount; i++)
        if (!default_entry(is->DefaultDacl, i, &given, &seen))
            return verify_refuse(subject->notes, "the token: its default DACL gives rights to others");
    if (seen != (1u << given.count) - 1)
        return verify_refuse(subject->notes, "the token: its default DACL leaves somebody out");
    return true;
}

/* What holds of the token in every tier. */
static bool verify_common(const struct subject *subject)
{
    return verify_user(subject) && verify_privileges(subject) && verify_groups(subject) &&
           verify_interface(subject);
}

static bool verify_restricted(const struct subject *subject)
{
    bool low = subject->spec->tier == WINDOWS_RESTRICTED_LOW;
    return verify_common(subject) && verify_restricting(subject) &&
           verify_integrity(subject, low ? TOKEN_LOW : TOKEN_MEDIUM) && verify_mandatory(subject) &&
           verify_default(subject);
}

bool token_verify(struct arena *arena, const struct windows_spec *spec,
                  const struct windows_identity *identity, void *token, struct note_list *notes)
{
    struct subject subject = {arena, spec, identity, token, notes};
    return spec->tier == WINDOWS_APPCONTAINER ? verify_common(&subject) : verify_restricted(&subject);
}

static bool verify_capabilities(const struct subject *subject)
{
    struct windows_sid wanted[PACKAGE_CAPABILITIES];
    uint32_t count = package_capabilities(subject->spec->capabilities, wanted);
    const TOKEN_GROUPS *has = token_read(subject->arena, subject->token, TokenCapabilities);
    if (has == NULL)
        return verify_refuse(subject->notes, "the AppContainer: its capabilities cannot be read");
    bool same = has->GroupCount == count;
    for (uint32_t i = 0; same && i < count; i++)
        same = groups_hold(has, &wanted[i]);
    if (!same)
        return verify_refuse(subject->notes,
                             "the AppContainer: it has %lu capabilities, not exactly the %u of the policy",
                             has->GroupCount, (unsigned)count);
    return true;
}

static bool verify_container(const struct subject *subject)
{
    DWORD contained = 0;
    if (!token_read_number(subject->token, TokenIsAppContainer, &contained) || contained == 0)
        return verify_refuse(subject->notes, "the AppContainer: the process runs in none");
    const TOKEN_APPCONTAINER_INFORMATION *package =
        token_read(subject->arena, subject->token, TokenAppContainerSid);
    struct windows_sid sid = sid_from(package != NULL ? package->TokenAppContainer : NULL);
    if (sid.length == 0 || !windows_sid_equal(&sid, &subject->identity->package))
        return verify_refuse(subject->notes, "the AppContainer: the process runs in another one");
    return true;
}

bool token_verify_process(struct arena *arena, const struct windows_spec *spec,
                          const struct windows_identity *identity, void *process, struct note_list *notes)
{
    struct subject subject = {arena, spec, identity, NULL, notes};
    if (!OpenProcessToken(process, TOKEN_QUERY, &subject.token))
        return verify_refuse(notes, "the started process: its token cannot be opened (error %lu)",
                             GetLastError());
    bool holds = spec->tier == WINDOWS_APPCONTAINER
                     ? verify_common(&subject) && verify_container(&subject) &&
                           verify_capabilities(&subject) && verify_integrity(&subject, TOKEN_LOW) &&
                           verify_mandatory(&subject)
                     : verify_restricted(&subject);
    CloseHandle(subject.token);
    return holds;
}
