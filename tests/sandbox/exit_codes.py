"""Exit codes, signals and the refusals before anything runs (commands.md)."""
import fcntl
import os
import select
import signal
import subprocess
import termios
import time

from lib import BASE, LAUNCHER, check, end, equal, main, test, world


@test
def the_exit_code_is_the_commands_own():
    with world() as w:
        policy = w.policy("")
        for code in (0, 1, 7, 124, 255):
            w.shell(policy, f"exit {code}").exited(code)


@test
def a_signal_that_ends_the_command_gives_128_and_its_number():
    with world() as w:
        policy = w.policy("")
        for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT):
            w.shell(policy, f"kill -{int(number)} $$").exited(128 + number)


@test
def a_command_that_is_not_there_gives_127():
    with world() as w:
        policy = w.policy("")
        w.launch(policy, "no-such-command").exited(127)
        w.launch(policy, "/no/such/command").exited(127)
        w.launch(policy, "./missing").exited(127)


@test
def a_command_that_cannot_be_executed_gives_126():
    with world() as w:
        policy = w.policy("")
        w.make("work/plain", "text")
        os.chmod(w.make("work/locked", "#!/bin/sh\n"), 0o644)
        w.launch(policy, "./plain").exited(126)
        w.launch(policy, "./locked").exited(126)
        w.launch(policy, w.work).exited(126)


@test
def the_command_is_found_by_the_path_that_it_gets():
    with world() as w:
        os.chmod(w.make("work/bin/only-here", "#!/bin/sh\necho found\n"), 0o755)
        policy = w.policy("")
        environment = w.environment(PATH=f"{w.work}/bin:/usr/bin:/bin")
        equal(w.launch(policy, "only-here", env=environment).succeeded().out, "found\n")
        without = w.compile('sbx 1\npolicy "t"\nuse std/system\ngrant write $WORK\n')
        w.launch(without, "only-here", env=environment).exited(127)


@test
def standard_streams_pass_through():
    with world() as w:
        policy = w.policy("")
        result = w.launch(policy, "sh", "-c", "cat; echo problem >&2", stdin=None, input=b"from outside\n")
        equal((result.out, result.err), ("from outside\n", "problem\n"))


