"""A file on a standard stream opens nothing that the policy does not grant."""
import json
import os
import resource
import signal
import subprocess

from lib import IS_ROOT, check, equal, main, test, world

MARKER = "marker-c07d"
REOPEN = "import os\nfor n in (0, 1, 2):\n  try: open(f'/proc/self/fd/{n}', 'r+').write('overwritten')\n  except OSError: pass\n"


@test
def a_stream_cannot_be_opened_again_for_writing():
    with world() as w:
        for policy in ("", f"grant read {w.outside}\n"):
            path = w.make("outside/input", MARKER)
            with open(path) as file:
                w.python(policy, REOPEN, stdin=file)
            with open(path) as file:
                equal(file.read(), MARKER, policy)


@test
def an_output_file_is_written_but_never_read():
    with world() as w:
        path = w.make("outside/log", MARKER)
        descriptor = os.open(path, os.O_RDWR | os.O_APPEND)
        script = "import os, sys\nprint('line')\nsys.stdout.flush()\n" \
                 "try: data = os.pread(1, 100, 0)\nexcept OSError: data = b''\nsys.exit(3 if data else 0)"
        policy = w.policy("")
        done = subprocess.run(w.command_line(policy, ["/usr/bin/python3", "-c", script]), env=w.environment(), cwd=w.work,
                              stdin=subprocess.DEVNULL, stdout=descriptor, stderr=subprocess.PIPE)
        os.close(descriptor)
        equal(done.returncode, 0, done.stderr)
        with open(path) as file:
            equal(file.read(), MARKER + "line\n")


@test
def long_input_and_output_pass_whole():
    with world() as w:
        path = w.make("outside/long", "0123456789" * 100000)
        with open(path) as file:
            equal(w.shell("", "cat", stdin=file).succeeded().out, "0123456789" * 100000)


@test
def a_file_that_the_command_may_write_is_handed_on():
    with world() as w:
        path = w.make("work/file", MARKER)
        with open(path, "r+") as file:
            result = w.python("", "import os; print(os.lseek(0, 0, 2))", stdin=file)
        equal(result.succeeded().out, f"{len(MARKER)}\n")


@test
def a_command_that_stops_reading_ends_as_it_likes():
    with world() as w:
        path = w.make("outside/long", "x" * 1000000)
        with open(path) as file:
            w.shell("", "head -c 10; exec <&-; sleep 0.3; exit 7", stdin=file).exited(7)


def failing_output(w, script, stdout, options=(), **more):
    command = w.command_line(w.policy(""), ["sh", "-c", script], options)
    return subprocess.run(command, env=w.environment(), cwd=w.work, stdin=subprocess.DEVNULL, stdout=stdout,
                          stderr=subprocess.PIPE, text=True, timeout=60, **more)


def small_files(size):
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


@test
def output_that_cannot_be_written_is_told():
    with world() as w:
        for script, code in (("echo x", 1), ("echo x; exit 7", 7), ("echo x; kill -9 $$", 128 + 9)):
            limit = 1 << 20
            path = w.make("outside/full", "")
            with open(path, "r+") as file:
                file.seek(limit)
                done = failing_output(w, script, file, ("--lease", f"{w.outside}/lease"), preexec_fn=small_files(limit))
            equal(done.returncode, code, f"{script}: {done.stderr}")
            check("standard output: File too large" in done.stderr, done.stderr)
            equal(os.path.getsize(path), 0, "size")
            with open(f"{w.outside}/lease") as file:
                events = [(event["kind"], event["arg"]) for event in json.load(file)["events"]]
            check(("output.lost", "standard output: File too large") in events, events)


@test
def output_on_a_full_disk_is_told():
    if not IS_ROOT:
        return  # a small file system of one's own takes rights
    with world() as w:
        full = w.make("outside/full/")
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "sbx-test", full], check=True)
        try:
            with open(f"{full}/out", "wb") as file:
                file.write(bytes(1 << 16))
                file.flush()
                done = failing_output(w, "echo x", file)
        finally:
            subprocess.run(["umount", full], check=True)
        equal(done.returncode, 1, done.stderr)
        check("standard output: No space left on device" in done.stderr, done.stderr)


@test
def a_command_whose_output_cannot_be_written_hears_of_it():
    with world() as w:
        limit = 1 << 20
        with open(w.make("outside/full", ""), "r+") as file:
            file.seek(limit)
            script = "trap '' PIPE; exec bash -c 'while echo x; do sleep 0.01; done; exit 0'"
            done = failing_output(w, script, file, preexec_fn=small_files(limit))
        equal(done.returncode, 1, done.stderr)
        check("Broken pipe" in done.stderr, done.stderr)


@test
def the_command_gets_the_caller_s_action_on_files_that_grow_too_large():
    with world() as w:
        for action in (signal.SIG_DFL, signal.SIG_IGN):
            words = ["sh", "-c", "grep SigIgn /proc/self/status"]
            done = subprocess.run(w.command_line(w.policy(""), words), env=w.environment(), cwd=w.work, text=True,
                                  stdin=subprocess.DEVNULL, capture_output=True, restore_signals=False,
                                  preexec_fn=lambda: signal.signal(signal.SIGXFSZ, action))
            ignored = int(done.stdout.split()[1], 16) >> (signal.SIGXFSZ - 1) & 1
            equal(ignored, int(action == signal.SIG_IGN), done.stdout + done.stderr)


main()
