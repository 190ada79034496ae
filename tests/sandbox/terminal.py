"""Where a standard stream is a terminal the command has one of its own: job control works, the caller's is out of its reach,
and gets its settings back however the run ends. So with each engine."""
import contextlib
import fcntl
import hashlib
import itertools
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time

import lib
from lib import check, equal, main, world

SECONDS = 20
ALONE = "".join(f'accept {name} on landlock because "tested"\n' for name in ("fs.closed", "fs.write", "process.tree"))
engine = None  # of the test that runs, if it is not lib's choice


def test(function):
    """A test with the engine that lib chooses, and one without namespaces, where the launcher makes the terminal."""

    def without_namespaces():
        global engine
        engine = "landlock"
        try:
            function()
        finally:
            engine = None

    without_namespaces.__name__ = f"{function.__name__}_without_namespaces"
    lib.test(function)
    if lib.ENGINE is None:
        lib.test(without_namespaces)


def options_here(options=()):
    return [*options, *(("--engine", engine) if engine else ())]


class Terminal:
    """A terminal whose other side is this test, with what was written to it."""

    def __init__(self):
        self.master, self.slave = pty.openpty()
        self.text = ""
        self.seen = 0
        self.resize(30, 90)

    def resize(self, rows, columns):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def settings(self):
        return termios.tcgetattr(self.slave)

    def read(self, seconds):
        """Reads what comes within that time; false at the end."""
        if not select.select([self.master], [], [], seconds)[0]:
            return True
        with contextlib.suppress(OSError):
            data = os.read(self.master, 1 << 16)
            self.text += data.decode(errors="replace")
            return bool(data)
        return False

    def expect(self, text, seconds=SECONDS):
        """Reads until `text` comes after what was expected before."""
        deadline = time.monotonic() + seconds
        while text not in self.text[self.seen :] and time.monotonic() < deadline:
            self.read(0.05)
        at = self.text.find(text, self.seen)
        check(at >= 0, f"no {text!r} in {self.text[self.seen:]!r}")
        self.seen = at + len(text)

    def type(self, text):
        os.write(self.master, text.encode())

    def wait(self, process, seconds=SECONDS):
        """Reads until the process has ended; its exit code as a shell counts."""
        deadline = time.monotonic() + seconds
        while process.poll() is None and time.monotonic() < deadline:
            self.read(0.02)
        check(process.poll() is not None, f"it does not end: {self.text!r}")
        while select.select([self.master], [], [], 0.05)[0] and self.read(0):
            pass
        return process.returncode

    def close(self):
        os.close(self.master)
        with contextlib.suppress(OSError):
            os.close(self.slave)


@contextlib.contextmanager
def started(w, policy, *command, arguments=None, streams=(None, None, None), options=()):
    """A launcher in a session of its own with the terminal on 0 to 2, or on those that `streams` leaves open."""
    terminal = Terminal()

    def lead():
        os.setsid()
        fcntl.ioctl(terminal.slave, termios.TIOCSCTTY, 0)

    if "limit time" in policy and engine:
        policy += 'accept limit.time on landlock because "tested"\n'
    policy = w.policy("grant env TERM\n" + ALONE + policy)
    ends = [terminal.slave if stream is None else stream for stream in streams]
    process = subprocess.Popen(
        arguments(policy) if arguments else w.command_line(policy, command, options_here(options)),
        cwd=w.work, env=w.environment(TERM="dumb"),
        stdin=ends[0], stdout=ends[1], stderr=ends[2], preexec_fn=lead,
    )
    try:
        yield terminal, process
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        process.wait()
        terminal.close()


def outer_shell(w, run):
    """The words of a shell with job control in which `run` is typed; $L starts the launcher."""
    shell = ["bash", "--norc", "--noprofile", "-c"]
    return lambda policy: [*shell, f"set -m; L='{' '.join(w.command_line(policy, [], options_here()))}'; {run}"]


def is_raw(terminal):
    return not terminal.settings()[3] & termios.ICANON


def until(condition, what):
    deadline = time.monotonic() + SECONDS
    while not condition():
        check(time.monotonic() < deadline, what)
        time.sleep(0.01)


