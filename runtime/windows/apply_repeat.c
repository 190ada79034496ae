/* apply_repeat.c - see apply_repeat.h. */
#include "runtime/windows/apply_repeat.h"

#include "runtime/windows/apply_plan.h"
#include "runtime/windows/apply_walk.h"

#include "base/escape.h"
#include "base/vector.h"

#include <string.h>

struct repeat {
    struct applying *applying;
    struct windows_object said; /* the denied place */
    uint32_t denies;
    struct raised_places raised;
};

static bool is_any_of(const struct windows_holders *holders, const struct windows_sid *sid)
{
    for (uint32_t i = 0; i < holders->count; i++)
        if (windows_sid_equal(&holders->items[i].sid, sid))
            return true;
    return false;
}

/* Whether an allow for `sid` counts in the look that only the sandbox has: at the package or the restricting
 * list. */
static bool opens_to_command(const struct applying *applying, const struct windows_sid *sid)
{
    static const uint8_t packages[] = {0, 0, 0, 0, 0, 15}; /* S-1-15: packages and capabilities */
    const struct windows_token *token = applying->apply->token;
    return is_any_of(&token->package, sid) || is_any_of(&token->restricting, sid) ||
           (token->package.count > 0 && sid->length >= 8 &&
            memcmp(sid->bytes + 2, packages, sizeof packages) == 0);
}

static bool entry_undoes(const struct repeat *repeat, const struct windows_entry *entry)
{
    if ((entry->flags & WINDOWS_INHERITED) != 0 || entry->type == WINDOWS_ENTRY_DENY)
        return false;
    if (entry->type != WINDOWS_ENTRY_ALLOW)
        return true;
    return (windows_file_rights(entry->mask) & repeat->denies) != 0 &&
           opens_to_command(repeat->applying, &entry->sid);
}

static bool descriptor_undoes(const struct repeat *repeat, const struct windows_descriptor *descriptor)
{
    for (uint32_t i = 0; i < descriptor->count; i++)
        if (entry_undoes(repeat, &descriptor->entries[i]))
            return true;
    return false;
}

static void note_links(const struct repeat *repeat, const struct walk_entry *entry)
{
    struct note_list *notes = repeat->applying->apply->notes;
    note_add(notes, (struct note){
                        .code = SBX454_DENIED_FILE_HAS_LINKS,
                        .text = arena_format(notes->arena,
                                             "%s has %u names, and all that it has now are denied (%s)",
                                             escape_windows(notes->arena, entry->path),
                                             (unsigned)entry->is->links, repeat->said.rule),
                    });
}

static void repeat_add(const struct repeat *repeat, const struct walk_entry *entry)
{
    struct applying *applying = repeat->applying;
    struct arena *arena = applying->apply->arena;
    struct place place = {
        .said =
            {
                .path = arena_strdup(arena, entry->path),
                .cap = true,
                .aces = {{
                    .deny = true,
                    .inherit = repeat->denies != WINDOWS_DENY_EXECUTE,
                    .principal = plan_principal(applying->apply),
                    .mask = repeat->denies,
                }},
                .ace_count = 1,
                .rule = repeat->said.rule,
            },
        .there = true,
        .within = true,
        .is = *entry->is,
    };
    place.is.volume = arena_strdup(arena, place.is.volume);
    place.is.path = arena_strdup(arena, place.is.path);
    VECTOR_PUSH(arena, &applying->places, place);
}

static enum walk_answer repeat_visit(void *context, const struct walk_entry *entry)
{
    struct repeat *repeat = context;
    const struct acl_operations *acl = repeat->applying->apply->acl;
    struct windows_descriptor descriptor;
    if (is_raised(&repeat->raised, entry->path))
        return WALK_NOT_BELOW;
    if (entry->is->link)
        return WALK_ON;
    uint32_t error = acl->read(acl, entry->arena, entry->object, &descriptor);
    if (error != ACL_OK) {
        place_refuse(repeat->applying, SBX484_CHANGE_REFUSED, &repeat->said,
                     "the access control list of %s cannot be read (error %u)",
                     escape_windows(repeat->applying->apply->notes->arena, entry->path), (unsigned)error);
        return WALK_FAIL;
    }
    bool further_names = !entry->is->directory && entry->is->links > 1;
    if (further_names)
        note_links(repeat, entry);
    if (further_names || descriptor_undoes(repeat, &descriptor))
        repeat_add(repeat, entry);
    return WALK_ON;
}

static bool repeat_below(struct applying *applying, const struct place *place)
{
    struct repeat repeat = {applying, place->said, place_denies(&place->said),
                            places_raised_in(applying, &place->said)};
    struct place_walk walk = {
        .applying = applying,
        .said = &repeat.said,
        .context = &repeat,
        .visit = repeat_visit,
    };
    return place_walk_run(&walk, repeat.said.path);
}

bool denies_repeat(struct applying *applying)
{
    uint32_t count = applying->places.count;
    for (uint32_t i = 0; i < count; i++) {
        const struct place *place = &applying->places.items[i];
        if (!place_in_time(applying, &place->said))
            return false;
        if (place->there && place->is.directory && place_denies(&place->said) != 0 &&
            !repeat_below(applying, place))
            return false;
    }
    return true;
}
