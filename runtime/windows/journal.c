#include "runtime/windows/journal.h"

#include "base/vector.h"
#include "runtime/windows/claims.h"
#include "runtime/windows/revert.h"
#include "runtime/windows/spread.h"

#include <string.h>

/* --- the file ------------------------------------------------------------------------------------------- */

bool journal_is_named(const char *name, const char *suffix)
{
    size_t length = strlen(name), end = strlen(suffix);
    return length > end && strcmp(name + length - end, suffix) == 0;
}

void journal_say(struct arena *arena, struct journal_sentences *list, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const char *sentence = arena_vformat(arena, format, arguments);
    va_end(arguments);
    VECTOR_PUSH(arena, list, sentence);
}

const char *journal_add(struct journal *journal, struct journal_record record)
{
    struct arena *arena = journal->place.arena;
    size_t start = journal->unwritten.length;
    struct journal_record kept;
    record.number = journal->records.next;
    if (!journal_record_write(&record, &journal->unwritten) ||
        journal_record_read(arena, journal->unwritten.bytes + start, journal->unwritten.length - start,
                            record.number, &kept) == 0)
        return "an access list is too long for the journal";
    journal_records_add(arena, &journal->records, &kept);
    for (uint32_t i = 0; i < kept.count; i++)
        sid_list_add(arena, &journal->sids, &kept.entries[i].sid);
    return NULL;
}

const char *journal_write(struct journal *journal, bool flush)
{
    struct buffer *bytes = &journal->unwritten;
    if (journal->broken)
        return "the journal cannot be written any more";
    uint32_t code = bytes->length == 0 ? ACL_OK
                                       : journal->place.store->append(journal->place.store, journal->file,
                                                                      bytes->bytes, bytes->length, flush);
    bytes->length = 0;
    journal->broken = code != ACL_OK;
    return code == ACL_OK ? NULL
                          : arena_format(journal->place.arena, "the journal cannot be written: %s",
                                         acl_error(journal->place.arena, code));
}

bool journal_sid_is_own(const struct windows_sid *sid)
{
    /* Revision, count, a big-endian authority of six bytes, then the numbers in little-endian. */
    static const uint8_t run[] = {1, 5, 0, 0, 0, 0, 0, 5, 21, 0, 0, 0},
                         package[] = {1, 8, 0, 0, 0, 0, 0, 15, 2, 0, 0, 0};
    return (sid->length == 8 + 4 * 5 && memcmp(sid->bytes, run, sizeof run) == 0) ||
           (sid->length == 8 + 4 * 8 && memcmp(sid->bytes, package, sizeof package) == 0);
}

struct journal *journal_begin(const struct journal_place *place, const struct journal_run *run,
                              const char **error)
{
    struct arena *arena = place->arena;
    struct journal *journal = arena_alloc(arena, sizeof *journal);
    *journal = (struct journal){.place = *place, .unwritten = buffer_in(arena)};
    char digits[33];
    if (!place->store->name(place->store, digits)) {
        *error = "Windows gives no random numbers";
        return NULL;
    }
    journal->name = arena_format(arena, "%s" JOURNAL_SUFFIX, digits);
    uint32_t code = place->store->create(place->store, arena, journal->name, &journal->file);
    if (code != ACL_OK) {
        *error = arena_format(arena, "the journal cannot be made: %s", acl_error(arena, code));
        return NULL;
    }
    struct journal_record header = {
        .type = JOURNAL_HEADER, .version = JOURNAL_VERSION, .package = run->package};
    memcpy(header.policy_hash, run->policy_hash, sizeof header.policy_hash);
    *error = journal_add(journal, header);
    if (*error == NULL)
        *error = journal_write(journal, true);
    if (*error == NULL)
        return journal;
    place->store->remove(place->store, journal->file);
    return NULL;
}

/* --- changes -------------------------------------------------------------------------------------------- */

static const char *problem(struct journal *journal, const struct acl_identity *identity, const char *what,
                           uint32_t code)
{
    return arena_format(journal->place.arena, "%s: %s: %s", identity->path, what,
                        acl_error(journal->place.arena, code));
}

