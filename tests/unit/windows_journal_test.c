/* What a run changes on Windows is taken back byte for byte, wherever its launcher is killed and however often. */
#include "runtime/windows/claims.h"

#include "tests/unit/journal_world.h"

/* --- one run ---------------------------------------------------------------------------------------------- */

static void a_run_that_ends_leaves_nothing(void **state)
{
    (void)state;
    struct world *world = world_make();
    struct process *process = process_start(world->disk, &world->fault);
    struct journal_place place = place_of(world, process);
    struct journal_sentences left = {0};
    const char *error = NULL;
    struct journal *journal = journal_begin(&place, &usual_run, &error);
    assert_non_null(journal);
    assert_null(run_changes(journal, world, 7, true));
    assert_string_not_equal(acl_memory_text(world->arena, world->memory), world->before);
    journal_end(journal, &left);
    assert_nothing_left(world, &left);
    arena_destroy(world->arena);
}

/* Steps of a whole run and its end; dies after `steps`. True if it came to its end. */
static bool run_and_die(struct world *world, long steps, bool power, bool labels)
{
    struct journal_sentences left = {0};
    const char *error = NULL;
    world->fault = (struct acl_fault){.left = steps};
    struct process *process = process_start(world->disk, &world->fault);
    struct journal_place place = place_of(world, process);
    struct journal *journal = journal_begin(&place, &usual_run, &error);
    if (journal != NULL && run_changes(journal, world, 7, labels) == NULL)
        journal_end(journal, &left);
    bool ended = !world->fault.dead;
    process_bury(process, power);
    return ended;
}

/* Takes back, and dies after `steps`. True if it came to its end. */
static bool recover_and_die(struct world *world, long steps, struct journal_sentences *left)
{
    world->fault = (struct acl_fault){.left = steps};
    struct process *process = process_start(world->disk, &world->fault);
    recover(world, process, left);
    process_bury(process, true);
    return !world->fault.dead;
}

static void killed_at_each_step(bool power, bool labels)
{
    bool ended = false;
    for (long steps = 0; !ended; steps++) {
        struct world *world = world_make();
        struct journal_sentences left = {0};
        ended = run_and_die(world, steps, power, labels);
        assert_true(recover_and_die(world, LONG_MAX, &left));
        assert_nothing_left(world, &left);
        arena_destroy(world->arena);
        assert_true(steps < 1000);
    }
}

static void killed_at_each_step_nothing_is_left(void **state)
{
    (void)state;
    killed_at_each_step(false, true);
    killed_at_each_step(false, false);
}

static void without_power_at_each_step_nothing_is_left(void **state)
{
    (void)state;
    killed_at_each_step(true, true);
    killed_at_each_step(true, false);
}

static void killed_again_while_taking_back_nothing_is_left(void **state)
{
    (void)state;
    bool ended = false;
    for (long first = 0; !ended; first++) {
        bool recovered = false;
        for (long second = 0; !recovered; second++) {
            struct world *world = world_make();
            struct journal_sentences left = {0}, ignored = {0};
            ended = run_and_die(world, first, true, true);
            recovered = recover_and_die(world, second, &ignored);
            assert_true(recover_and_die(world, LONG_MAX, &left));
            assert_nothing_left(world, &left);
            arena_destroy(world->arena);
        }
    }
}

/* No record of an object below it comes to the disk with that of the tree. */
static void a_tree_whose_walk_is_cut_off_is_walked_again(void **state)
{
    (void)state;
    bool ended = false;
    for (long steps = 0; !ended; steps++) {
        struct world *world = world_make();
        struct journal_sentences left = {0};
        const char *error = NULL;
        struct process *process = process_start(world->disk, &world->fault);
        struct journal_place place = place_of(world, process);
        world->fault = (struct acl_fault){.left = steps};
        struct journal *journal = journal_begin(&place, &usual_run, &error);
        if (journal != NULL &&
            give(journal, world, "C:\\w\\a", entry(7, WINDOWS_ENTRY_ALLOW, INHERIT, 0x1301bf), false) == NULL)
            error = journal_spread(journal, &left);
        ended = !world->fault.dead;
        process_bury(process, true);
        assert_true(recover_and_die(world, LONG_MAX, &left));
        assert_nothing_left(world, &left);
        arena_destroy(world->arena);
    }
}

