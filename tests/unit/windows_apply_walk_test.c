/* What a launch finds on a Windows machine and puts there: placeholders, matches, what others do meanwhile. */
#include "tests/unit/windows_bench.h"

/* --- what is missing ------------------------------------------------------------------------------------ */

static void a_missing_denied_place_is_held_by_a_placeholder_and_pins(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    grant(bench, "C:\\w", WINDOWS_ALLOW_WRITE);
    deny(bench, "C:\\w\\a\\b\\secret", WINDOWS_DENY_ALL)->missing = WINDOWS_CREATE_FILE;
    assert_runs(bench);
    assert_closed(bench, "C:\\w\\a\\b\\secret", ANY);
    assert_closed(bench, "C:\\w\\a\\b", DELETE_RIGHT);
    assert_closed(bench, "C:\\w\\a", DELETE_RIGHT);
    assert_open(bench, "C:\\w\\a\\b", WRITE);
    end(bench);
}

static void nothing_is_made_where_the_command_could_make_nothing(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    grant(bench, "C:\\w", WINDOWS_ALLOW_READ);
    deny(bench, "C:\\w\\missing", WINDOWS_DENY_ALL)->missing = WINDOWS_CREATE_DIRECTORY;
    grant(bench, "C:\\nowhere", WINDOWS_ALLOW_READ);
    assert_runs(bench);
    assert_null(acl_memory_look(bench->memory, "C:\\w\\missing"));
    assert_true(has_note(bench, SBX450_GRANT_MISSING));
    end(bench);
}

static void a_placeholder_is_not_made_through_a_junction(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    assert_true(acl_memory_junction(bench->memory, "C:\\w\\link", "C:\\home"));
    grant(bench, "C:\\w", WINDOWS_ALLOW_WRITE);
    deny(bench, "C:\\w\\link\\secret", WINDOWS_DENY_ALL)->missing = WINDOWS_CREATE_FILE;
    assert_refused(bench, SBX483_PLACE_UNFIT, "is a link or a junction");
    assert_null(acl_memory_look(bench->memory, "C:\\home\\secret"));
    end(bench);
}

static void a_denied_path_below_a_file_refuses(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    grant(bench, "C:\\w", WINDOWS_ALLOW_WRITE);
    deny(bench, "C:\\w\\src\\main.c\\secret", WINDOWS_DENY_ALL)->missing = WINDOWS_CREATE_FILE;
    assert_refused(bench, SBX455_DENY_BELOW_FILE, "is a file");
    end(bench);
}

/* --- patterns ------------------------------------------------------------------------------------------- */

static void every_match_is_denied_and_keeps_its_name(void **state)
{
    (void)state;
    static const char *const excepts[] = {"C:\\w\\SRC\\keep", "C:\\w\\src\\*.env.example"};
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    put(bench, "C:\\w\\.env", "text", NULL);
    put(bench, "C:\\w\\src\\a.ENV", "text", NULL);
    put(bench, "C:\\w\\src\\a.env.example", "text", NULL);
    put(bench, "C:\\w\\src\\keep", NULL, NULL);
    put(bench, "C:\\w\\src\\keep\\.env", "text", NULL);
    put(bench, "C:\\home\\.env", "text", NULL);
    grant(bench, "C:\\w", WINDOWS_ALLOW_WRITE);
    match(bench, "C:\\w\\**\\*.env*", excepts, 2);
    assert_runs(bench);
    assert_closed(bench, "C:\\w\\.env", ANY);
    assert_closed(bench, "C:\\w\\src\\a.ENV", ANY);
    assert_closed(bench, "C:\\w\\src", DELETE_RIGHT);
    assert_open(bench, "C:\\w\\src\\a.env.example", READ | WRITE);
    assert_open(bench, "C:\\w\\src\\keep\\.env", READ | WRITE);
    assert_open(bench, "C:\\w\\src\\keep", DELETE_RIGHT);
    end(bench);
}

