"""Reaching processes outside, process 1 of the sandbox, and outliving the launcher."""
import contextlib
import os
import stat
import subprocess
import sys
import time

from harness import attempt, parent, proc, status

ALONE = "OWN_PROCESSES LANDLOCK_SCOPES EVIDENCE"
CHILD = """
import os, signal, sys
for number in (signal.SIGUSR1,):
    signal.signal(number, lambda *_: (os.write(1, b"hit\\n"), os._exit(0)))
os.write(1, b"ready\\n")
while True:
    signal.pause()
"""


@contextlib.contextmanager
def target(w):
    """A process of the host, in a group of its own; yields it and a function that says whether the signal came."""
    process = subprocess.Popen(
        [sys.executable, "-c", CHILD, w.secret_text], stdout=subprocess.PIPE, start_new_session=True
    )
    process.stdout.readline()

    def hit():
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=0.05)
        return process.poll() is not None

    try:
        yield process.pid, hit
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@attempt(ALONE, plain=True)
def signal_a_process_outside(w):
    with target(w) as (number, hit):
        w.run("signal", number)
        return hit()


@attempt(ALONE, plain=True)
def signal_a_process_outside_by_its_descriptor(w):
    with target(w) as (number, hit):
        w.run("signal-by-descriptor", number)
        return hit()


@attempt(ALONE, plain=True)
def signal_a_process_group_outside(w):
    with target(w) as (number, hit):
        w.run("signal-group", number)
        return hit()


@attempt("OWN_PROC", plain=True)
def read_the_command_line_of_a_process_outside(w):
    with target(w) as (number, _):
        return w.leaks("read", f"/proc/{number}/cmdline")


@attempt("OWN_PROCESSES EVIDENCE")
def stop_process_1_and_stay(w):
    with w.held("stop-parent-and-stay") as process:
        if process is None:
            return False
        w.launcher.kill()
        w.launcher.wait()
        return not w.gone_within(0.5)


@attempt("LAUNCHER_DEATH")
def outlive_the_launcher(w):
    with w.held("stay"):
        time.sleep(0.1)  # until process 1 has said that the command runs
        w.launcher.kill()
        w.launcher.wait()
        return not w.gone_within(0.5)


@attempt("OWN_PROCESSES ORPHANS EVIDENCE", plain=True)
def stay_after_the_command_has_ended(w):
    w.run("stay-as-orphan")
    return not w.gone_within(0.3)


def stack_secret(number):
    """The bytes that protect a process's stack."""
    auxiliary = proc(number, "auxv")
    for at in range(0, len(auxiliary), 16):
        kind, value = (int.from_bytes(auxiliary[at + i : at + i + 8], "little") for i in (0, 8))
        if kind == 25:  # AT_RANDOM
            with open(f"/proc/{number}/mem", "rb") as file:
                file.seek(value)
                return file.read(16)
    return b""


def reads_process_1(w, move):
    with w.held(move) as process:
        if process is None:
            return False
        return any(
            len(word) == 32 and stack_secret(parent(process)).hex() == word
            for word in w.output.decode().split()
        )


@attempt("HIDDEN_PROCESS")
def read_the_memory_of_process_1_by_proc(w):
    return reads_process_1(w, "read-first-process-by-proc")


@attempt("CAPABILITIES EVIDENCE", shown_by_root=True)
def read_the_memory_of_process_1_by_capability(w):
    return reads_process_1(w, "read-first-process-by-proc")


@attempt("MEMORY_CALLS HIDDEN_PROCESS")
def read_the_memory_of_process_1_by_a_call(w):
    return reads_process_1(w, "read-first-process-by-call")


@attempt("MEMORY_CALLS HIDDEN_PROCESS")
def trace_process_1(w):
    return reads_process_1(w, "trace-first-process")


@attempt("MEMORY_CALLS HIDDEN_PROCESS")
def overwrite_the_memory_of_process_1(w):
    with w.held("overwrite-first-process") as process:
        return process is not None and stack_secret(parent(process)) == b"x" * 16


def link_of(path):
    with contextlib.suppress(OSError):
        return os.readlink(path)
    return ""


@attempt("HIDDEN_PROCESS")
def list_the_descriptors_of_process_1(w):
    with w.held("list-descriptors-of-first-process") as process:
        sockets = [word for word in w.output.decode().split() if word.startswith("socket:")]
        if process is None or not sockets:
            return False
        one = parent(process)
        real = {link_of(f"/proc/{one}/fd/{name}") for name in os.listdir(f"/proc/{one}/fd")}
        return set(sockets) <= real


