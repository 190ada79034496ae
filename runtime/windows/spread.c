#include "runtime/windows/spread.h"

#include "base/vector.h"
#include "runtime/windows/walk.h"

#include <stdlib.h>
#include <string.h>

enum { BATCH = 256 };

/* What a directory passes on besides the entries in its DACL. */
struct carried {
    const struct windows_entry *label; /* NULL: none */
    bool denies;                       /* something is closed there */
};

struct roots {
    const struct acl_identity **items;
    uint32_t count, capacity;
};

struct spread {
    struct journal *journal;
    struct journal_sentences *notes;
    struct walk walk;
    struct roots roots;
};

struct batch {
    struct journal_step steps[BATCH];
    uint32_t count;
};

/* --- which trees ---------------------------------------------------------------------------------------- */

static bool is_root(const struct roots *roots, const struct acl_identity *identity)
{
    for (uint32_t i = 0; i < roots->count; i++)
        if (acl_identity_same(roots->items[i], identity))
            return true;
    return false;
}

static bool passes_on(const struct journal_record *record)
{
    if (record->type != JOURNAL_OBJECT || !record->identity.directory)
        return false;
    for (uint32_t i = 0; i < record->count; i++)
        if ((record->entries[i].flags & WINDOWS_CONTAINER_INHERIT) != 0)
            return true;
    return record->labels;
}

/* Ancestors first. */
static int by_path(const void *a, const void *b)
{
    const struct acl_identity *first = *(const struct acl_identity *const *)a;
    const struct acl_identity *second = *(const struct acl_identity *const *)b;
    return strcmp(first->path, second->path);
}

static struct roots roots_of(const struct journal *journal, struct arena *arena)
{
    struct roots roots = {0};
    for (uint32_t i = 0; i < journal->records.count; i++) {
        struct acl_identity *identity = arena_alloc(arena, sizeof *identity);
        *identity = journal->records.items[i].identity;
        if (passes_on(&journal->records.items[i]) && !is_root(&roots, identity))
            VECTOR_PUSH(arena, &roots, identity);
    }
    if (roots.count > 1)
        qsort(roots.items, roots.count, sizeof(struct acl_identity *), by_path);
    return roots;
}

/* The label that this run has given an object, in `arena`, or NULL. */
static const struct windows_entry *label_of(const struct journal *journal, struct arena *arena,
                                            const struct acl_identity *identity)
{
    const struct journal_record *record = journal_records_of(&journal->records, identity, NULL);
    while (record != NULL && !record->labels)
        record = journal_records_of(&journal->records, identity, record);
    struct windows_entry *label = arena_alloc(arena, sizeof *label);
    if (record != NULL)
        *label = record->label;
    return record != NULL ? label : NULL;
}

/* --- one directory -------------------------------------------------------------------------------------- */

/* An object that cannot be changed stays closed to the command; where something is denied, that is no
 * comfort. */
static const char *left_out(struct spread *spread, const char *path, bool needed, uint32_t code)
{
    struct arena *arena = spread->journal->place.arena;
    if (needed)
        return arena_format(arena, "%s: what is denied there cannot be held: %s", path,
                            acl_error(arena, code));
    journal_say(arena, spread->notes, "%s: stays closed, its access list cannot be changed: %s", path,
                acl_error(arena, code));
    return NULL;
}

static const char *closed(void *context, const char *path, const void *carried, uint32_t code)
{
    const struct carried *here = carried;
    return left_out(context, path, here->denies || here->label != NULL, code);
}

/* The label of an object that is no root comes from its directory. */
static void plan_label(struct journal_step *step, const struct carried *here)
{
    if (here->label == NULL)
        return;
    step->labels = step->recorded = true;
    step->wanted.labelled = true;
    step->wanted.label = edit_inherited_label(here->label, step->identity.directory);
}

static void go_on(struct spread *spread, const struct journal_step *step, const struct carried *here)
{
    const struct sid_list *sids = &spread->journal->sids;
    if (!step->identity.directory || (here->label == NULL && !edit_passes_on(&step->wanted, sids, false)))
        return;
    struct carried *below = arena_alloc(spread->walk.arena, sizeof *below);
    *below = (struct carried){here->label, edit_passes_on(&step->wanted, sids, true)};
    walk_push(&spread->walk, step->identity.path, below);
}

/* Fills in what becomes of the object, which is open. False: nothing. */
static bool plan(struct spread *spread, struct arena *arena, const struct windows_descriptor *directory,
                 const struct carried *here, struct journal_step *step)
{
    struct journal *journal = spread->journal;
    const struct sid_list *sids = &journal->sids;
    step->wanted = edit_inherit(arena, directory, &step->found, step->identity.directory, sids);
    bool changes = !edit_same_entries(&step->found, &step->wanted);
    /* Of this run or an earlier one: the absence of a DACL comes back only where a record says so. */
    step->recorded = changes && (!step->found.dacl_present || edit_may_be_opened(&step->found));
    bool root = is_root(&spread->roots, &step->identity);
    if (!root || label_of(journal, arena, &step->identity) == NULL)
        plan_label(step, here);
    if (step->found.dacl_protected && edit_passes_on(directory, sids, false))
        journal_say(journal->place.arena, spread->notes,
                    "%s: inherits no access rights, so nothing is granted there", step->identity.path);
    if (!root)
        go_on(spread, step, here);
    return step->recorded || changes;
}

