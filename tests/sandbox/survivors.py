"""Whenever and however the launcher dies, everything that it started dies too."""
import contextlib
import ctypes
import os
import random
import signal
import subprocess
import time

from lib import check, end, equal, main, processes_with, test, world

KILLS = 200
SLEEP = 100000 + os.getpid()  # seconds, and what tells our processes from others


def start(w, policy, *command, **more):
    return subprocess.Popen(
        w.command_line(policy, command),
        cwd=w.work,
        env=w.environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        **more,
    )


def start_up_seconds(w, policy):
    taken = []
    for _ in range(5):
        begun = time.monotonic()
        start(w, policy, "true").wait()
        taken.append(time.monotonic() - begun)
    return sorted(taken)[2]


def become_subreaper():
    """Whatever the launcher leaves behind becomes this process's child, so that nobody else's processes count."""
    PR_SET_CHILD_SUBREAPER = 36
    check(ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0, "prctl failed")


def descendants(root):
    """The living ones: process 1 inside and bubblewrap have neither our arguments nor our variables."""
    parents = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat") as file:
                state, parent = file.read().rpartition(")")[2].split()[:2]
            if state != "Z":
                parents[int(name)] = int(parent)
        except OSError:
            pass
    found, level = set(), {root}
    while level:
        level = {pid for pid, parent in parents.items() if parent in level} - found
        found |= level
    return found


def survivors():
    return descendants(os.getpid())


def names(processes):
    found = []
    for pid in processes:
        with contextlib.suppress(OSError), open(f"/proc/{pid}/cmdline") as file:
            found.append(file.read().replace("\0", " "))
    return found


def gone(seconds=10.0):
    deadline = time.monotonic() + seconds
    while survivors():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def kill_at_random(number, kills):
    random.seed(7)
    with world() as w:
        policy = w.policy("use std/dev\n")
        span = start_up_seconds(w, policy) * 1.3
        for _ in range(kills):
            process = start(w, policy, "sh", "-c", f"setsid sleep {SLEEP} & sleep {SLEEP}")
            time.sleep(random.random() * span)
            process.send_signal(number)
            process.wait(timeout=30)
        check(gone(), f"{len(survivors())} survivors, such as {names(survivors())[:3]}")
        equal(processes_with(f"sleep\x00{SLEEP}"), [], "survivors")
        # A killed launcher cannot clean up; the next launch does.
        w.launch(policy, "true").succeeded()
        equal(os.listdir(w.work), [], "left behind")


@test
def two_hundred_kills_during_start_up_leave_no_survivor():
    kill_at_random(signal.SIGKILL, KILLS)


@test
def being_ended_during_start_up_leaves_no_survivor():
    kill_at_random(signal.SIGTERM, KILLS // 4)


@test
# Reported as mxc#1057.
def killing_the_launcher_ends_a_running_tree():
    with world() as w:
        process = start(
            w,
            w.policy(""),
            "sh",
            "-c",
            f"(setsid sleep {SLEEP} &) ; (sleep {SLEEP} &) ; touch ready; exec sleep {SLEEP}",
        )
        try:
            while not os.path.exists(f"{w.work}/ready"):
                time.sleep(0.01)
            time.sleep(0.1)
            check(len(processes_with(f"sleep\x00{SLEEP}")) >= 3, "the tree does not run")
        finally:
            end(process)
        check(gone(), "something survived")
        equal(processes_with(f"sleep\x00{SLEEP}"), [])


@test
def killing_what_the_launcher_started_ends_a_running_tree_and_is_reported():
    with world() as w:
        process = start(
            w, w.policy(""), "sh", "-c", f"(setsid sleep {SLEEP} &) ; touch ready; exec sleep {SLEEP}"
        )
        try:
            while not os.path.exists(f"{w.work}/ready"):
                time.sleep(0.01)
            # bubblewrap, or process 1 itself.
            with open(f"/proc/{process.pid}/task/{process.pid}/children") as file:
                (outer,) = map(int, file.read().split())
            os.kill(outer, signal.SIGKILL)
            equal(process.wait(timeout=20), 128 + signal.SIGKILL)
        finally:
            end(process)
        check(gone(), "something survived")


@test
def what_the_command_leaves_running_ends_with_it():
    with world() as w:
        process = start(
            w,
            w.policy(""),
            "sh",
            "-c",
            f"sleep {SLEEP} & setsid sleep {SLEEP} & (setsid sh -c 'sleep {SLEEP} & sleep {SLEEP}' &) ; exit 6",
        )
        equal(process.wait(timeout=20), 6)
        check(gone(), "something survived")
        equal(processes_with(f"sleep\x00{SLEEP}"), [])


become_subreaper()
main()
