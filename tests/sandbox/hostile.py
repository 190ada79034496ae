"""A command that fights its own sandbox: process 1, the launcher's start, and what it leaves behind."""
import contextlib
import os
import resource
import signal
import stat
import subprocess
import time

from lib import ENGINE, SECRET, check, end, equal, main, processes_with, test, world

SLEEP = 200000 + os.getpid()  # seconds, and what tells our processes from others
ENDING_SECONDS = 10


def start(w, policy, *command):
    return subprocess.Popen(
        w.command_line(policy, command),
        cwd=w.work,
        env=w.environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


@contextlib.contextmanager
def running(w, script):
    """A launcher whose Python command has made work/ready; `script` may name it by MARK."""
    process = start(w, w.policy("grant env *\n"), "/usr/bin/python3", "-c", script, f"mark-{SLEEP}")
    try:
        deadline = time.monotonic() + 60
        while not os.path.exists(f"{w.work}/ready"):
            check(process.poll() is None and time.monotonic() < deadline, "the command does not run")
            time.sleep(0.01)
        yield process
    finally:
        end(process)
        for pid in processes_with(f"mark-{SLEEP}"):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def all_gone(seconds=ENDING_SECONDS):
    deadline = time.monotonic() + seconds
    while processes_with(f"mark-{SLEEP}"):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def first_process():
    """Number, outside, of process 1 of the sandbox in which our command runs."""
    for pid in processes_with(f"mark-{SLEEP}"):
        with contextlib.suppress(OSError, IndexError):
            with open(f"/proc/{pid}/status") as file:
                status = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
            if len(status["NSpid"].split()) < 2:
                continue
            with open(f"/proc/{status['PPid']}/status") as file:
                numbers = next(line.split() for line in file if line.startswith("NSpid:"))
            if numbers[-1] == "1":
                return int(status["PPid"])
    raise AssertionError("there is no process 1")


# Calls by number: not every one of them has a function in Python's library.
CALLS = """
import ctypes, os, platform, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
COLUMN = {"x86_64": 0, "aarch64": 1}[platform.machine()]
NUMBERS = {"prlimit64": (302, 261), "setpriority": (141, 140), "sched_setscheduler": (144, 119),
           "sched_setparam": (142, 118), "sched_setattr": (314, 274), "sched_setaffinity": (203, 122),
           "ioprio_set": (251, 30), "setpgid": (109, 154), "migrate_pages": (256, 238),
           "move_pages": (279, 239),
           "chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452),
           "mknod": (133, None), "mknodat": (259, 33), "creat": (85, None), "open": (2, None),
           "openat": (257, 56), "openat2": (437, 437)}
def call(name, *arguments):
    number = NUMBERS[name][COLUMN]
    if number is None:
        return "EPERM"
    done = libc.syscall(number, *[ctypes.c_long(a) if isinstance(a, int) else a for a in arguments])
    return "done" if done >= 0 else __import__("errno").errorcode[ctypes.get_errno()]
"""

SLOWING = CALLS + """
one = struct.pack("16Q", *[1] + [0] * 15)
limit = struct.pack("QQ", 0, 0)
attributes = struct.pack("IIQiIQQQ", 48, 5, 0, 0, 0, 0, 0, 0)
ways = [("prlimit64", 1, r, limit, None) for r in range(16)] + [
    ("setpriority", 0, 1, 19), ("setpriority", 1, 1, 19), ("setpriority", 2, os.getuid(), 19),
    ("setpriority", 2, 0, 19), ("sched_setscheduler", 1, 5, struct.pack("i", 0)),
    ("sched_setscheduler", 1, 3, struct.pack("i", 0)), ("sched_setparam", 1, struct.pack("i", 0)),
    ("sched_setattr", 1, attributes, 0), ("sched_setaffinity", 1, 8, one),
    ("ioprio_set", 1, 1, 3 << 13), ("ioprio_set", 2, 1, 3 << 13), ("ioprio_set", 3, os.getuid(), 3 << 13),
    ("setpgid", 0, 1), ("migrate_pages", 1, 8, one, one), ("move_pages", 1, 0, None, None, None, 0)]
"""


@test
def a_command_cannot_change_process_1():
    with world() as w:
        show = "print([(way[:3], got) for way in ways if (got := call(*way)) != 'EPERM'])"
        result = w.python("", SLOWING + show)
        equal(result.succeeded().out.strip(), "[]", "what process 1 did not refuse")


@test
def a_command_may_change_itself():
    with world() as w:
        w.python(
            "",
            CALLS
            + """
me = os.getpid()
assert call("setpriority", 0, me, 5) == "done" and call("setpriority", 0, 0, 6) == "done"
assert call("sched_setscheduler", me, 3, struct.pack("i", 0)) == "done"
assert call("sched_setaffinity", 0, 8, struct.pack("Q", 1)) == "done"
import resource
resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))
child = os.fork()
if child == 0:
    os.setpgid(0, 0)
    os._exit(os.getpgrp() != os.getpid())
assert os.waitpid(child, 0)[1] == 0
""",
        ).succeeded()


@test
def process_1_needs_no_limit_of_open_files():
    script = f"""
import os, time
if os.fork() == 0:
    while True:
        if os.fork() == 0:
            os._exit(0)
        time.sleep(0.05)
open("ready", "w").close()
time.sleep({SLEEP})
"""
    with world() as w, running(w, script) as process:
        resource.prlimit(first_process(), resource.RLIMIT_NOFILE, (0, 0))
        time.sleep(0.3)
        process.terminate()
        equal(process.wait(timeout=ENDING_SECONDS), 128 + signal.SIGTERM)
        check(all_gone(), "something survived")


STARVING = SLOWING + """
import time
def write(path, text):
    try:
        with open(path, "w") as file:
            file.write(text)
    except OSError:
        pass
for number in ("1", "self"):
    write("/proc/" + number + "/autogroup", "19")
    write("/proc/" + number + "/oom_score_adj", "1000")
    write("/proc/" + number + "/timerslack_ns", "4000000000")
wait, release = os.pipe()
for spinner in range(60):
    if os.fork() == 0:
        os.close(release)
        if APART:
            os.setsid()
        os.sched_setaffinity(0, {0})
        os.read(wait, 1)
        while True:
            pass
[call(*way) for way in ways if way[:2] not in (("setpriority", 2), ("ioprio_set", 3), ("prlimit64", 1))]
open("ready", "w").close()
time.sleep(0.3)
os.close(release)
time.sleep(SECONDS)
"""


def starve(apart):
    script = STARVING.replace("SECONDS", str(SLEEP)).replace("APART", str(apart))
    with world() as w, running(w, script) as process:
        time.sleep(2)
        end(process)
        check(all_gone(), "something survived")


@test
def a_starved_process_1_still_ends_everything():
    starve(apart=False)


@test
def a_process_1_starved_by_other_sessions_still_ends_everything():
    starve(apart=True)


@test
def a_process_1_that_does_not_answer_is_killed():
    script = f"import time; open('ready', 'w').close(); time.sleep({SLEEP})"
    with world() as w, running(w, script) as process:
        os.kill(first_process(), signal.SIGSTOP)
        process.terminate()
        equal(process.wait(timeout=ENDING_SECONDS + 5), 128 + signal.SIGKILL)
        check(all_gone(), "something survived")


@test
def a_command_may_take_its_time_to_end():
    script = """
import signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: (time.sleep(7), sys.exit(3)))
open("ready", "w").close()
time.sleep(100)
"""
    with world() as w, running(w, script) as process:
        process.terminate()
        equal(process.wait(timeout=30), 3)


SET_ID = CALLS + """
flags, directory = os.O_CREAT | os.O_WRONLY, -100
open("old", "w").close()
old = os.open("old", os.O_RDONLY)
how = lambda mode: struct.pack("QQQ", flags, mode, 0)
for bits in (0o4755, 0o2755, 0o6777, 0o104755):
    ways = [("chmod", b"old", bits), ("fchmod", old, bits), ("fchmodat", directory, b"old", bits),
            ("fchmodat2", directory, b"old", bits, 0), ("mknod", b"n1", bits, 0),
            ("mknodat", directory, b"n2", bits, 0), ("creat", b"n3", bits), ("open", b"n4", flags, bits),
            ("openat", directory, b"n5", flags, bits), ("openat", directory, b"n6", flags | os.O_EXCL, bits),
            ("openat", directory, b".", os.O_TMPFILE | os.O_WRONLY, bits),
            ("openat2", directory, b"n7", how(bits & 0o7777), 24)]
    for way in ways:
        got = call(*way)
        if got != ("ENOSYS" if way[0] == "openat2" else "EPERM"):
            print(way, got)
"""


@test
def no_file_with_its_owners_rights_is_left_behind():
    with world() as w:
        os.umask(0)
        equal(w.python("", SET_ID).succeeded().out, "", "what was not refused")
        for path, (mode, _) in w.tree().items():
            check(mode & (stat.S_ISUID | stat.S_ISGID) == 0, f"{path} has mode {mode:o}")


@test
def ordinary_modes_can_be_given():
    with world() as w:
        script = "umask 0; > a; chmod 755 a; chmod u+x,g-w a; mkdir -m 1777 d; install -m 640 a b; ./a"
        w.shell("", script).succeeded()
        equal(oct(os.stat(f"{w.work}/b").st_mode & 0o7777), "0o640")
        equal(oct(os.stat(f"{w.work}/d").st_mode & 0o7777), "0o1777")


@test
def a_policy_may_open_the_changing_of_modes():
    with world() as w:
        w.shell("grant syscall chmod, fchmod, fchmodat, fchmodat2\n", "mkdir d; chmod g+s d").succeeded()
        check(os.stat(f"{w.work}/d").st_mode & stat.S_ISGID, "the bit is missing")


# Exchanges two names again and again; the pause between is an argument.
SWAP = """
import ctypes, sys, time
libc = ctypes.CDLL(None)
EXCHANGE = 2
open("ready", "w").close()
while True:
    libc.renameat2(-100, sys.argv[1].encode(), -100, sys.argv[2].encode(), EXCHANGE)
    time.sleep(float(sys.argv[3]))
"""


def swapped(w, policy, script, names, pause, engine, seconds=2):
    """Runs `script` under `policy` again and again while another sandboxed command swaps `names`. Nothing may
    leak, and nothing be made where the link leads; how many ran and how many were refused comes back."""
    private = os.path.dirname(w.make("home/private/id", SECRET))
    swapper = start(w, w.policy(""), "/usr/bin/python3", "-c", SWAP, *names, str(pause))
    ran = refused = 0
    try:
        while not os.path.exists(f"{w.work}/ready"):
            check(swapper.poll() is None, "the swapping command does not run")
            time.sleep(0.01)
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            result = w.shell(policy, script, options=["--engine", engine])
            check(SECRET not in result.out + result.err, "a secret was read")
            equal(os.listdir(private), ["id"], f"{engine}: what is in the private directory")
            if result.code == 125:
                check("error[SBX" in result.err, result.err)
                refused += 1
            else:
                ran += 1
    finally:
        end(swapper)
    return ran, refused


# bubblewrap, while it works, sees the host's files below /oldroot; at the end nobody does.
ROOTS = {"native": ("",), "bwrap": ("", "/oldroot")}


def make_names(w, root, *more):
    w.make("work/d/id", "ours")
    for name in more:
        w.make(f"work/d/{name}", "")
    os.symlink(f"{root}{w.home}/private", f"{w.work}/l")


def swap_everywhere(text, script, names, pauses):
    """The sums of what ran and what was refused, over both engines and all that a link can name."""
    counts = [0, 0]
    for engine in [ENGINE] if ENGINE else ROOTS:
        for root in ROOTS[engine]:
            with world() as w:
                make_names(w, root, *names)
                policy = w.policy(text)
                for pause in pauses:
                    found = swapped(w, policy, script, ("d", "l"), pause, engine)
                    counts = [sum(pair) for pair in zip(counts, found)]
    return counts


@test
def a_directory_above_a_mask_that_becomes_a_link_leads_nowhere():
    counts = swap_everywhere(
        "deny $WORK/**/*.pem\n", "cat d/id && echo pwn > d/pwned", ["x.pem"], (0.0005, 0.0025)
    )
    check(sum(counts) > 10, f"{counts} ran and were refused")


@test
def a_directory_above_a_placeholder_that_becomes_a_link_leads_nowhere():
    counts = swap_everywhere("deny $WORK/d/key, $WORK/d/more/\n", "cat d/id", [], (0.0005, 0.004))
    check(sum(counts) > 10, f"{counts} ran and were refused")


@test
def a_granted_directory_that_becomes_a_link_leads_nowhere():
    ran, refused = swap_everywhere("grant read $WORK/d\n", "cat d/id", [], (0.0005,))
    check(ran + refused > 10, f"{ran} ran and {refused} were refused")
    check(refused > 0, "nothing was refused")


main()