static void a_pattern_that_begins_above_is_looked_for_in_what_is_opened(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    put(bench, "C:\\w\\.env", "text", NULL);
    grant(bench, "C:\\w", WINDOWS_ALLOW_WRITE);
    match(bench, "C:\\**\\.env", NULL, 0);
    assert_runs(bench);
    assert_closed(bench, "C:\\w\\.env", ANY);
    end(bench);
}

static void a_match_that_a_label_hides_is_looked_for_everywhere(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_RESTRICTED_LOW);
    put(bench, "C:\\home\\.env", "text", NULL);
    match(bench, "C:\\home\\**\\.env", NULL, 0);
    assert_runs(bench);
    assert_closed(bench, "C:\\home\\.env", ANY);
    end(bench);
}

static void what_matches_an_exception_is_opened(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    put(bench, "C:\\home\\a.pub", "text", NULL);
    put(bench, "C:\\home\\b.PUB", "text", NULL);
    put(bench, "C:\\home\\key", "text", NULL);
    assert_true(acl_memory_junction(bench->memory, "C:\\home\\c.pub", "C:\\w"));
    match(bench, "C:\\home\\*.pub", NULL, 0);
    bench->matches[0].ace = (struct windows_ace){false, true, whom(bench), WINDOWS_ALLOW_READ};
    assert_runs(bench);
    assert_open(bench, "C:\\home\\a.pub", READ);
    assert_closed(bench, "C:\\home\\a.pub", WRITE);
    assert_closed(bench, "C:\\home\\b.PUB", ANY);
    assert_closed(bench, "C:\\home\\key", ANY);
    end(bench);
}

static void no_exception_opens_what_another_deny_closes(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    put(bench, "C:\\home\\a.pub", "text", NULL);
    put(bench, "C:\\home\\old", NULL, NULL);
    put(bench, "C:\\home\\old\\b.pub", "text", NULL);
    put(bench, "C:\\home\\out", NULL, NULL);
    put(bench, "C:\\home\\out\\c.pub", "text", NULL);
    deny(bench, "C:\\home\\old", WINDOWS_DENY_ALL);
    deny(bench, "C:\\home\\out", WINDOWS_DENY_WRITE);
    match(bench, "C:\\home\\**\\*.pub", NULL, 0);
    bench->matches[0].ace = (struct windows_ace){false, true, whom(bench), WINDOWS_ALLOW_READ};
    assert_runs(bench);
    assert_open(bench, "C:\\home\\a.pub", READ);
    assert_closed(bench, "C:\\home\\old\\b.pub", ANY);
    assert_open(bench, "C:\\home\\out\\c.pub", READ);
    end(bench);
}

static void a_grant_of_what_a_pattern_closes_refuses(void **state)
{
    static const char *const granted[] = {"C:\\w", "C:\\w\\src"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
        grant(bench, granted[i], WINDOWS_ALLOW_WRITE);
        bench->spec.match_count = 1;
        bench->matches[0] = (struct windows_match){
            .pattern = "C:\\?", .ace = {true, true, whom(bench), WINDOWS_DENY_ALL}, .rule = "deny"};
        assert_refused(bench, SBX485_STILL_OPEN, "another entry closes what the rule opens");
        end(bench);
    }
}

static void no_exception_opens_what_belongs_to_the_account(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    put(bench, "C:\\Users", NULL, NULL);
    put(bench, "C:\\Users\\me", NULL, USUAL);
    put(bench, "C:\\Users\\me\\AppData", NULL, NULL);
    put(bench, "C:\\Users\\me\\Apps", NULL, NULL);
    match(bench, "C:\\Users\\me\\App*", NULL, 0);
    bench->matches[0].ace = (struct windows_ace){false, true, whom(bench), WINDOWS_ALLOW_READ};
    assert_runs(bench);
    assert_open(bench, "C:\\Users\\me\\Apps", READ);
    assert_closed(bench, "C:\\Users\\me\\AppData", ANY);
    end(bench);
}

