#include "runtime/windows/claims.h"

#include "base/vector.h"

#include <string.h>

static void list_places(struct arena *arena, struct claim_file *file)
{
    for (uint32_t i = 0; i < file->records.count; i++) {
        const struct journal_record *record = &file->records.items[i];
        bool gone;
        if (record->type != JOURNAL_PLACEHOLDER)
            continue;
        struct claimed_place place = {claims_made(&file->records, record->number, &gone), record};
        if (place.identity != NULL)
            VECTOR_PUSH(arena, &file->places, place);
    }
}

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
        struct claim_file claim = {.name = names.items[i],
                                   .alive = lock == JOURNAL_HELD,
                                   .records = journal_records_read(arena, bytes.bytes, bytes.length)};
        list_places(arena, &claim);
        VECTOR_PUSH(arena, &claims, claim);
    }
    return claims;
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

/* However either came about. */
static bool same_level(const struct windows_entry *a, const struct windows_entry *b)
{
    return a->mask == b->mask && windows_sid_equal(&a->sid, &b->sid);
}

/* Whether what is made somewhere in the directory of `record` gets the label `found`. */
static bool passes_label(const struct journal_record *record, const struct acl_identity *identity,
                         const struct windows_entry *found)
{
    return record->type == JOURNAL_OBJECT && record->labels && record->identity.directory &&
           same_level(&record->label, found) && acl_path_covers(record->identity.path, identity->path);
}

/* The nearest directory decides: one that had the label before the run gives it without the run too. */
bool claims_made_in(const struct journal_records *records, const struct acl_identity *identity,
                    const struct windows_descriptor *found)
{
    const struct journal_record *nearest = NULL;
    if (!records->settled || !found->labelled || (found->label.flags & WINDOWS_INHERITED) == 0)
        return false;
    for (uint32_t i = 0; i < records->count; i++) {
        const struct journal_record *record = &records->items[i];
        if (passes_label(record, identity, &found->label) &&
            (nearest == NULL || strlen(record->identity.path) > strlen(nearest->identity.path)))
            nearest = record;
    }
    return nearest != NULL &&
           !(nearest->before.labelled && same_level(&nearest->before.label, &found->label));
}

bool claims_any_made_in(const struct claims *claims, const struct acl_identity *identity,
                        const struct windows_descriptor *found)
{
    for (uint32_t i = 0; i < claims->count; i++)
        if (claims_made_in(&claims->items[i].records, identity, found))
            return true;
    return false;
}

/* The record by which the object has the label `found`, or NULL. */
static const struct journal_record *label_record(const struct journal_records *records,
                                                 const struct acl_identity *identity,
                                                 const struct windows_descriptor *found)
{
    const struct journal_record *record = journal_records_of(records, identity, NULL);
    while (record != NULL && !(record->labels && has_label(found, &record->label)))
        record = journal_records_of(records, identity, record);
    return record;
}

/* `labelled`: whose label it is was found already. */
static void restore(const struct journal_records *records, const struct acl_identity *identity,
                    const struct windows_descriptor *found, struct windows_descriptor *original,
                    bool *labelled)
{
    const struct journal_record *record = label_record(records, identity, found);
    if (record != NULL && !*labelled) {
        original->labelled = record->before.labelled;
        original->label = record->before.label;
        *labelled = true;
    }
    record = journal_records_of(records, identity, NULL);
    while (record != NULL && record->before.dacl_present)
        record = journal_records_of(records, identity, record);
    if (record != NULL) {
        original->dacl_present = false;
        original->count = 0;
    }
}

struct windows_descriptor claims_original(const struct claims *claims, const struct journal_records *own,
                                          const struct acl_identity *identity,
                                          const struct windows_descriptor *found)
{
    struct windows_descriptor original = *found;
    bool labelled = false;
    for (uint32_t i = 0; i < claims->count; i++)
        restore(&claims->items[i].records, identity, found, &original, &labelled);
    restore(own, identity, found, &original, &labelled);
    if (!labelled && (claims_any_made_in(claims, identity, found) || claims_made_in(own, identity, found)))
        original.labelled = false;
    return original;
}

bool claims_conflict(const struct claims *claims, const struct acl_identity *identity,
                     const struct windows_descriptor *found, const struct windows_descriptor *wanted)
{
    if (edit_same_label(found, wanted))
        return false;
    for (uint32_t i = 0; i < claims->count; i++)
        if (claims->items[i].alive && label_record(&claims->items[i].records, identity, found) != NULL)
            return true;
    return false;
}

bool claims_label(const struct claims *claims, const struct acl_identity *identity,
                  const struct windows_entry *label)
{
    const struct windows_descriptor given = labelled_with(label);
    for (uint32_t i = 0; i < claims->count; i++)
        if (label_record(&claims->items[i].records, identity, &given) != NULL)
            return true;
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
    for (uint32_t i = 0; i < claims->count; i++)
        for (uint32_t j = 0; j < claims->items[i].places.count; j++)
            if (acl_identity_same(claims->items[i].places.items[j].identity, identity))
                return claims->items[i].places.items[j].record;
    return NULL;
}
