"""Limits: what the policy says of time, processes and memory holds for the whole tree, whatever the command does
against it."""
import contextlib
import os
import signal
import subprocess
import time

from lib import LAUNCHER, SECRET, check, end, equal, main, processes_with, test, world

GRACE = 5
SLEEP = 200000 + os.getpid()  # seconds, and what tells our processes from others


def timed(w, policy, *command, **more):
    """Runs with a lease; returns (result, lease, seconds)."""
    begun = time.monotonic()
    result, lease = w.lease(policy, *command, **more)
    return result, lease, time.monotonic() - begun


def wait_until(condition, seconds):
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    return condition()


def inside(marker):
    """Living processes of the command, not the launcher that has the same words."""
    found = []
    for pid in processes_with(str(marker)):
        with contextlib.suppress(OSError):
            with open(f"/proc/{pid}/stat") as file:
                if file.read().rpartition(")")[2].split()[0] != "Z" and LAUNCHER not in command_of(pid):
                    found.append(pid)
    return found


def command_of(pid):
    with open(f"/proc/{pid}/cmdline", "rb") as file:
        return file.read().decode(errors="replace")


def was_over(result, lease, number, text):
    """The caller sees a signal, and the record says why."""
    result.exited(128 + number)
    check("limit time" in result.err, result.err)
    equal(lease["exit"], {"signal": number}, "exit")
    equal([(event["kind"], event["arg"]) for event in lease["events"]], [("limit.time", text)], "events")
    equal(lease["unterminated"], [], "unterminated")


@test
def a_command_within_its_time_ends_by_itself():
    with world() as w:
        result, lease, _ = timed(w, "limit time to 1h\n", "sh", "-c", "exit 7")
        result.exited(7)
        equal(result.err, "")
        equal(lease["events"], [])
        held = {control["control"]: control for control in lease["enforcedControls"]}
        equal(held["limit.time"]["how"], "enforced")
        check("3600 s" in held["limit.time"]["evidence"], held["limit.time"]["evidence"])


@test
def a_command_over_its_time_is_asked_to_end():
    with world() as w:
        result, lease, seconds = timed(w, "limit time to 1s\n", "sleep", str(SLEEP))
        was_over(result, lease, signal.SIGTERM, "1s")
        check(1 <= seconds < GRACE, f"{seconds} s")


@test
def an_exit_code_of_its_own_does_not_hide_that_the_time_was_over():
    with world() as w:
        script = "trap 'echo asked; exit 0' TERM; sleep 100 & wait"
        result, lease, _ = timed(w, "limit time to 1s\n", "sh", "-c", script)
        was_over(result, lease, signal.SIGTERM, "1s")
        equal(result.out, "asked\n")


@test
def the_smallest_time_of_all_layers_holds():
    with world() as w:
        result, lease, _ = timed(w, "limit time to 1h\nlimit time to 1s\nlimit time to 1m\n", "sleep", "100")
        was_over(result, lease, signal.SIGTERM, "1s")


@test
def what_does_not_obey_is_killed_with_all_that_it_started():
    with world() as w:
        stubborn = f"trap '' TERM HUP INT; (setsid sh -c 'trap \"\" TERM; sleep {SLEEP} & wait; sleep {SLEEP}' &) ; "
        for end in (f"sleep {SLEEP} & while :; do wait; done", "kill -STOP $$; while :; do sleep 100; done"):
            result, lease, seconds = timed(w, "limit time to 1s\n", "sh", "-c", stubborn + end)
            was_over(result, lease, signal.SIGKILL, "1s")
            check(1 + GRACE <= seconds < 4 + 2 * GRACE, f"{seconds} s")
            equal(processes_with(str(SLEEP)), [], "left")


@test
def what_left_the_command_s_session_is_asked_as_well():
    with world() as w:
        child = "trap 'touch asked; exit' TERM; sleep 100 & touch ready; wait"
        script = f'(setsid sh -c "{child}" &); trap "sleep 2; exit" TERM; sleep 100 & wait'
        result, lease, _ = timed(w, "limit time to 1s\n", "sh", "-c", script)
        was_over(result, lease, signal.SIGTERM, "1s")
        equal(sorted(os.listdir(w.work)), ["asked", "ready"])


