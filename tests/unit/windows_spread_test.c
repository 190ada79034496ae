/* What a run opens or closes at a directory holds for what is there already as for what is made later, and
 * leads nowhere else. */
#include "tests/unit/journal_world.h"

struct spread_case {
    struct world *world;
    struct process *process;
    struct journal_place place;
    struct journal *journal;
    struct journal_sentences notes;
};

static int set_up(void **state)
{
    struct world *world = world_make();
    struct spread_case *it = arena_alloc(world->arena, sizeof *it);
    const char *error = NULL;
    it->world = world;
    it->process = process_start(world->disk, NULL);
    it->place = place_of(world, it->process);
    it->journal = journal_begin(&it->place, &usual_run, &error);
    assert_non_null(it->journal);
    *state = it;
    return 0;
}

static int tear_down(void **state)
{
    struct spread_case *it = *state;
    arena_destroy(it->world->arena);
    return 0;
}

static const char *spread(struct spread_case *it, const char *path, uint8_t type, uint32_t mask, bool labels)
{
    const char *error = give(it->journal, it->world, path, entry(7, type, INHERIT, mask), labels);
    return error != NULL ? error : journal_spread(it->journal, &it->notes);
}

static const struct windows_descriptor *look(const struct spread_case *it, const char *path)
{
    const struct windows_descriptor *found = acl_memory_look(it->world->memory, path);
    assert_non_null(found);
    return found;
}

/* The entries of the run on an object, as text. */
static const char *own_entries(const struct spread_case *it, const char *path)
{
    const struct windows_descriptor *found = look(it, path);
    const struct windows_entry own = entry(7, 0, 0, 0);
    struct buffer out = buffer_in(it->world->arena);
    buffer_string(&out, "");
    for (uint32_t i = 0; i < found->count; i++)
        if (windows_sid_equal(&found->entries[i].sid, &own.sid))
            buffer_format(&out, "%s%x:%x ", found->entries[i].type == WINDOWS_ENTRY_DENY ? "D" : "A",
                          found->entries[i].flags, (unsigned)found->entries[i].mask);
    return out.bytes;
}

static void end(struct spread_case *it)
{
    struct journal_sentences left = {0};
    journal_end(it->journal, &left);
    assert_nothing_left(it->world, &left);
}

static void what_is_there_gets_the_entries_that_what_is_made_later_gets(void **state)
{
    struct spread_case *it = *state;
    assert_null(
        give(it->journal, it->world, "C:\\w\\git", entry(7, WINDOWS_ENTRY_DENY, INHERIT, 0xd0156), false));
    assert_null(give(it->journal, it->world, "C:\\w\\git", entry(7, WINDOWS_ENTRY_DENY, 0, 0x10000), false));
    assert_null(spread(it, "C:\\w", WINDOWS_ENTRY_ALLOW, 0x1301bf, false));
    put(it->world, "C:\\w\\git\\later", "text", NULL);
    put(it->world, "C:\\w\\git\\hooks\\later", NULL, NULL);
    put(it->world, "C:\\w\\git\\hooks\\also", "text", NULL);
    assert_string_equal(own_entries(it, "C:\\w"), "A3:1301bf ");
    assert_string_equal(own_entries(it, "C:\\w\\a\\deep\\file"), "A10:1301bf ");
    assert_string_equal(own_entries(it, "C:\\w\\git"), "D3:d0156 D0:10000 A13:1301bf ");
    assert_string_equal(own_entries(it, "C:\\w\\git\\hooks"), "D13:d0156 A13:1301bf ");
    assert_string_equal(own_entries(it, "C:\\w\\git\\hooks\\commit"),
                        own_entries(it, "C:\\w\\git\\hooks\\also"));
    assert_string_equal(own_entries(it, "C:\\w\\git\\hooks\\later"), own_entries(it, "C:\\w\\git\\hooks"));
    assert_true(acl_memory_delete(it->world->memory, "C:\\w\\git\\later"));
    assert_true(acl_memory_delete(it->world->memory, "C:\\w\\git\\hooks\\later"));
    assert_true(acl_memory_delete(it->world->memory, "C:\\w\\git\\hooks\\also"));
    end(it);
}

