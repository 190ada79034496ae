/* Runs that use the same objects, and others that move, use and remove them, leave nothing together. */
#include "runtime/windows/claims.h"

#include "tests/unit/journal_world.h"

/* --- others on the same objects ------------------------------------------------------------------------- */

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

/* --- objects that are not where they were --------------------------------------------------------------- */

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
    assert_int_equal(journal_placeholder(actor.journal, "C:\\w\\a", NULL, NULL, &object, &error), ACL_EXISTS);
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

/* --- any order of things -------------------------------------------------------------------------------- */

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
    for (uint32_t seed = 0; seed < 1000; seed++) {
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
        cmocka_unit_test(runs_in_any_order_leave_nothing_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
