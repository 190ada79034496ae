#!/usr/bin/python3
"""Nothing is left behind of what holds a missing denied path, whoever is killed and whatever is in the way
(language.md 7)."""
import glob
import os
import random
import signal
import subprocess
import time

from lib import IS_ROOT, LAUNCHER, check, end, equal, main, test, world

POLICY = "deny $WORK/.env\ndeny $WORK/sec/\ndeny write $WORK/a/b/hook\n"


def records(w):
    return glob.glob(f"{w.home}/.local/state/sbx/placeholders/*")


def wait_for(condition, what):
    for _ in range(1000):
        if condition():
            return
        time.sleep(0.01)
    check(False, f"{what} never came")


def kill_one(w, policy):
    killed = w.start(policy, "sleep", "30")
    wait_for(lambda: os.path.exists(f"{w.work}/sec"), "the last placeholder")
    end(killed)


@test
def a_run_keeps_a_record_of_its_placeholders_while_it_lasts():
    with world() as w:
        policy = w.policy(POLICY)
        running = w.start(policy, "sleep", "30")
        wait_for(lambda: os.path.exists(f"{w.work}/sec"), "a placeholder")
        equal(len(records(w)), 1, "records")
        with open(records(w)[0]) as file:
            listed = file.read().split("\0")
        for path in (".env", "sec", "a", "a/b", "a/b/hook"):
            check(f"{w.work}/{path}" in listed, f"{path} is not in {listed}")
        running.send_signal(signal.SIGTERM)
        running.wait()
        equal((records(w), w.tree()), ([], {}))


@test
def any_next_launch_removes_what_a_killed_one_left():
    for text in ("deny $WORK/other\n", ""):
        with world() as w:
            kill_one(w, w.policy(POLICY))
            equal(len(w.tree()), 5, "what the killed run left")
            elsewhere = w.make("elsewhere/")
            w.launch(text or w.policy(""), "true", cwd=elsewhere).succeeded()
            equal((records(w), w.tree(), os.listdir(elsewhere)), ([], {}, []))


@test
def a_dry_run_leaves_a_killed_ones_leftovers_alone():
    with world() as w:
        policy = w.policy(POLICY)
        kill_one(w, policy)
        before = w.tree()
        w.launch(policy, "true", options=["--dry-run"]).succeeded()
        equal(w.tree(), before)


@test
def what_a_living_run_relies_on_is_no_leftover():
    with world() as w:
        policy = w.policy(POLICY)
        first = w.start(policy, "sleep", "30")
        wait_for(lambda: os.path.exists(f"{w.work}/a/b/hook"), "a placeholder")
        second = w.start(policy, "sleep", "30")
        wait_for(lambda: len(records(w)) == 2, "the second run's record")
        end(first)
        w.launch(w.policy(""), "true", cwd=w.make("elsewhere/")).succeeded()
        equal(len(w.tree()), 5, "what the second run relies on")
        end(second)
        w.launch(w.policy(""), "true", cwd=f"{w.top}/elsewhere").succeeded()
        equal((records(w), w.tree()), ([], {}))


@test
def what_somebody_put_there_after_a_kill_stays():
    with world() as w:
        kill_one(w, w.policy(POLICY))
        w.make("work/.env", "mine\n")
        w.make("work/sec/mine", "")
        os.unlink(f"{w.work}/a/b/hook")
        os.symlink(w.outside, f"{w.work}/a/b/hook")
        w.launch(w.policy(""), "true", cwd=w.make("elsewhere/")).succeeded()
        left = [path[len(w.work) + 1:] for path in sorted(w.tree())]
        equal(left, [".env", "a", "a/b", "a/b/hook", "sec", "sec/mine"])


@test
def a_launcher_killed_at_any_moment_leaves_nothing_to_the_next():
    with world() as w:
        policy, other = w.policy(POLICY), w.policy("")
        elsewhere, left = w.make("elsewhere/"), 0
        for number in range(60):
            killed = w.start(policy, "sleep", "30")
            time.sleep(random.uniform(0, 0.02) if number % 2 else random.uniform(0, 0.006))
            end(killed)
            left += len(w.tree()) > 0
            w.launch(other, "true", cwd=elsewhere).succeeded()
            equal((records(w), w.tree()), ([], {}), f"round {number}")
        check(left > 5, f"only {left} kills left anything, so this shows little")


