/* What a launch does to objects of a Windows machine: what is opened, what stays closed, what refuses it. */
#include "tests/unit/windows_bench.h"

/* --- what is opened and what is not --------------------------------------------------------------------- */

static void a_grant_opens_what_lies_below_and_nothing_else(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    grant(bench, "C:\\w", WINDOWS_ALLOW_WRITE);
    assert_runs(bench);
    assert_open(bench, "C:\\w", READ | WRITE);
    assert_open(bench, "C:\\w\\src\\main.c", READ | WRITE | DELETE_RIGHT);
    assert_closed(bench, "C:\\w", DELETE_RIGHT);
    assert_closed(bench, "C:\\home\\notes", ANY);
    end(bench);
}

static void a_denied_place_in_a_grant_is_closed_and_keeps_its_name(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    grant(bench, "C:\\w", WINDOWS_ALLOW_WRITE);
    deny(bench, "C:\\w\\secret", WINDOWS_DENY_ALL);
    assert_runs(bench);
    assert_closed(bench, "C:\\w\\secret", ANY);
    assert_closed(bench, "C:\\w\\secret\\key", ANY);
    assert_open(bench, "C:\\w\\src\\main.c", READ | WRITE);
    end(bench);
}

static void a_place_that_is_denied_for_writing_can_be_read(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    grant(bench, "C:\\w", WINDOWS_ALLOW_WRITE);
    deny(bench, "C:\\w\\secret", WINDOWS_DENY_WRITE);
    assert_runs(bench);
    assert_open(bench, "C:\\w\\secret\\key", READ);
    assert_closed(bench, "C:\\w\\secret\\key", WINDOWS_DENY_WRITE);
    end(bench);
}

static void an_entry_of_an_object_that_would_undo_a_deny_is_denied_beside_it(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    put(bench, "C:\\w\\secret\\open", "text",
        OWN "(A;;0x1f01ff;;;" ALL_PACKAGES ")(A;ID;0x1f01ff;;;" USER ")");
    put(bench, "C:\\w\\secret\\deep", NULL,
        OWN "(A;OICIIO;0x1200a9;;;S-1-1-0)(A;OICIID;0x1f01ff;;;" USER ")");
    put(bench, "C:\\w\\secret\\deep\\file", "text",
        OWN "(A;ID;0x1200a9;;;S-1-1-0)(A;ID;0x1f01ff;;;" USER ")");
    grant(bench, "C:\\w", WINDOWS_ALLOW_WRITE);
    deny(bench, "C:\\w\\secret", WINDOWS_DENY_ALL);
    assert_runs(bench);
    assert_closed(bench, "C:\\w\\secret\\open", ANY);
    assert_closed(bench, "C:\\w\\secret\\deep\\file", ANY);
    end(bench);
}

static void a_deny_that_is_spelled_in_another_case_reaches_what_lies_there(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    put(bench, "C:\\w\\secret\\open", "text", OWN "(A;;0x1f01ff;;;S-1-1-0)(A;ID;0x1f01ff;;;" USER ")");
    grant(bench, "C:\\W", WINDOWS_ALLOW_WRITE);
    deny(bench, "C:\\w\\SECRET", WINDOWS_DENY_ALL);
    assert_runs(bench);
    assert_closed(bench, "C:\\w\\secret\\open", ANY);
    end(bench);
}

static void an_entry_without_what_is_denied_is_left_alone(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    put(bench, "C:\\w\\secret\\tool", "text",
        OWN "(A;;0x1200a9;;;" ALL_PACKAGES ")(A;ID;0x1f01ff;;;" USER ")");
    grant(bench, "C:\\w", WINDOWS_ALLOW_WRITE);
    deny(bench, "C:\\w\\secret", WINDOWS_DENY_WRITE);
    assert_runs(bench);
    const struct windows_descriptor *tool = acl_memory_look(bench->memory, "C:\\w\\secret\\tool");
    for (uint32_t i = 0; i < tool->count; i++)
        assert_true(tool->entries[i].type != WINDOWS_ENTRY_DENY ||
                    (tool->entries[i].flags & WINDOWS_INHERITED) != 0);
    assert_open(bench, "C:\\w\\secret\\tool", READ);
    end(bench);
}

