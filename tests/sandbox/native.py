"""What only the native engine can: thousands of mounts, no place for a further user namespace, no word of the caller's."""
import contextlib
import os
import resource
import signal
import subprocess
import time

from lib import IS_ROOT, LAUNCHER, SECRET, check, end, equal, main, processes_with, test, world

NATIVE = ["--engine", "native"]
MANY = 3200


@test
def more_mounts_than_bubblewrap_takes():
    with world() as w:
        for number in range(MANY):
            w.make(f"work/d{number % 40}/{number}.pem", SECRET)
        policy = w.policy("deny $WORK/**/*.pem\n")
        script = "cat d*/*.pem 2>/dev/null; grep -c pem /proc/self/mountinfo; ulimit -n"
        for limit in (1024, 64):
            def few_files():
                resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))

            out = w.shell(policy, script, options=NATIVE, preexec_fn=few_files).succeeded().out
            equal(out.split(), [str(MANY), str(limit)])
        w.shell(policy, "touch ran", options=["--engine", "bwrap"]).refused("SBX421")
        check(not os.path.exists(f"{w.work}/ran"), "something ran")


@test
def no_further_user_namespace_is_allowed_unless_the_policy_opens_them():
    with world() as w:
        script = "cat /proc/sys/user/max_user_namespaces; echo 9 > /proc/sys/user/max_user_namespaces; true"
        equal(w.shell("", script, options=NATIVE).succeeded().out, "0\n")
        opened = w.shell("use std/nested\n", script, options=NATIVE).succeeded().out
        check(int(opened) > 0, opened)


@test
def process_one_shows_no_word_of_the_caller():
    with world() as w:
        out = w.shell("", "tr '\\0' ' ' < /proc/1/cmdline; cat /proc/1/comm", options=NATIVE).succeeded().out
        check(out.startswith("sbx-launch --inner-stage ") and out.endswith("sbx-launch\n"), out)
        check(w.top not in out and "/proc/1" not in out, out)


@test
def a_file_in_place_of_a_device_is_not_used():
    with world() as w:
        policy, file = w.policy(""), w.make("outside/file", "")
        launch = f"{LAUNCHER} --engine native {policy} -- sh -c 'echo x > /dev/full'"
        result = subprocess.run([*(["unshare", "-m"] if IS_ROOT else ["unshare", "-Urm"]), "sh", "-c",
                                 f"mount --bind {file} /dev/full && {launch}"], env=w.environment(), cwd=w.work,
                                stdin=subprocess.DEVNULL, capture_output=True, text=True)
        check(result.returncode == 125 and "/dev/full" in result.stderr, f"{result.returncode}: {result.stderr}")
        equal(os.path.getsize(file), 0, "what was written")


@test
def a_launch_as_the_owner_falls_back_to_bubblewrap():
    if not IS_ROOT:
        return
    with world() as w:
        # What root's process left in memory must not be shown to the owner, so its child cannot write its user map.
        subprocess.run(["chown", "-R", "65534:65534", w.top], check=True)
        os.chmod(w.top, 0o755)
        policy = w.policy("")
        result = w.launch(policy, "true", options=["--as-owner", "--engine", "native"])
        result.refused("SBX420", "changed its user")
        w.launch(policy, "true", options=["--as-owner", "--engine", "auto"]).succeeded()


def children_of(process):
    with contextlib.suppress(OSError), open(f"/proc/{process}/task/{process}/children") as file:
        return file.read().split()
    return []


def mounts_of(process):
    with contextlib.suppress(OSError), open(f"/proc/{process}/mountinfo") as file:
        return len(file.readlines())
    return 0


def state_of(process):
    """As ps shows it; X of one that is gone."""
    with contextlib.suppress(OSError), open(f"/proc/{process}/stat") as file:
        return file.read().rsplit(")", 1)[1].split()[0]
    return "X"


@test
def what_makes_the_sandbox_ends_with_the_launcher():
    with world() as w:
        for number in range(MANY):
            w.make(f"work/d{number % 40}/{number}.pem", SECRET)
        # Each mount makes a line, and the table of the host is among them until the end.
        policy, enough = w.policy("deny $WORK/**/*.pem\n"), mounts_of("self") + 100
        process = subprocess.Popen([LAUNCHER, *NATIVE, policy, "--", "true"], cwd=w.work, env=w.environment(),
                                   stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        maker = None
        while maker is None and process.poll() is None:
            maker = next((child for child in children_of(process.pid) if mounts_of(child) > enough), None)
        check(maker is not None, "it was never seen")
        os.kill(int(maker), signal.SIGSTOP)
        deadline = time.monotonic() + 10
        while state_of(maker) not in "TX" and time.monotonic() < deadline:
            time.sleep(0.001)
        with open(f"/proc/{maker}/cmdline") as file:
            check("--inner-stage" not in file.read(), "it was made already")
        end(process)
        while state_of(maker) not in "XZ" and time.monotonic() < deadline:
            time.sleep(0.01)
        left = state_of(maker)
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(maker), signal.SIGKILL)
        check(left in "XZ", f"it is still there: {left}")


@test
def stopping_the_launcher_while_it_starts_and_killing_it_then_leaves_nothing():
    with world() as w:
        policy = w.policy("")
        seconds = 100000 + os.getpid()
        for pause in (0.001, 0.003, 0.005, 0.008, 0.013):
            process = subprocess.Popen([LAUNCHER, *NATIVE, policy, "--", "sleep", str(seconds)], cwd=w.work,
                                       env=w.environment(), stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(pause)
            process.send_signal(19)
            time.sleep(0.02)
            end(process)
        deadline = time.monotonic() + 10
        while processes_with(f"sleep\0{seconds}") and time.monotonic() < deadline:
            time.sleep(0.01)
        equal(processes_with(f"sleep\0{seconds}"), [], "survivors")


main()
