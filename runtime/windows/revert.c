#include "runtime/windows/revert.h"

#include "base/vector.h"
#include "runtime/windows/claims.h"
#include "runtime/windows/walk.h"

#include <string.h>

enum { BATCH = 256 };

struct revert {
    const struct journal_place *place;
    const char *name;
    const struct journal_records *records;
    struct journal_sentences *left;
    struct sid_list sids;
    struct arena *arena; /* of all that is taken back */
    bool labels;         /* the run has given labels */
    bool all;            /* nothing had to be left for another time */
    struct walk walk;
};

static void leave(struct revert *revert, const char *path, uint32_t code)
{
    journal_say(revert->place->arena, revert->left,
                "%s: what a sandbox has changed there cannot be taken back now: %s", path,
                acl_error(revert->arena, code));
    revert->all = false;
}

static bool turn_begin(struct revert *revert)
{
    if (revert->place->store->turn_begin(revert->place->store))
        return true;
    journal_say(revert->place->arena, revert->left, "what a sandbox has changed stays for now: %s",
                JOURNAL_NO_TURN);
    revert->all = false;
    return false;
}

static void turn_end(struct revert *revert)
{
    revert->place->store->turn_end(revert->place->store);
}

/* --- one object ----------------------------------------------------------------------------------------- */

/* What the object is to become: `found` without what is the run's own. `record`: of the object, or NULL. */
static struct windows_descriptor without_run(struct revert *revert, struct arena *arena,
                                             const struct claims *claims, const struct acl_identity *identity,
                                             const struct windows_descriptor *found,
                                             const struct journal_record *record)
{
    bool opened = record != NULL && !record->before.dacl_present;
    struct windows_descriptor wanted = edit_remove(arena, found, &revert->sids, opened);
    struct windows_descriptor given = {.labelled = true};
    if (record != NULL && record->labels) {
        given.label = record->label;
        if (edit_same_label(found, &given) && !claims_label(claims, identity, &record->label)) {
            wanted.labelled = record->before.labelled;
            wanted.label = record->before.label;
        }
    } else if (record == NULL && claims_made_in(revert->records, identity, found) &&
               !claims_any_made_in(claims, identity, found)) {
        wanted.labelled = false;
    }
    return wanted;
}

static uint32_t write_and_compare(struct revert *revert, struct arena *arena, struct acl_object *object,
                                  const struct windows_descriptor *found,
                                  const struct windows_descriptor *wanted)
{
    const struct acl_operations *acl = revert->place->acl;
    bool label = !edit_same_label(found, wanted), entries = !edit_same_entries(found, wanted);
    uint32_t code = ACL_OK;
    struct windows_descriptor read = {0};
    if (label)
        code = acl->write_label(acl, arena, object, wanted);
    if (code == ACL_OK && entries)
        code = acl->write_entries(acl, arena, object, wanted);
    if (code == ACL_OK && (label || entries))
        code = acl->read(acl, arena, object, &read);
    if (code == ACL_OK && (label || entries) &&
        (!edit_same_label(&read, wanted) || !edit_same_entries(&read, wanted)))
        code = ACL_DENIED;
    return code;
}

/* An object that cannot be changed is no concern if nothing of the run is on it. */
static bool is_clean(struct revert *revert, struct arena *arena, struct acl_object *object,
                     const struct claims *claims, const struct acl_identity *identity,
                     const struct journal_record *record)
{
    const struct acl_operations *acl = revert->place->acl;
    struct windows_descriptor found;
    if (acl->read(acl, arena, object, &found) != ACL_OK)
        return false;
    struct windows_descriptor wanted = without_run(revert, arena, claims, identity, &found, record);
    return edit_same_entries(&found, &wanted) && edit_same_label(&found, &wanted);
}

static uint32_t revert_open(struct revert *revert, struct arena *arena, const struct claims *claims,
                            struct acl_object *object, const struct acl_identity *identity,
                            const struct journal_record *record)
{
    const struct acl_operations *acl = revert->place->acl;
    struct windows_descriptor found;
    uint32_t code = acl->read(acl, arena, object, &found);
    if (code != ACL_OK)
        return code;
    struct windows_descriptor wanted = without_run(revert, arena, claims, identity, &found, record);
    return write_and_compare(revert, arena, object, &found, &wanted);
}

