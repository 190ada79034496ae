/* oracle.c - asks Windows' own access check and SDDL what they make of random descriptors, and compares with ours.
 *
 * oracle.exe COUNT SEED. Under Wine only what Wine decides as Windows does is asked: plain tokens, and allows for SIDs
 * that a token holds for denies alone; no owner rights, labels, restricting SIDs or conditions.
 */
#include "emitters/windows_access.h"

#include <windows.h>

#include <aclapi.h>
#include <sddl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HOLDERS = 64, ENTRIES = 6, SHOWN = 20 };

struct subject {
    HANDLE token; /* for impersonation */
    struct windows_token model;
    struct windows_holder holders[HOLDERS];
};

struct oracle {
    struct subject subjects[2];
    struct windows_sid sids[HOLDERS]; /* that entries speak of */
    uint32_t sid_count;
    uint64_t random;
    uint32_t passed, failed;
};

static void stop(const char *what)
{
    printf("oracle: %s: error %lu\n", what, GetLastError());
    exit(1);
}

static uint32_t below(struct oracle *oracle, uint32_t limit)
{
    oracle->random ^= oracle->random << 13;
    oracle->random ^= oracle->random >> 7;
    oracle->random ^= oracle->random << 17;
    return (uint32_t)((oracle->random >> 16) % limit);
}

static void judge(struct oracle *oracle, bool same, const char *what, const char *text)
{
    if (same)
        oracle->passed++;
    else if (oracle->failed++ < SHOWN)
        printf("FAIL %s: %s\n", what, text);
}

/* --- tokens --------------------------------------------------------------------------------------------- */

static struct windows_sid sid_of(PSID sid)
{
    struct windows_sid copy = {0};
    if (!windows_sid_from_bytes(sid, GetLengthSid(sid), &copy))
        stop("a SID of the token");
    return copy;
}

static void *information(HANDLE token, TOKEN_INFORMATION_CLASS kind)
{
    DWORD length = 0;
    (void)GetTokenInformation(token, kind, NULL, 0, &length);
    void *bytes = malloc(length);
    if (bytes == NULL || !GetTokenInformation(token, kind, bytes, length, &length))
        stop("what a token holds");
    return bytes;
}

/* Groups that are neither enabled nor for denies count for nothing. */
static void model_token(struct subject *subject)
{
    TOKEN_USER *user = information(subject->token, TokenUser);
    TOKEN_GROUPS *groups = information(subject->token, TokenGroups);
    uint32_t count = 0;
    subject->holders[count++].sid = sid_of(user->User.Sid);
    for (DWORD i = 0; i < groups->GroupCount && count < HOLDERS; i++) {
        DWORD how = groups->Groups[i].Attributes;
        if ((how & SE_GROUP_INTEGRITY) != 0 || (how & (SE_GROUP_ENABLED | SE_GROUP_USE_FOR_DENY_ONLY)) == 0)
            continue;
        bool denies = (how & SE_GROUP_USE_FOR_DENY_ONLY) != 0;
        subject->holders[count].sid = sid_of(groups->Groups[i].Sid);
        subject->holders[count++].holding = denies ? WINDOWS_DENY_ONLY : WINDOWS_ENABLED;
    }
    subject->model =
        (struct windows_token){.holders = {subject->holders, count}, .integrity = WINDOWS_LEVEL_HIGH};
    free(user);
    free(groups);
}

static HANDLE impersonating(HANDLE token)
{
    HANDLE copy;
    if (!DuplicateTokenEx(token, TOKEN_ALL_ACCESS, NULL, SecurityImpersonation, TokenImpersonation, &copy))
        stop("a token to impersonate");
    return copy;
}

/* This process's own token, and one that holds every second group for denies alone. */
static void make_subjects(struct oracle *oracle)
{
    HANDLE own, narrowed;
    SID_AND_ATTRIBUTES denied[HOLDERS] = {0};
    DWORD count = 0;
    if (!OpenProcessToken(GetCurrentProcess(), TOKEN_ALL_ACCESS, &own))
        stop("the own token");
    TOKEN_GROUPS *groups = information(own, TokenGroups);
    for (DWORD i = 1; i < groups->GroupCount && count < HOLDERS; i += 2)
        denied[count++].Sid = groups->Groups[i].Sid;
    if (!CreateRestrictedToken(own, 0, count, denied, 0, NULL, 0, NULL, &narrowed))
        stop("a token with SIDs for denies alone");
    oracle->subjects[0].token = impersonating(own);
    oracle->subjects[1].token = impersonating(narrowed);
    for (int i = 0; i < 2; i++)
        model_token(&oracle->subjects[i]);
    free(groups);
}