static void a_label_alone_can_hide_a_match(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_RESTRICTED_LOW);
    put(bench, "C:\\home\\keys", NULL, NULL);
    put(bench, "C:\\home\\keys\\one", "text", NULL);
    match(bench, "C:\\home\\k*", NULL, 0);
    bench->matches[0].ace.mask = 0;
    assert_runs(bench);
    assert_closed(bench, "C:\\home\\keys\\one", ANY);
    const struct windows_descriptor *keys = acl_memory_look(bench->memory, "C:\\home\\keys");
    for (uint32_t i = 0; i < keys->count; i++)
        assert_int_not_equal(keys->entries[i].mask, 0);
    end(bench);
}

static void open_below(struct bench *bench, const char *path, unsigned access);

static void what_loses_its_label_meanwhile_refuses(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_RESTRICTED_LOW);
    deny(bench, "C:\\w\\secret", WINDOWS_DENY_ALL);
    bench->meddler.at_open = open_below;
    assert_refused(bench, SBX485_STILL_OPEN, "C:\\w\\secret\\key may be open");
    arena_destroy(bench->arena);
}

static void a_match_does_not_lift_the_label_around_it(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_RESTRICTED_LOW);
    grant(bench, "C:\\w", WINDOWS_ALLOW_WRITE);
    deny(bench, "C:\\w\\secret", WINDOWS_DENY_ALL);
    match(bench, "C:\\w\\secret\\k*", NULL, 0);
    bench->matches[0].ace.mask = WINDOWS_DENY_WRITE;
    bench->matches[0].label.policy = WINDOWS_NO_WRITE_UP;
    assert_runs(bench);
    assert_closed(bench, "C:\\w\\secret\\key", ANY);
    end(bench);
}

static void a_match_that_is_a_junction_refuses(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    assert_true(acl_memory_junction(bench->memory, "C:\\w\\.env", "C:\\home"));
    grant(bench, "C:\\w", WINDOWS_ALLOW_WRITE);
    match(bench, "C:\\w\\**\\.env", NULL, 0);
    assert_refused(bench, SBX483_PLACE_UNFIT, "C:\\w\\.env is a link or a junction");
    end(bench);
}

static void a_walk_does_not_follow_junctions(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    put(bench, "C:\\home\\.env", "text", NULL);
    assert_true(acl_memory_junction(bench->memory, "C:\\w\\link", "C:\\home"));
    grant(bench, "C:\\w", WINDOWS_ALLOW_WRITE);
    match(bench, "C:\\w\\**\\.env", NULL, 0);
    assert_runs(bench);
    assert_closed(bench, "C:\\home\\.env", ANY);
    assert_null(strstr(
        windows_descriptor_text(bench->arena, acl_memory_look(bench->memory, "C:\\home\\.env")), PACKAGE));
    end(bench);
}

static void looking_that_takes_too_long_refuses(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    grant(bench, "C:\\w", WINDOWS_ALLOW_WRITE);
    match(bench, "C:\\w\\**\\.env", NULL, 0);
    clock_step = APPLY_TIME / 3;
    assert_refused(bench, SBX487_TOO_MUCH_TO_CHANGE, "takes too long");
    clock_step = 0;
    end(bench);
}

/* While what lies below is written. */
static void write_slowly(struct bench *bench, const char *path, unsigned access)
{
    if (bench->meddled || (access & ACL_LIST) == 0 || strcmp(path, "C:\\w") != 0 ||
        !names_package(acl_memory_look(bench->memory, path), WINDOWS_ENTRY_ALLOW))
        return;
    bench->meddled = true;
    clock_now += 2 * APPLY_TIME;
}

static void writing_that_takes_long_leaves_time_to_judge(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    grant(bench, "C:\\w", WINDOWS_ALLOW_WRITE);
    deny(bench, "C:\\w\\secret", WINDOWS_DENY_ALL);
    bench->meddler.at_open = write_slowly;
    assert_runs(bench);
    assert_true(bench->meddled);
    end(bench);
}

