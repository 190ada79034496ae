"""What the kernel keeps for all: keys, shared memory, queues, its log, settings, terminals."""
import contextlib
import ctypes
import fcntl
import os
import platform
import pty
import select
import socket
import struct
import subprocess
import tempfile
import termios

from harness import attempt, held_link

LIBC = ctypes.CDLL(None, use_errno=True)
NUMBERS = {"x86_64": (248, 250), "aarch64": (217, 219)}
ADD_KEY, KEYCTL = NUMBERS.get(platform.machine(), (0, 0))
SESSION_KEYRING, JOIN_SESSION = -3, 1
PRIVATE_KEY, CREATE, REMOVE = 0, 0o1000, 0


@attempt("KEY_CALLS", plain=True)
def read_a_key_of_the_session(w):
    LIBC.syscall(KEYCTL, JOIN_SESSION, None)
    secret = w.secret_text.encode()
    LIBC.syscall(ADD_KEY, b"user", w.marker.encode(), secret, len(secret), SESSION_KEYRING)
    return w.leaks("read-key", w.marker)


def fresh_number():
    return 0x10000 + int.from_bytes(os.urandom(3), "little")


@attempt("OWN_IPC EVIDENCE", plain=True)
def read_shared_memory(w):
    number = fresh_number()
    memory = LIBC.shmget(number, 4096, CREATE | 0o600)
    LIBC.shmat.restype = ctypes.c_void_p
    at = LIBC.shmat(memory, None, 0)
    try:
        ctypes.memmove(at, w.secret_text.encode() + b"\0", len(w.secret_text) + 1)
        return w.leaks("read-shared-memory", number)
    finally:
        LIBC.shmdt(ctypes.c_void_p(at))
        LIBC.shmctl(memory, REMOVE, None)


@attempt("OWN_IPC EVIDENCE", plain=True)
def read_a_message_queue(w):
    number = fresh_number()
    queue = LIBC.msgget(number, CREATE | 0o600)
    try:
        text = w.secret_text.encode()
        LIBC.msgsnd(queue, struct.pack("l", 1) + text, len(text), 0)
        return w.leaks("read-queue", number)
    finally:
        LIBC.msgctl(queue, REMOVE, None)


@attempt("OWN_IPC EVIDENCE", plain=True)
def change_a_semaphore(w):
    number, value = fresh_number(), 12
    semaphore = LIBC.semget(number, 1, CREATE | 0o600)
    try:
        w.run("change-semaphore", number)
        return LIBC.semctl(semaphore, 0, value) == 1
    finally:
        LIBC.semctl(semaphore, 0, REMOVE)


@attempt("OWN_IPC LANDLOCK_FILES EVIDENCE", plain=True)
def read_a_named_message_queue(w):
    name = f"/{w.marker}".encode()
    queue = LIBC.mq_open(name, os.O_RDWR | os.O_CREAT, 0o600, None)
    try:
        text = w.secret_text.encode()
        LIBC.mq_send(queue, text, len(text), 0)
        return w.leaks("read-named-queue", name.decode())
    finally:
        LIBC.mq_close(queue)
        LIBC.mq_unlink(name)


def log_is_open():
    with open("/proc/sys/kernel/dmesg_restrict") as file:
        return file.read().strip() == "0" and os.path.exists("/dev/kmsg")


@attempt("KERNEL_CALLS", plain=True, root=True, possible=log_is_open)
def read_the_log_of_the_kernel(w):
    with open("/dev/kmsg", "w") as file:
        file.write(f"{w.secret_text}\n")
    return w.leaks("read-log")


def setting(path, wanted):
    """Whether a setting of this machine lets everybody in."""

    def ask():
        with contextlib.suppress(OSError):
            with open(path) as file:
                return int(file.read()) in wanted
        return False

    return ask


def opens(w, move, what):
    with w.held(move) as process:
        return what in held_link(process)


@attempt("KERNEL_CALLS", plain=True)
def watch_files_of_others(w):
    return opens(w, "watch-files", "fanotify")


@attempt("KERNEL_CALLS", plain=True)
def stop_the_kernel_at_a_fault(w):
    return opens(w, "catch-faults", "userfaultfd")


@attempt("KERNEL_CALLS", plain=True, possible=setting("/proc/sys/kernel/perf_event_paranoid", range(-1, 3)))
def measure_the_kernel(w):
    return opens(w, "measure-performance", "perf_event")


@attempt("KERNEL_CALLS", plain=True, possible=setting("/proc/sys/kernel/unprivileged_bpf_disabled", (0,)))
def load_a_map_into_the_kernel(w):
    return opens(w, "make-map", "bpf-map")


@contextlib.contextmanager
def own_name():
    """The driver's own name space of names, so that the machine keeps its name."""
    old = os.open("/proc/self/ns/uts", os.O_RDONLY)
    try:
        if LIBC.unshare(0x4000000) != 0:
            raise OSError(ctypes.get_errno(), "unshare")
        yield
    finally:
        LIBC.setns(old, 0x4000000)
        os.close(old)


