"""--dry-run shows what would happen and creates nothing."""
import os

from lib import check, equal, main, test, world


@test
def the_plan_and_the_call_are_printed_and_nothing_is_made():
    with world() as w:
        policy = w.policy("deny $WORK/missing, $WORK/absent/\ngrant scratch\n")
        before = w.tree(w.top)
        result = w.launch(policy, "touch", "ran", options=["--dry-run"]).succeeded()
        equal(w.tree(w.top), before)
        for word in (
            "bwrap --args",
            "--remount-ro /",
            f"--bind {w.work} {w.work}",
            "--unshare-net",
            "--tmpfs /tmp",
            f"placeholder {w.work}/missing\n",
            f"placeholder {w.work}/absent/\n",
        ):
            check(word in result.out, f"{word!r} is not in {result.out}")
        check("--die-with-parent" not in result.out, "the call can leave a child behind")


@test
def twice_gives_the_same_bytes():
    with world() as w:
        policy = w.policy("deny $WORK/x\n")
        equal(
            w.launch(policy, "true", options=["--dry-run"]).out,
            w.launch(policy, "true", options=["--dry-run"]).out,
        )


@test
def withheld_values_are_not_in_it():
    with world() as w:
        check(
            "withheld" not in w.launch("use std/dev\n", "true", options=["--dry-run"]).succeeded().out,
            "a value leaked",
        )


@test
def names_are_escaped():
    with world() as w:
        odd = os.path.join(w.work, "a\x1b[31m\nb")
        os.mkdir(odd)
        policy = w.policy("deny $WORK/a\\x1b\\[31m\\x0ab\n")
        out = w.launch(policy, "true", options=["--dry-run"]).succeeded().out
        check("\x1b" not in out and "\\x1b[31m\\x0ab" in out, out)


@test
def what_a_launch_would_refuse_is_refused():
    with world() as w:
        w.launch("", "true", options=["--dry-run", "--chdir", "none"]).refused("SBX409")


main()