static void what_was_made_in_the_sandbox_is_cleaned_after_a_loss_of_power(void **state)
{
    (void)state;
    struct world *world = world_make();
    struct journal_sentences left = {0}, notes = {0};
    const char *error = NULL;
    struct process *process = process_start(world->disk, NULL);
    struct journal_place place = place_of(world, process);
    struct journal *journal = journal_begin(&place, &usual_run, &error);
    assert_null(
        give(journal, world, "C:\\w\\a\\deep", entry(7, WINDOWS_ENTRY_ALLOW, INHERIT, 0x1301bf), true));
    assert_null(journal_spread(journal, &notes));
    put(world, "C:\\w\\a\\deep\\made", "text", NULL);
    assert_true(acl_memory_look(world->memory, "C:\\w\\a\\deep\\made")->labelled);
    process_bury(process, true);
    recover(world, process, &left);
    assert_false(acl_memory_look(world->memory, "C:\\w\\a\\deep\\made")->labelled);
    assert_true(acl_memory_delete(world->memory, "C:\\w\\a\\deep\\made"));
    assert_nothing_left(world, &left);
    arena_destroy(world->arena);
}

/* --- others on the same objects ----------------------------------------------------------------------------- */

struct actor {
    struct process *process;
    struct journal_place place;
    struct journal *journal;
};

static struct actor start(struct world *world)
{
    const char *error = NULL;
    struct actor actor = {.process = process_start(world->disk, NULL)};
    actor.place = place_of(world, actor.process);
    actor.journal = journal_begin(&actor.place, &usual_run, &error);
    assert_non_null(actor.journal);
    return actor;
}

static void finish(struct actor *actor)
{
    struct journal_sentences left = {0};
    journal_end(actor->journal, &left);
    if (left.count > 0)
        fail_msg("%s", left.items[0]);
}

static void work(struct actor *actor, struct world *world, unsigned run)
{
    const char *error = run_changes(actor->journal, world, run, true);
    if (error != NULL)
        fail_msg("%s", error);
}

static bool is_there(const struct world *world, const char *path)
{
    return acl_memory_look(world->memory, path) != NULL;
}

static uint32_t entries_of(const struct world *world, const char *path, unsigned run)
{
    const struct windows_descriptor *descriptor = acl_memory_look(world->memory, path);
    const struct windows_entry own = entry(run, 0, 0, 0);
    uint32_t count = 0;
    for (uint32_t i = 0; descriptor != NULL && i < descriptor->count; i++)
        count += windows_sid_equal(&descriptor->entries[i].sid, &own.sid);
    return count;
}

static void two_runs_share_labels_and_placeholders_until_the_last_ends(void **state)
{
    (void)state;
    for (int first = 0; first < 2; first++) {
        struct world *world = world_make();
        struct actor actors[2] = {start(world), start(world)};
        work(&actors[0], world, 7);
        work(&actors[1], world, 8);
        finish(&actors[first]);
        assert_true(is_there(world, "C:\\w\\config\\commondir"));
        assert_true(acl_memory_look(world->memory, "C:\\w\\a\\deep")->labelled);
        assert_int_equal(entries_of(world, "C:\\w\\a\\deep", 7), first == 0 ? 0 : 1);
        assert_int_equal(entries_of(world, "C:\\w\\a\\deep", 8), first == 0 ? 1 : 0);
        finish(&actors[!first]);
        assert_nothing_left(world, &(struct journal_sentences){0});
        arena_destroy(world->arena);
    }
}

static void what_a_dead_run_shares_with_a_living_one_stays_until_that_ends(void **state)
{
    (void)state;
    struct world *world = world_make();
    struct journal_sentences left = {0};
    struct actor dead = start(world), living = start(world);
    work(&dead, world, 7);
    work(&living, world, 8);
    process_bury(dead.process, true);
    recover(world, living.process, &left);
    assert_int_equal(left.count, 0);
    assert_int_equal(disk_files(world->disk), 1);
    assert_true(is_there(world, "C:\\w\\config\\commondir"));
    assert_true(acl_memory_look(world->memory, "C:\\w")->labelled);
    assert_int_equal(entries_of(world, "C:\\w\\a\\deep\\file", 7), 0);
    finish(&living);
    assert_nothing_left(world, &left);
    arena_destroy(world->arena);
}

