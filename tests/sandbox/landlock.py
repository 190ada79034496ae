"""Landlock: a second wall behind the mounts, where the kernel has it, and nothing but evidence less where it has not."""
import errno
import os
import pty
import subprocess
import sys

from lib import IS_ROOT, Result, check, equal, main, refusing, test, world
from lib_landlock import CREATE_RULESET, ENGINE, accepting, control

SECOND_WALL = "says the same by"


@test
def the_lease_says_which_version_holds_how_many_rules():
    with world("/var/tmp") as w:
        result, lease = w.lease("", "true")
        result.succeeded()
        evidence = control(lease, "fs.write")["evidence"]
        check("Landlock (ABI " in evidence and SECOND_WALL in evidence, evidence)


@test
def without_landlock_nothing_changes_but_the_evidence():
    script = 'echo x > made; cat made; cat /etc/shadow 2>/dev/null; echo y 2>/dev/null > /usr/made || echo closed'
    with world("/var/tmp") as w:
        policy = w.policy("deny $WORK/secret\n")
        whole, before = w.lease(policy, "sh", "-c", script)
        equal(whole.succeeded().out, "x\nclosed\n")
        for error, why in ((errno.ENOSYS, "has no Landlock"), (errno.EOPNOTSUPP, "switched off")):
            result, lease = w.lease(policy, "sh", "-c", script, preexec_fn=refusing({CREATE_RULESET: error}))
            equal((result.succeeded().out, result.err), (whole.out, whole.err))
            check("no second wall: " in control(lease, "fs.write")["evidence"], lease)
            check(why in control(lease, "fs.write")["evidence"], lease)
            for part in ("enforcedControls", "acceptedExceptions"):
                equal(
                    [(entry["control"], entry.get("how")) for entry in lease[part]],
                    [(entry["control"], entry.get("how")) for entry in before[part]],
                )


# Starts the rest of its arguments, mounts something at the first one meanwhile, and prints what the command printed.
MOUNT_LATER = """
import subprocess, sys
place = sys.argv[1]
process = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
process.stdout.readline()
subprocess.run(["mount", "-t", "tmpfs", "tmpfs", place], check=True)
with open(place + "/there", "w") as file:
    file.write("mounted later\\n")
print(process.communicate("go\\n")[0], end="")
sys.exit(process.returncode)
"""


@test
def what_the_host_mounts_later_in_a_read_area_cannot_be_written():
    enter = ["unshare", "--mount", "--propagation", "shared"]
    if not IS_ROOT:
        enter += ["--user", "--map-root-user"]
    script = """
        echo ready; read go
        cat "$1/there"
        echo x 2>/dev/null > "$1/there" && echo changed
        echo x 2>/dev/null > "$1/new" && echo made
        rm -f "$1/there" 2>/dev/null && echo removed
        mkdir "$1/below" 2>/dev/null && echo directory
        echo end"""
    with world("/var/tmp") as w:
        place = w.make("data/later/")
        policy = w.policy(f"grant read {w.top}/data\n")
        command = w.command_line(policy, ["sh", "-c", script, "sh", place], ["--engine", "bwrap"])
        result = Result(
            subprocess.run(
                [*enter, sys.executable, "-c", MOUNT_LATER, place, *command],
                cwd=w.work,
                env=w.environment(),
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                timeout=60,
            )
        )
        equal(result.succeeded().out, "mounted later\nend\n", "what the command could do")


@test
def a_terminal_on_standard_output_can_be_opened_by_name():
    with world("/var/tmp") as w:
        for accepts, options in (("", ()), (accepting(), ENGINE)):
            ours, theirs = pty.openpty()
            command = w.command_line(w.policy(accepts), ["sh", "-c", "echo opened > /dev/stdout"], options)
            try:
                status = subprocess.run(
                    command, cwd=w.work, env=w.environment(), stdin=subprocess.DEVNULL, stdout=theirs, timeout=60
                ).returncode
                equal((status, os.read(ours, 100)), (0, b"opened\r\n"))
            finally:
                os.close(ours)
                os.close(theirs)


@test
def ordinary_work_in_the_open_areas_goes_on():
    script = """
        set -e
        mkdir a b; echo x > a/f; mv a/f b/g; ln b/g a/h; ln -s g b/s; rm a/h; mkfifo a/p; mv b a/b; rm -r a
        echo x > /tmp/f; mv /tmp/f /tmp/g; cp /usr/bin/true own; ./own; : > /dev/null; : > /dev/shm/f
        echo 0 > /proc/self/oom_score_adj; ls / /proc /dev > /dev/null; echo done"""
    with world("/var/tmp") as w:
        equal(w.shell("grant scratch\n", script).succeeded().out, "done\n")


@test
def a_policy_that_opens_mount_has_no_second_wall():
    with world("/var/tmp") as w:
        result, lease = w.lease("use std/nested\n", "true")
        result.succeeded()
        check("opens mount" in control(lease, "fs.write")["evidence"], lease)


main()