@test
def an_interactive_shell_has_job_control():
    with world() as w, started(w, "", "bash", "--norc", "--noprofile", "-i") as (terminal, process):
        terminal.expect("$ " if os.geteuid() else "# ")
        check("no job control" not in terminal.text, terminal.text)
        terminal.type("sleep 100\r")
        terminal.expect("sleep 100")
        time.sleep(0.3)
        terminal.type("\x1a")
        terminal.expect("Stopped")
        terminal.type("jobs\r")
        terminal.expect("Stopped")
        terminal.type("fg\r")
        terminal.expect("sleep 100")
        time.sleep(0.3)
        terminal.type("\x03")
        terminal.expect("^C")
        terminal.type("echo interrupted=$?\r")
        terminal.expect("interrupted=130")
        terminal.type("sleep 100 &\r")
        terminal.expect("[1]")
        # Whether the shell also says "Terminated" depends on when it learns of the end.
        terminal.type("jobs; kill %1; wait %1; echo ended=$?\r")
        terminal.expect("Running")
        terminal.expect("ended=143")
        terminal.type("exit 5\r")
        equal(terminal.wait(process), 5, "exit")


@test
def the_terminal_is_the_sandbox_s_own():
    with world() as w:
        script = """
import fcntl, os
for i in range(3):
    print(i, os.readlink(f"/proc/self/fd/{i}"), flush=True)
print("controlling", os.ctermid(), os.open("/dev/tty", os.O_RDWR) > 0, os.tcgetpgrp(0) == os.getpgrp())
for request in (0x5412, 0x541C):
    try:
        fcntl.ioctl(0, request, b"x")
        print("typed")
    except OSError as error:
        print("refused", error.errno)
if os.access("/dev/pts", os.R_OK):
    try:
        print(sorted(os.listdir("/dev/pts")))
    except OSError:
        pass
"""
        with started(w, "", "/usr/bin/python3", "-c", script) as (terminal, process):
            equal(terminal.wait(process), 0, terminal.text)
            lines = terminal.text.replace("\r", "").splitlines()
            if engine == "landlock":
                check(os.ttyname(terminal.slave) not in terminal.text, terminal.text)
            else:
                equal(lines[:3], [f"{i} /dev/pts/0" for i in range(3)])
                equal(lines[6], "['0', 'ptmx']")
            equal(lines[3], "controlling /dev/tty True True")
            equal(lines[4:6], ["refused 1", "refused 1"])


@test
def the_size_is_the_caller_s_and_follows_it():
    with world() as w:
        script = "trap 'stty size' WINCH; stty size; while :; do sleep 0.05; done"
        with started(w, "", "sh", "-c", script) as (terminal, process):
            terminal.expect("30 90")
            terminal.resize(41, 101)
            terminal.expect("41 101")
            process.send_signal(signal.SIGTERM)
            equal(terminal.wait(process), 128 + 15, "exit")


@test
def settings_come_from_the_caller_and_go_back_however_it_ends():
    with world() as w:
        ends = {
            "by itself": ("sh -c 'exit 3'", None, 3),
            "after it set the terminal": ("sh -c 'stty raw -echo; exit 4'", None, 4),
            "killed": ("sh -c 'echo ready; kill -9 $$'", None, 128 + 9),
            "by a signal of the launcher": ("sh -c 'echo ready; sleep 100'", signal.SIGTERM, 128 + 15),
            "by a hang-up": ("sh -c 'echo ready; sleep 100'", signal.SIGHUP, 128 + 1),
            "over its time": ("sleep 100", None, 128 + 15),
            "not there": ("/nowhere/to/be/found", None, 127),
        }
        for name, (command, number, code) in ends.items():
            words = ["sh", "-c", command[7:-1]] if command.startswith("sh -c") else command.split()
            with started(w, "limit time to 2s\n", *words) as (terminal, process):
                before = terminal.settings()
                if number is not None:
                    terminal.expect("ready")
                    until(lambda: is_raw(terminal), f"{name}: never raw")
                    process.send_signal(number)
                equal(terminal.wait(process), code, name)
                if number is None:
                    equal(terminal.settings(), before, f"{name}: settings")
                check(not is_raw(terminal), f"{name}: raw is left")
                check(terminal.settings()[3] & termios.ECHO, f"{name}: no echo is left")