static void an_entry_with_a_condition_is_denied_beside_it(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    put(bench, "C:\\w\\secret\\open", "text",
        OWN "(X;09001c00ff011f00010200000000000f020000000100000061727478)(A;ID;0x1f01ff;;;" USER ")");
    grant(bench, "C:\\w", WINDOWS_ALLOW_WRITE);
    deny(bench, "C:\\w\\secret", WINDOWS_DENY_ALL);
    assert_runs(bench);
    assert_closed(bench, "C:\\w\\secret\\open", ANY);
    end(bench);
}

static void what_takes_no_inheritance_is_denied_too(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    put(bench, "C:\\w\\secret\\sealed", "text",
        "O:" USER "D:P(A;;0x1f01ff;;;" USER ")(A;;0x1f01ff;;;S-1-1-0)");
    put(bench, "C:\\w\\secret\\none", "text", "O:" USER "D:NO_ACCESS_CONTROL");
    grant(bench, "C:\\w", WINDOWS_ALLOW_WRITE);
    deny(bench, "C:\\w\\secret", WINDOWS_DENY_ALL);
    assert_runs(bench);
    assert_closed(bench, "C:\\w\\secret\\sealed", ANY);
    assert_closed(bench, "C:\\w\\secret\\none", ANY);
    end(bench);
}

static void what_a_grant_lowers_another_can_raise_again(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    put(bench, "C:\\w\\secret\\cache", NULL,
        OWN "(A;OICI;0x1f01ff;;;" ALL_PACKAGES ")(A;OICIID;0x1f01ff;;;" USER ")");
    grant(bench, "C:\\w", WINDOWS_ALLOW_WRITE);
    struct windows_object *lower = grant(bench, "C:\\w\\secret", WINDOWS_ALLOW_READ);
    ace(bench, lower, true, WINDOWS_DENY_WRITE, true);
    grant(bench, "C:\\w\\secret\\cache", WINDOWS_ALLOW_WRITE);
    assert_runs(bench);
    assert_closed(bench, "C:\\w\\secret\\key", WINDOWS_DENY_WRITE);
    assert_open(bench, "C:\\w\\secret\\cache", READ | WRITE);
    end(bench);
}

static void a_label_hides_what_an_entry_cannot(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_RESTRICTED_LOW);
    grant(bench, "C:\\w", WINDOWS_ALLOW_WRITE);
    deny(bench, "C:\\w\\secret", WINDOWS_DENY_ALL);
    deny(bench, "C:\\home\\notes", WINDOWS_DENY_ALL)->kind = WINDOWS_FILE;
    assert_runs(bench);
    assert_open(bench, "C:\\w\\src\\main.c", READ | WRITE);
    assert_closed(bench, "C:\\w\\secret\\key", ANY);
    assert_closed(bench, "C:\\home\\notes", ANY);
    end(bench);
}

static void a_deny_where_everything_is_closed_changes_nothing(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    deny(bench, "C:\\home\\notes", WINDOWS_DENY_ALL);
    deny(bench, "C:\\home\\missing", WINDOWS_DENY_ALL)->missing = WINDOWS_CREATE_FILE;
    assert_runs(bench);
    assert_string_equal(acl_memory_text(bench->arena, bench->memory), bench->before);
    end(bench);
}

static void a_deny_on_what_every_package_may_read_is_made(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    put(bench, "C:\\tools", NULL, OWN "(A;OICI;0x1200a9;;;" ALL_PACKAGES ")(A;OICI;0x1f01ff;;;" USER ")");
    deny(bench, "C:\\tools", WINDOWS_DENY_ALL);
    assert_runs(bench);
    assert_closed(bench, "C:\\tools", ANY);
    end(bench);
}

static void a_deny_on_a_place_that_holds_something_open_is_made(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    put(bench, "C:\\keys", NULL, USUAL);
    put(bench, "C:\\keys\\deep", NULL, NULL);
    put(bench, "C:\\keys\\deep\\open", "text",
        OWN "(A;;0x1200a9;;;" ALL_PACKAGES ")(A;ID;0x1f01ff;;;" USER ")");
    deny(bench, "C:\\keys", WINDOWS_DENY_ALL);
    assert_runs(bench);
    assert_closed(bench, "C:\\keys\\deep\\open", ANY);
    end(bench);
}

static void refuse_deep(struct bench *bench, const char *path, unsigned access)
{
    (void)access;
    if (strcmp(path, "C:\\home\\deep") == 0)
        bench->meddler.fails = ACL_DENIED;
}