static void choose_sids(struct oracle *oracle)
{
    static const char *const strangers[] = {"S-1-1-0", "S-1-5-21-1-2-3-4", "S-1-15-2-1", "S-1-5-80-1-2"};
    const struct windows_holders *holders = &oracle->subjects[1].model.holders;
    for (uint32_t i = 0; i < holders->count && oracle->sid_count < HOLDERS - 4; i++)
        oracle->sids[oracle->sid_count++] = holders->items[i].sid;
    for (size_t i = 0; i < sizeof strangers / sizeof *strangers; i++)
        (void)windows_sid_parse(strangers[i], &oracle->sids[oracle->sid_count++]);
}

/* --- descriptors ---------------------------------------------------------------------------------------- */

static bool is_for_denies(const struct oracle *oracle, const struct windows_sid *sid)
{
    const struct windows_holders *holders = &oracle->subjects[1].model.holders;
    for (uint32_t i = 0; i < holders->count; i++)
        if (holders->items[i].holding == WINDOWS_DENY_ONLY && windows_sid_equal(&holders->items[i].sid, sid))
            return true;
    return false;
}

static struct windows_entry random_entry(struct oracle *oracle)
{
    struct windows_entry entry = {.sid = oracle->sids[below(oracle, oracle->sid_count)],
                                  .mask = 1U << below(oracle, 9) | 1U << below(oracle, 9)};
    if (below(oracle, 3) == 0)
        entry.mask |= 0x10000U << below(oracle, 5);
    if (below(oracle, 4) == 0)
        entry.mask |= 0x10000000U << below(oracle, 4);
    if (below(oracle, 4) == 0)
        entry.flags = (uint8_t)below(oracle, 32);
    /* Wine forgets denies for what a token holds for denies alone. */
    if (below(oracle, 2) == 0 && !is_for_denies(oracle, &entry.sid))
        entry.type = WINDOWS_ENTRY_DENY;
    return entry;
}

static struct windows_descriptor random_descriptor(struct oracle *oracle, struct windows_entry *entries)
{
    struct windows_descriptor descriptor = {.owner = oracle->sids[below(oracle, oracle->sid_count)],
                                            .group = oracle->sids[0],
                                            .dacl_present = below(oracle, 50) != 0,
                                            .entries = entries};
    if (!descriptor.dacl_present)
        return descriptor;
    descriptor.dacl_protected = below(oracle, 4) == 0;
    descriptor.dacl_auto_inherited = below(oracle, 4) == 0;
    descriptor.count = below(oracle, ENTRIES + 1);
    for (uint32_t i = 0; i < descriptor.count; i++)
        entries[i] = random_entry(oracle);
    return descriptor;
}

/* --- questions ------------------------------------------------------------------------------------------ */

/* Whether Windows lets the token open the object for `wanted`. */
static bool ask(const struct subject *subject, const struct buffer *bytes, DWORD wanted)
{
    GENERIC_MAPPING mapping = {WINDOWS_FILE_READ, WINDOWS_FILE_WRITE, WINDOWS_FILE_EXECUTE, WINDOWS_FILE_ALL};
    PRIVILEGE_SET privileges;
    DWORD length = sizeof privileges, granted;
    BOOL allowed = FALSE;
    if (!AccessCheck((PSECURITY_DESCRIPTOR)bytes->bytes, subject->token, wanted, &mapping, &privileges,
                     &length, &granted, &allowed))
        stop("AccessCheck");
    return allowed;
}

/* Wine lets an owner do these as well. */
enum { OWNED_TOO = DELETE | WRITE_OWNER | SYNCHRONIZE };

/* The rights that are compared. */
static DWORD asked_rights(const struct subject *subject, const struct windows_descriptor *descriptor)
{
    const struct windows_holders *holders = &subject->model.holders;
    for (uint32_t i = 0; i < holders->count; i++)
        if (windows_sid_equal(&holders->items[i].sid, &descriptor->owner))
            return WINDOWS_FILE_ALL & ~(DWORD)OWNED_TOO;
    return WINDOWS_FILE_ALL;
}

/* Asked for one by one: what Wine gives who asks for all that there is follows other rules. */
static DWORD all_rights(const struct subject *subject, const struct buffer *bytes, DWORD asked)
{
    DWORD rights = 0;
    for (DWORD right = 1; right < WINDOWS_FILE_ALL; right <<= 1)
        if ((right & asked) != 0 && ask(subject, bytes, right))
            rights |= right;
    return rights;
}

static void compare_access(struct oracle *oracle, struct arena *arena,
                           const struct windows_descriptor *descriptor, const struct buffer *bytes)
{
    const char *text = windows_descriptor_text(arena, descriptor);
    for (int i = 0; i < 2; i++) {
        const struct subject *subject = &oracle->subjects[i];
        uint32_t rights = windows_access(&subject->model, descriptor, WINDOWS_STRICT);
        DWORD asked = asked_rights(subject, descriptor), all = all_rights(subject, bytes, asked);
        DWORD wanted = 1U << below(oracle, 9) | (below(oracle, 2) == 0 ? 0x20000U : 1U);
        judge(oracle, all == (rights & asked),
              arena_format(arena, "token %d has 0x%lx, not 0x%lx", i, all, (unsigned long)rights), text);
        /* A deny behind an allow of the same right refuses who asks Wine for more rights together. */
        judge(oracle, !ask(subject, bytes, wanted) || (wanted & ~rights) == 0,
              arena_format(arena, "token %d: 0x%lx of 0x%lx", i, wanted, (unsigned long)rights), text);
    }
}