@test
def the_terminal_inside_begins_with_the_caller_s_settings():
    with world() as w:
        arguments = outer_shell(w, "stty -echo erase '^H' intr '^B'; $L stty -a; stty -a")
        with started(w, "", arguments=arguments) as (terminal, process):
            equal(terminal.wait(process), 0, terminal.text)
            for word in ("intr = ^B", "erase = ^H", " -echo "):
                equal(terminal.text.count(word), 2, word)


@test
def streams_that_are_no_terminal_stay_what_they_are():
    with world() as w:
        script = "for i in 0 1 2; do test -t $i && r=${r}t || r=$r-; done; echo $r >&3; echo out; echo err >&2"
        inner = f"exec 3>{w.work}/seen; {script}"
        for redirected in itertools.product((False, True), repeat=3):
            read, write = os.pipe()
            os.set_inheritable(read, False)
            null = os.open("/dev/null", os.O_RDWR)
            streams = [end if part else None for end, part in zip((null, write, write), redirected)]
            with started(w, "", "sh", "-c", inner, streams=streams) as (terminal, process):
                os.close(write)
                os.close(null)
                equal(terminal.wait(process), 0, terminal.text)
                piped = b""
                while data := os.read(read, 4096):
                    piped += data
                os.close(read)
                with open(f"{w.work}/seen") as file:
                    equal(file.read().strip(), "".join("-" if part else "t" for part in redirected), str(redirected))
                expected = {"out": redirected[1], "err": redirected[2]}
                for word, in_pipe in expected.items():
                    equal(word.encode() in piped, in_pipe, f"{word} in the pipe {redirected}")
                    equal(word in terminal.text, not in_pipe, f"{word} on the terminal {redirected}")


@test
def a_command_can_ask_on_the_terminal_while_its_output_goes_elsewhere():
    with world() as w:
        script = "printf 'password: ' > /dev/tty; read -r line < /dev/tty; echo \"got $line\" > said"
        null = os.open("/dev/null", os.O_RDWR)
        with started(w, "", "sh", "-c", script, streams=[None, null, null]) as (terminal, process):
            terminal.expect("password: ")
            terminal.type("swordfish\r")
            equal(terminal.wait(process), 0, terminal.text)
            with open(f"{w.work}/said") as file:
                equal(file.read(), "got swordfish\n")
        os.close(null)


@test
def all_output_arrives_also_of_a_command_that_was_killed():
    with world() as w:
        with started(w, "", "sh", "-c", "seq 1 50000; kill -9 $$") as (terminal, process):
            equal(terminal.wait(process, 60), 128 + 9, "exit")
            equal(terminal.text.replace("\r", "").split(), [str(i) for i in range(1, 50001)])


@test
def all_input_arrives():
    with world() as w:
        script = "stty raw -echo; echo ready; head -c 200000 | md5sum > sum"
        with started(w, "", "sh", "-c", script) as (terminal, process):
            terminal.expect("ready")
            data = bytes(i * 7 % 251 for i in range(200000))
            at = 0
            while at < len(data):
                at += os.write(terminal.master, data[at : at + 1024])
                terminal.read(0)
            equal(terminal.wait(process), 0, terminal.text)
            with open(f"{w.work}/sum") as file:
                equal(file.read().split()[0], hashlib.md5(data).hexdigest())


@test
def ctrl_z_stops_command_and_launcher_and_fg_continues_both():
    with world() as w:
        command = "sh -c 'echo run $((1+1)); exec sleep 3'"
        run = f"$L {command}; echo stopped=$?; stty -a | grep -c ' icanon'; fg; echo ended=$?"
        with started(w, "", arguments=outer_shell(w, run)) as (terminal, process):
            terminal.expect("run 2")
            until(lambda: is_raw(terminal), "never raw")
            terminal.type("\x1a")
            terminal.expect("stopped=148")
            terminal.expect("1\r\n")
            until(lambda: is_raw(terminal), "not raw again after fg")
            terminal.expect("ended=0")
            equal(terminal.wait(process), 0, terminal.text)
            check(not is_raw(terminal), "raw is left")


@test
def a_stopped_command_can_be_interrupted_after_fg():
    with world() as w:
        run = "$L sleep 100; echo stopped=$?; fg; echo ended=$?"
        with started(w, "", arguments=outer_shell(w, run)) as (terminal, process):
            until(lambda: is_raw(terminal), "never raw")
            terminal.type("\x1a")
            terminal.expect("stopped=148")
            until(lambda: is_raw(terminal), "not raw again after fg")
            terminal.type("\x03")
            terminal.expect("ended=130")
            equal(terminal.wait(process), 0, terminal.text)