static struct windows_entry medium_label(void)
{
    struct windows_entry label = low_label();
    label.mask = WINDOWS_NO_WRITE_UP | WINDOWS_NO_READ_UP;
    assert_true(windows_sid_parse("S-1-16-8192", &label.sid));
    return label;
}

static const char *label_medium(struct actor *actor, struct world *world, const char *path)
{
    const struct acl_operations *acl = acl_memory_operations(world->memory);
    struct windows_entry label = medium_label();
    struct journal_change change = {.label = &label};
    struct acl_object *object;
    assert_int_equal(acl->open(acl, world->arena, path, ACL_WRITE | ACL_WRITE_LABEL, &object), ACL_OK);
    return journal_apply(actor->journal, object, &change);
}

static void a_label_that_a_living_run_needs_is_not_replaced_and_a_dead_one_is_no_obstacle(void **state)
{
    (void)state;
    struct world *world = world_make();
    struct journal_sentences left = {0};
    struct actor low = start(world), medium = start(world);
    work(&low, world, 7);
    assert_non_null(label_medium(&medium, world, "C:\\w\\a"));
    process_bury(low.process, true);
    assert_null(label_medium(&medium, world, "C:\\w\\a"));
    recover(world, medium.process, &left);
    finish(&medium);
    assert_nothing_left(world, &left);
    arena_destroy(world->arena);
}

static void what_others_do_to_an_object_meanwhile_stays(void **state)
{
    (void)state;
    struct world *world = world_make();
    struct actor actor = start(world);
    work(&actor, world, 7);
    struct windows_descriptor changed = *acl_memory_look(world->memory, "C:\\w\\git\\hooks");
    struct windows_entry theirs = {.type = WINDOWS_ENTRY_ALLOW, .mask = 0x1200a9};
    assert_true(windows_sid_parse("S-1-5-32-545", &theirs.sid));
    changed = windows_descriptor_with(world->arena, &changed, &theirs);
    /* Such a tool turns inherited entries into explicit ones. */
    for (uint32_t i = 0; i < changed.count; i++)
        changed.entries[i].flags &= (uint8_t)~WINDOWS_INHERITED;
    acl_memory_describe(world->memory, "C:\\w\\git\\hooks", &changed);
    finish(&actor);
    const struct windows_descriptor *now = acl_memory_look(world->memory, "C:\\w\\git\\hooks");
    bool kept = false;
    for (uint32_t i = 0; i < now->count; i++)
        kept |= windows_entry_equal(&now->entries[i], &theirs);
    assert_true(kept);
    assert_int_equal(entries_of(world, "C:\\w\\git\\hooks", 7), 0);
    arena_destroy(world->arena);
}

/* --- objects that are not where they were ------------------------------------------------------------------- */

static void an_object_that_was_moved_is_found(void **state)
{
    (void)state;
    struct world *world = world_make();
    struct actor actor = start(world);
    work(&actor, world, 7);
    assert_true(acl_memory_move(world->memory, "C:\\w\\git", "C:\\away\\git"));
    assert_true(acl_memory_move(world->memory, "C:\\w", "C:\\moved"));
    assert_true(entries_of(world, "C:\\moved\\a\\deep\\file", 7) > 0);
    finish(&actor);
    assert_true(acl_memory_move(world->memory, "C:\\moved", "C:\\w"));
    assert_true(acl_memory_move(world->memory, "C:\\away\\git", "C:\\w\\git"));
    /* What had its entries by inheritance alone was moved out of the walk: the hooks had a record, their file
     * had a tree of its own. */
    assert_nothing_left(world, &(struct journal_sentences){0});
    arena_destroy(world->arena);
}

