"""Whatever runs out or comes all at once: nothing runs without its sandbox, nothing is left, every descendant is gone."""
import os
import resource
import subprocess
import time

from lib import IS_ROOT, SECRET, check, end, equal, main, processes_with, test, world

ENGINES = ("native", "bwrap")
LAUNCHES = 200
SLEEP = 200000 + os.getpid()  # seconds, and what tells our processes from others

# Reads what is withheld, then says that it ran: a run without a sandbox is seen by what it read.
PROBE = f'cat "$1" 2>/dev/null; echo ran > "$2"; setsid sleep {SLEEP} &'


def start(w, policy, engine, *command, **more):
    return subprocess.Popen(
        w.command_line(policy, command, ["--engine", engine]),
        cwd=w.work,
        env=w.environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **more,
    )


def gone(seconds=20):
    deadline = time.monotonic() + seconds
    while processes_with(f"sleep\x00{SLEEP}"):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


@test
def two_hundred_launches_at_once_run_or_are_refused_and_leave_nothing():
    with world() as w:
        secret = w.make("home/id", SECRET)
        policy = w.policy("grant scratch\ndeny $WORK/.env, $WORK/conf/key\n")
        script = f"{PROBE} exit 3"
        running = [
            start(w, policy, ENGINES[number % 2], "sh", "-c", script, "sh", secret, f"out{number}")
            for number in range(LAUNCHES)
        ]
        ran = 0
        try:
            for number, process in enumerate(running):
                out, errors = process.communicate(timeout=300)
                check(SECRET.encode() not in out + errors, "the secret was read")
                done = os.path.exists(f"{w.work}/out{number}")
                if process.returncode == 3:
                    check(done, "one that ended well did not run")
                    ran += 1
                else:
                    equal((process.returncode, done), (125, False), f"{errors}")
                    check(b"error[SBX" in errors, errors)
        finally:
            for process in running:
                if process.poll() is None:
                    end(process)
        check(ran >= LAUNCHES // 4, f"only {ran} ran")
        check(gone(), "a process is left")
        w.launch(policy, "true").succeeded()
        left = [name for name in os.listdir(w.work) if not name.startswith("out")]
        equal(left, [], "left in the workspace")


def scarce(kind, values):
    """Launches with less and less of a resource, until nothing can be refused any more."""
    with world() as w:
        secret = w.make("home/id", SECRET)
        policy = w.policy("grant scratch\ndeny $WORK/.env\n")
        outcomes = {}
        for engine in ENGINES:
            for value in values:
                # The launcher alone meets the limit: a shell in between would need it too.
                result = start(
                    w,
                    policy,
                    engine,
                    "sh",
                    "-c",
                    PROBE,
                    "sh",
                    secret,
                    "out",
                    preexec_fn=lambda: resource.setrlimit(kind, (value, value)),
                )
                out, errors = result.communicate(timeout=100)
                check(SECRET.encode() not in out + errors, f"{engine}, {value}: the secret was read")
                ran = os.path.exists(f"{w.work}/out")
                # A launcher that cannot even start says so by a signal or its own error.
                check(not ran or result.returncode != 125, f"{engine}, {value}: it ran and was refused: {errors}")
                outcomes.setdefault(ran, []).append((engine, value))
                if ran:
                    os.unlink(f"{w.work}/out")
        check(gone(), "a process is left")
        w.launch(policy, "true").succeeded()
        equal(os.listdir(w.work), [], "left in the workspace")
        return outcomes


@test
def without_descriptors_nothing_runs_unsandboxed():
    outcomes = scarce(resource.RLIMIT_NOFILE, [*range(3, 24), 32, 48, 64, 80, 100, 256])
    check(outcomes.get(False), "no limit was too low")
    check(outcomes.get(True), f"nothing ran: {outcomes}")


@test
def without_memory_nothing_runs_unsandboxed():
    outcomes = scarce(resource.RLIMIT_AS, [1 << shift for shift in range(20, 33)])
    check(outcomes.get(False), "no limit was too low")
    check(outcomes.get(True), f"nothing ran: {outcomes}")


@test
def without_processes_nothing_runs_unsandboxed():
    if IS_ROOT:
        return  # the limit does not hold for root; the second run of this test is an ordinary user's
    outcomes = scarce(resource.RLIMIT_NPROC, [0, 1, 2, 3, 4, 5, 6, 8, 12, 10000])
    check(outcomes.get(False), "no limit was too low")
    check(("native", 10000) in outcomes.get(True, ()), f"nothing ran: {outcomes}")


@test
def without_room_for_files_nothing_runs_unsandboxed():
    """A limit of file sizes ends whoever exceeds it by SIGXFSZ; memory files count."""
    outcomes = scarce(resource.RLIMIT_FSIZE, [0, 1, 16, 512, 4096, 65536, 1 << 30])
    check(outcomes.get(True), f"nothing ran: {outcomes}")


@test
def a_scratch_that_is_full_says_so_and_is_gone_afterwards():
    script = """
import os
with open("/tmp/ours", "wb") as file:
    for _ in range(64):
        file.write(bytes(1 << 20))
    room = os.statvfs("/tmp")
    try:
        os.posix_fallocate(file.fileno(), 0, room.f_blocks * room.f_frsize + (1 << 20))
        print("no limit")
    except OSError as error:
        print(error.strerror)
"""
    before = set(os.listdir("/tmp"))
    with world() as w:
        for engine in ENGINES:
            result = w.python("grant scratch\n", script, options=["--engine", engine]).succeeded()
            equal(result.out, "No space left on device\n")
            check("ours" not in set(os.listdir("/tmp")) - before, "it is left on the host")


main()