static const char *change_and_compare(struct journal *journal, struct arena *arena, struct journal_step *step)
{
    const struct acl_operations *acl = journal->place.acl;
    uint32_t code = ACL_OK;
    if (!edit_same_label(&step->found, &step->wanted))
        code = acl->write_label(acl, arena, step->object, &step->wanted);
    if (code == ACL_OK && !edit_same_entries(&step->found, &step->wanted))
        code = acl->write_entries(acl, arena, step->object, &step->wanted);
    struct windows_descriptor read;
    if (code != ACL_OK)
        return problem(journal, &step->identity, "its access list cannot be changed", code);
    code = acl->read(acl, arena, step->object, &read);
    if (code != ACL_OK)
        return problem(journal, &step->identity, "its access list cannot be read back", code);
    if (!edit_same_entries(&read, &step->wanted) || !edit_same_label(&read, &step->wanted))
        return arena_format(journal->place.arena, "%s: Windows has not taken over the changed access list",
                            step->identity.path);
    return NULL;
}

static const char *record_step(struct journal *journal, struct journal_step *step,
                               const struct claims *claims)
{
    struct journal_record record = {
        .type = JOURNAL_OBJECT,
        .identity = step->identity,
        .before = claims_original(claims, &journal->records, &step->identity, &step->found),
        .entries = step->entries,
        .count = step->count,
        .labels = step->labels,
        .label = step->wanted.label};
    if (step->labels && claims_conflict(claims, &step->identity, &step->found, &step->wanted))
        return arena_format(journal->place.arena, "%s: a sandbox that is running needs another label there",
                            step->identity.path);
    step->number = journal->records.next;
    return journal_add(journal, record);
}

/* What another run has put there must stay for as long as this one needs it. */
static const char *share_placeholder(struct journal *journal, const struct acl_identity *identity,
                                     const struct claims *claims)
{
    const struct journal_record *theirs = claims_placeholder(claims, identity);
    if (theirs == NULL || claims_placeholder_in(&journal->records, identity) != NULL)
        return NULL;
    struct journal_record own = *theirs;
    const char *error = journal_add(journal, own);
    if (error != NULL)
        return error;
    struct journal_record made = {
        .type = JOURNAL_DONE, .of = journal->records.next - 1, .identity = *identity};
    return journal_add(journal, made);
}

const char *journal_carry_out(struct journal *journal, struct arena *arena, struct journal_step *steps,
                              uint32_t count)
{
    struct claims claims = {0};
    const char *error = NULL;
    bool any = false;
    for (uint32_t i = 0; i < count; i++)
        any |= steps[i].recorded;
    if (any)
        claims = claims_load(&journal->place, arena, journal->name);
    for (uint32_t i = 0; i < count && error == NULL; i++) {
        if (!steps[i].recorded)
            continue;
        error = share_placeholder(journal, &steps[i].identity, &claims);
        if (error == NULL)
            error = record_step(journal, &steps[i], &claims);
    }
    if (error == NULL)
        error = journal_write(journal, true);
    for (uint32_t i = 0; i < count && error == NULL; i++)
        error = change_and_compare(journal, arena, &steps[i]);
    for (uint32_t i = 0; i < count && error == NULL; i++)
        if (steps[i].recorded)
            error =
                journal_add(journal, (struct journal_record){.type = JOURNAL_DONE, .of = steps[i].number});
    return error != NULL ? error : journal_write(journal, false);
}

static const char *apply_in_turn(struct journal *journal, struct arena *arena, struct acl_object *object,
                                 const struct journal_change *change)
{
    const struct acl_operations *acl = journal->place.acl;
    struct journal_step step = {
        .object = object, .recorded = true, .entries = change->entries, .count = change->count};
    uint32_t code = acl->identify(acl, arena, object, &step.identity);
    /* Somebody may have removed what was opened before it was this run's turn. */
    if (code != ACL_OK)
        return arena_format(journal->place.arena, "an object is not there any more: %s",
                            acl_error(arena, code));
    code = acl->read(acl, arena, object, &step.found);
    if (code != ACL_OK)
        return problem(journal, &step.identity, "its access list cannot be read", code);
    step.wanted = edit_add(arena, &step.found, change->entries, change->count);
    if (change->label != NULL) {
        step.labels = true;
        step.wanted.labelled = true;
        step.wanted.label = *change->label;
    }
    return journal_carry_out(journal, arena, &step, 1);
}