static void patterns_are_looked_for_in_every_place(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    put(bench, "C:\\w\\.env", "text", NULL);
    put(bench, "C:\\w\\src\\a.key", "text", NULL);
    put(bench, "C:\\home\\a.key", "text", NULL);
    grant(bench, "C:\\home", WINDOWS_ALLOW_READ);
    grant(bench, "C:\\w", WINDOWS_ALLOW_READ);
    match(bench, "C:\\**\\*.key", NULL, 0);
    match(bench, "C:\\w\\.e*", NULL, 0);
    assert_runs(bench);
    assert_closed(bench, "C:\\w\\.env", ANY);
    assert_closed(bench, "C:\\w\\src\\a.key", ANY);
    assert_closed(bench, "C:\\home\\a.key", ANY);
    end(bench);
}

static void more_objects_than_can_be_looked_through_refuse(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    grant(bench, "C:\\w", WINDOWS_ALLOW_WRITE);
    match(bench, "C:\\w\\**\\.env", NULL, 0);
    bench->entries = 2;
    assert_refused(bench, SBX487_TOO_MUCH_TO_CHANGE, "more than 2 objects");
    end(bench);
}

static uint32_t opened_below;

static void count_below(struct bench *bench, const char *path, unsigned access)
{
    (void)bench;
    (void)access;
    opened_below += strncmp(path, "C:\\w\\src\\", 9) == 0;
}

static void a_walk_ends_where_the_objects_are_too_many(void **state)
{
    (void)state;
    enum { FILES = 40, MOST = 5 };
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    for (int i = 0; i < FILES; i++)
        put(bench, arena_format(bench->arena, "C:\\w\\src\\%d", i), "text", NULL);
    grant(bench, "C:\\w", WINDOWS_ALLOW_WRITE);
    match(bench, "C:\\w\\**\\[0-9]*", NULL, 0);
    bench->entries = MOST;
    bench->meddler.at_open = count_below;
    opened_below = 0;
    assert_refused(bench, SBX487_TOO_MUCH_TO_CHANGE, "more than 5 objects");
    assert_in_range(opened_below, 1, MOST);
    end(bench);
}

/* The clock counts how often it is asked. */
static void every_scan_asks_the_time_for_each_place(void **state)
{
    (void)state;
    enum { FILES = 8, STARTS = 2, MATCHES = 1, SCANS = 7 };
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    for (int i = 0; i < FILES; i++) {
        const char *path = arena_format(bench->arena, "C:\\w\\src\\%d", i);
        put(bench, path, "text", NULL);
        grant(bench, path, WINDOWS_ALLOW_READ);
    }
    match(bench, "C:\\missing\\**\\.env", NULL, 0);
    clock_step = 1;
    assert_runs(bench);
    /* Settled, tops of walks, patterns of others, denies repeated, denied, allowed, judged. */
    assert_int_equal(clock_now, STARTS + MATCHES + SCANS * FILES);
    clock_step = 0;
    end(bench);
}

static void a_file_that_must_not_be_executed_keeps_its_name(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    put(bench, "C:\\w\\tool.exe", "text", NULL);
    grant(bench, "C:\\w", WINDOWS_ALLOW_WRITE);
    match(bench, "C:\\w\\*.exe", NULL, 0);
    bench->matches[0].ace = (struct windows_ace){true, false, WINDOWS_PACKAGE, WINDOWS_DENY_EXECUTE};
    assert_runs(bench);
    assert_open(bench, "C:\\w\\tool.exe", READ | WRITE);
    assert_closed(bench, "C:\\w\\tool.exe", WINDOWS_DENY_EXECUTE | DELETE_RIGHT);
    end(bench);
}

/* --- what others do meanwhile ------------------------------------------------------------------------- */

