"""Every match of a denied pattern that is there at launch is denied, wherever the command could reach it."""
import os

from lib import IS_ROOT, check, equal, main, test, world

MARKER = "marker-41fe"


@test
def matches_are_closed_at_any_depth():
    with world() as w:
        for path in ("a.pem", "d/e/f/b.pem", "d/dir.pem/inner", ".hidden/c.pem", "d/\xff\n.pem"):
            w.make(f"work/{path}", MARKER)
        policy = "deny $WORK/**/*.pem\n"
        result = w.shell(policy, "cat $(find . -type f) 2>/dev/null; find . -type f -exec cat {} + 2>/dev/null; true")
        check(MARKER not in result.out, "a match was read")
        for script in ("mv a.pem x", "mv d/e x", "mv d x", "rm -f a.pem", "ln a.pem x", "echo > d/e/f/b.pem"):
            check(w.shell(policy, script).code != 0, script)


@test
def exceptions_and_neighbours_stay_open():
    with world() as w:
        w.make("work/fixtures/a.pem", MARKER)
        w.make("work/a.pem.txt", MARKER)
        result = w.shell("deny $WORK/**/*.pem except $WORK/fixtures\n", "cat fixtures/a.pem a.pem.txt")
        equal(result.succeeded().out, MARKER * 2)


@test
def a_second_run_finds_nothing_under_another_name():
    with world() as w:
        w.make("work/d/key.pem", MARKER)
        policy = w.policy("deny $WORK/**/*.pem\n")
        w.shell(policy, "mv d e; mkdir -p e; mv d/key.pem e/key.txt; ln d/key.pem e/key.txt; cp d/key.pem e/key.txt")
        check(MARKER not in w.shell(policy, "find . -type f -exec cat {} + ; true").out, "found")


@test
def what_a_matching_link_leads_to_is_closed():
    with world() as w:
        w.make("work/store/blob", MARKER)
        os.symlink("store/blob", f"{w.work}/key.pem")
        result = w.shell("deny $WORK/*.pem\n", "cat store/blob; cat key.pem")
        check(MARKER not in result.out, "the target was read")
        os.symlink("/", f"{w.work}/all.pem")
        w.shell("deny $WORK/*.pem\n", "true").refused("all.pem")


@test
def a_tree_that_cannot_be_listed_is_closed_whole():
    if IS_ROOT:
        return  # root can list everything; the second run of this test is an ordinary user's
    with world() as w:
        w.make("work/d/key.pem", MARKER)
        os.chmod(f"{w.work}/d", 0o300)
        policy = w.policy("deny $WORK/**/*.pem\n")
        result = w.shell(policy, "chmod 700 d; cat d/key.pem")
        check(MARKER not in result.out, "read after chmod")


@test
def later_matches_are_the_commands_own():
    with world() as w:
        w.shell("deny $WORK/**/*.pem\n", "echo mine > new.pem && cat new.pem").succeeded()


@test
def what_was_found_in_a_large_tree_stands_in_the_lease_in_one_order():
    with world() as w:
        for number in range(60):
            directory = w.make(f"work/d{number}/e/")
            for file in range(100):
                os.mknod(f"{directory}/f{file}")
            if number % 2:
                w.make(f"work/d{number}/e/k.pem", MARKER)
        expected = sorted(f"a pattern denies {w.work}/d{number}/e/k.pem" for number in range(1, 60, 2))
        policy = w.policy("deny $WORK/**/*.pem\n")
        for _ in range(2):
            result, lease = w.lease(policy, "sh", "-c", "cat d*/e/k.pem; true")
            check(MARKER not in result.succeeded().out, "a match was read")
            equal([note["text"] for note in lease["notes"] if note["code"] == "SBX425"], expected)


main()
