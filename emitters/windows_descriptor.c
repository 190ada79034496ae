#include "emitters/windows_descriptor.h"

#include "base/vector.h"

#include <string.h>

enum { DESCRIPTOR_HEADER = 20, ACL_HEADER = 8, ENTRY_HEADER = 4, ENTRY_FIXED = 8, ACL_MOST = UINT16_MAX - 3 };

/* Control bits of a descriptor. */
enum {
    DACL_PRESENT = 0x4,
    SACL_PRESENT = 0x10,
    DACL_AUTO_INHERITED = 0x400,
    DACL_PROTECTED = 0x1000,
    SELF_RELATIVE = 0x8000
};

static uint16_t get16(const uint8_t *at)
{
    return (uint16_t)(at[0] | at[1] << 8);
}

static uint32_t get32(const uint8_t *at)
{
    return (uint32_t)get16(at) | (uint32_t)get16(at + 2) << 16;
}

static void put16(struct buffer *out, uint32_t value)
{
    buffer_byte(out, (char)(value & 0xff));
    buffer_byte(out, (char)(value >> 8 & 0xff));
}

static void put32(struct buffer *out, uint32_t value)
{
    put16(out, value & 0xffff);
    put16(out, value >> 16);
}

/* --- bytes to a descriptor ------------------------------------------------------------------------------ */

static bool is_plain(uint8_t type)
{
    return type == WINDOWS_ENTRY_ALLOW || type == WINDOWS_ENTRY_DENY || type == WINDOWS_ENTRY_LABEL;
}

/* Reads the entry at `bytes`, of which `length` are there. */
static bool parse_entry(struct arena *arena, const uint8_t *bytes, size_t length, struct windows_entry *entry)
{
    if (length < ENTRY_HEADER)
        return false;
    uint16_t size = get16(bytes + 2);
    if (size < ENTRY_HEADER || size > length || size % 4 != 0)
        return false;
    *entry = (struct windows_entry){.type = bytes[0], .flags = bytes[1]};
    /* What an entry of unknown type denies is not known if it does not say. */
    entry->mask = size >= ENTRY_FIXED ? get32(bytes + ENTRY_HEADER) : UINT32_MAX;
    if (is_plain(entry->type) &&
        (size < ENTRY_FIXED ||
         !windows_sid_from_bytes(bytes + ENTRY_FIXED, size - (size_t)ENTRY_FIXED, &entry->sid)))
        return false;
    if (!is_plain(entry->type) || size != ENTRY_FIXED + entry->sid.length) {
        entry->raw = memcpy(arena_alloc(arena, size), bytes, size);
        entry->raw_length = size;
    }
    return true;
}

struct entry_list {
    struct windows_entry *items;
    uint32_t count, capacity;
};

static bool parse_acl(struct arena *arena, const uint8_t *bytes, size_t length, struct entry_list *entries)
{
    if (length < ACL_HEADER || (bytes[0] != 2 && bytes[0] != 4))
        return false;
    size_t size = get16(bytes + 2), at = ACL_HEADER;
    uint32_t count = get16(bytes + 4);
    if (size < ACL_HEADER || size > length || count > size / ENTRY_HEADER)
        return false;
    VECTOR_RESERVE(arena, entries, count);
    for (uint32_t i = 0; i < count; i++) {
        struct windows_entry entry;
        if (!parse_entry(arena, bytes + at, size - at, &entry))
            return false;
        VECTOR_PUSH(arena, entries, entry);
        at += get16(bytes + at + 2);
    }
    return true;
}

static bool parse_owner(const uint8_t *bytes, size_t length, uint32_t offset, struct windows_sid *sid)
{
    return offset == 0 || (offset < length && windows_sid_from_bytes(bytes + offset, length - offset, sid));
}

/* The label is the first entry of its kind; what else a SACL holds is audit, which decides nothing. */
static void take_label(const struct entry_list *entries, struct windows_descriptor *out)
{
    for (uint32_t i = 0; i < entries->count && !out->labelled; i++) {
        if (entries->items[i].type == WINDOWS_ENTRY_LABEL) {
            out->labelled = true;
            out->label = entries->items[i];
        }
    }
}

