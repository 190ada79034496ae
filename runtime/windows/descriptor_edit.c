#include "runtime/windows/descriptor_edit.h"

#include "base/vector.h"

#include <string.h>

enum { BOTH = WINDOWS_OBJECT_INHERIT | WINDOWS_CONTAINER_INHERIT, EVERYTHING = 0x1f01ff };

bool sid_list_holds(const struct sid_list *sids, const struct windows_sid *sid)
{
    for (uint32_t i = 0; i < sids->count; i++)
        if (windows_sid_equal(&sids->items[i], sid))
            return true;
    return false;
}

void sid_list_add(struct arena *arena, struct sid_list *sids, const struct windows_sid *sid)
{
    if (!sid_list_holds(sids, sid))
        VECTOR_PUSH(arena, sids, *sid);
}

static bool is_own(const struct windows_entry *entry, const struct sid_list *sids)
{
    return (entry->type == WINDOWS_ENTRY_ALLOW || entry->type == WINDOWS_ENTRY_DENY) &&
           sid_list_holds(sids, &entry->sid);
}

static struct windows_entry open_to_everybody(void)
{
    struct windows_entry entry = {.type = WINDOWS_ENTRY_ALLOW, .mask = EVERYTHING};
    windows_sid_parse("S-1-1-0", &entry.sid);
    return entry;
}

struct windows_descriptor edit_add(struct arena *arena, const struct windows_descriptor *descriptor,
                                   const struct windows_entry *entries, uint32_t count)
{
    struct windows_descriptor edited = *descriptor;
    if (count > 0 && !edited.dacl_present) {
        edited.dacl_present = true;
        edited.entries = arena_alloc(arena, sizeof *edited.entries);
        edited.entries[0] = open_to_everybody();
        edited.count = 1;
    }
    for (uint32_t i = 0; i < count; i++)
        edited = windows_descriptor_with(arena, &edited, &entries[i]);
    return edited;
}

bool edit_may_be_opened(const struct windows_descriptor *descriptor)
{
    const struct windows_entry everybody = open_to_everybody();
    for (uint32_t i = 0; i < descriptor->count; i++)
        if (windows_entry_equal(&descriptor->entries[i], &everybody))
            return true;
    return false;
}

struct windows_descriptor edit_remove(struct arena *arena, const struct windows_descriptor *descriptor,
                                      const struct sid_list *sids, bool opened)
{
    struct windows_descriptor edited = *descriptor;
    edited.entries = arena_array(arena, descriptor->count, sizeof *edited.entries);
    edited.count = 0;
    for (uint32_t i = 0; i < descriptor->count; i++)
        if (!is_own(&descriptor->entries[i], sids))
            edited.entries[edited.count++] = descriptor->entries[i];
    const struct windows_entry everybody = open_to_everybody();
    if (opened && edited.count == 1 && windows_entry_equal(&edited.entries[0], &everybody)) {
        edited.dacl_present = false;
        edited.count = 0;
    }
    return edited;
}

/* An object inherits an entry that passes on to its kind. Entries of a run pass on to both kinds or to
 * none. */
static bool passes_on(const struct windows_entry *entry, const struct sid_list *sids)
{
    return is_own(entry, sids) && (entry->flags & BOTH) == BOTH;
}

bool edit_passes_on(const struct windows_descriptor *directory, const struct sid_list *sids, bool denies)
{
    for (uint32_t i = 0; i < directory->count; i++)
        if (passes_on(&directory->entries[i], sids) &&
            (!denies || directory->entries[i].type == WINDOWS_ENTRY_DENY))
            return true;
    return false;
}

/* What an object takes over from `directory`, with `flags` beside those of its kind. */
static struct windows_descriptor passed_on(struct arena *arena, const struct windows_descriptor *directory,
                                           uint8_t flags, bool denies_alone, const struct sid_list *sids)
{
    struct windows_descriptor list = {.entries = arena_array(arena, directory->count, sizeof *list.entries)};
    for (uint32_t i = 0; i < directory->count; i++) {
        struct windows_entry entry = directory->entries[i];
        if (!passes_on(&entry, sids) || (denies_alone && entry.type != WINDOWS_ENTRY_DENY))
            continue;
        entry.flags = flags;
        list.entries[list.count++] = entry;
    }
    return list;
}

struct windows_descriptor edit_inherit(struct arena *arena, const struct windows_descriptor *directory,
                                       const struct windows_descriptor *descriptor, bool is_directory,
                                       const struct sid_list *sids)
{
    uint8_t flags = is_directory ? BOTH : 0;
    bool explicit = descriptor->dacl_protected || !descriptor->dacl_present;
    struct windows_descriptor inherited = passed_on(
        arena, directory, explicit ? flags : flags | WINDOWS_INHERITED, descriptor->dacl_protected, sids);
    if (explicit)
        return edit_add(arena, descriptor, inherited.entries, inherited.count);

    struct windows_descriptor edited = *descriptor;
    const struct windows_entry *entries = descriptor->entries;
    uint32_t at = 0;
    edited.entries = arena_array(arena, (size_t)descriptor->count + inherited.count, sizeof *entries);
    edited.count = 0;
    while (at < descriptor->count && (entries[at].flags & WINDOWS_INHERITED) == 0)
        edited.entries[edited.count++] = entries[at++];
    for (uint32_t i = 0; i < inherited.count; i++)
        edited.entries[edited.count++] = inherited.entries[i];
    for (; at < descriptor->count; at++)
        if ((entries[at].flags & WINDOWS_INHERITED) == 0 || !is_own(&entries[at], sids))
            edited.entries[edited.count++] = entries[at];
    return edited;
}

struct windows_entry edit_inherited_label(const struct windows_entry *label, bool is_directory)
{
    struct windows_entry entry = *label;
    entry.flags = (uint8_t)((is_directory ? BOTH : 0) | WINDOWS_INHERITED);
    return entry;
}

bool edit_same_label(const struct windows_descriptor *a, const struct windows_descriptor *b)
{
    if (!a->labelled || !b->labelled)
        return a->labelled == b->labelled;
    return a->label.mask == b->label.mask && ((a->label.flags ^ b->label.flags) & BOTH) == 0 &&
           windows_sid_equal(&a->label.sid, &b->label.sid);
}

bool edit_same_entries(const struct windows_descriptor *a, const struct windows_descriptor *b)
{
    if (a->dacl_present != b->dacl_present || a->dacl_protected != b->dacl_protected || a->count != b->count)
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (!windows_entry_equal(&a->entries[i], &b->entries[i]))
            return false;
    return true;
}