static void replace_when_changed(struct bench *bench, const char *path, unsigned access)
{
    if (bench->meddled || (access & ACL_WRITE) == 0 || strcmp(path, "C:\\w") != 0)
        return;
    bench->meddled = true;
    assert_true(acl_memory_move(bench->memory, "C:\\w", "C:\\was"));
    assert_true(acl_memory_add(bench->memory, "C:\\w", NULL, USUAL));
}

static void an_object_that_was_replaced_is_not_changed(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    grant(bench, "C:\\w", WINDOWS_ALLOW_WRITE);
    bench->meddler.at_open = replace_when_changed;
    assert_refused(bench, SBX483_PLACE_UNFIT, "was replaced");
    assert_closed(bench, "C:\\w", ANY);
    arena_destroy(bench->arena);
}

/* After the directory above was looked at. */
static bool swap_source(struct bench *bench)
{
    if (bench->meddled)
        return true;
    bench->meddled = true;
    return acl_memory_move(bench->memory, "C:\\w\\src", "C:\\was") &&
           acl_memory_junction(bench->memory, "C:\\w\\src", "C:\\home");
}

static void a_placeholder_that_ends_up_elsewhere_refuses(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    grant(bench, "C:\\w", WINDOWS_ALLOW_WRITE);
    deny(bench, "C:\\w\\src\\secret", WINDOWS_DENY_ALL)->missing = WINDOWS_CREATE_FILE;
    bench->meddler.at_make = swap_source;
    assert_refused(bench, SBX483_PLACE_UNFIT, "was replaced while the placeholder was made");
    arena_destroy(bench->arena);
}

static void a_placeholder_that_hides_is_not_open_to_another_sandbox(void **state)
{
    (void)state;
    static const char other[] = "S-1-15-2-9-9-9-9-9-9-9";
    struct windows_descriptor shared;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    assert_true(windows_descriptor_read(
        bench->arena, arena_format(bench->arena, USUAL "(A;OICI;0x1301bf;;;%s)", other), &shared));
    assert_true(acl_memory_describe(bench->memory, "C:\\w", &shared));
    grant(bench, "C:\\w", WINDOWS_ALLOW_WRITE);
    deny(bench, "C:\\w\\hidden", WINDOWS_DENY_ALL)->missing = WINDOWS_CREATE_DIRECTORY;
    deny(bench, "C:\\w\\seen", WINDOWS_DENY_WRITE)->missing = WINDOWS_CREATE_DIRECTORY;
    assert_runs(bench);
    const char *hidden =
        windows_descriptor_text(bench->arena, acl_memory_look(bench->memory, "C:\\w\\hidden"));
    const char *seen = windows_descriptor_text(bench->arena, acl_memory_look(bench->memory, "C:\\w\\seen"));
    assert_null(strstr(hidden, other));
    assert_non_null(strstr(seen, other));
    assert_closed(bench, "C:\\w\\hidden", ANY);
    assert_open(bench, "C:\\w\\seen", READ);
    end(bench);
}

/* Between the list of a directory and the look at what lies in it. */
static void swap_deep(struct bench *bench, const char *path, unsigned access)
{
    (void)access;
    if (bench->meddled || strcmp(path, "C:\\w\\secret\\deep\\key") != 0)
        return;
    bench->meddled = true;
    assert_true(acl_memory_move(bench->memory, "C:\\w\\secret\\deep", "C:\\was"));
    assert_true(acl_memory_junction(bench->memory, "C:\\w\\secret\\deep", "C:\\home"));
}

static void what_is_swapped_for_a_junction_while_it_is_looked_through_refuses(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    put(bench, "C:\\w\\secret\\deep", NULL, NULL);
    put(bench, "C:\\w\\secret\\deep\\key", "text", NULL);
    put(bench, "C:\\home\\key", "text", OWN "(A;;0x1f01ff;;;" USER ")(A;;0x1200a9;;;" ALL_PACKAGES ")");
    grant(bench, "C:\\w", WINDOWS_ALLOW_WRITE);
    deny(bench, "C:\\w\\secret", WINDOWS_DENY_ALL);
    bench->meddler.at_open = swap_deep;
    assert_refused(bench, SBX483_PLACE_UNFIT, "was replaced while it was looked at");
    assert_true(bench->meddled);
    assert_false(names_package(acl_memory_look(bench->memory, "C:\\home\\key"), WINDOWS_ENTRY_DENY));
    arena_destroy(bench->arena);
}