@test
def signals_sent_to_the_launcher_reach_the_command():
    with world() as w:
        policy = w.policy("")
        for name in ("HUP", "INT", "QUIT", "TERM", "USR1", "USR2"):
            process = subprocess.Popen(
                w.command_line(
                    policy,
                    [
                        "sh",
                        "-c",
                        f"trap 'echo got {name}; exit 3' {name}; echo ready; " "while :; do sleep 0.05; done",
                    ],
                ),
                cwd=w.work,
                env=w.environment(),
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
            try:
                equal(process.stdout.readline(), b"ready\n", name)
                process.send_signal(getattr(signal, f"SIG{name}"))
                out, error = process.communicate(timeout=20)
                equal((process.returncode, out), (3, f"got {name}\n".encode()), f"{name}: {error}")
            finally:
                end(process)


@test
def a_signal_without_a_handler_ends_the_command_and_shows_in_the_code():
    with world() as w:
        process = subprocess.Popen(
            w.command_line(w.policy(""), ["sh", "-c", "echo ready; exec sleep 600"]),
            cwd=w.work,
            env=w.environment(),
            stdout=subprocess.PIPE,
        )
        try:
            process.stdout.readline()
            process.send_signal(signal.SIGTERM)
            equal(process.wait(timeout=20), 128 + signal.SIGTERM)
        finally:
            end(process)


@test
def stopping_and_continuing_reach_the_command():
    with world() as w:
        process = subprocess.Popen(
            w.command_line(
                w.policy(""), ["sh", "-c", "echo ready; while :; do date +%s%N > tick; sleep 0.02; done"]
            ),
            cwd=w.work,
            env=w.environment(),
            stdout=subprocess.PIPE,
        )
        tick = os.path.join(w.work, "tick")

        def moves():
            before = os.stat(tick).st_mtime_ns
            time.sleep(0.5)
            return os.stat(tick).st_mtime_ns != before

        try:
            process.stdout.readline()
            time.sleep(0.2)
            check(moves(), "the command does not run")
            process.send_signal(signal.SIGTSTP)
            time.sleep(0.3)
            check(not moves(), "the command runs on after SIGTSTP")
            process.send_signal(signal.SIGCONT)
            time.sleep(0.3)
            check(moves(), "the command does not go on after SIGCONT")
        finally:
            end(process)


@test
def a_signal_that_the_caller_ignores_stays_ignored():
    with world() as w:
        policy = w.policy("")
        process = subprocess.Popen(
            [
                "sh",
                "-c",
                "trap '' HUP; exec \"$@\"",
                "sh",
                *w.command_line(policy, ["sh", "-c", "echo ready; sleep 1; exit 5"]),
            ],
            cwd=w.work,
            env=w.environment(),
            stdout=subprocess.PIPE,
        )
        process.stdout.readline()
        process.send_signal(signal.SIGHUP)
        equal(process.wait(timeout=20), 5)


@test
def a_wrong_call_is_125():
    with world() as w:
        policy = w.policy("")
        for arguments in (
            [],
            ["--no-such-option"],
            [policy],
            [policy, "--"],
            ["--chdir"],
            [policy, "true"],
            ["--root", "NOWHERE=/x", policy, "--", "true"],
            ["--json", policy, "--", "true"],
            ["--probe", policy, "--", "true"],
            ["--engine", "x", policy, "--", "true"],
        ):
            result = subprocess.run(
                [LAUNCHER, *arguments], cwd=w.work, env=w.environment(), capture_output=True
            )
            equal(result.returncode, 125, f"{arguments}: {result.stderr}")


@test
def help_and_version_are_answers():
    for option, word in (("--help", b"usage: sbx-launch"), ("--version", b"sbx-launch ")):
        result = subprocess.run([LAUNCHER, option], capture_output=True)
        check(result.returncode == 0 and word in result.stdout, f"{option}: {result}")


@test
def a_damaged_policy_is_refused():
    with world() as w:
        policy = w.policy("")
        with open(policy, "rb") as file:
            whole = file.read()
        for damaged in (
            b"",
            whole[:-1],
            whole[: len(whole) // 2],
            whole + b"x",
            b"x" + whole[1:],
            whole[:40] + bytes([whole[40] ^ 1]) + whole[41:],
        ):
            path = os.path.join(w.top, "damaged.bin")
            with open(path, "wb") as file:
                file.write(damaged)
            w.launch(path, "touch", "ran").refused("SBX402")
        w.launch(os.path.join(w.top, "missing.bin"), "true").refused("SBX401")
        w.launch(w.compile('sbx 1\nmanaged "m"\ndeny /x\n'), "true").refused("SBX402")
        check(not os.path.exists(f"{w.work}/ran"), "something ran")


@test
def a_policy_text_is_compiled_at_launch():
    with world() as w:
        source = w.make("policies/text.sbx", BASE + "grant write $WORK\n")
        w.launch(source, "sh", "-c", "echo x > made").succeeded()
        check(os.path.exists(f"{w.work}/made"), "nothing was written")
        wrong = w.make("policies/wrong.sbx", BASE + "grant wriet $WORK\n")
        w.launch(wrong, "true").refused("SBX403", "wrong.sbx:5")


@test
def a_working_directory_that_is_not_inside_is_125():
    with world() as w:
        policy = w.compile(BASE)
        w.launch(policy, "pwd").refused("working directory")
        hidden = w.make("work/hidden/")
        w.launch(
            w.policy("deny $WORK/hidden/\n"),
            "pwd",
            cwd=hidden,
            options=["--root", f"WORK={w.work}", "--chdir", hidden],
        ).refused()
        w.launch(w.policy(""), "pwd", options=["--chdir", "missing"]).refused("SBX409")


@test
def chdir_and_root_say_where_the_command_starts():
    with world() as w:
        below = w.make("work/below/")
        policy = w.policy("")
        equal(w.launch(policy, "pwd", options=["--chdir", "below"]).succeeded().out, below + "\n")
        equal(
            w.launch(policy, "pwd", cwd="/", options=["--root", f"WORK={below}"]).succeeded().out,
            below + "\n",
        )
        w.shell(policy, "echo x > ../escape", cwd="/", options=["--root", f"WORK={below}"])
        check(not os.path.exists(f"{w.work}/escape"), "$WORK was not moved")


@test
def a_directory_as_a_stream_is_refused():
    with world() as w:
        policy = w.policy("")
        descriptor = os.open(w.outside, os.O_RDONLY)
        for stream in ("0<&", "1>&", "2>&"):
            result = subprocess.run(
                [
                    "sh",
                    "-c",
                    f'exec "$@" {stream}{descriptor}',
                    "sh",
                    *w.command_line(policy, ["touch", "ran"]),
                ],
                cwd=w.work,
                env=w.environment(),
                capture_output=True,
                pass_fds=(descriptor,),
            )
            equal(result.returncode, 125, stream)
        os.close(descriptor)
        check(not os.path.exists(f"{w.work}/ran"), "something ran")


@test
def a_closed_stream_becomes_dev_null():
    with world() as w:
        command = w.command_line(w.policy(""), ["sh", "-c", "readlink /proc/self/fd/0; exit 4"])
        result = subprocess.run(
            ["sh", "-c", 'exec "$@" <&-', "sh", *command],
            cwd=w.work,
            env=w.environment(),
            capture_output=True,
        )
        equal((result.returncode, result.stdout), (4, b"/dev/null\n"))


@test
def a_file_that_is_not_granted_is_read_through_a_pipe():
    with world() as w:
        secret = w.make("outside/input", "line\n" * 100000)
        with open(secret, "rb") as file:
            result = w.shell(w.policy(""), "stat -L -c %F /dev/stdin; wc -c", stdin=file).succeeded()
        equal(result.out.split("\n"), ["fifo", "500000", ""])


@test
def a_file_that_is_not_granted_is_written_through_a_pipe():
    with world() as w:
        target = os.path.join(w.outside, "output")
        with open(target, "wb") as file:
            result = subprocess.run(
                w.command_line(w.policy(""), ["sh", "-c", "seq 1 100000; stat -L -c %F /dev/stdout >&2"]),
                cwd=w.work,
                env=w.environment(),
                stdout=file,
                stderr=subprocess.PIPE,
            )
        equal((result.returncode, result.stderr), (0, b"fifo\n"))
        equal(os.path.getsize(target), 588895)


@test
def an_expectation_that_does_not_hold_here_is_refused():
    with world() as w:
        home = w.make("work/sub/home/")
        # Bound, $HOME lies in a writable part of $WORK, which the compiler cannot know.
        text = BASE + "grant write $WORK/sub\nexpect deny write $HOME/x\n"
        w.launch(w.compile(text), "touch", "sub/ran").succeeded()
        os.remove(f"{w.work}/sub/ran")
        w.launch(w.compile(text), "touch", "sub/ran", env=w.environment(HOME=home)).refused("SBX417", "6:")
        check(not os.path.exists(f"{w.work}/sub/ran"), "something ran")


@test
def an_expected_denial_is_checked_again_after_links_were_followed():
    with world() as w:
        secret = w.make("outside/secret", "x")
        os.symlink(w.outside, f"{w.top}/link")
        text = BASE + f"grant read $WORK\ngrant read {w.top}/link\nexpect deny read {secret}\n"
        w.launch(w.compile(text), "true").refused("SBX417")


@test
def a_terminal_reaches_the_whole_group_and_cannot_be_written_to():
    with world() as w:
        policy = w.policy("")
        script = (
            "trap 'echo outer; exit 9' INT; sh -c 'trap \"echo inner; exit 0\" INT; echo ready; "
            "while :; do sleep 0.05; done'; wait"
        )
        master, slave = os.openpty()

        def own_terminal():
            os.setsid()
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)

        process = subprocess.Popen(
            w.command_line(policy, ["bash", "-c", script]),
            cwd=w.work,
            env=w.environment(),
            stdin=slave,
            stdout=slave,
            stderr=slave,
            preexec_fn=own_terminal,
        )
        os.close(slave)
        seen = b""
        try:
            while b"ready" not in seen:
                seen += os.read(master, 1000)
            os.write(master, b"\x03")
            equal(process.wait(timeout=20), 9)
            while select.select([master], [], [], 1)[0]:
                try:
                    seen += os.read(master, 1000)
                except OSError:
                    break
        finally:
            end(process)
            os.close(master)
        check(b"outer" in seen and b"inner" in seen, seen)


@test
def messages_say_once_and_plainly_what_is_wrong():
    with world() as w:
        policy = w.compile('sbx 1\npolicy "t"\nuse std/dev\ngrant write $WORK\n')
        environment = w.environment()
        del environment["HOME"]
        result = w.launch(policy, "true", env=environment).refused("SBX153", "$HOME is not set", "more rules")
        equal(result.err.count("SBX153"), 1)
        w.make("work/bad", "#!/nowhere/interpreter\n")
        os.chmod(f"{w.work}/bad", 0o755)
        check("interpreter" in w.launch("", "./bad").exited(127).err, "the interpreter is not named")
        check("not found" in w.launch("", "./none").exited(127).err, "not found is not said")
        text = BASE + "grant write $WORK, /proc\n"
        result = w.launch(w.compile(text), "true").succeeded()
        check("warning[SBX432]" in result.err and "/proc" in result.err, result.err)
        w.launch(w.compile(BASE), "true").refused("SBX416", "grant read $WORK")
        policy = w.compile(BASE + "grant write $WORK\ngrant socket $env.AGENT\n")
        agent = w.make("outside/agent", "")
        result = w.launch(policy, "true", env=w.environment(AGENT=agent)).succeeded()
        check(f"grant socket {agent}" in result.err, result.err)


main()
