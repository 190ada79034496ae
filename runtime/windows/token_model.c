/* token_model.c - see token_model.h. */
#include "runtime/windows/token_model.h"

#include "runtime/windows/package.h"
#include "runtime/windows/token_read.h"

#include <windows.h>

struct holder_list {
    struct windows_holder *items;
    uint32_t count;
};

static void list_add(struct holder_list *list, const struct windows_sid *sid, enum windows_holding holding)
{
    list->items[list->count++] = (struct windows_holder){*sid, holding};
}

static bool is_everyone(const struct windows_sid *sid)
{
    struct windows_sid everyone = sid_named("S-1-1-0");
    return windows_sid_equal(sid, &everyone);
}

/* The user and the groups. An AppContainer is said to lose some of the groups: of those it is not known. */
static bool holders_read(struct arena *arena, HANDLE token, bool container, struct windows_holders *holders)
{
    const TOKEN_USER *user = token_read(arena, token, TokenUser);
    const TOKEN_GROUPS *groups = token_read(arena, token, TokenGroups);
    if (user == NULL || groups == NULL)
        return false;
    struct holder_list list = {.items = arena_array(arena, groups->GroupCount + 1, sizeof *list.items)};
    struct windows_sid sid = sid_from(user->User.Sid);
    list_add(&list, &sid,
             (user->User.Attributes & SE_GROUP_USE_FOR_DENY_ONLY) != 0 ? WINDOWS_DENY_ONLY : WINDOWS_ENABLED);
    for (DWORD i = 0; i < groups->GroupCount; i++) {
        DWORD attributes = groups->Groups[i].Attributes;
        sid = sid_from(groups->Groups[i].Sid);
        if ((attributes & SE_GROUP_INTEGRITY) != 0)
            continue;
        if ((attributes & SE_GROUP_USE_FOR_DENY_ONLY) != 0)
            list_add(&list, &sid, WINDOWS_DENY_ONLY);
        else if ((attributes & SE_GROUP_ENABLED) != 0)
            list_add(&list, &sid, container && !is_everyone(&sid) ? WINDOWS_UNCERTAIN : WINDOWS_ENABLED);
    }
    *holders = (struct windows_holders){list.items, list.count};
    return true;
}

static struct windows_holders restricting_list(struct arena *arena, const struct windows_identity *identity)
{
    struct holder_list list = {.items = arena_array(arena, 2, sizeof *list.items)};
    list_add(&list, &identity->run, WINDOWS_ENABLED);
    list_add(&list, &identity->logon, WINDOWS_ENABLED);
    return (struct windows_holders){list.items, list.count};
}

/* Whether an entry for everybody counts for an AppContainer is not known. */
static struct windows_holders package_list(struct arena *arena, const struct windows_spec *spec,
                                           const struct windows_identity *identity)
{
    struct windows_sid capabilities[PACKAGE_CAPABILITIES];
    uint32_t count = package_capabilities(spec->capabilities, capabilities);
    struct windows_sid all = sid_named("S-1-15-2-1"), everyone = sid_named("S-1-1-0");
    struct holder_list list = {.items = arena_array(arena, count + 3, sizeof *list.items)};
    list_add(&list, &identity->package, WINDOWS_ENABLED);
    for (uint32_t i = 0; i < count; i++)
        list_add(&list, &capabilities[i], WINDOWS_ENABLED);
    list_add(&list, &all, WINDOWS_ENABLED);
    list_add(&list, &everyone, WINDOWS_UNCERTAIN);
    return (struct windows_holders){list.items, list.count};
}

static bool caller_read(struct arena *arena, struct windows_token *caller)
{
    HANDLE own;
    if (!OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &own))
        return false;
    bool read = holders_read(arena, own, false, &caller->holders);
    CloseHandle(own);
    caller->integrity = WINDOWS_LEVEL_MEDIUM;
    return read;
}

bool token_model(struct arena *arena, const struct windows_spec *spec,
                 const struct windows_identity *identity, void *token, struct token_models *models,
                 struct note_list *notes)
{
    bool container = spec->tier == WINDOWS_APPCONTAINER;
    *models = (struct token_models){
        .command.integrity = spec->tier == WINDOWS_RESTRICTED ? WINDOWS_LEVEL_MEDIUM : WINDOWS_LEVEL_LOW,
    };
    if (!caller_read(arena, &models->caller) ||
        !holders_read(arena, token, container, &models->command.holders)) {
        note_add(notes, (struct note){
                            .code = SBX481_NO_TOKEN,
                            .text = "the groups of the caller or of the token cannot be read",
                        });
        return false;
    }
    if (container) {
        models->command.package = package_list(arena, spec, identity);
    } else {
        models->command.restricting = restricting_list(arena, identity);
        models->command.write_restricted = true;
    }
    return true;
}