static void an_object_that_is_gone_is_dropped(void **state)
{
    (void)state;
    struct world *world = world_make();
    struct journal_sentences left = {0};
    struct actor actor = start(world);
    work(&actor, world, 7);
    assert_true(acl_memory_delete(world->memory, "C:\\w\\none"));
    assert_true(acl_memory_delete(world->memory, "C:\\w\\config\\commondir"));
    journal_end(actor.journal, &left);
    assert_int_equal(left.count, 0);
    assert_int_equal(disk_files(world->disk), 0);
    assert_false(is_there(world, "C:\\w\\config"));
    arena_destroy(world->arena);
}

static void a_denied_object_is_tried_again_and_blocks_nobody(void **state)
{
    (void)state;
    struct world *world = world_make();
    struct journal_sentences left = {0}, again = {0};
    struct actor actor = start(world);
    work(&actor, world, 7);
    assert_true(acl_memory_refuse(world->memory, "C:\\w\\none", true));
    journal_end(actor.journal, &left);
    assert_true(left.count > 0);
    assert_non_null(strstr(left.items[0], "C:\\w\\none"));
    struct actor other = start(world);
    assert_null(
        give(other.journal, world, "C:\\w\\a", entry(8, WINDOWS_ENTRY_ALLOW, INHERIT, 0x1301bf), false));
    finish(&other);
    assert_true(acl_memory_refuse(world->memory, "C:\\w\\none", false));
    recover(world, other.process, &again);
    assert_nothing_left(world, &again);
    arena_destroy(world->arena);
}

static void a_placeholder_that_somebody_uses_stays(void **state)
{
    (void)state;
    struct world *world = world_make();
    struct actor actor = start(world);
    work(&actor, world, 7);
    assert_true(acl_memory_write(world->memory, "C:\\w\\config\\commondir", "theirs"));
    finish(&actor);
    assert_true(is_there(world, "C:\\w\\config\\commondir"));
    assert_int_equal(entries_of(world, "C:\\w\\config\\commondir", 7), 0);

    struct actor second = start(world);
    assert_null(hold_place(second.journal, world, "C:\\w\\new", NULL));
    assert_true(acl_memory_move(world->memory, "C:\\w\\new", "C:\\w\\renamed"));
    finish(&second);
    assert_true(is_there(world, "C:\\w\\renamed"));
    arena_destroy(world->arena);
}

static void nothing_is_put_where_something_is(void **state)
{
    (void)state;
    struct world *world = world_make();
    struct actor actor = start(world);
    struct acl_object *object;
    const char *error = NULL;
    assert_int_equal(journal_placeholder(actor.journal, "C:\\w\\a", NULL, &object, &error), ACL_EXISTS);
    assert_null(error);
    /* What was made under another name for it is no placeholder of anybody any more. */
    const struct journal_records records = journal_records_read(
        world->arena, world->disk->files[0]->bytes.bytes, world->disk->files[0]->bytes.length);
    struct acl_identity made = {0};
    for (uint32_t i = 0; i < records.count; i++)
        if (records.items[i].identity.volume != NULL)
            made = records.items[i].identity;
    assert_non_null(made.volume);
    assert_null(claims_placeholder_in(&records, &made));
    finish(&actor);
    assert_nothing_left(world, &(struct journal_sentences){0});
    arena_destroy(world->arena);
}

static void another_object_at_the_same_path_is_not_changed(void **state)
{
    (void)state;
    struct world *world = world_make();
    struct actor actor = start(world);
    const struct acl_operations *acl = acl_memory_operations(world->memory);
    struct windows_entry own = entry(7, WINDOWS_ENTRY_ALLOW, 0, 0x1200a9);
    struct journal_change change = {.entries = &own, .count = 1};
    struct acl_object *object;
    assert_int_equal(acl->open(acl, world->arena, "C:\\w\\none", ACL_WRITE, &object), ACL_OK);
    assert_true(acl_memory_delete(world->memory, "C:\\w\\none"));
    assert_non_null(journal_apply(actor.journal, object, &change));
    arena_destroy(world->arena);
}

/* --- files that are not as they should be ------------------------------------------------------------------- */

