"""--dry-run shows what would happen and creates nothing."""
import os

from lib import check, equal, main, test, world


def dry_run(w, engine):
    """What a dry run of `engine` prints; nothing is made."""
    policy = w.policy("deny $WORK/missing, $WORK/absent/\ngrant scratch\n")
    before = w.tree(w.top)
    out = w.launch(policy, "touch", "ran", options=["--dry-run", "--engine", engine]).succeeded().out
    equal(w.tree(w.top), before)
    for line in (f"placeholder {w.work}/missing", f"placeholder {w.work}/absent/"):
        check(line in out.splitlines(), f"{line!r} is not in {out}")
    return out


@test
def the_plan_and_the_call_of_bubblewrap_are_printed_and_nothing_is_made():
    with world() as w:
        out = dry_run(w, "bwrap")
        for word in (
            "bwrap --args",
            "--remount-ro /",
            f"--bind {w.work} {w.work}",
            "--unshare-net",
            "--tmpfs /tmp",
        ):
            check(word in out, f"{word!r} is not in {out}")
        check("--die-with-parent" not in out, "the call can leave a child behind")


@test
def the_plan_and_the_mounts_of_the_native_engine_are_printed_and_nothing_is_made():
    with world() as w:
        out = dry_run(w, "native")
        for line in (
            "new namespaces: user, process, mount, ipc, uts, cgroup, network (loopback alone)",
            "new tmpfs, nosuid, nodev: /tmp",
            "forbid further user namespaces",
            f"clone with all mounts below, nosuid, nodev: {w.work}",
            f"cover by an empty file, read-only: {w.work}/missing",
            f"cover by an empty directory, read-only: {w.work}/absent",
            "make the mount read-only: /",
        ):
            check(line in out.splitlines(), f"{line!r} is not in {out}")


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