@test
def a_stop_signal_to_the_launcher_stops_both_once():
    with world() as w:
        wait = f"while [ ! -e {w.work}/begun ]; do sleep 0.05; done"
        run = f"$L sh -c 'touch begun; sleep 3' & {wait}; kill -TSTP $!; sleep 0.5; fg; echo ended=$?"
        with started(w, "", arguments=outer_shell(w, run)) as (terminal, process):
            terminal.expect("Stopped")
            terminal.expect("ended=0")
            equal(terminal.wait(process), 0, terminal.text)
            equal(terminal.text.count("Stopped"), 1, terminal.text)


@test
def in_the_background_it_writes_and_leaves_the_terminal_alone():
    with world() as w:
        command = "sh -c 'echo begun; sleep 2; read -r line; echo got $line'"
        run = f"$L {command} & sleep 1.5; stty -a | grep -c ' icanon'; fg; echo ended=$?"
        with started(w, "", arguments=outer_shell(w, run)) as (terminal, process):
            terminal.expect("begun")
            check(not is_raw(terminal), "raw in the background")
            terminal.expect("1\r\n")
            until(lambda: is_raw(terminal), "not raw in the foreground")
            terminal.type("word\r")
            terminal.expect("got word")
            terminal.expect("ended=0")
            equal(terminal.wait(process), 0, terminal.text)


@test
def without_anybody_to_continue_it_ctrl_z_stops_nothing():
    with world() as w:
        with started(w, "", "sh", "-c", "sleep 2 & echo ready; wait; echo done") as (terminal, process):
            terminal.expect("ready")
            until(lambda: is_raw(terminal), "never raw")
            terminal.type("\x1a")
            terminal.expect("done")
            equal(terminal.wait(process), 0, "exit")


@test
def everything_ends_with_the_caller_s_terminal():
    with world() as w:
        with started(w, "", "sh", "-c", "echo ready; sleep 100") as (terminal, process):
            terminal.expect("ready")
            os.close(terminal.slave)
            os.close(terminal.master)
            terminal.master, terminal.slave = pty.openpty()
            deadline = time.monotonic() + SECONDS
            while process.poll() is None and time.monotonic() < deadline:
                time.sleep(0.05)
            check(process.poll() is not None, "it goes on without a terminal")


@test
def a_terminal_of_no_session_is_read_and_gets_its_settings_back():
    terminal = Terminal()
    before = terminal.settings()
    terminal.type("typed\n")
    with world() as w:
        result = w.shell(ALONE, "read line; echo got $line", stdin=terminal.slave, timeout=SECONDS, options=options_here())
        check(result.code == 0 and "got typed" in result.out, f"{result.code}: {result.out}{result.err}")
    equal(terminal.settings(), before, "the settings")


# Does what a descriptor of the caller's terminal would let it do, with each that it has or can open.
SPY = """
import fcntl, os, select, termios, time
log = open("seen", "w")
def say(*words):
    print(*words, file=log, flush=True)
def spoil(end):
    settings = termios.tcgetattr(end)
    settings[3] &= ~(termios.ICANON | termios.ECHO)
    for what in (lambda: termios.tcsetattr(end, termios.TCSANOW, settings),
                 lambda: fcntl.ioctl(end, termios.TIOCSWINSZ, bytes((7, 0, 7, 0, 0, 0, 0, 0))),
                 lambda: fcntl.ioctl(end, termios.TIOCSTI, b"x"),
                 lambda: fcntl.ioctl(end, termios.TIOCSCTTY, 1)):
        try:
            what()
        except (OSError, termios.error):
            pass
ends = [i for i in range(3) if os.isatty(i)]
say("terminals", ends)
for path in ("/dev/tty", "/dev/stdin", "/dev/stdout", "/dev/stderr"):
    try:
        end = os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        if os.isatty(end):
            ends.append(end)
    except OSError:
        pass
for end in ends:
    spoil(end)
os.write(ends[0], b"ready\\n")
deadline = time.monotonic() + 1
while time.monotonic() < deadline:
    for end in select.select(ends, [], [], 0.1)[0]:
        os.set_blocking(end, False)
        try:
            say("read", os.read(end, 100))
        except OSError:
            ends.remove(end)
"""