/* An allow that inherits would otherwise stand in front of what the directory denies. */
static void explicit_entries_stand_before_inherited_ones(void **state)
{
    struct spread_case *it = *state;
    assert_null(spread(it, "C:\\w", WINDOWS_ENTRY_ALLOW, 0x1301bf, false));
    const struct windows_descriptor *found = look(it, "C:\\w\\a\\own");
    bool inherited = false;
    for (uint32_t i = 0; i < found->count; i++) {
        bool is = (found->entries[i].flags & WINDOWS_INHERITED) != 0;
        assert_true(is || !inherited);
        inherited = is;
    }
    end(it);
}

static void a_protected_object_takes_denies_alone(void **state)
{
    struct spread_case *it = *state;
    assert_null(spread(it, "C:\\w", WINDOWS_ENTRY_ALLOW, 0x1301bf, false));
    assert_string_equal(own_entries(it, "C:\\w\\closed"), "");
    assert_string_equal(own_entries(it, "C:\\w\\closed\\in"), "");
    assert_int_equal(it->notes.count, 1);
    assert_non_null(strstr(it->notes.items[0], "C:\\w\\closed: inherits no access rights"));
    assert_null(spread(it, "C:\\w", WINDOWS_ENTRY_DENY, 0xd0156, false));
    assert_string_equal(own_entries(it, "C:\\w\\closed"), "D3:d0156 ");
    assert_string_equal(own_entries(it, "C:\\w\\closed\\in"), "D10:d0156 ");
    end(it);
}

static void a_place_inside_one_that_inherits_nothing_has_its_own_tree(void **state)
{
    struct spread_case *it = *state;
    put(it->world, "C:\\w\\closed\\open", NULL, NULL);
    put(it->world, "C:\\w\\closed\\open\\file", "text", NULL);
    it->world->before = acl_memory_text(it->world->arena, it->world->memory);
    assert_null(give(it->journal, it->world, "C:\\w\\closed\\open",
                     entry(7, WINDOWS_ENTRY_ALLOW, INHERIT, 0x1200a9), false));
    assert_null(spread(it, "C:\\w", WINDOWS_ENTRY_ALLOW, 0x1301bf, false));
    assert_string_equal(own_entries(it, "C:\\w\\closed\\open\\file"), "A10:1200a9 ");
    end(it);
}

static void an_object_without_a_dacl_is_closed_by_a_deny_and_open_to_others(void **state)
{
    struct spread_case *it = *state;
    assert_null(spread(it, "C:\\w", WINDOWS_ENTRY_DENY, 0x1f01ff, false));
    assert_string_equal(windows_descriptor_text(it->world->arena, look(it, "C:\\w\\none")),
                        OWNER "D:(D;;0x1f01ff;;;S-1-5-21-7-2-3-4)(A;;0x1f01ff;;;S-1-1-0)");
    end(it);
}

static void
what_cannot_be_changed_is_a_note_where_it_stays_closed_and_an_error_where_it_is_denied(void **state)
{
    struct spread_case *it = *state;
    assert_true(acl_memory_refuse(it->world->memory, "C:\\w\\a\\own", true));
    assert_null(spread(it, "C:\\w\\a", WINDOWS_ENTRY_ALLOW, 0x1301bf, false));
    assert_int_equal(it->notes.count, 1);
    assert_non_null(strstr(it->notes.items[0], "C:\\w\\a\\own: stays closed"));
    const char *error = spread(it, "C:\\w\\a", WINDOWS_ENTRY_DENY, 0xd0156, false);
    assert_non_null(error);
    assert_non_null(strstr(error, "C:\\w\\a\\own: what is denied there cannot be held"));
    end(it);
}

static void a_junction_is_not_followed(void **state)
{
    struct spread_case *it = *state;
    put(it->world, "C:\\away\\secret", "text", NULL);
    assert_true(acl_memory_junction(it->world->memory, "C:\\w\\link", "C:\\away"));
    it->world->before = acl_memory_text(it->world->arena, it->world->memory);
    assert_null(spread(it, "C:\\w", WINDOWS_ENTRY_ALLOW, 0x1301bf, false));
    assert_string_equal(own_entries(it, "C:\\away"), "");
    assert_string_equal(own_entries(it, "C:\\away\\secret"), "");
    end(it);
}

