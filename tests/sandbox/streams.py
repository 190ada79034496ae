"""A file on a standard stream opens nothing that the policy does not grant."""
import os
import subprocess

from lib import check, equal, main, test, world

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


main()