static void what_the_caller_may_not_look_at_is_closed_to_the_command(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    put(bench, "C:\\home\\deep", NULL, NULL);
    deny(bench, "C:\\home", WINDOWS_DENY_ALL);
    bench->meddler.at_open = refuse_deep;
    assert_runs(bench);
    end(bench);
    bench = bench_make(WINDOWS_APPCONTAINER);
    put(bench, "C:\\home\\deep", NULL, NULL);
    grant(bench, "C:\\home", WINDOWS_ALLOW_WRITE);
    match(bench, "C:\\home\\**\\.env", NULL, 0);
    bench->meddler.at_open = refuse_deep;
    assert_refused(bench, SBX483_PLACE_UNFIT, "cannot be looked at (error 5)");
    end(bench);
}

/* --- what is judged afterwards -------------------------------------------------------------------------- */

static void a_name_that_everybody_may_delete_refuses(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    put(bench, "C:\\public", NULL, OWN "(A;OICI;0x1f01ff;;;S-1-1-0)(A;OICI;0x1f01ff;;;" USER ")");
    put(bench, "C:\\public\\in", NULL, USUAL);
    grant(bench, "C:\\public\\in", WINDOWS_ALLOW_WRITE);
    assert_refused(bench, SBX485_STILL_OPEN, "C:\\public may be open to the command still (rights 0x40)");
    end(bench);
}

static void an_entry_that_closes_what_is_opened_refuses(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    put(bench, "C:\\shut", NULL, OWN "(D;OICI;0x1f01ff;;;" PACKAGE ")(A;OICI;0x1f01ff;;;" USER ")");
    grant(bench, "C:\\shut", WINDOWS_ALLOW_READ);
    assert_refused(bench, SBX485_STILL_OPEN, "another entry closes what the rule opens");
    arena_destroy(bench->arena);
}

static void what_the_caller_may_not_do_need_not_be_opened(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    put(bench, "C:\\shared", NULL, OWN "(A;OICI;0x1200a9;;;" USER ")");
    grant(bench, "C:\\shared", WINDOWS_ALLOW_WRITE);
    assert_runs(bench);
    assert_closed(bench, "C:\\shared", WRITE);
    end(bench);
}

/* --- where a place may not lie -------------------------------------------------------------------------- */

static void a_place_behind_a_junction_refuses(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    assert_true(acl_memory_junction(bench->memory, "C:\\w\\link", "C:\\home"));
    grant(bench, "C:\\w", WINDOWS_ALLOW_WRITE);
    deny(bench, "C:\\w\\link\\notes", WINDOWS_DENY_ALL);
    assert_refused(bench, SBX483_PLACE_UNFIT, "leads through a link");
    end(bench);
}

static void a_place_that_is_a_junction_refuses(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    assert_true(acl_memory_junction(bench->memory, "C:\\link", "C:\\home"));
    grant(bench, "C:\\link", WINDOWS_ALLOW_READ);
    assert_refused(bench, SBX483_PLACE_UNFIT, "is a link or a junction");
    end(bench);
}

static void a_discovered_grant_on_a_junction_is_left_out(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    assert_true(acl_memory_junction(bench->memory, "C:\\link", "C:\\home"));
    grant(bench, "C:\\link", WINDOWS_ALLOW_READ)->automatic = true;
    assert_runs(bench);
    assert_true(has_note(bench, SBX488_GRANT_LEFT_OUT));
    assert_closed(bench, "C:\\home\\notes", ANY);
    end(bench);
}

static void a_discovered_grant_that_lowers_is_never_left_out(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    assert_true(acl_memory_junction(bench->memory, "C:\\w\\link", "C:\\home"));
    grant(bench, "C:\\w", WINDOWS_ALLOW_WRITE);
    struct windows_object *lower = grant(bench, "C:\\w\\link", WINDOWS_ALLOW_READ);
    lower->automatic = true;
    ace(bench, lower, true, WINDOWS_DENY_WRITE, true);
    assert_refused(bench, SBX483_PLACE_UNFIT, "is a link or a junction");
    end(bench);
}

static void another_kind_refuses(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    grant(bench, "C:\\w\\src\\main.c", WINDOWS_ALLOW_READ)->kind = WINDOWS_DIRECTORY;
    assert_refused(bench, SBX483_PLACE_UNFIT, "is not a directory");
    end(bench);
}

static void a_volume_without_lists_refuses(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    bench->bad_volume = "yes";
    grant(bench, "C:\\w", WINDOWS_ALLOW_WRITE);
    assert_refused(bench, SBX483_PLACE_UNFIT, "keeps no access control lists");
    end(bench);
}