/* Once everything has been written. */
static void open_below(struct bench *bench, const char *path, unsigned access)
{
    struct windows_descriptor open;
    static const char key[] = "C:\\w\\secret\\key";
    (void)path;
    (void)access;
    const struct windows_descriptor *now = acl_memory_look(bench->memory, key);
    if (bench->meddled || !(names_package(now, WINDOWS_ENTRY_DENY) || now->labelled))
        return;
    bench->meddled = true;
    assert_true(windows_descriptor_read(bench->arena, USUAL "(A;;0x1f01ff;;;" ALL_PACKAGES ")", &open));
    assert_true(acl_memory_describe(bench->memory, key, &open));
}

static void what_somebody_opens_below_a_denied_place_meanwhile_refuses(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    grant(bench, "C:\\w", WINDOWS_ALLOW_WRITE);
    deny(bench, "C:\\w\\secret", WINDOWS_DENY_ALL);
    bench->meddler.at_open = open_below;
    assert_refused(bench, SBX485_STILL_OPEN, "C:\\w\\secret\\key may be open");
    arena_destroy(bench->arena);
}

/* The last object that is looked at before everything is judged. */
static void open_again(struct bench *bench, const char *path, unsigned access)
{
    struct windows_descriptor open;
    if (bench->meddled || strcmp(path, "C:\\z") != 0 || (access & ACL_WRITE) == 0)
        return;
    bench->meddled = true;
    assert_true(windows_descriptor_read(bench->arena, USUAL "(A;;0x1f01ff;;;" ALL_PACKAGES ")", &open));
    assert_true(acl_memory_describe(bench->memory, "C:\\w\\secret", &open));
}

static void a_denied_place_that_somebody_opens_meanwhile_refuses(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    put(bench, "C:\\z", NULL, USUAL);
    grant(bench, "C:\\w", WINDOWS_ALLOW_READ);
    deny(bench, "C:\\w\\secret", WINDOWS_DENY_ALL);
    grant(bench, "C:\\z", WINDOWS_ALLOW_READ);
    bench->meddler.at_open = open_again;
    assert_refused(bench, SBX485_STILL_OPEN, "C:\\w\\secret may be open");
    arena_destroy(bench->arena);
}

static void a_denied_file_with_further_names_has_a_deny_of_its_own(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    grant(bench, "C:\\w", WINDOWS_ALLOW_WRITE);
    deny(bench, "C:\\w\\secret", WINDOWS_DENY_ALL);
    bench->meddler.links = 2;
    assert_runs(bench);
    assert_true(has_note(bench, SBX454_DENIED_FILE_HAS_LINKS));
    const struct windows_descriptor *key = acl_memory_look(bench->memory, "C:\\w\\secret\\key");
    assert_int_equal(key->entries[0].type, WINDOWS_ENTRY_DENY);
    assert_int_equal(key->entries[0].flags, 0);
    bench->meddler.links = 0;
    end(bench);
}

/* --- the launcher's own --------------------------------------------------------------------------------- */

static void files_of_the_launcher_are_read_at_most_and_its_state_not_even_that(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    grant(bench, "C:\\w", WINDOWS_ALLOW_WRITE);
    bench->own[0] = (struct own_path){.path = "C:\\w\\src\\main.c", .what = "the policy file"};
    bench->own[1] = (struct own_path){.path = "C:\\w\\secret", .what = "its records", .hidden = true};
    assert_runs(bench);
    assert_open(bench, "C:\\w\\src\\main.c", READ);
    assert_closed(bench, "C:\\w\\src\\main.c", WINDOWS_DENY_WRITE);
    assert_closed(bench, "C:\\w\\src", DELETE_RIGHT);
    assert_closed(bench, "C:\\w\\secret\\key", ANY);
    end(bench);
}