static void a_damaged_journal_is_set_aside_and_what_can_be_read_is_taken_back(void **state)
{
    (void)state;
    for (int which = 0; which < 3; which++) {
        struct world *world = world_make();
        struct journal_sentences left = {0}, again = {0};
        struct actor actor = start(world);
        work(&actor, world, 7);
        process_bury(actor.process, false);
        struct buffer *bytes = &world->disk->files[0]->bytes;
        if (which == 0)
            bytes->bytes[bytes->length / 3] ^= 1;
        else
            memset(bytes->bytes, which == 1 ? 0 : 'x', which == 1 ? 64 : bytes->length);
        recover(world, actor.process, &left);
        assert_int_equal(left.count, 1);
        assert_non_null(strstr(left.items[0], "is damaged"));
        assert_non_null(strstr(world->disk->files[0]->name, ".corrupt"));
        if (which == 1)
            assert_as_before(world);
        recover(world, actor.process, &again);
        assert_int_equal(again.count, 0);
        struct actor next = start(world);
        finish(&next);
        arena_destroy(world->arena);
    }
}

static void a_journal_of_zeros_is_removed(void **state)
{
    (void)state;
    struct world *world = world_make();
    struct journal_sentences left = {0};
    struct actor actor = start(world);
    process_bury(actor.process, false);
    memset(world->disk->files[0]->bytes.bytes, 0, world->disk->files[0]->bytes.length);
    recover(world, actor.process, &left);
    assert_nothing_left(world, &left);
    arena_destroy(world->arena);
}

static void a_journal_of_another_version_is_left_alone(void **state)
{
    (void)state;
    struct world *world = world_make();
    struct journal_sentences left = {0};
    struct process *process = process_start(world->disk, NULL);
    struct journal_file *file;
    struct buffer bytes = buffer_in(world->arena);
    struct journal_record header = {.type = JOURNAL_HEADER, .version = JOURNAL_VERSION + 1};
    assert_true(journal_record_write(&header, &bytes));
    process->store.create(&process->store, world->arena, "x.journal", &file);
    process->store.append(&process->store, file, bytes.bytes, bytes.length, true);
    process_bury(process, false);
    recover(world, process, &left);
    assert_int_equal(left.count, 1);
    assert_string_equal(world->disk->files[0]->name, "x.journal");
    assert_int_equal(disk_files(world->disk), 1);
    arena_destroy(world->arena);
}

/* Whoever could write a journal could otherwise have entries of the user removed. */
static void a_journal_that_names_others_is_not_believed(void **state)
{
    (void)state;
    struct world *world = world_make();
    struct journal_sentences left = {0};
    struct process *process = process_start(world->disk, NULL);
    const struct acl_operations *acl = acl_memory_operations(world->memory);
    struct acl_object *object;
    struct journal_file *file;
    struct buffer bytes = buffer_in(world->arena);
    struct windows_entry theirs = {.type = WINDOWS_ENTRY_ALLOW, .mask = 0x1f01ff};
    assert_true(windows_sid_parse("S-1-5-18", &theirs.sid));
    struct journal_record header = {.type = JOURNAL_HEADER, .version = JOURNAL_VERSION};
    struct journal_record change = {.type = JOURNAL_OBJECT, .number = 1, .entries = &theirs, .count = 1};
    assert_int_equal(acl->open(acl, world->arena, "C:\\w", 0, &object), ACL_OK);
    assert_int_equal(acl->identify(acl, world->arena, object, &change.identity), ACL_OK);
    assert_int_equal(acl->read(acl, world->arena, object, &change.before), ACL_OK);
    assert_true(journal_record_write(&header, &bytes) && journal_record_write(&change, &bytes));
    process->store.create(&process->store, world->arena, "x.journal", &file);
    process->store.append(&process->store, file, bytes.bytes, bytes.length, true);
    process_bury(process, false);
    recover(world, process, &left);
    assert_nothing_left(world, &left);
    arena_destroy(world->arena);
}

