"""Whenever and however the launcher dies, everything that it started dies too."""
import os
import random
import signal
import subprocess
import time

from lib import check, end, equal, main, processes_with, test, world

KILLS = 200


def start(w, policy, *command, **more):
    return subprocess.Popen(w.command_line(policy, command), cwd=w.work, env=w.environment(), stdin=subprocess.DEVNULL,
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **more)


def start_up_seconds(w, policy):
    taken = []
    for _ in range(5):
        begun = time.monotonic()
        start(w, policy, "true").wait()
        taken.append(time.monotonic() - begun)
    return sorted(taken)[2]


def descendants(root):
    """Children of `root` and theirs: bubblewrap and process 1 inside have neither our arguments nor our variables."""
    parents = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat") as file:
                parents[int(name)] = int(file.read().rpartition(")")[2].split()[1])
        except OSError:
            pass
    found, level = set(), {root}
    while level:
        level = {pid for pid, parent in parents.items() if parent in level} - found
        found |= level
    return found


def sandboxes():
    """Processes in a process namespace that is not ours, and every bubblewrap."""
    own = os.readlink("/proc/self/ns/pid")
    found = set()
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.readlink(f"/proc/{name}/ns/pid") != own:
                found.add(int(name))
        except OSError:
            pass
        try:
            with open(f"/proc/{name}/comm") as file:
                if file.read().strip() in ("bwrap", "sbx-launch"):
                    found.add(int(name))
        except OSError:
            pass
    return found


def gone(before, seconds=10.0):
    deadline = time.monotonic() + seconds
    while sandboxes() - before:
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def kill_at_random(number, kills):
    random.seed(7)
    with world() as w:
        policy = w.policy("use std/dev\n")
        span = start_up_seconds(w, policy) * 1.3
        before = sandboxes()
        for _ in range(kills):
            process = start(w, policy, "sh", "-c", "setsid sleep 1234 & sleep 1234")
            time.sleep(random.random() * span)
            process.send_signal(number)
            process.wait(timeout=30)
        check(gone(before), f"survivors: {[open(f'/proc/{pid}/cmdline').read() for pid in sandboxes() - before]}")
        equal(processes_with("sleep\x001234"), [], "survivors")
        equal(os.listdir(w.work), [], "left behind")


@test
def two_hundred_kills_during_start_up_leave_no_survivor():
    kill_at_random(signal.SIGKILL, KILLS)


@test
def being_ended_during_start_up_leaves_no_survivor():
    kill_at_random(signal.SIGTERM, KILLS // 4)


@test
def killing_the_launcher_ends_a_running_tree():
    with world() as w:
        before = sandboxes()
        process = start(w, w.policy(""), "sh", "-c", "(setsid sleep 4321 &) ; (sleep 4321 &) ; touch ready; exec sleep 4321")
        try:
            while not os.path.exists(f"{w.work}/ready"):
                time.sleep(0.01)
            time.sleep(0.1)
            check(len(processes_with("sleep\x004321")) >= 3, "the tree does not run")
        finally:
            end(process)
        check(gone(before), "something survived")
        equal(processes_with("sleep\x004321"), [])


@test
def killing_bubblewrap_ends_a_running_tree_and_is_reported():
    with world() as w:
        before = sandboxes()
        process = start(w, w.policy(""), "sh", "-c", "(setsid sleep 4322 &) ; touch ready; exec sleep 4322")
        try:
            while not os.path.exists(f"{w.work}/ready"):
                time.sleep(0.01)
            outer = [pid for pid in descendants(process.pid) if open(f"/proc/{pid}/comm").read().strip() == "bwrap"]
            check(outer, "there is no bubblewrap")
            os.kill(outer[0], signal.SIGKILL)
            equal(process.wait(timeout=20), 128 + signal.SIGKILL)
        finally:
            end(process)
        check(gone(before), "something survived")


@test
def what_the_command_leaves_running_ends_with_it():
    with world() as w:
        before = sandboxes()
        process = start(w, w.policy(""), "sh", "-c",
                        "sleep 4323 & setsid sleep 4323 & (setsid sh -c 'sleep 4323 & sleep 4323' &) ; exit 6")
        equal(process.wait(timeout=20), 6)
        check(gone(before), "something survived")
        equal(processes_with("sleep\x004323"), [])


main()