@test
def a_record_cannot_be_reached_by_the_command():
    with world() as w:
        result = w.shell("grant write ~\ndeny $WORK/.env\n",
                         "cd ~/.local/state/sbx; ls -l placeholders; cat turn; echo x > placeholders/new; rm -rf placeholders turn; ls",
                         cwd=w.work)
        equal(glob.glob(f"{w.home}/.local/state/sbx/placeholders/new"), [], result.out + result.err)
        equal(result.err.count("Permission denied"), 3, result.err)
        check(result.out.count("placeholders") == 1 and "turn" in result.out, result.out)
        equal((records(w), w.tree()), ([], {}))


HOLDER = """
import fcntl, os, sys, time
held = []
for top in sys.argv[2:]:
    for directory, names, files in os.walk(top):
        for name in ["."] + names + files:
            try:
                held.append(os.open(os.path.join(directory, name), os.O_RDONLY | os.O_NONBLOCK))
                fcntl.flock(held[-1], getattr(fcntl, sys.argv[1]) | fcntl.LOCK_NB)
            except OSError:
                pass
print("held", flush=True)
time.sleep(60)
"""


@test
def a_command_that_locks_all_it_can_read_holds_up_no_launch():
    for first in (True, False):  # where nothing was ever launched, and where something was
        with world() as w:
            if not first:
                w.launch(w.policy(POLICY), "true").succeeded()
            hostile = w.start(w.policy("grant read ~\n" + POLICY), "/usr/bin/python3", "-c", HOLDER, "LOCK_EX",
                              w.home, w.work)
            try:
                equal(hostile.stdout.readline(), b"held\n")
                began = time.monotonic()
                w.launch(w.policy(POLICY), "true").succeeded()
                check(time.monotonic() - began < 1.5, f"it took {time.monotonic() - began:.1f} s")
            finally:
                end(hostile)
            w.launch(w.policy(POLICY), "true").succeeded()
            equal((records(w), w.tree()), ([], {}))


@test
def what_cannot_be_removed_for_a_lock_is_left_to_the_next_launch():
    with world() as w:
        running = w.start(w.policy(POLICY), "sh", "-c", "echo; read x", stdin=subprocess.PIPE)
        running.stdout.readline()
        holder = subprocess.Popen(["/usr/bin/python3", "-c", HOLDER, "LOCK_SH", w.work], stdout=subprocess.PIPE)
        holder.stdout.readline()
        running.communicate(b"x\n", timeout=30)
        check(w.tree() != {}, "nothing was left, so this shows nothing")
        equal(len(records(w)), 1, "records")
        end(holder)
        w.launch(w.policy(""), "true", cwd=w.make("elsewhere/")).succeeded()
        equal((records(w), w.tree()), ([], {}))


def in_namespace(w, script):
    """Runs a shell script as root of a mount namespace of its own."""
    unshare = ["unshare", "-m"] if IS_ROOT else ["unshare", "-Urm"]
    return subprocess.run([*unshare, "sh", "-c", "set -e\n" + script], env=w.environment(), capture_output=True, text=True)


def refused_there(w, result, *words):
    check(result.returncode == 125 and all(word in result.stderr for word in ("SBX463", *words)),
          f"exit {result.returncode}: {result.stdout}{result.stderr}")
    check("RAN" not in result.stdout, "the command ran")


@test
def on_a_full_disk_nothing_runs_and_nothing_is_left():
    with world() as w:
        policy = w.policy(POLICY)
        content = w.policy("deny write $WORK/repo/.git/commondir\n")
        inodes = in_namespace(w, f"""
            mount -t tmpfs -o size=1m,nr_inodes=4 none {w.work}; cd {w.work}
            "{LAUNCHER}" {policy} -- echo RAN || code=$?; echo left $(ls -A); exit $code""")
        refused_there(w, inodes, "No space left on device", w.work)
        check("left\n" in inodes.stdout, inodes.stdout)
        pages = in_namespace(w, f"""
            mount -t tmpfs -o size=4k none {w.work}; cd {w.work}; mkdir -p repo/.git/objects; echo x > repo/.git/HEAD
            "{LAUNCHER}" {content} -- echo RAN || code=$?; echo left $(ls -A repo/.git); exit $code""")
        refused_there(w, pages, "No space left on device", "commondir")
        check("left HEAD objects\n" in pages.stdout, pages.stdout)
        equal(records(w), [])


