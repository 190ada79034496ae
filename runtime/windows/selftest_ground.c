/* selftest_ground.c - the fresh directory, the tiers and single trials of the self-test: see selftest.h. */
#include "runtime/windows/selftest.h"

#include "runtime/windows/package.h"
#include "runtime/windows/token.h"
#include "runtime/windows/token_read.h"
#include "runtime/windows/wide.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_MOST = 32768 };

/* --- tiers
 * ------------------------------------------------------------------------------------------------ */

/* The first thing that was said about why something failed. */
static const char *first_note(const struct selftest *selftest, uint32_t from)
{
    return selftest->notes.count > from ? selftest->notes.items[from].text : "for no reason that was given";
}

static void tier_make(struct selftest *selftest, enum windows_tier tier)
{
    struct selftest_tier *made = &selftest->tiers[tier];
    uint32_t before = selftest->notes.count;
    void *token;
    made->spec.tier = tier;
    if (!token_make(selftest->arena, &made->spec, &selftest->identity, &token, &selftest->notes)) {
        made->why_not = first_note(selftest, before);
        return;
    }
    made->token = token;
    made->ground = (struct process_ground){.token = made->token};
    if (!token_verify(selftest->arena, &made->spec, &selftest->identity, token, &selftest->notes))
        made->why_not = first_note(selftest, before);
}

static void container_make(struct selftest *selftest)
{
    struct selftest_tier *made = &selftest->tiers[WINDOWS_APPCONTAINER];
    uint32_t before = selftest->notes.count;
    selftest->package = package_name(selftest->arena, &selftest->notes);
    if (selftest->package == NULL ||
        !package_create(&selftest->identity, selftest->package, &selftest->notes)) {
        selftest->package = NULL;
        made->why_not = first_note(selftest, before);
        return;
    }
    tier_make(selftest, WINDOWS_APPCONTAINER);
    made->package.AppContainerSid = sid_to(selftest->arena, &selftest->identity.package);
    made->ground.package = &made->package;
}

/* --- objects
 * ---------------------------------------------------------------------------------------------- */

static const char *sid_word(const struct selftest *selftest, enum windows_tier tier, const char *word,
                            size_t *length)
{
    const struct windows_identity *identity = &selftest->identity;
    const struct {
        const char *word;
        const struct windows_sid *sid;
    } known[] = {
        {"$USER", &identity->user},
        {"$RUN", tier == WINDOWS_APPCONTAINER ? &identity->package : &identity->run},
        {"$LOGON", &identity->logon},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        *length = strlen(known[i].word);
        if (strncmp(word, known[i].word, *length) == 0)
            return windows_sid_text(selftest->arena, known[i].sid);
    }
    return NULL;
}

static const char *sddl_filled(const struct selftest *selftest, enum windows_tier tier, const char *sddl)
{
    struct buffer out = buffer_in(selftest->arena);
    while (*sddl != '\0') {
        size_t length = 0;
        const char *sid = *sddl == '$' ? sid_word(selftest, tier, sddl, &length) : NULL;
        if (sid != NULL)
            buffer_string(&out, sid);
        else
            buffer_byte(&out, *sddl);
        sddl += sid != NULL ? length : 1;
    }
    return out.bytes;
}

static bool object_describe(const struct selftest *selftest, struct acl_object *object, const char *sddl)
{
    struct windows_descriptor descriptor;
    const struct acl_operations *acl = selftest->acl;
    return windows_descriptor_read(selftest->arena, sddl, &descriptor) &&
           acl->write_entries(acl, selftest->arena, object, &descriptor) == ACL_OK &&
           (!descriptor.labelled || acl->write_label(acl, selftest->arena, object, &descriptor) == ACL_OK);
}

const char *selftest_object(struct selftest *selftest, enum windows_tier tier, const char *directory,
                            const char *content, const char *sddl)
{
    const struct acl_operations *acl = selftest->acl;
    const char *path = arena_format(selftest->arena, "%s\\%u", directory != NULL ? directory : selftest->top,
                                    (unsigned)++selftest->objects);
    struct acl_object *object;
    if (acl->make(acl, selftest->arena, path, content, NULL, &object) != ACL_OK)
        return NULL;
    bool made = sddl == NULL || object_describe(selftest, object, sddl_filled(selftest, tier, sddl));
    acl->close(acl, object);
    return made ? path : NULL;
}

