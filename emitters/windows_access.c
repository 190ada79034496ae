#include "emitters/windows_access.h"

#include <string.h>

enum {
    GENERIC_READ_SHIFT = 31,
    GENERIC_WRITE_SHIFT = 30,
    GENERIC_EXECUTE_SHIFT = 29,
    GENERIC_ALL_SHIFT = 28
};
enum { SPECIFIC_RIGHTS = 0x0fffffff };

/* What counts as writing for a write-restricted token is told of reading and executing, which do not, and measured of
 * what FILE_GENERIC_WRITE holds besides, which does. Deleting, taking over and changing the DACL lie between. */
enum {
    WRITE_RIGHTS_FEWEST = 0x116,
    WRITE_RIGHTS_MOST = WINDOWS_FILE_ALL & ~(WINDOWS_FILE_READ | WINDOWS_FILE_EXECUTE)
};

static const struct windows_sid owner_rights = {12, {1, 1, 0, 0, 0, 0, 0, 3, 4, 0, 0, 0}};
uint32_t windows_file_rights(uint32_t mask)
{
    static const struct {
        int shift;
        uint32_t rights;
    } generic[] = {{GENERIC_READ_SHIFT, WINDOWS_FILE_READ},
                   {GENERIC_WRITE_SHIFT, WINDOWS_FILE_WRITE},
                   {GENERIC_EXECUTE_SHIFT, WINDOWS_FILE_EXECUTE},
                   {GENERIC_ALL_SHIFT, WINDOWS_FILE_ALL}};
    uint32_t rights = mask & SPECIFIC_RIGHTS;
    for (size_t i = 0; i < sizeof generic / sizeof *generic; i++)
        rights |= (mask >> generic[i].shift & 1) != 0 ? generic[i].rights : 0;
    return rights;
}

/* --- one look at the DACL ------------------------------------------------------------------------------- */

/* One of the looks: whose entries count. */
struct look {
    const struct windows_descriptor *descriptor;
    const struct windows_holders *holders;
    enum windows_reading reading;
    bool held_alike; /* what is held counts, however it is held */
    bool of_package;
};

enum effect { NO_EFFECT, ALLOWS, DENIES };

/* Entries of other types: conditions and kinds of objects, of which it is not known whether they hold. */
static enum effect effect_of(const struct windows_entry *entry, enum windows_reading reading)
{
    switch (entry->type) {
    case WINDOWS_ENTRY_ALLOW:
        return ALLOWS;
    case WINDOWS_ENTRY_DENY:
        return DENIES;
    case 0x4: /* compound, object, callback, callback object */
    case 0x5:
    case 0x9:
    case 0xb:
        return reading == WINDOWS_LOOSE ? ALLOWS : NO_EFFECT;
    case 0x6: /* object, callback, callback object */
    case 0xa:
    case 0xc:
        return reading == WINDOWS_STRICT ? DENIES : NO_EFFECT;
    default:
        return NO_EFFECT;
    }
}

static bool holding_counts(const struct look *look, enum windows_holding holding, enum effect effect)
{
    if (look->held_alike || holding == WINDOWS_ENABLED)
        return true;
    if (holding == WINDOWS_DENY_ONLY)
        return effect == DENIES;
    return (effect == DENIES) == (look->reading == WINDOWS_STRICT);
}

static bool holds(const struct look *look, const struct windows_sid *sid, enum effect effect)
{
    for (uint32_t i = 0; i < look->holders->count; i++)
        if (windows_sid_equal(&look->holders->items[i].sid, sid) &&
            holding_counts(look, look->holders->items[i].holding, effect))
            return true;
    return false;
}

static bool is_for(const struct look *look, const struct windows_entry *entry, enum effect effect)
{
    /* A type that is not known says nothing of whom it is for. */
    if (entry->sid.length == 0)
        return true;
    if (windows_sid_equal(&entry->sid, &owner_rights))
        return look->descriptor->owner.length != 0 && holds(look, &look->descriptor->owner, effect);
    return holds(look, &entry->sid, effect);
}

/* Whether the owner's rights are listed, so that being the owner gives none by itself. */
static bool lists_owner_rights(const struct windows_descriptor *descriptor, enum windows_reading reading)
{
    for (uint32_t i = 0; i < descriptor->count; i++)
        if (windows_sid_equal(&descriptor->entries[i].sid, &owner_rights) &&
            (reading == WINDOWS_STRICT || (descriptor->entries[i].flags & WINDOWS_INHERIT_ONLY) == 0))
            return true;
    return false;
}