const char *journal_apply(struct journal *journal, struct acl_object *object,
                          const struct journal_change *change)
{
    for (uint32_t i = 0; i < change->count; i++)
        if (!journal_sid_is_own(&change->entries[i].sid))
            return "an entry names somebody that is no run's own";
    const struct journal_store *store = journal->place.store;
    if (!store->turn_begin(store))
        return JOURNAL_NO_TURN;
    struct arena *arena = arena_child(journal->place.arena);
    const char *error = apply_in_turn(journal, arena, object, change);
    arena_destroy(arena);
    store->turn_end(store);
    return error;
}

/* --- placeholders --------------------------------------------------------------------------------------- */

/* A name beside `path` that nobody else uses: what has it is the run's own even if no record says more. */
static const char *maker_name(struct journal *journal, const char *path)
{
    const char *last = strrchr(path, '\\');
    return arena_format(journal->place.arena, "%.*s\\.sbx-%.32s-%u", last != NULL ? (int)(last - path) : 0,
                        path, journal->name, (unsigned)journal->records.next);
}

static uint32_t make_placeholder(struct journal *journal, const struct journal_record *record,
                                 const struct windows_descriptor *first, struct acl_object **object,
                                 const char **error)
{
    const struct acl_operations *acl = journal->place.acl;
    struct arena *arena = journal->place.arena;
    struct journal_record made = {.type = JOURNAL_DONE, .of = journal->records.next}, gone = made;
    *error = journal_add(journal, *record);
    if (*error == NULL)
        *error = journal_write(journal, true);
    if (*error != NULL)
        return ACL_DENIED;
    uint32_t code = acl->make(acl, arena, record->maker, record->content, first, object);
    if (code != ACL_OK)
        return code;
    code = acl->identify(acl, arena, *object, &made.identity);
    *error = code == ACL_OK ? journal_add(journal, made) : NULL;
    if (code == ACL_OK && *error == NULL)
        *error = journal_write(journal, true);
    if (code == ACL_OK && *error == NULL)
        code = acl->rename(acl, arena, *object, record->path);
    if (code == ACL_OK && *error == NULL)
        return ACL_OK;
    /* Its number may be given to something else. */
    if (acl->remove(acl, arena, *object, record->content) == ACL_OK && journal_add(journal, gone) == NULL)
        (void)journal_write(journal, false);
    acl->close(acl, *object);
    return code != ACL_OK ? code : ACL_DENIED;
}

uint32_t journal_placeholder(struct journal *journal, const char *path, const char *content,
                             const struct windows_descriptor *first, struct acl_object **object,
                             const char **error)
{
    struct arena *arena = journal->place.arena;
    const struct journal_store *store = journal->place.store;
    struct journal_record record = {.type = JOURNAL_PLACEHOLDER,
                                    .path = arena_strdup(arena, path),
                                    .maker = maker_name(journal, path),
                                    .content = content != NULL ? arena_strdup(arena, content) : NULL};
    *error = NULL;
    if (!store->turn_begin(store)) {
        *error = JOURNAL_NO_TURN;
        return ACL_DENIED;
    }
    uint32_t code = make_placeholder(journal, &record, first, object, error);
    store->turn_end(store);
    if (code != ACL_OK && code != ACL_EXISTS && *error == NULL)
        *error = arena_format(arena, "%s: nothing can be made there: %s", path, acl_error(arena, code));
    return code;
}

const char *journal_spread(struct journal *journal, struct journal_sentences *notes)
{
    return spread_all(journal, notes);
}

/* --- the end -------------------------------------------------------------------------------------------- */

void journal_end(struct journal *journal, struct journal_sentences *left)
{
    if (journal != NULL)
        revert_file(&journal->place, journal->file, journal->name, &journal->records, left);
}