static void a_place_of_somebody_else_refuses_unless_it_was_discovered(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    acl_memory_refuse(bench->memory, "C:\\home", true);
    grant(bench, "C:\\home", WINDOWS_ALLOW_READ);
    assert_refused(bench, SBX484_CHANGE_REFUSED, "may not change");
    end(bench);
    bench = bench_make(WINDOWS_APPCONTAINER);
    acl_memory_refuse(bench->memory, "C:\\home", true);
    grant(bench, "C:\\home", WINDOWS_ALLOW_READ)->automatic = true;
    assert_runs(bench);
    assert_true(has_note(bench, SBX488_GRANT_LEFT_OUT));
    end(bench);
}

static void programs_that_are_open_to_every_package_need_no_change(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    put(bench, "C:\\tools", NULL, OWN "(A;OICI;0x1200a9;;;" ALL_PACKAGES ")(A;OICI;0x1200a9;;;" USER ")");
    acl_memory_refuse(bench->memory, "C:\\tools", true);
    grant(bench, "C:\\tools", WINDOWS_ALLOW_READ);
    assert_runs(bench);
    end(bench);
}

static void a_program_that_must_be_closed_for_writing_needs_one(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    put(bench, "C:\\tool.exe", "text", OWN "(A;;0x1301bf;;;" ALL_PACKAGES ")(A;;0x1301bf;;;" USER ")");
    acl_memory_refuse(bench->memory, "C:\\tool.exe", true);
    ace(bench, grant(bench, "C:\\tool.exe", WINDOWS_ALLOW_READ), true, WINDOWS_DENY_WRITE, true);
    assert_refused(bench, SBX484_CHANGE_REFUSED, "may not change");
    end(bench);
}

static void roots_that_lie_as_they_must_not_refuse(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    bench->requires[0] = (struct windows_require){.path = "C:\\w\\SRC", .below = "C:\\W"};
    bench->spec.require_count = 1;
    assert_refused(bench, SBX483_PLACE_UNFIT, "which the specification rules out");
    end(bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_grant_opens_what_lies_below_and_nothing_else),
        cmocka_unit_test(a_denied_place_in_a_grant_is_closed_and_keeps_its_name),
        cmocka_unit_test(a_place_that_is_denied_for_writing_can_be_read),
        cmocka_unit_test(an_entry_of_an_object_that_would_undo_a_deny_is_denied_beside_it),
        cmocka_unit_test(a_deny_that_is_spelled_in_another_case_reaches_what_lies_there),
        cmocka_unit_test(an_entry_without_what_is_denied_is_left_alone),
        cmocka_unit_test(an_entry_with_a_condition_is_denied_beside_it),
        cmocka_unit_test(what_takes_no_inheritance_is_denied_too),
        cmocka_unit_test(what_a_grant_lowers_another_can_raise_again),
        cmocka_unit_test(a_label_hides_what_an_entry_cannot),
        cmocka_unit_test(a_deny_where_everything_is_closed_changes_nothing),
        cmocka_unit_test(a_deny_on_what_every_package_may_read_is_made),
        cmocka_unit_test(a_deny_on_a_place_that_holds_something_open_is_made),
        cmocka_unit_test(what_the_caller_may_not_look_at_is_closed_to_the_command),
        cmocka_unit_test(a_name_that_everybody_may_delete_refuses),
        cmocka_unit_test(an_entry_that_closes_what_is_opened_refuses),
        cmocka_unit_test(what_the_caller_may_not_do_need_not_be_opened),
        cmocka_unit_test(a_place_behind_a_junction_refuses),
        cmocka_unit_test(a_place_that_is_a_junction_refuses),
        cmocka_unit_test(a_discovered_grant_on_a_junction_is_left_out),
        cmocka_unit_test(a_discovered_grant_that_lowers_is_never_left_out),
        cmocka_unit_test(another_kind_refuses),
        cmocka_unit_test(a_volume_without_lists_refuses),
        cmocka_unit_test(a_place_of_somebody_else_refuses_unless_it_was_discovered),
        cmocka_unit_test(programs_that_are_open_to_every_package_need_no_change),
        cmocka_unit_test(a_program_that_must_be_closed_for_writing_needs_one),
        cmocka_unit_test(roots_that_lie_as_they_must_not_refuse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