static const char *add_child(struct spread *spread, struct arena *arena,
                             const struct windows_descriptor *directory, const char *place, const char *path,
                             const struct carried *here, struct batch *batch)
{
    const struct acl_operations *acl = spread->journal->place.acl;
    struct journal_step *step = &batch->steps[batch->count];
    unsigned access = ACL_WRITE | (here->label != NULL ? ACL_WRITE_LABEL : 0u);
    bool needed = here->label != NULL || edit_passes_on(directory, &spread->journal->sids, true);
    *step = (struct journal_step){0};
    uint32_t code = acl->open(acl, arena, path, access, &step->object);
    if (code == ACL_MISSING)
        return NULL;
    if (code != ACL_OK)
        return left_out(spread, path, needed, code);
    code = acl->identify(acl, arena, step->object, &step->identity);
    if (code == ACL_OK)
        code = acl->read(acl, arena, step->object, &step->found);
    /* A directory on the way was replaced: this is somewhere else. */
    bool elsewhere = code == ACL_OK && !acl_path_covers(place, step->identity.path);
    if (code == ACL_OK && !elsewhere && plan(spread, arena, directory, here, step)) {
        batch->count++;
        return NULL;
    }
    acl->close(acl, step->object);
    if (code != ACL_OK && code != ACL_MISSING)
        return left_out(spread, path, needed, code);
    return elsewhere ? arena_format(spread->journal->place.arena, "%s: was moved meanwhile", path) : NULL;
}

/* The turn is held: what was read is what is edited. */
static const char *spread_batch(struct spread *spread, struct arena *arena, struct acl_object *object,
                                const struct acl_identity *identity, const struct carried *here,
                                const struct acl_names *names, uint32_t *next)
{
    const struct acl_operations *acl = spread->journal->place.acl;
    struct batch *batch = arena_alloc(arena, sizeof *batch);
    struct windows_descriptor directory;
    uint32_t code = acl->read(acl, arena, object, &directory);
    const char *error = code == ACL_OK ? NULL : closed(spread, identity->path, here, code);
    for (; code == ACL_OK && *next < names->count && batch->count < BATCH && error == NULL; ++*next)
        error = add_child(spread, arena, &directory, identity->path,
                          arena_format(arena, "%s\\%s", identity->path, names->items[*next]), here, batch);
    if (error == NULL)
        error = journal_carry_out(spread->journal, arena, batch->steps, batch->count);
    for (uint32_t i = 0; i < batch->count; i++)
        acl->close(acl, batch->steps[i].object);
    if (code != ACL_OK)
        *next = names->count;
    return error;
}

static const char *visit(void *context, struct arena *arena, struct acl_object *directory,
                         const struct acl_identity *identity, const void *carried,
                         const struct acl_names *names)
{
    struct spread *spread = context;
    const struct journal_place *place = &spread->journal->place;
    const char *error = NULL;
    for (uint32_t next = 0; next < names->count && error == NULL;) {
        if (place->stop != NULL && place->stop(place->stop_context))
            return "stopped while access rights were being given";
        if (!place->store->turn_begin(place->store))
            return JOURNAL_NO_TURN;
        error = spread_batch(spread, arena, directory, identity, carried, names, &next);
        place->store->turn_end(place->store);
    }
    return error;
}

/* --- all of them ---------------------------------------------------------------------------------------- */

static const char *spread_root(struct spread *spread, struct arena *arena, const struct acl_identity *root,
                               uint32_t *number)
{
    struct journal *journal = spread->journal;
    const struct acl_operations *acl = journal->place.acl;
    struct acl_object *object;
    struct windows_descriptor descriptor;
    uint32_t code = acl->open_id(acl, arena, root, 0, &object);
    if (code == ACL_OK) {
        code = acl->read(acl, arena, object, &descriptor);
        acl->close(acl, object);
    }
    if (code != ACL_OK)
        return left_out(spread, root->path, true, code);
    struct carried here = {label_of(journal, arena, root), edit_passes_on(&descriptor, &journal->sids, true)};
    *number = journal->records.next;
    /* On the disk with the first change that is made below. */
    const char *error =
        journal_add(journal, (struct journal_record){.type = JOURNAL_TREE, .identity = *root});
    return error != NULL ? error : walk_run(&spread->walk, root->path, &here);
}

const char *spread_all(struct journal *journal, struct journal_sentences *notes)
{
    struct arena *arena = arena_child(journal->place.arena);
    struct spread spread = {.journal = journal, .notes = notes, .roots = roots_of(journal, arena)};
    spread.walk = (struct walk){
        .acl = journal->place.acl, .arena = arena, .visit = visit, .closed = closed, .context = &spread};
    const char *error = NULL;
    uint32_t last = 0;
    for (uint32_t i = 0; i < spread.roots.count && error == NULL; i++)
        error = spread_root(&spread, arena, spread.roots.items[i], &last);
    if (error == NULL && spread.roots.count > 0)
        error = journal_add(journal, (struct journal_record){.type = JOURNAL_DONE, .of = last});
    if (error == NULL)
        error = journal_write(journal, true);
    arena_destroy(arena);
    return error;
}