bool windows_descriptor_parse(struct arena *arena, const uint8_t *bytes, size_t length,
                              struct windows_descriptor *out)
{
    struct entry_list dacl = {0}, sacl = {0};
    *out = (struct windows_descriptor){0};
    if (length < DESCRIPTOR_HEADER || bytes[0] != 1)
        return false;
    uint16_t control = get16(bytes + 2);
    uint32_t sacl_at = get32(bytes + 12), dacl_at = get32(bytes + 16);
    if ((control & SELF_RELATIVE) == 0 || !parse_owner(bytes, length, get32(bytes + 4), &out->owner) ||
        !parse_owner(bytes, length, get32(bytes + 8), &out->group))
        return false;
    if ((control & SACL_PRESENT) != 0 && sacl_at != 0) {
        if (sacl_at >= length || !parse_acl(arena, bytes + sacl_at, length - sacl_at, &sacl))
            return false;
        take_label(&sacl, out);
    }
    if ((control & DACL_PRESENT) != 0 && dacl_at != 0) {
        if (dacl_at >= length || !parse_acl(arena, bytes + dacl_at, length - dacl_at, &dacl))
            return false;
        out->dacl_present = true;
    }
    out->dacl_protected = (control & DACL_PROTECTED) != 0;
    out->dacl_auto_inherited = (control & DACL_AUTO_INHERITED) != 0;
    out->entries = dacl.items;
    out->count = dacl.count;
    return true;
}

/* --- a descriptor to bytes ------------------------------------------------------------------------------ */

static size_t entry_size(const struct windows_entry *entry)
{
    return entry->raw != NULL ? entry->raw_length : (size_t)ENTRY_FIXED + entry->sid.length;
}

static void put_entry(struct buffer *out, const struct windows_entry *entry)
{
    if (entry->raw != NULL) {
        buffer_bytes(out, entry->raw, entry->raw_length);
        return;
    }
    buffer_byte(out, (char)entry->type);
    buffer_byte(out, (char)entry->flags);
    put16(out, (uint32_t)entry_size(entry));
    put32(out, entry->mask);
    buffer_bytes(out, entry->sid.bytes, entry->sid.length);
}

/* 0 if the list does not fit into an ACL. */
static size_t acl_size(const struct windows_entry *entries, uint32_t count)
{
    size_t size = ACL_HEADER;
    for (uint32_t i = 0; i < count && size <= ACL_MOST; i++)
        size += entry_size(&entries[i]);
    return size <= ACL_MOST ? size : 0;
}

static void put_acl(struct buffer *out, const struct windows_entry *entries, uint32_t count)
{
    char revision = 2;
    /* Entries that speak of kinds of objects, 5 to 8 and 11, 12, 15, need the later revision. */
    for (uint32_t i = 0; i < count; i++)
        if ((entries[i].type >= 5 && entries[i].type <= 8) || entries[i].type == 11 ||
            entries[i].type == 12 || entries[i].type == 15)
            revision = 4;
    buffer_byte(out, revision);
    buffer_byte(out, 0);
    put16(out, (uint32_t)acl_size(entries, count));
    put16(out, count);
    put16(out, 0);
    for (uint32_t i = 0; i < count; i++)
        put_entry(out, &entries[i]);
}

bool windows_descriptor_write(const struct windows_descriptor *descriptor, struct buffer *out)
{
    size_t sacl = descriptor->labelled ? acl_size(&descriptor->label, 1) : 0;
    size_t dacl = descriptor->dacl_present ? acl_size(descriptor->entries, descriptor->count) : 0;
    if ((descriptor->labelled && sacl == 0) || (descriptor->dacl_present && dacl == 0))
        return false;
    size_t owner_at = DESCRIPTOR_HEADER, group_at = owner_at + descriptor->owner.length;
    size_t sacl_at = group_at + descriptor->group.length, dacl_at = sacl_at + sacl;
    /* Said to be present even if there is none: then nobody takes the old one for what is meant. */
    uint32_t control = SELF_RELATIVE | DACL_PRESENT | (descriptor->labelled ? SACL_PRESENT : 0) |
                       (descriptor->dacl_protected ? DACL_PROTECTED : 0) |
                       (descriptor->dacl_auto_inherited ? DACL_AUTO_INHERITED : 0);
    put16(out, 1);
    put16(out, control);
    put32(out, descriptor->owner.length != 0 ? (uint32_t)owner_at : 0);
    put32(out, descriptor->group.length != 0 ? (uint32_t)group_at : 0);
    put32(out, descriptor->labelled ? (uint32_t)sacl_at : 0);
    put32(out, descriptor->dacl_present ? (uint32_t)dacl_at : 0);
    buffer_bytes(out, descriptor->owner.bytes, descriptor->owner.length);
    buffer_bytes(out, descriptor->group.bytes, descriptor->group.length);
    if (descriptor->labelled)
        put_acl(out, &descriptor->label, 1);
    if (descriptor->dacl_present)
        put_acl(out, descriptor->entries, descriptor->count);
    return true;
}