def spied(w, where, streams, seen, arguments=None):
    """What the spy makes of the caller's terminal, which has a word typed into it: nothing."""
    with started(w, "", "/usr/bin/python3", "-c", SPY, arguments=arguments, streams=streams) as (terminal, process):
        before = terminal.settings()
        terminal.expect("ready")
        terminal.type("swordfish\r")
        equal(terminal.wait(process), 0, f"{where}: {terminal.text}")
        equal(terminal.settings(), before, f"{where}: settings")
        size = fcntl.ioctl(terminal.slave, termios.TIOCGWINSZ, bytes(8))
        equal(struct.unpack("HHHH", size)[:2], (30, 90), f"{where}: size")
        if arguments is None:
            os.set_blocking(terminal.slave, False)
            equal(os.read(terminal.slave, 100), b"swordfish\n", f"{where}: what was typed")
    with open(f"{w.work}/seen") as file:
        equal(file.read(), f"terminals {seen}\n", where)


@test
def without_input_from_it_the_caller_s_terminal_is_written_and_nothing_more():
    with world() as w:
        null, file = os.open("/dev/null", os.O_RDWR), os.open(w.make("outside/input", "input\n"), os.O_RDWR)
        read, write = os.pipe()
        for name, end in (("null", null), ("a file", file), ("a pipe", read)):
            for outputs in ((1,), (2,), (1, 2)):
                streams = [end, *(None if i in outputs else null for i in (1, 2))]
                spied(w, f"input from {name}, terminal on {outputs}", streams, list(outputs))
        for end in (null, file, read, write):
            os.close(end)


@test
def in_the_background_without_input_the_keys_stay_the_caller_s():
    with world() as w:
        with open(f"{w.work}/spy.py", "w") as file:
            file.write(SPY)
        arguments = outer_shell(w, "$L /usr/bin/python3 spy.py </dev/null & read -r line; echo caller got $line; wait; exit $?")
        spied(w, "in the background", (None, None, None), [1, 2], arguments=arguments)


@test
def a_second_terminal_is_written_through_a_pipe():
    with world() as w:
        other = Terminal()
        script = "test -t 0 && test -t 1 && ! test -t 2 && echo error >&2 && head -c 0 <&2; echo out"
        with started(w, "", "sh", "-c", script, streams=(None, None, other.slave)) as (terminal, process):
            terminal.expect("out")
            equal(terminal.wait(process), 0, terminal.text)
        other.expect("error")
        other.close()


@test
def without_input_from_it_size_and_ctrl_c_pass_and_output_is_not_changed_twice():
    with world() as w:
        null = os.open("/dev/null", os.O_RDWR)
        script = "trap 'stty size <&1' WINCH; trap 'echo caught; exit 9' INT; stty size <&1; while :; do sleep 0.05; done"
        with started(w, "", "sh", "-c", script, streams=(null, None, None)) as (terminal, process):
            terminal.expect("30 90\r\n")
            terminal.resize(41, 101)
            terminal.expect("41 101\r\n")
            terminal.type("\x03")
            terminal.expect("caught\r\n")
            equal(terminal.wait(process), 9, terminal.text)
            check("\r\r" not in terminal.text, repr(terminal.text))
        os.close(null)


@test
def without_input_from_it_ctrl_z_stops_command_and_launcher():
    with world() as w:
        run = "$L sh -c 'echo run; exec sleep 2' </dev/null; echo stopped=$?; fg; echo ended=$?"
        with started(w, "", arguments=outer_shell(w, run)) as (terminal, process):
            terminal.expect("run")
            time.sleep(0.3)
            terminal.type("\x1a")
            terminal.expect("stopped=1")
            terminal.expect("ended=0")
            equal(terminal.wait(process), 0, terminal.text)


@test
def without_input_from_it_nobody_waits_for_keys():
    with world() as w:
        null = os.open("/dev/null", os.O_RDWR)
        with started(w, "", "sh", "-c", "read -r line < /dev/tty || echo none", streams=(null, None, null)) as (terminal, process):
            terminal.expect("none")
            equal(terminal.wait(process), 0, terminal.text)
        os.close(null)


main()