/* Removes what lies in a directory made here, and it. Links are removed, not followed. */
static void tree_remove(struct selftest *selftest, const char *path)
{
    WIN32_FIND_DATAW found;
    HANDLE search = FindFirstFileW(
        wide_from(selftest->arena, arena_format(selftest->arena, "\\\\?\\%s\\*", path)), &found);
    for (BOOL more = search != INVALID_HANDLE_VALUE; more; more = FindNextFileW(search, &found)) {
        const char *name = wide_to(selftest->arena, found.cFileName);
        if (name == NULL || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
            continue;
        const char *below = arena_format(selftest->arena, "%s\\%s", path, name);
        if ((found.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0 &&
            (found.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) == 0)
            tree_remove(selftest, below);
        else
            DeleteFileW(wide_from(selftest->arena, arena_format(selftest->arena, "\\\\?\\%s", below)));
    }
    if (search != INVALID_HANDLE_VALUE)
        FindClose(search);
    RemoveDirectoryW(wide_from(selftest->arena, arena_format(selftest->arena, "\\\\?\\%s", path)));
}

/* --- begin and end
 * ---------------------------------------------------------------------------------------- */

static bool top_make(struct selftest *selftest)
{
    wchar_t *temporary = arena_array(selftest->arena, PATH_MOST, sizeof *temporary);
    DWORD length = GetTempPathW(PATH_MOST, temporary);
    const char *path = length > 0 && length < PATH_MOST ? wide_to(selftest->arena, temporary) : NULL;
    struct acl_object *object;
    if (path == NULL)
        return false;
    selftest->top = arena_format(selftest->arena, "%ssbx-selftest-%lu-%llu", path, GetCurrentProcessId(),
                                 (unsigned long long)GetTickCount64());
    if (selftest->acl->make(selftest->acl, selftest->arena, selftest->top, NULL, NULL, &object) != ACL_OK)
        return false;
    selftest->acl->close(selftest->acl, object);
    return true;
}

/* An AppContainer can read no file of the user's: this program is put where it can. */
static bool program_make(struct selftest *selftest)
{
    const struct acl_operations *acl = selftest->acl;
    const char *path = arena_join(selftest->arena, selftest->top, "\\selftest.exe");
    const wchar_t *own = trial_own_program(selftest->arena);
    wchar_t *directory = arena_array(selftest->arena, PATH_MOST, sizeof *directory);
    UINT length = GetSystemDirectoryW(directory, PATH_MOST);
    struct acl_object *object;
    selftest->program = wide_from(selftest->arena, path);
    selftest->directory = directory;
    if (own == NULL || length == 0 || length >= PATH_MOST || !CopyFileW(own, selftest->program, TRUE) ||
        acl->open(acl, selftest->arena, path, ACL_WRITE, &object) != ACL_OK)
        return false;
    bool made = object_describe(
        selftest, object,
        sddl_filled(selftest, WINDOWS_APPCONTAINER, "D:P(A;;0x1f01ff;;;$USER)(A;;0x1200a9;;;S-1-15-2-1)"));
    acl->close(acl, object);
    return made;
}

bool selftest_begin(struct selftest *selftest, const char **why)
{
    if (!identity_make(&selftest->identity, &selftest->notes)) {
        *why = first_note(selftest, 0);
        return false;
    }
    if (!top_make(selftest)) {
        *why = "no fresh directory can be made in the temporary one";
        return false;
    }
    if (!program_make(selftest)) {
        *why = "this program cannot be copied into the fresh directory";
        selftest_end(selftest);
        return false;
    }
    tier_make(selftest, WINDOWS_RESTRICTED);
    tier_make(selftest, WINDOWS_RESTRICTED_LOW);
    container_make(selftest);
    return true;
}

void selftest_end(struct selftest *selftest)
{
    for (int tier = 0; tier < WINDOWS_TIERS; tier++)
        if (selftest->tiers[tier].token != NULL)
            CloseHandle(selftest->tiers[tier].token);
    if (selftest->package != NULL && !package_remove(selftest->package))
        buffer_format(&selftest->report, "The AppContainer %s could not be removed.\n", selftest->package);
    tree_remove(selftest, selftest->top);
}

/* --- trials
 * ----------------------------------------------------------------------------------------------- */

const char *selftest_run(struct selftest *selftest, enum windows_tier tier, const wchar_t *program,
                         const char *const *arguments)
{
    struct buffer output = buffer_in(selftest->arena);
    struct trial trial = {
        .arena = selftest->arena,
        .ground = &selftest->tiers[tier].ground,
        .program = program,
        .directory = selftest->directory,
    };
    if (selftest->tiers[tier].why_not != NULL || !trial_start(&trial, arguments, &output, &selftest->notes))
        return NULL;
    return output.bytes != NULL ? output.bytes : "";
}

long selftest_try(struct selftest *selftest, enum windows_tier tier, const char *word, const char *path)
{
    const char *const arguments[] = {"--try", word, path, NULL};
    const char *output = selftest_run(selftest, tier, selftest->program, arguments);
    char *end;
    if (output == NULL || strncmp(output, "error ", 6) != 0)
        return TRY_IMPOSSIBLE;
    long error = strtol(output + 6, &end, 10);
    return end != output + 6 ? error : TRY_IMPOSSIBLE;
}

void selftest_say(struct selftest *selftest, enum selftest_result result, enum windows_tier tier,
                  const char *question, const char *format, ...)
{
    static const char *const words[] = {"measured", "refused", "not available"};
    va_list arguments;
    va_start(arguments, format);
    buffer_format(&selftest->report, "%-13s %-14s %s: %s\n", words[result], windows_tier_names[tier],
                  question, arena_vformat(selftest->arena, format, arguments));
    va_end(arguments);
}
