"""Looking at the machine before a launch has its limits: of time, of matches, of patience with a file system that does
not answer. Whatever exceeds them is refused or closed, and a signal ends it."""
import os
import pty
import select
import signal
import subprocess
import sys
import time

from lib import IS_ROOT, check, end, equal, main, test, world

FAST = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
CORES = len(os.sched_getaffinity(0))
SLOW_PATTERNS = "".join(f"deny $WORK/**/*a*b*c*d*{number}?\n" for number in range(1500))


def long_walk(w):
    """A tree and a policy whose walk takes several seconds."""
    for number in range(50 * CORES):
        directory = w.make(f"work/d{number}/")
        for file in range(150):
            os.mknod(f"{directory}/{'abcd' * 30}-{file:04}x")
    return w.policy(SLOW_PATTERNS)


@test
def a_long_walk_shows_on_a_terminal_and_a_signal_ends_it():
    with world(FAST) as w:
        policy = long_walk(w)
        ours, theirs = pty.openpty()
        process = subprocess.Popen(
            w.command_line(policy, ["touch", "ran"]),
            env=w.environment(),
            cwd=w.work,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=theirs,
        )
        os.close(theirs)
        try:
            shown, until, told = b"", time.monotonic() + 60, False
            while time.monotonic() < until and process.poll() is None:
                if select.select([ours], [], [], 0.2)[0]:
                    try:
                        shown += os.read(ours, 65536)
                    except OSError:
                        break
                if b"looking for denied patterns" in shown and not told:
                    process.send_signal(signal.SIGTERM)
                    told = True
            equal(process.wait(timeout=60), 125)
            while select.select([ours], [], [], 0)[0]:
                try:
                    shown += os.read(ours, 65536)
                except OSError:
                    break
            check(told, f"no word on the terminal: {shown}")
            check(b"\r\x1b[K" in shown and b"SBX424" in shown and b"signal 15" in shown, shown)
            check(not os.path.exists(f"{w.work}/ran"), "it ran")
        finally:
            end(process)
            os.close(ours)


@test
def more_matches_than_can_be_held_are_refused():
    with world(FAST) as w:
        for number in range(100):
            directory = w.make(f"work/d{number}/")
            for file in range(1001):
                os.mknod(f"{directory}/{file}.log")
        w.launch("deny $WORK/**/*.log\n", "touch", "ran").refused("SBX476", "100100")
        w.launch("deny $WORK/**/*.log except $WORK\n", "true").succeeded()


# Mounts an autofs that nobody serves: whoever looks below it (direct: at it) waits for ever.
SILENT = """
import ctypes, os, subprocess, sys, time
kind, place, *command = sys.argv[1:]
libc = ctypes.CDLL(None, use_errno=True)
os.setpgid(0, 0)
hears, tells = os.pipe()
options = f"fd={tells},pgrp={os.getpgrp()},minproto=5,maxproto=5,{kind}"
if libc.mount(b"silent", place.encode(), b"autofs", 0, options.encode()) != 0:
    sys.exit(f"autofs: {os.strerror(ctypes.get_errno())}")
started = time.monotonic()
result = subprocess.run(command, start_new_session=True, timeout=120)
libc.umount2(place.encode(), 2)
print(f"took {time.monotonic() - started:.1f}", file=sys.stderr)
sys.exit(result.returncode)
"""


def silent(w, kind, text, *command, place="work/silent/", variables=None):
    """Launches with such a place; returns (code, output, errors, seconds)."""
    place = w.make(place)
    result = subprocess.run(
        ["unshare", "--mount", sys.executable, "-c", SILENT, kind, place]
        + w.command_line(w.policy(text), command, ["-v"]),
        env=w.environment(**(variables or {})),
        cwd=w.work,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=150,
    )
    errors = result.stderr.decode()
    check("took " in errors, errors)
    return result.returncode, result.stdout.decode(), errors, float(errors.rsplit("took ", 1)[1])


@test
def a_silent_file_system_keeps_nothing_waiting():
    if not IS_ROOT:
        return  # only root can mount one
    with world() as w:
        code, _, errors, seconds = silent(w, "indirect", "deny $WORK/silent/x/key\n", "touch", "ran")
        equal(code, 125)
        check("SBX453" in errors and "timed out" in errors and seconds < 60, errors)
        check(not os.path.exists(f"{w.work}/ran"), "it ran")


@test
def a_grant_behind_a_silent_file_system_is_left_out():
    if not IS_ROOT:
        return
    with world() as w:
        rule = f"grant read {w.outside}/silent/x\n"
        code, out, errors, seconds = silent(w, "indirect", rule, "echo", "ran", place="outside/silent/")
        equal((code, out), (0, "ran\n"), errors)
        check("SBX462" in errors and "timed out" in errors and seconds < 60, errors)


@test
def a_walk_does_not_wait_for_a_silent_directory():
    if not IS_ROOT:
        return
    with world() as w:
        w.make("work/a/key.pem", "x")
        code, _, errors, seconds = silent(w, "direct", "deny $WORK/**/*.pem\n", "touch", "ran")
        equal(code, 125, errors)
        check("SBX453" in errors and "umount -l" in errors and f"{w.work}/silent" in errors and seconds < 60, errors)
        check(not os.path.exists(f"{w.work}/ran"), "it ran")


@test
def where_no_pattern_can_match_nothing_is_entered():
    if not IS_ROOT:
        return
    with world() as w:
        w.make("work/key.pem", "closed")
        for text in ("deny $WORK/*.pem\n", "deny $WORK/**/*.pem except $WORK/silent\n"):
            code, out, errors, seconds = silent(w, "direct", text, "sh", "-c", "cat key.pem; echo ran")
            equal((code, out), (0, "ran\n"), errors)
            check("SBX458" not in errors and seconds < 60, errors)


@test
def a_silent_directory_of_path_is_left_out():
    if not IS_ROOT:
        return
    with world() as w:
        variables = {"PATH": f"{w.outside}/silent/x/bin:/usr/bin:/bin"}
        for text in ("use std/dev\n", "when command echo {\n    grant read /srv\n}\n"):
            code, out, errors, seconds = silent(
                w, "indirect", text, "echo", "ran", place="outside/silent/", variables=variables
            )
            equal((code, out), (0, "ran\n"), errors)
            check(seconds < 60, errors)


@test
def what_no_rule_speaks_of_is_not_looked_at():
    if not IS_ROOT:
        return
    with world() as w:
        os.symlink(f"{w.outside}/silent", f"{w.work}/silent")
        rule = "use std/dev\ndeny $WORK/**/*.pem\n"
        for place in ("outside/silent/", "home/elsewhere/", "silent/"):
            code, _, errors, _ = silent(w, "direct", rule, "true", place=place)
            check(code == 0 and "SBX458" not in errors and "timed out" not in errors, f"{place}: {errors}")


main()
