#!/usr/bin/python3
"""Runs that overlap share what holds a missing denied path, and a killed run's is taken over (language.md 7)."""
import os
import signal
import stat
import subprocess
import time

from lib import check, end, equal, main, test, world

POLICY = "deny $WORK/.env\ndeny $WORK/sec/\ndeny write $WORK/a/b/hook\n"
ATTACK = "echo EVIL > .env; mkdir sec; mv sec s; echo EVIL > a/b/hook; rm -rf a; ls -A"


def start(w, policy, *command):
    return subprocess.Popen(w.command_line(policy, command), env=w.environment(), cwd=w.work, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def wait_for_placeholders(w):
    for _ in range(500):
        if os.path.exists(f"{w.work}/.env") and os.path.exists(f"{w.work}/a/b/hook"):
            return
        time.sleep(0.01)
    check(False, "no placeholder appeared")


@test
def a_deny_outlives_the_run_that_made_its_placeholder():
    with world() as w:
        policy = w.policy(POLICY)
        first = start(w, policy, "sleep", "1")
        wait_for_placeholders(w)
        second = start(w, policy, "sh", "-c", f"while [ ! -e go ]; do sleep 0.05; done; {ATTACK}")
        time.sleep(0.5)
        equal(first.wait(30), 0)
        check(os.path.exists(f"{w.work}/.env"), "the first run took away what the second needs")
        open(f"{w.work}/go", "w").close()
        output = second.communicate(timeout=30)[0].decode()
        equal(sorted(w.tree()), [f"{w.work}/go"], output)


@test
def a_deny_in_a_work_tree_outlives_the_run_that_made_its_placeholder():
    with world() as w:
        subprocess.run(["git", "init", "-q", w.work], check=True, env=w.environment())
        policy = w.policy("deny $WORK/.env\n")
        first = start(w, policy, "sh", "-c", "while [ ! -e end ]; do sleep 0.02; done")
        while not os.path.exists(f"{w.work}/.env"):
            time.sleep(0.01)
        check(stat.S_ISSOCK(os.lstat(f"{w.work}/.env").st_mode), "it is no socket, so this shows nothing")
        second = start(w, policy, "sh", "-c", "touch began; while [ ! -e go ]; do sleep 0.02; done; echo EVIL > .env")
        while not os.path.exists(f"{w.work}/began"):
            time.sleep(0.01)
        open(f"{w.work}/end", "w").close()
        equal(first.wait(30), 0)
        check(os.path.exists(f"{w.work}/.env"), "the first run took away what the second needs")
        open(f"{w.work}/go", "w").close()
        output = second.communicate(timeout=30)[0].decode()
        check(not os.path.exists(f"{w.work}/.env"), output)


@test
def runs_may_end_in_the_order_in_which_they_began_or_not():
    with world() as w:
        policy = w.policy(POLICY)
        for pauses in (("0.6", "0.3", "0.9"), ("0.3", "0.6", "0.9"), ("0.9", "0.6", "0.3")):
            runs = [start(w, policy, "sleep", pause) for pause in pauses]
            equal([run.wait(30) for run in runs], [0, 0, 0], str([run.stdout.read() for run in runs]))
            equal(w.tree(), {}, f"after {pauses}")


@test
def different_policies_share_a_directory_that_both_needed():
    with world() as w:
        one, other = w.policy("deny $WORK/d/x\n"), w.policy("deny $WORK/d/y\n")
        for order in ((one, other), (other, one)):
            first = start(w, order[0], "sleep", "0.8")
            time.sleep(0.3)
            second = start(w, order[1], "sleep", "1")
            equal([first.wait(30), second.wait(30)], [0, 0])
            equal(w.tree(), {})


@test
# Reported as codex#31599.
def what_a_killed_launcher_left_is_taken_over_and_removed():
    with world() as w:
        policy = w.policy(POLICY)
        killed = start(w, policy, "sleep", "30")
        wait_for_placeholders(w)
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        check(os.path.exists(f"{w.work}/.env"), "nothing was left, so this shows nothing")
        w.shell(policy, ATTACK)
        equal(w.tree(), {}, "after the next launch")


@test
def what_somebody_wrote_meanwhile_stays():
    with world() as w:
        policy = w.policy(POLICY)
        killed = start(w, policy, "sleep", "30")
        wait_for_placeholders(w)
        end(killed)
        w.make("work/.env", "mine\n")
        w.launch(policy, "true").succeeded()
        equal(sorted(w.tree()), [f"{w.work}/.env"])


@test
def a_file_of_the_user_that_is_empty_is_no_placeholder():
    with world() as w:
        w.make("work/.env", "")
        w.launch(w.policy(POLICY), "true").succeeded()
        equal(sorted(w.tree()), [f"{w.work}/.env"])


@test
def forty_launches_at_once_all_run_and_leave_nothing():
    with world() as w:
        policy = w.policy(POLICY)
        runs = [start(w, policy, "sh", "-c", ATTACK) for _ in range(40)]
        ends = [(run.wait(120), run.stdout.read().decode()) for run in runs]
        equal([output for code, output in ends if code != 0], [])
        equal(w.tree(), {})


if __name__ == "__main__":
    main()