@attempt("MACHINE_CALLS OWN_NAMES OWN_USERS CAPABILITIES EVIDENCE", plain=True, root=True)
def name_the_machine(w):
    with own_name():
        w.run("name-machine", w.marker[:32])
        return socket.gethostname() == w.marker[:32]


def control_groups():
    """Where an own control group can be made."""
    for top in ("/sys/fs/cgroup/freezer", "/sys/fs/cgroup/pids", "/sys/fs/cgroup"):
        if os.access(f"{top}/cgroup.procs", os.W_OK):
            with contextlib.suppress(OSError):
                os.rmdir(tempfile.mkdtemp(prefix="sbx-", dir=top))
                return top
    return None


@attempt("OWN_CGROUP EVIDENCE", plain=True, root=True, possible=lambda: control_groups() is not None)
def read_the_names_of_control_groups(w):
    group = f"{control_groups()}/sbx-{w.secret_text}"
    os.mkdir(group)
    try:
        join = f'echo $$ > {group}/cgroup.procs; exec "$@"'
        return w.leaks("read", "/proc/self/cgroup", wrap=("sh", "-c", join, "sh"))
    finally:
        w.end_all()
        with contextlib.suppress(OSError):
            os.rmdir(group)


@contextlib.contextmanager
def terminal():
    outer, inner = pty.openpty()
    try:
        yield outer, inner
    finally:
        os.close(outer)
        os.close(inner)


def controlling(inner):
    """Makes the terminal that of the launcher's session."""

    def prepare():
        os.setsid()
        fcntl.ioctl(inner, termios.TIOCSCTTY, 0)

    return prepare


def typed(inner):
    """What waits in the terminal's input queue."""
    settings = termios.tcgetattr(inner)
    settings[3] &= ~termios.ICANON
    termios.tcsetattr(inner, termios.TCSANOW, settings)
    if not select.select([inner], [], [], 0.05)[0]:
        return b""
    return os.read(inner, 4096)


def types(w, move):
    with terminal() as (_, inner):
        w.run(move, "evil\n", stderr=inner, preexec_fn=controlling(inner))
        return b"evil" in typed(inner)


TYPING = setting("/proc/sys/dev/tty/legacy_tiocsti", (1,))


@attempt("TERMINAL_CALLS NEW_SESSION OWN_TERMINAL EVIDENCE", plain=True, possible=TYPING)
def type_into_the_terminal(w):
    return types(w, "type")


@attempt("TERMINAL_CALLS NEW_SESSION OWN_TERMINAL EVIDENCE", plain=True, possible=TYPING)
def type_into_the_terminal_past_a_comparison_of_64_bits(w):
    return types(w, "type-masked")


@attempt("TERMINAL_CALLS OWN_TERMINAL EVIDENCE", plain=True)
def change_the_line_discipline_of_the_terminal(w):
    with terminal() as (_, inner):
        w.run("change-discipline", stderr=inner, preexec_fn=controlling(inner))
        return struct.unpack("i", fcntl.ioctl(inner, termios.TIOCGETD, b"\0" * 4))[0] == 27


@attempt("NEW_SESSION EVIDENCE", plain=True)
def write_to_the_terminal_of_the_caller(w):
    with terminal() as (outer, inner):
        w.run("write-to-terminal", "/dev/tty", w.marker, preexec_fn=controlling(inner))
        return select.select([outer], [], [], 0.05)[0] and w.marker.encode() in os.read(outer, 4096)


@attempt("NEW_SESSION EVIDENCE", plain=True)
def switch_off_the_echo_of_the_terminal(w):
    with terminal() as (_, inner):
        w.run("switch-echo-off", "/dev/tty", preexec_fn=controlling(inner))
        return not termios.tcgetattr(inner)[3] & termios.ECHO


@attempt("OWN_TERMINAL EVIDENCE", plain=True)
def change_the_terminal_on_standard_input(w):
    with terminal() as (_, inner):
        w.run("switch-echo-off", "/dev/stdin", stdin=inner, preexec_fn=controlling(inner))
        return not termios.tcgetattr(inner)[3] & termios.ECHO


@attempt("OWN_TERMINAL EVIDENCE", plain=True)
def change_the_terminal_on_standard_error_alone(w):
    with terminal() as (_, inner):
        w.run("switch-echo-off", "/dev/stderr", stderr=inner, preexec_fn=controlling(inner))
        return not termios.tcgetattr(inner)[3] & termios.ECHO


@attempt("OWN_DEVICES", plain=True)
def write_to_another_terminal(w):
    with terminal() as (outer, inner):
        w.run("write-to-terminal", os.ttyname(inner), w.marker)
        return select.select([outer], [], [], 0.05)[0] and w.marker.encode() in os.read(outer, 4096)