static void no_entry_of_anybody_else_is_given(void **state)
{
    (void)state;
    struct world *world = world_make();
    struct actor actor = start(world);
    static const char *const others[] = {"S-1-1-0",      "S-1-5-18",   "S-1-5-21-9-9-9",
                                         "S-1-5-32-545", "S-1-15-2-1", "S-1-15-3-1"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct windows_entry entry = {.type = WINDOWS_ENTRY_ALLOW, .mask = 0x1200a9};
        assert_true(windows_sid_parse(others[i], &entry.sid));
        assert_non_null(give(actor.journal, world, "C:\\w", entry, false));
    }
    struct windows_entry package = {.type = WINDOWS_ENTRY_ALLOW, .mask = 0x1200a9};
    assert_true(windows_sid_parse("S-1-15-2-1-2-3-4-5-6-7", &package.sid));
    assert_null(give(actor.journal, world, "C:\\w", package, false));
    finish(&actor);
    assert_nothing_left(world, &(struct journal_sentences){0});
    arena_destroy(world->arena);
}

static void a_full_disk_stops_a_run_before_it_changes_what_is_not_written(void **state)
{
    (void)state;
    bool fits = false;
    for (size_t room = 0; !fits; room += 7) {
        struct world *world = world_make();
        struct journal_sentences left = {0};
        const char *error = NULL;
        struct process *process = process_start(world->disk, NULL);
        struct journal_place place = place_of(world, process);
        world->disk->room = room;
        struct journal *journal = journal_begin(&place, &usual_run, &error);
        if (journal != NULL)
            error = run_changes(journal, world, 7, true);
        fits = error == NULL;
        /* With or without an end of the run's own. */
        if (room % 2 == 0)
            journal_end(journal, &left);
        process_bury(process, true);
        recover(world, process, &left);
        assert_nothing_left(world, &left);
        arena_destroy(world->arena);
    }
}

static void after_a_write_that_failed_nothing_is_changed_any_more(void **state)
{
    (void)state;
    struct world *world = world_make();
    struct actor actor = start(world);
    struct windows_entry own = entry(7, WINDOWS_ENTRY_ALLOW, INHERIT, 0x1301bf);
    world->disk->room = 10;
    assert_non_null(give(actor.journal, world, "C:\\w", own, false));
    world->disk->room = SIZE_MAX;
    assert_non_null(give(actor.journal, world, "C:\\w", own, false));
    assert_as_before(world);
    finish(&actor);
    assert_nothing_left(world, &(struct journal_sentences){0});
    arena_destroy(world->arena);
}

static void without_the_turn_nothing_is_changed(void **state)
{
    (void)state;
    struct world *world = world_make();
    struct journal_sentences left = {0};
    struct actor actor = start(world);
    struct process *other = process_start(world->disk, NULL);
    assert_null(give(actor.journal, world, "C:\\w", entry(7, WINDOWS_ENTRY_ALLOW, INHERIT, 0x1301bf), false));
    assert_true(other->store.turn_begin(&other->store));
    const char *before = acl_memory_text(world->arena, world->memory);
    assert_non_null(give(actor.journal, world, "C:\\w", entry(7, WINDOWS_ENTRY_ALLOW, 0, 0x1200a9), false));
    assert_non_null(hold_place(actor.journal, world, "C:\\w\\p", NULL));
    assert_non_null(journal_spread(actor.journal, &left));
    journal_end(actor.journal, &left);
    assert_true(left.count > 0);
    assert_string_equal(acl_memory_text(world->arena, world->memory), before);
    other->store.turn_end(&other->store);
    left.count = 0;
    recover(world, other, &left);
    assert_nothing_left(world, &left);
    arena_destroy(world->arena);
}

static bool package_stays(const char *name)
{
    (void)name;
    return false;
}

static void a_profile_that_cannot_be_removed_is_tried_again(void **state)
{
    (void)state;
    struct world *world = world_make();
    struct journal_sentences left = {0}, again = {0};
    struct actor actor = start(world);
    process_bury(actor.process, true);
    struct journal_place place = actor.place;
    place.remove_package = package_stays;
    journal_recover(&place, NULL, &left);
    assert_int_equal(left.count, 1);
    recover(world, actor.process, &again);
    assert_nothing_left(world, &again);
    arena_destroy(world->arena);
}