def processes_below(parent):
    with open(f"/proc/{parent}/task/{parent}/children") as file:
        children = [int(word) for word in file.read().split()]
    return children + [pid for child in children for pid in processes_below(child)]


def is_process_one(pid):
    with open(f"/proc/{pid}/status") as file:
        numbers = next(line.split()[1:] for line in file if line.startswith("NSpid:"))
    return len(numbers) > 1 and numbers[-1] == "1"


@test
def the_launcher_ends_what_process_1_does_not():
    with world() as w:
        command = w.command_line(w.policy("limit time to 1s\n"), ["sh", "-c", f"touch ready; exec sleep {SLEEP}"])
        begun = time.monotonic()
        launcher = subprocess.Popen(command, cwd=w.work, env=w.environment(), stdin=subprocess.DEVNULL,
                                    stderr=subprocess.PIPE)
        wait_until(lambda: os.path.exists(f"{w.work}/ready"), 20)
        for pid in filter(is_process_one, processes_below(launcher.pid)):
            os.kill(pid, signal.SIGSTOP)
        try:
            said = launcher.communicate(timeout=60)[1].decode()
        finally:
            end(launcher)
        seconds = time.monotonic() - begun
        equal(launcher.returncode, 128 + signal.SIGKILL, said)
        check("limit time" in said and 1 + GRACE < seconds < 8 + 2 * GRACE, f"{said} after {seconds} s")
        equal(inside(SLEEP), [], "left")


@test
def what_stops_itself_is_asked_too():
    with world() as w:
        result, lease, seconds = timed(w, "limit time to 1s\n", "sh", "-c", "kill -STOP $$; exit 3")
        was_over(result, lease, signal.SIGTERM, "1s")
        check(seconds < 1 + GRACE, f"{seconds} s")


@test
def many_busy_processes_do_not_put_the_end_off():
    with world() as w:
        script = """
import os, signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
for _ in range(64):
    if os.fork() == 0:
        while True:
            if os.fork() == 0:
                os._exit(0)
while True:
    pass
"""
        result, lease, seconds = timed(w, "limit time to 1s\n", "/usr/bin/python3", "-c", script)
        was_over(result, lease, signal.SIGKILL, "1s")
        check(seconds < 10 + 2 * GRACE, f"{seconds} s")