/* Between two directories of a walk, as a sandbox in the same tree could do it. */
static bool swap_for_junction(void *context)
{
    struct spread_case *it = context;
    if (acl_memory_move(it->world->memory, "C:\\w\\a", "C:\\w\\git\\a"))
        assert_true(acl_memory_junction(it->world->memory, "C:\\w\\a", "C:\\away"));
    return false;
}

static void a_directory_that_becomes_a_junction_meanwhile_leads_nowhere(void **state)
{
    struct spread_case *it = *state;
    const char *error = NULL;
    put(it->world, "C:\\away\\deep", NULL, NULL);
    put(it->world, "C:\\away\\deep\\secret", "text", NULL);
    put(it->world, "C:\\away\\own", "text", NULL);
    it->place.stop = swap_for_junction;
    it->place.stop_context = it;
    struct journal *journal = journal_begin(&it->place, &usual_run, &error);
    assert_null(
        give(journal, it->world, "C:\\w\\a", entry(7, WINDOWS_ENTRY_ALLOW, INHERIT, 0x1301bf), false));
    journal_spread(journal, &it->notes);
    assert_string_equal(own_entries(it, "C:\\away\\own"), "");
    assert_string_equal(own_entries(it, "C:\\away\\deep"), "");
    assert_string_equal(own_entries(it, "C:\\away\\deep\\secret"), "");
}

/* The same before a directory that is still to be listed. */
static uint32_t open_after_swap(const struct acl_operations *acl, struct arena *arena, const char *path,
                                unsigned access, struct acl_object **object)
{
    struct acl_memory *memory = acl->state;
    if (access == ACL_LIST && strcmp(path, "C:\\w\\a\\deep") == 0 &&
        acl_memory_move(memory, "C:\\w\\a", "C:\\w\\git\\a"))
        assert_true(acl_memory_junction(memory, "C:\\w\\a", "C:\\away"));
    return acl_memory_operations(memory)->open(acl, arena, path, access, object);
}

static void a_directory_that_was_replaced_before_it_is_listed_leads_nowhere(void **state)
{
    struct spread_case *it = *state;
    const char *error = NULL;
    struct acl_operations swapping = *it->place.acl;
    put(it->world, "C:\\away\\deep", NULL, NULL);
    put(it->world, "C:\\away\\deep\\secret", "text", NULL);
    swapping.open = open_after_swap;
    it->place.acl = &swapping;
    struct journal *journal = journal_begin(&it->place, &usual_run, &error);
    assert_null(give(journal, it->world, "C:\\w\\a", entry(7, WINDOWS_ENTRY_ALLOW, INHERIT, 0x1301bf), true));
    journal_spread(journal, &it->notes);
    assert_null(acl_memory_look(it->world->memory, "C:\\w\\a\\own"));
    assert_string_equal(own_entries(it, "C:\\away\\deep\\secret"), "");
    assert_false(look(it, "C:\\away\\deep\\secret")->labelled);
}

static bool stop_at_once(void *context)
{
    ++*(int *)context;
    return true;
}

static void a_walk_can_be_stopped(void **state)
{
    struct spread_case *it = *state;
    const char *error = NULL;
    struct journal_sentences left = {0};
    int asked = 0;
    it->place.stop = stop_at_once;
    it->place.stop_context = &asked;
    struct journal *journal = journal_begin(&it->place, &usual_run, &error);
    assert_null(give(journal, it->world, "C:\\w", entry(7, WINDOWS_ENTRY_ALLOW, INHERIT, 0x1301bf), false));
    assert_non_null(journal_spread(journal, &it->notes));
    assert_int_equal(asked, 1);
    journal_end(journal, &left);
    end(it);
}