static void revert_record(struct revert *revert, struct arena *arena, const struct claims *claims,
                          const struct journal_record *record)
{
    const struct acl_operations *acl = revert->place->acl;
    const struct acl_identity *identity = &record->identity;
    unsigned access = ACL_WRITE | (record->labels ? ACL_WRITE_LABEL : 0u);
    struct acl_object *object;
    uint32_t code = acl->open_id(acl, arena, identity, access, &object);
    if (code == ACL_MISSING)
        return;
    if (code == ACL_OK) {
        code = revert_open(revert, arena, claims, object, identity, record);
        acl->close(acl, object);
    } else if (acl->open_id(acl, arena, identity, 0, &object) == ACL_OK) {
        if (is_clean(revert, arena, object, claims, identity, record))
            code = ACL_OK;
        acl->close(acl, object);
    }
    if (code != ACL_OK)
        leave(revert, identity->path, code);
}

/* The last change first. */
static void revert_objects(struct revert *revert)
{
    for (uint32_t next = revert->records->count; next > 0;) {
        struct arena *arena = arena_child(revert->arena);
        if (!turn_begin(revert))
            return;
        struct claims claims = claims_load(revert->place, arena, revert->name);
        for (uint32_t i = 0; i < BATCH && next > 0; i++)
            if (revert->records->items[--next].type == JOURNAL_OBJECT)
                revert_record(revert, arena, &claims, &revert->records->items[next]);
        turn_end(revert);
        arena_destroy(arena);
    }
}

/* --- what lies below ------------------------------------------------------------------------------------ */

static const char *closed(void *context, const char *path, const void *carried, uint32_t code)
{
    (void)carried;
    leave(context, path, code);
    return NULL;
}

/* What the run's entries were carried on to, and what was made there since. */
static void revert_child(struct revert *revert, struct arena *arena, const struct claims *claims,
                         const char *path)
{
    const struct acl_operations *acl = revert->place->acl;
    struct acl_object *object;
    struct acl_identity identity;
    unsigned access = ACL_WRITE | (revert->labels ? ACL_WRITE_LABEL : 0u);
    uint32_t code = acl->open(acl, arena, path, access, &object);
    bool read_only = code == ACL_DENIED && acl->open(acl, arena, path, 0, &object) == ACL_OK;
    if (code == ACL_MISSING)
        return;
    if (code != ACL_OK && !read_only) {
        leave(revert, path, code);
        return;
    }
    uint32_t known = acl->identify(acl, arena, object, &identity);
    if (known != ACL_OK) {
        code = known == ACL_MISSING ? ACL_OK : known;
    } else {
        const struct journal_record *record = journal_records_of(revert->records, &identity, NULL);
        if (!read_only)
            code = revert_open(revert, arena, claims, object, &identity, record);
        else if (is_clean(revert, arena, object, claims, &identity, record))
            code = ACL_OK;
        if (identity.directory)
            walk_push(&revert->walk, identity.path, NULL);
    }
    acl->close(acl, object);
    if (code != ACL_OK)
        leave(revert, path, code);
}

static const char *visit(void *context, struct arena *arena, struct acl_object *directory,
                         const struct acl_identity *identity, const void *carried,
                         const struct acl_names *names)
{
    struct revert *revert = context;
    (void)directory;
    (void)carried;
    for (uint32_t next = 0; next < names->count;) {
        if (!turn_begin(revert))
            return JOURNAL_NO_TURN;
        struct claims claims = claims_load(revert->place, arena, revert->name);
        for (uint32_t i = 0; i < BATCH && next < names->count; i++, next++)
            revert_child(revert, arena, &claims,
                         arena_format(arena, "%s\\%s", identity->path, names->items[next]));
        turn_end(revert);
    }
    return NULL;
}

/* Where the directory of a tree is now, or NULL if it is gone or out of reach. */
static const char *tree_path(struct revert *revert, const struct journal_record *record)
{
    const struct acl_operations *acl = revert->place->acl;
    struct acl_object *object;
    struct acl_identity identity;
    uint32_t code = acl->open_id(acl, revert->arena, &record->identity, 0, &object);
    if (code == ACL_OK) {
        code = acl->identify(acl, revert->arena, object, &identity);
        acl->close(acl, object);
    }
    if (code == ACL_OK)
        return identity.path;
    if (code != ACL_MISSING)
        leave(revert, record->identity.path, code);
    return NULL;
}

static void revert_trees(struct revert *revert)
{
    struct acl_names walked = {0};
    for (uint32_t i = 0; i < revert->records->count; i++) {
        const struct journal_record *record = &revert->records->items[i];
        const char *path = record->type == JOURNAL_TREE ? tree_path(revert, record) : NULL;
        bool covered = path == NULL;
        for (uint32_t j = 0; j < walked.count && !covered; j++)
            covered = acl_path_covers(walked.items[j], path);
        if (covered)
            continue;
        VECTOR_PUSH(revert->arena, &walked, path);
        walk_run(&revert->walk, path, NULL);
    }
}

/* --- placeholders --------------------------------------------------------------------------------------- */