@attempt("MEMORY_CALLS HIDDEN_PROCESS")
def forge_how_the_command_ended(w):
    with w.held("forge-end"):
        with contextlib.suppress(subprocess.TimeoutExpired):
            return w.launcher.wait(timeout=0.5) == 77
    return False


def with_process_1(w, move, judge):
    with w.held(move) as process:
        return process is not None and judge(parent(process))


@attempt("FIRST_PROCESS_CALLS")
def limit_the_open_files_of_process_1(w):
    def judge(one):
        line = next(line for line in proc(one, "limits").decode().splitlines() if "open files" in line)
        return line.split()[3:5] == ["5", "5"]

    return with_process_1(w, "limit-first-process", judge)


def priority(number):
    return int(proc(number, "stat").decode().rsplit(")", 1)[1].split()[16])


@attempt("FIRST_PROCESS_CALLS")
def slow_process_1_down(w):
    return with_process_1(w, "slow-first-process", lambda one: priority(one) == 19)


@attempt("FIRST_PROCESS_CALLS")
def make_process_1_idle(w):
    return with_process_1(w, "idle-first-process", lambda one: os.sched_getscheduler(one) == os.SCHED_IDLE)


@attempt("FIRST_PROCESS_CALLS", possible=lambda: len(os.sched_getaffinity(0)) > 1)
def bind_process_1_to_one_processor(w):
    return with_process_1(w, "bind-first-process", lambda one: os.sched_getaffinity(one) == {0})


@attempt("FIRST_PROCESS_CALLS", user=True)
def slow_all_processes_of_the_user_down(w):
    return with_process_1(w, "slow-user", lambda one: priority(one) == 19)


@attempt("FIRST_PROCESS_CALLS")
def join_the_group_of_process_1(w):
    with w.held("join-first-group") as process:
        return process is not None and os.getpgid(process) == os.getpgid(parent(process))


SET_USER = "/usr/bin/passwd"  # waits for a password


def set_user_program_is_there():
    with contextlib.suppress(OSError):
        about = os.stat(SET_USER)
        return bool(about.st_mode & stat.S_ISUID) and about.st_uid == 0
    return False


@attempt(plain=True, user=True, possible=set_user_program_is_there)
def become_root_by_a_program_with_its_owners_rights(w):
    with w.held("execute-and-hold", SET_USER, policy="use std/system\n") as process:
        below = [name for name in os.listdir("/proc") if name.isdigit() and parent(name) == process]
        users = [status(name, "Uid").split()[1:2] for name in below]
        return ["0"] in users


RAISING = ("prlimit", "--nice=40:40")


def can_raise():
    """Whether this root may let others have a higher priority."""
    return subprocess.run([*RAISING, "true"], capture_output=True).returncode == 0


@attempt("PRIORITIES", root=True, possible=can_raise)
def raise_the_own_priority(w):
    with w.held("raise-priority", wrap=RAISING) as process:
        return process is not None and priority(process) == -15


@attempt("PERSONALITY_CALLS", plain=True)
def fix_the_layout_of_memory(w):
    with w.held("fix-memory-layout") as process:
        return process is not None and int(proc(process, "personality"), 16) & 0x40000 != 0


def has_capabilities(process):
    return process is not None and int(status(process, "CapEff"), 16) != 0


@attempt("CAPABILITIES EVIDENCE", shown_by_root=True)
def have_capabilities(w):
    with w.held("stay") as process:
        return has_capabilities(process)


def own_users(process):
    """Whether the process has a user namespace other than that of process 1, which shows it to its owner alone."""
    one = link_of(f"/proc/{parent(process)}/ns/user") or link_of("/proc/self/ns/user")
    return link_of(f"/proc/{process}/ns/user") != one


def makes_users(w, *move):
    with w.held(*move) as process:
        return process is not None and own_users(process) and has_capabilities(process)


@attempt("NAMESPACE_CALLS")
def become_root_in_an_own_user_namespace(w):
    return makes_users(w, "unshare-and-hold", 0)


@attempt("NAMESPACE_CALLS")
def become_root_with_own_mounts(w):
    return makes_users(w, "unshare-and-hold", 0x20000)


@attempt("NAMESPACE_CALLS")
def clone_into_an_own_user_namespace(w):
    return makes_users(w, "clone-and-hold")


@attempt("NAMESPACE_CALLS")
def clone_into_an_own_user_namespace_by_clone3(w):
    return makes_users(w, "clone3-and-hold")