/* --- comparing ------------------------------------------------------------------------------------------ */

bool windows_entry_equal(const struct windows_entry *a, const struct windows_entry *b)
{
    return a->type == b->type && a->flags == b->flags && a->mask == b->mask &&
           windows_sid_equal(&a->sid, &b->sid) && a->raw_length == b->raw_length &&
           (a->raw_length == 0 || memcmp(a->raw, b->raw, a->raw_length) == 0);
}

bool windows_descriptor_equal(const struct windows_descriptor *a, const struct windows_descriptor *b)
{
    if (!windows_sid_equal(&a->owner, &b->owner) || !windows_sid_equal(&a->group, &b->group) ||
        a->dacl_present != b->dacl_present || a->dacl_protected != b->dacl_protected ||
        a->dacl_auto_inherited != b->dacl_auto_inherited || a->count != b->count ||
        a->labelled != b->labelled || (a->labelled && !windows_entry_equal(&a->label, &b->label)))
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (!windows_entry_equal(&a->entries[i], &b->entries[i]))
            return false;
    return true;
}

/* --- editing -------------------------------------------------------------------------------------------- */

static bool is_explicit(const struct windows_entry *entry)
{
    return (entry->flags & WINDOWS_INHERITED) == 0;
}

static bool has_explicit(const struct windows_descriptor *descriptor, const struct windows_entry *entry)
{
    for (uint32_t i = 0; i < descriptor->count; i++)
        if (is_explicit(&descriptor->entries[i]) && windows_entry_equal(&descriptor->entries[i], entry))
            return true;
    return false;
}

/* Where `entry` belongs: behind the leading explicit denies, or an allow before the first inherited entry. */
static uint32_t place_of(const struct windows_descriptor *descriptor, const struct windows_entry *entry)
{
    bool deny = entry->type == WINDOWS_ENTRY_DENY;
    uint32_t place = 0;
    while (place < descriptor->count && is_explicit(&descriptor->entries[place]) &&
           (!deny || descriptor->entries[place].type == WINDOWS_ENTRY_DENY))
        place++;
    return place;
}

/* What having no DACL means, as an entry: everyone may do everything. */
static struct windows_descriptor open_dacl(struct arena *arena, const struct windows_descriptor *descriptor)
{
    struct windows_descriptor result = *descriptor;
    struct windows_entry *everyone = arena_alloc(arena, sizeof *everyone);
    *everyone = (struct windows_entry){
        .type = WINDOWS_ENTRY_ALLOW, .mask = 0x1f01ff, .sid = {12, {1, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0}}};
    result.dacl_present = true;
    result.entries = everyone;
    result.count = 1;
    return result;
}

struct windows_descriptor windows_descriptor_with(struct arena *arena,
                                                  const struct windows_descriptor *descriptor,
                                                  const struct windows_entry *entry)
{
    struct windows_descriptor result = descriptor->dacl_present ? *descriptor : open_dacl(arena, descriptor);
    if (has_explicit(&result, entry))
        return result;
    uint32_t place = place_of(&result, entry);
    struct windows_entry *entries = arena_array(arena, result.count + 1, sizeof *entries);
    if (place > 0)
        memcpy(entries, result.entries, place * sizeof *entries);
    entries[place] = *entry;
    if (place < result.count)
        memcpy(entries + place + 1, result.entries + place, (result.count - place) * sizeof *entries);
    result.entries = entries;
    result.count++;
    return result;
}

struct windows_descriptor windows_descriptor_without(struct arena *arena,
                                                     const struct windows_descriptor *descriptor,
                                                     const struct windows_entry *entry)
{
    struct windows_descriptor result = *descriptor;
    result.entries = arena_array(arena, descriptor->count, sizeof *result.entries);
    result.count = 0;
    for (uint32_t i = 0; i < descriptor->count; i++) {
        const struct windows_entry *kept = &descriptor->entries[i];
        if (!is_explicit(kept) || !windows_entry_equal(kept, entry))
            result.entries[result.count++] = *kept;
    }
    return result;
}