static uint32_t forgetful_write(const struct acl_operations *acl, struct arena *arena,
                                struct acl_object *object, const struct windows_descriptor *descriptor)
{
    (void)acl;
    (void)arena;
    (void)object;
    (void)descriptor;
    return ACL_OK;
}

/* Wine, for one, reports success for what it does not do. */
static void a_write_without_effect_is_found(void **state)
{
    (void)state;
    for (int label = 0; label < 2; label++) {
        struct world *world = world_make();
        struct acl_operations lying = *acl_memory_operations(world->memory);
        if (label != 0)
            lying.write_label = forgetful_write;
        else
            lying.write_entries = forgetful_write;
        struct process *process = process_start(world->disk, NULL);
        struct journal_place place = place_of(world, process);
        const char *error = NULL;
        place.acl = &lying;
        struct journal *journal = journal_begin(&place, &usual_run, &error);
        error = give(journal, world, "C:\\w", entry(7, WINDOWS_ENTRY_DENY, INHERIT, 0x1f01ff), true);
        assert_non_null(error);
        assert_non_null(strstr(error, "has not taken over"));
        arena_destroy(world->arena);
    }
}

static void what_was_not_really_taken_back_is_kept(void **state)
{
    (void)state;
    struct world *world = world_make();
    struct journal_sentences left = {0};
    struct acl_operations lying = *acl_memory_operations(world->memory);
    struct actor actor = start(world);
    work(&actor, world, 7);
    process_bury(actor.process, true);
    struct journal_place place = actor.place;
    lying.write_entries = forgetful_write;
    place.acl = &lying;
    journal_recover(&place, NULL, &left);
    assert_true(left.count > 0);
    left.count = 0;
    recover(world, actor.process, &left);
    assert_nothing_left(world, &left);
    arena_destroy(world->arena);
}