@test
def where_no_record_can_be_written_nothing_runs():
    with world() as w:
        policy = w.policy(POLICY)
        result = in_namespace(w, f"""
            mkdir -p {w.home}/.local/state; mount -t tmpfs -o mode=700,nr_inodes=3 none {w.home}/.local/state
            mkdir -p {w.home}/.local/state/sbx/placeholders; cd {w.work}
            "{LAUNCHER}" --lease {w.outside}/lease {policy} -- echo RAN || code=$?; exit $code""")
        refused_there(w, result, "No space left on device", f"cannot be recorded in {w.home}/.local/state/sbx/placeholders")
        check("XDG_STATE_HOME" in result.stderr and f"in {w.work}" not in result.stderr, result.stderr)
        equal(w.tree(), {})


@test
def where_the_lease_has_no_room_its_place_is_named():
    with world() as w:
        policy = w.policy("")
        result = in_namespace(w, f"""
            mkdir -p {w.home}/.local/state; mount -t tmpfs -o mode=700,nr_inodes=4 none {w.home}/.local/state
            mkdir -p {w.home}/.local/state/sbx/placeholders; touch {w.home}/.local/state/sbx/turn; cd {w.work}
            "{LAUNCHER}" {policy} -- echo RAN || code=$?; exit $code""")
        check(result.returncode == 125 and "RAN" not in result.stdout, f"{result}")
        check(f"{w.home}/.local/state/sbx/" in result.stderr and "No space left" in result.stderr, result.stderr)


@test
def on_a_read_only_file_system_there_is_nothing_to_hold():
    with world() as w:
        policy = w.policy(POLICY)
        result = in_namespace(w, f"""
            mount -t tmpfs none {w.work}; mkdir {w.work}/d; mount -o remount,bind,ro {w.work}; cd {w.work}
            "{LAUNCHER}" {policy} -- sh -c 'echo x > .env || echo RAN; mkdir sec || ls -A'""")
        equal((result.returncode, result.stdout), (0, "RAN\nd\n"), result.stderr)


@test
def in_a_directory_that_takes_nothing_nothing_runs():
    if IS_ROOT:
        return  # nothing stops root from making a file
    with world() as w:
        w.make("work/closed/")
        os.chmod(f"{w.work}/closed", 0o555)
        w.shell("deny $WORK/closed/key\n", "echo RAN").refused("SBX463", "closed", "Permission denied")
        equal(os.listdir(f"{w.work}/closed"), [])


@test
def what_was_made_before_the_refusal_is_removed():
    with world() as w:
        w.make("work/z/")
        os.chmod(f"{w.work}/z", 0o555)
        if IS_ROOT:
            os.chown(f"{w.work}/z", 12345, 12345)
        w.shell(POLICY + "deny $WORK/z/key\n", "echo RAN").refused("SBX463", "z/key")
        equal((list(w.tree()), records(w)), ([f"{w.work}/z"], []))


@test
def a_directory_that_everybody_may_write_is_none_though_it_is_empty_and_sticky():
    with world() as w:
        shared = w.make("work/shared/")
        os.chmod(shared, 0o1777)
        w.launch("deny $WORK/shared/key\n", "true").succeeded()
        equal(list(w.tree()), [shared])


@test
def a_name_that_cannot_exist_needs_nothing():
    with world() as w:
        name = "n" * 300
        result = w.shell(f"deny $WORK/{name}\n", f"touch {name}; ls -A")
        equal((result.out, w.tree()), ("", {}))


@test
def a_rule_for_a_directory_holds_a_file_of_that_name_and_the_other_way_round():
    with world() as w:
        w.make("work/file", "secret\n")
        w.make("work/directory/key", "secret\n")
        before = w.tree()
        script = "cat file directory/key; mv file f; rm -rf directory; echo x > file; touch directory/new"
        result = w.shell("deny $WORK/file/\ndeny $WORK/directory\n", script)
        check("secret" not in result.out and "RAN" not in result.out, result.out)
        equal(w.tree(), before)


@test
def one_run_may_want_a_file_and_another_a_directory():
    with world() as w:
        one, other = w.policy("deny $WORK/x\n"), w.policy("deny $WORK/x/\n")
        for order in ((one, other), (other, one)):
            first = w.start(order[0], "sleep", "1")
            wait_for(lambda: os.path.exists(f"{w.work}/x"), "the placeholder")
            result = w.shell(order[1], "rmdir x; rm -f x; echo y > x; mkdir x; echo y > x/y; mv x z; ls -A")
            equal((result.out.split(), first.wait(30), w.tree()), (["x"], 0, {}))


if __name__ == "__main__":
    main()
