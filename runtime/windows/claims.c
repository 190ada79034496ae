#include "runtime/windows/claims.h"

#include "base/vector.h"

#include <string.h>

struct claims claims_load(const struct journal_place *place, struct arena *arena, const char *except)
{
    const struct journal_store *store = place->store;
    struct claims claims = {0};
    struct acl_names names = {0};
    if (store->list(store, arena, &names) != ACL_OK)
        return claims;
    for (uint32_t i = 0; i < names.count; i++) {
        if (!journal_is_named(names.items[i], JOURNAL_SUFFIX) || strcmp(names.items[i], except) == 0)
            continue;
        struct journal_file *file;
        enum journal_lock lock = store->take(store, arena, names.items[i], &file);
        if (lock == JOURNAL_TAKEN)
            store->close(store, file);
        struct buffer bytes = buffer_in(arena);
        if (lock == JOURNAL_GONE || store->read(store, arena, names.items[i], &bytes) != ACL_OK)
            continue;
        struct claim_file claim = {names.items[i], lock == JOURNAL_HELD,
                                   journal_records_read(arena, bytes.bytes, bytes.length)};
        VECTOR_PUSH(arena, &claims, claim);
    }
    return claims;
}

static bool is_object(const struct journal_record *record, const struct acl_identity *identity)
{
    return record->type == JOURNAL_OBJECT && acl_identity_same(&record->identity, identity);
}

static struct windows_descriptor labelled_with(const struct windows_entry *label)
{
    return (struct windows_descriptor){.labelled = true, .label = *label};
}

static bool has_label(const struct windows_descriptor *found, const struct windows_entry *label)
{
    struct windows_descriptor given = labelled_with(label);
    return edit_same_label(found, &given);
}

static bool made_in(const struct journal_record *record, const struct acl_identity *identity,
                    const struct windows_descriptor *found)
{
    return record->type == JOURNAL_OBJECT && record->labels && !has_label(&record->before, &record->label) &&
           found->labelled && (found->label.flags & WINDOWS_INHERITED) != 0 &&
           found->label.mask == record->label.mask &&
           windows_sid_equal(&found->label.sid, &record->label.sid) &&
           acl_path_covers(record->identity.path, identity->path);
}

bool claims_made_in(const struct journal_records *records, const struct acl_identity *identity,
                    const struct windows_descriptor *found)
{
    for (uint32_t i = 0; i < records->count && records->settled; i++)
        if (made_in(&records->items[i], identity, found))
            return true;
    return false;
}

bool claims_any_made_in(const struct claims *claims, const struct acl_identity *identity,
                        const struct windows_descriptor *found)
{
    for (uint32_t i = 0; i < claims->count; i++)
        if (claims_made_in(&claims->items[i].records, identity, found))
            return true;
    return false;
}

static void restore(const struct journal_records *records, const struct acl_identity *identity,
                    const struct windows_descriptor *found, struct windows_descriptor *original,
                    bool *of_itself, bool *of_tree)
{
    for (uint32_t i = 0; i < records->count; i++) {
        const struct journal_record *record = &records->items[i];
        bool same = is_object(record, identity);
        if (same && record->labels && has_label(found, &record->label) && !*of_itself) {
            original->labelled = record->before.labelled;
            original->label = record->before.label;
            *of_itself = true;
        }
        *of_tree |= records->settled && !same && made_in(record, identity, found);
        if (same && !record->before.dacl_present) {
            original->dacl_present = false;
            original->count = 0;
        }
    }
}

struct windows_descriptor claims_original(const struct claims *claims, const struct journal_records *own,
                                          const struct acl_identity *identity,
                                          const struct windows_descriptor *found)
{
    struct windows_descriptor original = *found;
    bool of_itself = false, of_tree = false;
    for (uint32_t i = 0; i < claims->count; i++)
        restore(&claims->items[i].records, identity, found, &original, &of_itself, &of_tree);
    restore(own, identity, found, &original, &of_itself, &of_tree);
    if (of_tree && !of_itself)
        original.labelled = false;
    return original;
}

bool claims_conflict(const struct claims *claims, const struct acl_identity *identity,
                     const struct windows_descriptor *found, const struct windows_descriptor *wanted)
{
    if (edit_same_label(found, wanted))
        return false;
    for (uint32_t i = 0; i < claims->count; i++) {
        const struct journal_records *records = &claims->items[i].records;
        for (uint32_t j = 0; claims->items[i].alive && j < records->count; j++)
            if (is_object(&records->items[j], identity) && records->items[j].labels &&
                has_label(found, &records->items[j].label))
                return true;
    }
    return false;
}

bool claims_label(const struct claims *claims, const struct acl_identity *identity,
                  const struct windows_entry *label)
{
    const struct windows_descriptor given = labelled_with(label);
    for (uint32_t i = 0; i < claims->count; i++) {
        const struct journal_records *records = &claims->items[i].records;
        for (uint32_t j = 0; j < records->count; j++)
            if (is_object(&records->items[j], identity) && records->items[j].labels &&
                has_label(&given, &records->items[j].label))
                return true;
    }
    return false;
}

const struct acl_identity *claims_made(const struct journal_records *records, uint32_t number, bool *gone)
{
    const struct acl_identity *made = NULL;
    *gone = false;
    for (uint32_t i = 0; i < records->count; i++) {
        const struct journal_record *done = &records->items[i];
        if (done->type != JOURNAL_DONE || done->of != number)
            continue;
        *gone = done->identity.volume == NULL;
        made = *gone ? NULL : &done->identity;
    }
    return made;
}

const struct journal_record *claims_placeholder_in(const struct journal_records *records,
                                                   const struct acl_identity *identity)
{
    for (uint32_t i = 0; i < records->count; i++) {
        bool gone;
        if (records->items[i].type != JOURNAL_PLACEHOLDER)
            continue;
        const struct acl_identity *made = claims_made(records, records->items[i].number, &gone);
        if (made != NULL && acl_identity_same(made, identity))
            return &records->items[i];
    }
    return NULL;
}

const struct journal_record *claims_placeholder(const struct claims *claims,
                                                const struct acl_identity *identity)
{
    for (uint32_t i = 0; i < claims->count; i++) {
        const struct journal_record *record = claims_placeholder_in(&claims->items[i].records, identity);
        if (record != NULL)
            return record;
    }
    return NULL;
}