/* What Windows makes of our text must be our bytes again, and the other way round. */
static void compare_text(struct oracle *oracle, struct arena *arena,
                         const struct windows_descriptor *descriptor, const struct buffer *bytes)
{
    enum { PARTS = OWNER_SECURITY_INFORMATION | GROUP_SECURITY_INFORMATION | DACL_SECURITY_INFORMATION };
    const char *text = windows_descriptor_text(arena, descriptor);
    PSECURITY_DESCRIPTOR read = NULL;
    char *written = NULL;
    ULONG length = 0;
    struct windows_descriptor again;
    bool same = ConvertStringSecurityDescriptorToSecurityDescriptorA(text, SDDL_REVISION_1, &read, &length) &&
                windows_descriptor_parse(arena, read, length, &again) &&
                windows_descriptor_equal(descriptor, &again);
    judge(oracle, same, "our text is read as something else", text);
    LocalFree(read);
    read = NULL;
    same = ConvertSecurityDescriptorToStringSecurityDescriptorA((PSECURITY_DESCRIPTOR)bytes->bytes,
                                                                SDDL_REVISION_1, PARTS, &written, NULL) &&
           ConvertStringSecurityDescriptorToSecurityDescriptorA(written, SDDL_REVISION_1, &read, &length) &&
           windows_descriptor_parse(arena, read, length, &again) &&
           windows_descriptor_equal(descriptor, &again);
    judge(oracle, same, written != NULL ? written : "our bytes are no descriptor", text);
    LocalFree(written);
    LocalFree(read);
}

static void compare_sids(struct oracle *oracle, struct arena *arena)
{
    for (uint32_t i = 0; i < oracle->sid_count; i++) {
        char *text = NULL;
        const char *ours = windows_sid_text(arena, &oracle->sids[i]);
        judge(oracle, ConvertSidToStringSidA((PSID)oracle->sids[i].bytes, &text) && strcmp(text, ours) == 0,
              "a SID has another text", ours);
        LocalFree(text);
    }
}

/* Labels are compared as entries: Wine writes their texts in its own way. */
static void compare_labels(struct oracle *oracle, struct arena *arena)
{
    static const char *const levels[] = {"S-1-16-4096", "S-1-16-8192"};
    for (uint32_t i = 0; i < 16; i++) {
        if ((i & 7) == 0)
            continue;
        struct windows_descriptor descriptor = {
            .owner = oracle->sids[0], .group = oracle->sids[0], .dacl_present = true, .labelled = true};
        descriptor.label = (struct windows_entry){
            .type = WINDOWS_ENTRY_LABEL, .flags = (uint8_t)(i >> 3) * 3, .mask = i & 7};
        (void)windows_sid_parse(levels[i & 1], &descriptor.label.sid);
        const char *text = windows_descriptor_text(arena, &descriptor);
        PSECURITY_DESCRIPTOR read = NULL;
        ULONG length = 0;
        struct windows_descriptor again;
        bool same =
            ConvertStringSecurityDescriptorToSecurityDescriptorA(text, SDDL_REVISION_1, &read, &length) &&
            windows_descriptor_parse(arena, read, length, &again) &&
            windows_descriptor_equal(&descriptor, &again);
        judge(oracle, same, "a label is read as something else", text);
        LocalFree(read);
    }
}

int main(int count, char **words)
{
    static struct oracle oracle;
    if (count != 3)
        return 2;
    oracle.random = strtoull(words[2], NULL, 10) | 1;
    make_subjects(&oracle);
    choose_sids(&oracle);
    struct arena *whole = arena_create(0);
    compare_sids(&oracle, whole);
    compare_labels(&oracle, whole);
    arena_destroy(whole);
    for (unsigned long left = strtoul(words[1], NULL, 10); left > 0; left--) {
        struct arena *arena = arena_create(0);
        struct windows_entry entries[ENTRIES];
        struct windows_descriptor descriptor = random_descriptor(&oracle, entries);
        struct buffer bytes = buffer_in(arena);
        if (!windows_descriptor_write(&descriptor, &bytes))
            stop("a descriptor that is too long");
        compare_access(&oracle, arena, &descriptor, &bytes);
        if (descriptor.dacl_present)
            compare_text(&oracle, arena, &descriptor, &bytes);
        arena_destroy(arena);
    }
    printf("%lu passed, %lu failed\n", (unsigned long)oracle.passed, (unsigned long)oracle.failed);
    return oracle.failed == 0 ? 0 : 1;
}