static const char *last_name(const char *path)
{
    const char *last = strrchr(path, '\\');
    return last != NULL ? last + 1 : path;
}

uint32_t revert_open_placeholder(const struct journal_place *place, struct arena *arena,
                                 const struct journal_records *records, const struct journal_record *record,
                                 unsigned access, struct acl_object **object)
{
    const struct acl_operations *acl = place->acl;
    bool gone;
    const struct acl_identity *made = claims_made(records, record->number, &gone);
    if (gone)
        return ACL_MISSING;
    if (made != NULL) {
        struct acl_identity named = *made;
        named.path = record->path;
        uint32_t code = acl->open_id(acl, arena, &named, access, object);
        return code != ACL_MISSING ? code : acl->open_id(acl, arena, made, access, object);
    }
    return acl->open(acl, arena, record->maker, access, object);
}

/* Removes it if nobody has made anything of it: it is called as before, and what it holds is what was put
 * there. */
static void remove_placeholder(struct revert *revert, struct arena *arena, const struct claims *claims,
                               const struct journal_record *record)
{
    const struct acl_operations *acl = revert->place->acl;
    struct acl_object *object;
    struct acl_identity identity;
    uint32_t code =
        revert_open_placeholder(revert->place, arena, revert->records, record, ACL_REMOVE, &object);
    if (code == ACL_OK) {
        code = acl->identify(acl, arena, object, &identity);
        bool named = code == ACL_OK && (strcmp(last_name(identity.path), last_name(record->path)) == 0 ||
                                        strcmp(last_name(identity.path), last_name(record->maker)) == 0);
        if (named && claims_placeholder(claims, &identity) == NULL)
            code = acl->remove(acl, arena, object, record->content);
        acl->close(acl, object);
    }
    if (code != ACL_OK && code != ACL_MISSING && code != ACL_NOT_EMPTY)
        leave(revert, record->path, code);
}

static void remove_placeholders(struct revert *revert)
{
    if (!turn_begin(revert))
        return;
    struct claims claims = claims_load(revert->place, revert->arena, revert->name);
    for (uint32_t i = revert->records->count; i-- > 0;)
        if (revert->records->items[i].type == JOURNAL_PLACEHOLDER)
            remove_placeholder(revert, revert->arena, &claims, &revert->records->items[i]);
    turn_end(revert);
}

/* --- all of it ------------------------------------------------------------------------------------------ */

static void remove_package(struct revert *revert)
{
    const struct journal_records *records = revert->records;
    const char *package =
        records->count > 0 && records->items[0].type == JOURNAL_HEADER ? records->items[0].package : NULL;
    if (package == NULL || revert->place->remove_package == NULL || revert->place->remove_package(package))
        return;
    journal_say(revert->place->arena, revert->left, "the AppContainer profile %s cannot be removed now",
                package);
    revert->all = false;
}

static void close_file(struct revert *revert, struct journal_file *file)
{
    const struct journal_store *store = revert->place->store;
    if (revert->records->damaged) {
        const char *name = arena_format(revert->place->arena, "%s" JOURNAL_CORRUPT, revert->name);
        journal_say(
            revert->place->arena, revert->left,
            "the journal %s is damaged: what could be read of it was taken back, and it is kept as %s",
            revert->name, name);
        store->rename(store, file, name);
    } else if (revert->all) {
        store->remove(store, file);
    } else {
        store->close(store, file);
    }
}

/* What the run's entries are told by. A record that names anybody else's SID is not believed. */
static void take_in(struct revert *revert)
{
    for (uint32_t i = 0; i < revert->records->count; i++) {
        const struct journal_record *record = &revert->records->items[i];
        revert->labels |= record->labels;
        for (uint32_t j = 0; j < record->count; j++)
            if (journal_sid_is_own(&record->entries[j].sid))
                sid_list_add(revert->arena, &revert->sids, &record->entries[j].sid);
    }
}

bool revert_file(const struct journal_place *place, struct journal_file *file, const char *name,
                 const struct journal_records *records, struct journal_sentences *left)
{
    struct revert revert = {.place = place, .name = name, .records = records, .left = left, .all = true};
    if (records->foreign) {
        journal_say(place->arena, left,
                    "the journal %s is of another version of this program, which can read it", name);
        place->store->close(place->store, file);
        return false;
    }
    revert.arena = arena_child(place->arena);
    revert.walk = (struct walk){
        .acl = place->acl, .arena = revert.arena, .visit = visit, .closed = closed, .context = &revert};
    take_in(&revert);
    revert_objects(&revert);
    revert_trees(&revert);
    remove_placeholders(&revert);
    remove_package(&revert);
    close_file(&revert, file);
    arena_destroy(revert.arena);
    return revert.all && !records->damaged;
}