static void a_label_is_given_to_each_object_and_taken_from_what_was_made_meanwhile(void **state)
{
    struct spread_case *it = *state;
    struct journal_sentences left = {0};
    assert_null(spread(it, "C:\\w", WINDOWS_ENTRY_ALLOW, 0x1301bf, true));
    assert_true(look(it, "C:\\w\\a\\deep\\file")->labelled);
    put(it->world, "C:\\w\\a\\deep\\made", "text", NULL);
    assert_true(look(it, "C:\\w\\a\\deep\\made")->labelled);
    journal_end(it->journal, &left);
    assert_int_equal(left.count, 0);
    assert_false(look(it, "C:\\w\\a\\deep\\made")->labelled);
    assert_string_equal(own_entries(it, "C:\\w\\a\\deep\\made"), "");
    assert_true(look(it, "C:\\w\\low\\in")->labelled);
    assert_true(acl_memory_delete(it->world->memory, "C:\\w\\a\\deep\\made"));
    assert_nothing_left(it->world, &left);
}

static void what_was_made_where_the_label_was_before_keeps_it(void **state)
{
    struct spread_case *it = *state;
    struct journal_sentences left = {0};
    assert_null(spread(it, "C:\\w", WINDOWS_ENTRY_ALLOW, 0x1301bf, true));
    put(it->world, "C:\\w\\low\\made", "text", NULL);
    journal_end(it->journal, &left);
    assert_true(look(it, "C:\\w\\low\\made")->labelled);
    assert_string_equal(own_entries(it, "C:\\w\\low\\made"), "");
    assert_true(acl_memory_delete(it->world->memory, "C:\\w\\low\\made"));
    assert_nothing_left(it->world, &left);
}

static void what_was_made_keeps_its_label_while_another_run_labels_the_tree(void **state)
{
    struct spread_case *it = *state;
    struct journal_sentences left = {0};
    const char *error = NULL;
    assert_null(spread(it, "C:\\w", WINDOWS_ENTRY_ALLOW, 0x1301bf, true));
    put(it->world, "C:\\w\\a\\made", "text", NULL);
    struct process *process = process_start(it->world->disk, NULL);
    struct journal_place place = place_of(it->world, process);
    struct journal *other = journal_begin(&place, &usual_run, &error);
    assert_null(give(other, it->world, "C:\\w\\a", entry(8, WINDOWS_ENTRY_ALLOW, INHERIT, 0x1301bf), true));
    assert_null(journal_spread(other, &it->notes));
    put(it->world, "C:\\w\\a\\also", "text", NULL);
    journal_end(it->journal, &left);
    assert_true(look(it, "C:\\w\\a\\made")->labelled);
    assert_true(look(it, "C:\\w\\a\\also")->labelled);
    journal_end(other, &left);
    assert_false(look(it, "C:\\w\\a\\made")->labelled);
    assert_false(look(it, "C:\\w\\a\\also")->labelled);
    assert_int_equal(left.count, 0);
}

static void more_objects_than_one_batch_are_all_reached(void **state)
{
    struct spread_case *it = *state;
    for (int i = 0; i < 600; i++)
        put(it->world, arena_format(it->world->arena, "C:\\w\\a\\%d", i), "text", NULL);
    it->world->before = acl_memory_text(it->world->arena, it->world->memory);
    assert_null(spread(it, "C:\\w", WINDOWS_ENTRY_ALLOW, 0x1301bf, true));
    assert_string_equal(own_entries(it, "C:\\w\\a\\0"), "A10:1301bf ");
    assert_string_equal(own_entries(it, "C:\\w\\a\\599"), "A10:1301bf ");
    end(it);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_there_gets_the_entries_that_what_is_made_later_gets),
        TEST(explicit_entries_stand_before_inherited_ones),
        TEST(a_protected_object_takes_denies_alone),
        TEST(a_place_inside_one_that_inherits_nothing_has_its_own_tree),
        TEST(an_object_without_a_dacl_is_closed_by_a_deny_and_open_to_others),
        TEST(what_cannot_be_changed_is_a_note_where_it_stays_closed_and_an_error_where_it_is_denied),
        TEST(a_junction_is_not_followed),
        TEST(a_directory_that_becomes_a_junction_meanwhile_leads_nowhere),
        TEST(a_directory_that_was_replaced_before_it_is_listed_leads_nowhere),
        TEST(a_walk_can_be_stopped),
        TEST(a_label_is_given_to_each_object_and_taken_from_what_was_made_meanwhile),
        TEST(what_was_made_where_the_label_was_before_keeps_it),
        TEST(what_was_made_keeps_its_label_while_another_run_labels_the_tree),
        TEST(more_objects_than_one_batch_are_all_reached),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