@test
def the_time_ends_although_the_launcher_is_stopped():
    with world() as w:
        policy = w.policy("limit time to 1s\n")
        command = ["sh", "-c", f"trap 'touch asked' TERM; touch ready; sleep {SLEEP} & wait; wait; wait"]
        launcher = subprocess.Popen(w.command_line(policy, command), cwd=w.work, env=w.environment(),
                                    stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(lambda: os.path.exists(f"{w.work}/ready"), 20)
        launcher.send_signal(signal.SIGSTOP)
        wait_until(lambda: not inside(SLEEP), 1 + 2 * GRACE)
        left = inside(SLEEP)
        launcher.send_signal(signal.SIGCONT)
        check(launcher.wait(timeout=30) > 128, "exit")
        equal(left, [], "left")
        check(os.path.exists(f"{w.work}/asked"), "nobody was asked")


@test
def text_artifacts_refuse_a_limit_that_only_the_launcher_holds():
    with world() as w:
        for target in ("bwrap", "bwrap-sh"):
            for text, control in (
                ("limit time to 5s\n", b"limit.time"),
                ("limit processes to 5\n", b"limit.processes"),
                ("limit memory to 1GiB\n", b"limit.memory"),
            ):
                source = 'sbx 1\npolicy "t"\ngrant write $WORK\n' + text
                options = ["-t", target, "--root", f"WORK={w.work}"]
                result = w.compile(source, *options, check_status=False)
                equal(result.returncode, 3, f"{target} {control}: {result.stderr}")
                check(control in result.stderr and b"sbx-launch" in result.stderr, result.stderr)
                accepted = source + f'accept {control.decode()} on bwrap because "test"\n'
                equal(w.compile(accepted, *options, check_status=False).returncode, 0, f"{target}, accepted")


FORKS = """
import os, threading, time
def more(make):
    made = 0
    try:
        while made < 100:
            make()
            made += 1
    except (OSError, RuntimeError):
        pass
    return made
def child():
    if os.fork() == 0:
        time.sleep(100)
"""


def control(lease, name):
    return {entry["control"]: entry for entry in lease["enforcedControls"]}.get(name)


@test
def processes_of_the_whole_tree_are_counted_and_no_others():
    with world() as w:
        others = [subprocess.Popen(["sleep", str(SLEEP)]) for _ in range(20)]
        try:
            # The command itself is one of them.
            result, lease = w.lease("limit processes to 8\n", "/usr/bin/python3", "-c", FORKS + "print(more(child))")
            equal(result.succeeded().out, "7\n", "children")
            nested = "if os.fork() == 0:\n    print(more(child), flush=True)\n    os._exit(0)\nos.wait()"
            equal(w.python("limit processes to 8\n", FORKS + nested).succeeded().out, "6\n", "grandchildren")
        finally:
            for other in others:
                other.kill()
                other.wait()
        equal(control(lease, "limit.processes")["how"], "enforced")
        evidence = control(lease, "limit.processes")["evidence"]
        check(" 9, process 1 included" in evidence or " 8 beside process 1" in evidence, evidence)


@test
def what_watches_for_the_launcher_is_not_counted():
    with world() as w:
        w.make("work/secret", SECRET)
        policy = "deny $WORK/secret\nlimit processes to 8\n"
        equal(w.python(policy, FORKS + "print(more(child))").succeeded().out, "7\n")


@test
def threads_count_as_processes():
    with world() as w:
        script = FORKS + "print(more(lambda: threading.Thread(target=time.sleep, args=(9,), daemon=True).start()))"
        equal(w.python("limit processes to 8\n", script).succeeded().out, "7\n")


@test
def the_command_cannot_raise_its_limit_of_processes():
    with world() as w:
        script = FORKS + """
import resource
for value in (1000, resource.RLIM_INFINITY):
    try:
        resource.setrlimit(resource.RLIMIT_NPROC, (value, value))
    except (OSError, ValueError):
        pass
print(more(child))
"""
        equal(w.python("limit processes to 8\n", script).succeeded().out, "7\n")


@test
def a_command_alone_fits_into_one_process():
    with world() as w:
        w.launch("limit processes to 1\n", "true").succeeded()
        check(w.shell("limit processes to 1\n", "(exit 0); (exit 0)").code != 0, "a second process ran")


@test
def the_smallest_number_of_processes_holds():
    with world() as w:
        script = FORKS + "print(more(child))"
        equal(w.python("limit processes to 100\nlimit processes to 4\n", script).succeeded().out, "3\n")


EATS = "x = []\nfor i in range(400):\n    x.append(b'x' * (1 << 20))\nprint('ate all')\n"


@test
def memory_is_limited_or_nothing_runs():
    """Which of both depends on what this user may do here; as root it is always limited (see below)."""
    with world() as w:
        result = w.python("limit memory to 64MiB\n", EATS)
        if result.code == 125:
            result.refused("limit.memory", "control group", "accept limit.memory")
        else:
            equal((result.code, result.out), (137, ""))


@test
def what_a_machine_cannot_hold_can_be_accepted():
    with world() as w:
        text = 'limit memory to 64MiB\naccept limit.memory on bwrap because "small machine"\n'
        result, lease = w.lease(text, "true")
        result.succeeded()
        accepted = [entry["control"] for entry in lease["acceptedExceptions"]]
        check((control(lease, "limit.memory") is None) == (accepted == ["limit.memory"]), str(lease))


main()