static void the_doctor_says_what_there_is(void **state)
{
    (void)state;
    struct world *world = world_make();
    struct journal_sentences found = {0};
    struct actor actor = start(world);
    work(&actor, world, 7);
    struct buffer said = buffer_in(world->arena);
    journal_doctor(&actor.place, &found);
    process_bury(actor.process, true);
    journal_doctor(&actor.place, &found);
    for (uint32_t i = 0; i < found.count; i++)
        buffer_format(&said, "%s\n", found.items[i]);
    static const char *const expected[] = {
        "the AppContainer profile sbx.00112233445566778899aabbccddeeff of a sandbox that is running",
        "the AppContainer profile sbx.00112233445566778899aabbccddeeff left by a sandbox that did not end",
        "C:\\w\\config: the placeholder (directory) of a sandbox that is running",
        "C:\\w\\config\\commondir: the placeholder (file) left by a sandbox that did not end",
        "C:\\w\\git\\hooks: 1 allowing and 1 denying entries left by a sandbox that did not end",
        "C:\\w: the integrity label Low left by a sandbox that did not end",
        "objects below those are changed as they are, left by a sandbox that did not end",
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        if (strstr(said.bytes, expected[i]) == NULL)
            fail_msg("%s: not in\n%s", expected[i], said.bytes);
    assert_null(strstr(said.bytes, "C:\\w\\low: the integrity"));
    arena_destroy(world->arena);
}

/* --- any order of things ------------------------------------------------------------------------------------- */

static uint32_t draw(uint32_t *random, uint32_t below)
{
    *random = *random * 1664525 + 1013904223;
    return (*random >> 8) % below;
}

/* A run of its own random changes. */
static void random_run(struct world *world, struct actor *actor, unsigned run, uint32_t *random)
{
    static const char *const paths[] = {
        "C:\\w",       "C:\\w\\a",          "C:\\w\\a\\deep",    "C:\\w\\a\\own",
        "C:\\w\\none", "C:\\w\\closed",     "C:\\w\\git\\hooks", "C:\\w\\low",
        "C:\\w\\git",  "C:\\w\\closed\\in", "C:\\away"};
    struct journal_sentences notes = {0};
    const char *error = NULL;
    for (uint32_t i = draw(random, 6); i > 0 && error == NULL; i--) {
        const char *path = paths[draw(random, sizeof paths / sizeof *paths)];
        uint8_t flags = draw(random, 2) != 0 ? INHERIT : 0;
        uint8_t type = draw(random, 2) != 0 ? WINDOWS_ENTRY_DENY : WINDOWS_ENTRY_ALLOW;
        error = draw(random, 4) == 0 ? hold_place(actor->journal, world, "C:\\w\\a\\place", NULL)
                                     : give(actor->journal, world, path, entry(run, type, flags, 0x1301bf),
                                            draw(random, 3) == 0);
    }
    if (error == NULL)
        journal_spread(actor->journal, &notes);
}

static void runs_in_any_order_leave_nothing_together(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < 3000; seed++) {
        uint32_t random = seed;
        struct world *world = world_make();
        struct journal_sentences left = {0};
        struct actor actors[3];
        for (unsigned i = 0; i < 3; i++) {
            actors[i] = start(world);
            world->fault =
                (struct acl_fault){.left = draw(&random, 3) != 0 ? LONG_MAX : (long)draw(&random, 60)};
            actors[i].process->fault = &world->fault;
            random_run(world, &actors[i], 100 + i, &random);
            bool alive = !world->fault.dead;
            actors[i].process->fault = NULL;
            world->fault = (struct acl_fault){.left = LONG_MAX};
            if (!alive || draw(&random, 3) == 0) {
                process_bury(actors[i].process, draw(&random, 2) != 0);
                actors[i].journal = NULL;
            }
            if (draw(&random, 3) == 0)
                recover(world, actors[i].process, &left);
        }
        for (unsigned i = 0; i < 3; i++)
            journal_end(actors[(i + seed) % 3].journal, &left);
        recover(world, actors[0].process, &left);
        assert_nothing_left(world, &left);
        arena_destroy(world->arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_that_ends_leaves_nothing),
        cmocka_unit_test(killed_at_each_step_nothing_is_left),
        cmocka_unit_test(without_power_at_each_step_nothing_is_left),
        cmocka_unit_test(killed_again_while_taking_back_nothing_is_left),
        cmocka_unit_test(a_tree_whose_walk_is_cut_off_is_walked_again),
        cmocka_unit_test(what_was_made_in_the_sandbox_is_cleaned_after_a_loss_of_power),
        cmocka_unit_test(two_runs_share_labels_and_placeholders_until_the_last_ends),
        cmocka_unit_test(what_a_dead_run_shares_with_a_living_one_stays_until_that_ends),
        cmocka_unit_test(a_label_that_a_living_run_needs_is_not_replaced_and_a_dead_one_is_no_obstacle),
        cmocka_unit_test(what_others_do_to_an_object_meanwhile_stays),
        cmocka_unit_test(an_object_that_was_moved_is_found),
        cmocka_unit_test(an_object_that_is_gone_is_dropped),
        cmocka_unit_test(a_denied_object_is_tried_again_and_blocks_nobody),
        cmocka_unit_test(a_placeholder_that_somebody_uses_stays),
        cmocka_unit_test(nothing_is_put_where_something_is),
        cmocka_unit_test(another_object_at_the_same_path_is_not_changed),
        cmocka_unit_test(a_damaged_journal_is_set_aside_and_what_can_be_read_is_taken_back),
        cmocka_unit_test(a_journal_of_zeros_is_removed),
        cmocka_unit_test(a_journal_of_another_version_is_left_alone),
        cmocka_unit_test(a_journal_that_names_others_is_not_believed),
        cmocka_unit_test(no_entry_of_anybody_else_is_given),
        cmocka_unit_test(a_full_disk_stops_a_run_before_it_changes_what_is_not_written),
        cmocka_unit_test(after_a_write_that_failed_nothing_is_changed_any_more),
        cmocka_unit_test(without_the_turn_nothing_is_changed),
        cmocka_unit_test(a_profile_that_cannot_be_removed_is_tried_again),
        cmocka_unit_test(a_write_without_effect_is_found),
        cmocka_unit_test(what_was_not_really_taken_back_is_kept),
        cmocka_unit_test(the_doctor_says_what_there_is),
        cmocka_unit_test(runs_in_any_order_leave_nothing_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
