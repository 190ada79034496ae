/* What a run changes on Windows is taken back byte for byte, wherever its launcher is killed and however
 * often. */
#include "runtime/windows/journal_record.h"

#include "tests/unit/journal_world.h"

/* --- one run -------------------------------------------------------------------------------------------- */

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

/* --- files that are not as they should be --------------------------------------------------------------- */

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_that_ends_leaves_nothing),
        cmocka_unit_test(killed_at_each_step_nothing_is_left),
        cmocka_unit_test(without_power_at_each_step_nothing_is_left),
        cmocka_unit_test(killed_again_while_taking_back_nothing_is_left),
        cmocka_unit_test(a_tree_whose_walk_is_cut_off_is_walked_again),
        cmocka_unit_test(what_was_made_in_the_sandbox_is_cleaned_after_a_loss_of_power),
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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