/* --- order ---------------------------------------------------------------------------------------------- */

static void a_launch_that_dies_has_closed_before_it_has_opened(void **state)
{
    (void)state;
    bool ran = false;
    for (long steps = 0; !ran; steps++) {
        assert_true(steps < 2000);
        struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
        grant(bench, "C:\\w", WINDOWS_ALLOW_WRITE);
        deny(bench, "C:\\w\\secret", WINDOWS_DENY_ALL);
        deny(bench, "C:\\w\\src\\main.c", WINDOWS_DENY_WRITE);
        bench->fault.left = steps + 3; /* journal_begin's own */
        ran = run(bench);
        bench->fault = (struct acl_fault){.left = LONG_MAX};
        if (names_package(acl_memory_look(bench->memory, "C:\\w"), WINDOWS_ENTRY_ALLOW)) {
            assert_true(names_package(acl_memory_look(bench->memory, "C:\\w\\secret"), WINDOWS_ENTRY_DENY));
            assert_true(
                names_package(acl_memory_look(bench->memory, "C:\\w\\src\\main.c"), WINDOWS_ENTRY_DENY));
        }
        arena_destroy(bench->arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_missing_denied_place_is_held_by_a_placeholder_and_pins),
        cmocka_unit_test(nothing_is_made_where_the_command_could_make_nothing),
        cmocka_unit_test(a_placeholder_is_not_made_through_a_junction),
        cmocka_unit_test(a_denied_path_below_a_file_refuses),
        cmocka_unit_test(every_match_is_denied_and_keeps_its_name),
        cmocka_unit_test(a_pattern_that_begins_above_is_looked_for_in_what_is_opened),
        cmocka_unit_test(a_match_that_a_label_hides_is_looked_for_everywhere),
        cmocka_unit_test(what_matches_an_exception_is_opened),
        cmocka_unit_test(no_exception_opens_what_another_deny_closes),
        cmocka_unit_test(a_grant_of_what_a_pattern_closes_refuses),
        cmocka_unit_test(no_exception_opens_what_belongs_to_the_account),
        cmocka_unit_test(a_label_alone_can_hide_a_match),
        cmocka_unit_test(what_loses_its_label_meanwhile_refuses),
        cmocka_unit_test(a_match_does_not_lift_the_label_around_it),
        cmocka_unit_test(a_match_that_is_a_junction_refuses),
        cmocka_unit_test(a_walk_does_not_follow_junctions),
        cmocka_unit_test(looking_that_takes_too_long_refuses),
        cmocka_unit_test(writing_that_takes_long_leaves_time_to_judge),
        cmocka_unit_test(patterns_are_looked_for_in_every_place),
        cmocka_unit_test(more_objects_than_can_be_looked_through_refuse),
        cmocka_unit_test(a_walk_ends_where_the_objects_are_too_many),
        cmocka_unit_test(every_scan_asks_the_time_for_each_place),
        cmocka_unit_test(a_file_that_must_not_be_executed_keeps_its_name),
        cmocka_unit_test(an_object_that_was_replaced_is_not_changed),
        cmocka_unit_test(a_placeholder_that_ends_up_elsewhere_refuses),
        cmocka_unit_test(what_somebody_opens_below_a_denied_place_meanwhile_refuses),
        cmocka_unit_test(a_placeholder_that_hides_is_not_open_to_another_sandbox),
        cmocka_unit_test(what_is_swapped_for_a_junction_while_it_is_looked_through_refuses),
        cmocka_unit_test(a_denied_place_that_somebody_opens_meanwhile_refuses),
        cmocka_unit_test(a_denied_file_with_further_names_has_a_deny_of_its_own),
        cmocka_unit_test(files_of_the_launcher_are_read_at_most_and_its_state_not_even_that),
        cmocka_unit_test(a_launch_that_dies_has_closed_before_it_has_opened),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
