#include "runtime/windows/claims.h"
#include "runtime/windows/revert.h"

/* --- after a launcher that has died --------------------------------------------------------------------- */

static void recover_file(const struct journal_place *place, const char *name, struct journal_file *file,
                         struct journal_sentences *done, struct journal_sentences *left)
{
    const struct journal_store *store = place->store;
    struct buffer bytes = buffer_in(place->arena);
    uint32_t code = store->read(store, place->arena, name, &bytes);
    if (code != ACL_OK) {
        journal_say(place->arena, left, "the journal %s cannot be read: %s", name,
                    acl_error(place->arena, code));
        store->close(store, file);
        return;
    }
    struct journal_records records = journal_records_read(place->arena, bytes.bytes, bytes.length);
    if (revert_file(place, file, name, &records, left) && done != NULL && records.count > 1)
        journal_say(place->arena, done, "took back what a sandbox left that did not end: %s", name);
}

void journal_recover(const struct journal_place *place, struct journal_sentences *done,
                     struct journal_sentences *left)
{
    const struct journal_store *store = place->store;
    struct acl_names names = {0};
    uint32_t code = store->list(store, place->arena, &names);
    if (code != ACL_OK)
        journal_say(place->arena, left, "the journals cannot be listed: %s", acl_error(place->arena, code));
    for (uint32_t i = 0; i < names.count; i++) {
        struct journal_file *file;
        if (!journal_is_named(names.items[i], JOURNAL_SUFFIX))
            continue;
        enum journal_lock lock = store->take(store, place->arena, names.items[i], &file);
        if (lock == JOURNAL_TAKEN)
            recover_file(place, names.items[i], file, done, left);
        else if (lock == JOURNAL_BROKEN)
            journal_say(place->arena, left, "the journal %s cannot be opened", names.items[i]);
    }
}

/* --- what there is -------------------------------------------------------------------------------------- */

struct doctor {
    const struct journal_place *place;
    const struct claim_file *file;
    struct sid_list sids;
    struct journal_sentences *found;
};

static const char *whose(const struct doctor *doctor)
{
    return doctor->file->alive ? "of a sandbox that is running" : "left by a sandbox that did not end";
}

static void describe_entries(const struct doctor *doctor, const char *path,
                             const struct windows_descriptor *descriptor)
{
    uint32_t allows = 0, denies = 0;
    for (uint32_t i = 0; i < descriptor->count; i++) {
        const struct windows_entry *entry = &descriptor->entries[i];
        if (!sid_list_holds(&doctor->sids, &entry->sid))
            continue;
        allows += entry->type == WINDOWS_ENTRY_ALLOW;
        denies += entry->type == WINDOWS_ENTRY_DENY;
    }
    if (allows + denies > 0)
        journal_say(doctor->place->arena, doctor->found,
                    "%s: %u allowing and %u denying entries %s; no other process can have their SID", path,
                    allows, denies, whose(doctor));
}

static const char *level_name(const struct windows_entry *label)
{
    struct windows_sid low;
    windows_sid_parse("S-1-16-4096", &low);
    return windows_sid_equal(&label->sid, &low) ? "Low" : "Medium";
}

static void describe_object(const struct doctor *doctor, const struct journal_record *record)
{
    const struct acl_operations *acl = doctor->place->acl;
    struct arena *arena = doctor->place->arena;
    struct acl_object *object;
    struct acl_identity identity;
    struct windows_descriptor descriptor, given = {.labelled = true, .label = record->label};
    if (acl->open_id(acl, arena, &record->identity, 0, &object) != ACL_OK)
        return;
    if (acl->identify(acl, arena, object, &identity) == ACL_OK &&
        acl->read(acl, arena, object, &descriptor) == ACL_OK) {
        describe_entries(doctor, identity.path, &descriptor);
        if (record->labels && edit_same_label(&descriptor, &given) &&
            !edit_same_label(&record->before, &given))
            journal_say(arena, doctor->found, "%s: the integrity label %s %s", identity.path,
                        level_name(&record->label), whose(doctor));
    }
    acl->close(acl, object);
}

static void describe_placeholder(const struct doctor *doctor, const struct journal_record *record)
{
    const struct acl_operations *acl = doctor->place->acl;
    struct arena *arena = doctor->place->arena;
    struct acl_object *object;
    struct acl_identity identity;
    if (revert_open_placeholder(doctor->place, arena, &doctor->file->records, record, 0, &object) != ACL_OK)
        return;
    if (acl->identify(acl, arena, object, &identity) == ACL_OK)
        journal_say(arena, doctor->found, "%s: the placeholder (%s) %s", identity.path,
                    identity.directory ? "directory" : "file", whose(doctor));
    acl->close(acl, object);
}

static bool seen_before(const struct journal_records *records, uint32_t index)
{
    for (uint32_t i = 0; i < index; i++)
        if (records->items[i].type == JOURNAL_OBJECT && records->items[i].count > 0 &&
            acl_identity_same(&records->items[i].identity, &records->items[index].identity))
            return true;
    return false;
}

static void describe_record(const struct doctor *doctor, uint32_t index)
{
    const struct journal_records *records = &doctor->file->records;
    const struct journal_record *record = &records->items[index];
    if (record->type == JOURNAL_OBJECT && !seen_before(records, index))
        describe_object(doctor, record);
    else if (record->type == JOURNAL_PLACEHOLDER)
        describe_placeholder(doctor, record);
    else if (record->type == JOURNAL_HEADER && record->package != NULL)
        journal_say(doctor->place->arena, doctor->found, "the AppContainer profile %s %s", record->package,
                    whose(doctor));
}

static void describe_file(struct doctor *doctor)
{
    const struct journal_records *records = &doctor->file->records;
    struct arena *arena = doctor->place->arena;
    uint32_t below = 0;
    for (uint32_t i = 0; i < records->count; i++)
        for (uint32_t j = 0; j < records->items[i].count; j++)
            sid_list_add(arena, &doctor->sids, &records->items[i].entries[j].sid);
    for (uint32_t i = 0; i < records->count; i++) {
        bool carried = records->items[i].type == JOURNAL_OBJECT && records->items[i].count == 0;
        below += carried;
        if (!carried)
            describe_record(doctor, i);
    }
    if (below > 0)
        journal_say(arena, doctor->found, "%u objects below those are changed as they are, %s", below,
                    whose(doctor));
    if (records->damaged)
        journal_say(arena, doctor->found, "the journal %s is damaged", doctor->file->name);
}

static void describe_corrupt(const struct journal_place *place, struct journal_sentences *found)
{
    struct acl_names names = {0};
    place->store->list(place->store, place->arena, &names);
    for (uint32_t i = 0; i < names.count; i++)
        if (journal_is_named(names.items[i], JOURNAL_CORRUPT))
            journal_say(
                place->arena, found,
                "the journal %s was damaged: what could be read of it has been taken back; it can be removed",
                names.items[i]);
}

void journal_doctor(const struct journal_place *place, struct journal_sentences *found)
{
    if (!place->store->turn_begin(place->store)) {
        journal_say(place->arena, found, "%s", JOURNAL_NO_TURN);
        return;
    }
    struct claims claims = claims_load(place, place->arena, "");
    for (uint32_t i = 0; i < claims.count; i++) {
        struct doctor doctor = {.place = place, .file = &claims.items[i], .found = found};
        describe_file(&doctor);
    }
    describe_corrupt(place, found);
    place->store->turn_end(place->store);
}