/* Each right is decided by the first entry that speaks of it. */
static uint32_t rights_of(const struct look *look)
{
    const struct windows_descriptor *descriptor = look->descriptor;
    uint32_t allowed = 0, denied = 0;
    /* Whether having no DACL opens an object to packages too is not known. */
    if (!descriptor->dacl_present)
        return look->of_package && look->reading == WINDOWS_STRICT ? 0 : WINDOWS_FILE_ALL;
    if (descriptor->owner.length != 0 && holds(look, &descriptor->owner, ALLOWS) &&
        !lists_owner_rights(descriptor, look->reading))
        allowed = WINDOWS_RIGHT_READ_CONTROL | WINDOWS_RIGHT_WRITE_DAC;
    for (uint32_t i = 0; i < descriptor->count; i++) {
        const struct windows_entry *entry = &descriptor->entries[i];
        enum effect effect = effect_of(entry, look->reading);
        if (effect == NO_EFFECT || (entry->flags & WINDOWS_INHERIT_ONLY) != 0 || !is_for(look, entry, effect))
            continue;
        if (effect == ALLOWS)
            allowed |= windows_file_rights(entry->mask) & ~denied;
        else
            denied |= windows_file_rights(entry->mask) & ~allowed;
    }
    return allowed & WINDOWS_FILE_ALL;
}

/* --- the label ------------------------------------------------------------------------------------------ */

static bool names_package(const struct windows_token *token, const struct windows_descriptor *descriptor)
{
    for (uint32_t i = 0; i < descriptor->count; i++) {
        const struct windows_entry *entry = &descriptor->entries[i];
        if (entry->type == WINDOWS_ENTRY_ALLOW && (entry->flags & WINDOWS_INHERIT_ONLY) == 0 &&
            windows_sid_equal(&entry->sid, &token->package.items[0].sid))
            return true;
    }
    return false;
}

/* The rights that integrity leaves. What has no label is Medium and not written from below; that this does not
 * bind an AppContainer where its package is named is what makes AppContainers work on a user's files. */
static uint32_t left_by_label(const struct windows_token *token, const struct windows_descriptor *descriptor,
                              enum windows_reading reading)
{
    enum { NO_WRITE_UP = 1, NO_READ_UP = 2, NO_EXECUTE_UP = 4, LABEL_SID = 12 };
    uint32_t level = WINDOWS_LEVEL_MEDIUM, policy = NO_WRITE_UP;
    const struct windows_entry *label = &descriptor->label;
    if (descriptor->labelled && (label->flags & WINDOWS_INHERIT_ONLY) == 0) {
        if (label->sid.length != LABEL_SID)
            return reading == WINDOWS_STRICT ? 0 : WINDOWS_FILE_ALL;
        level = (uint32_t)label->sid.bytes[8] | (uint32_t)label->sid.bytes[9] << 8 |
                (uint32_t)label->sid.bytes[10] << 16 | (uint32_t)label->sid.bytes[11] << 24;
        policy = label->mask;
    } else if (token->package.count != 0 && (reading == WINDOWS_LOOSE || names_package(token, descriptor))) {
        return WINDOWS_FILE_ALL;
    }
    if (token->integrity >= level)
        return WINDOWS_FILE_ALL;
    return ((policy & NO_READ_UP) != 0 ? 0U : WINDOWS_FILE_READ) |
           ((policy & NO_WRITE_UP) != 0 ? 0U : WINDOWS_FILE_WRITE) |
           ((policy & NO_EXECUTE_UP) != 0 ? 0U : WINDOWS_FILE_EXECUTE);
}

/* --- all of it ------------------------------------------------------------------------------------------ */

uint32_t windows_access(const struct windows_token *token, const struct windows_descriptor *descriptor,
                        enum windows_reading reading)
{
    struct look look = {.descriptor = descriptor, .holders = &token->holders, .reading = reading};
    uint32_t rights = left_by_label(token, descriptor, reading) & rights_of(&look);
    if (token->restricting.count != 0) {
        look = (struct look){descriptor, &token->restricting, reading, true, false};
        uint32_t looked_at = !token->write_restricted    ? WINDOWS_FILE_ALL
                             : reading == WINDOWS_STRICT ? WRITE_RIGHTS_MOST
                                                         : WRITE_RIGHTS_FEWEST;
        rights &= rights_of(&look) | ~looked_at;
    }
    if (token->package.count != 0) {
        look = (struct look){descriptor, &token->package, reading, false, true};
        rights &= rights_of(&look);
    }
    return rights;
}
