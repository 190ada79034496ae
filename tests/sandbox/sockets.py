"""With Unix sockets open inside, the host's own sockets stay closed unless they are granted by path."""
import contextlib
import os
import socket

from lib import IS_ROOT, check, equal, main, test, world

CONNECT = """
import socket, sys
for path in sys.argv[1:]:
    try:
        s = socket.socket(socket.AF_UNIX)
        s.connect(path)
        print('reached', path)
    except OSError as e:
        print('closed', path, e.errno)
"""


@contextlib.contextmanager
def listening(path):
    """A host process that listens at `path`, given relative to its directory if that is asked for."""
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        server.listen(8)
        yield server


def reached(result):
    return [line.split()[1] for line in result.succeeded().out.splitlines() if line.startswith("reached")]


@test
def host_sockets_in_a_granted_place_are_covered():
    with world() as w:
        path = f"{w.work}/s"
        with listening(path):
            equal(reached(w.python("grant scratch\n", CONNECT, path)), [])
            equal(reached(w.python(f"grant scratch\ngrant socket {path}\n", CONNECT, path)), [path])
            check(w.shell("grant scratch\n", "rm -f s; mv s t").code != 0, "the cover was removed")


@test
def moved_linked_and_relative_sockets_are_covered():
    with world() as w:
        directory = w.make("work/d/")
        os.chdir(directory)
        with listening("relative"), listening(f"{w.work}/before"), listening(f"{w.work}/linked"):
            os.chdir("/")
            os.rename(f"{w.work}/before", f"{directory}/after")
            os.link(f"{w.work}/linked", f"{directory}/second")
            paths = [f"{directory}/relative", f"{directory}/after", f"{w.work}/linked", f"{directory}/second"]
            equal(reached(w.python("grant scratch\n", CONNECT, *paths)), [])


@test
def a_granted_socket_outside_is_reached_and_its_neighbour_is_not():
    with world() as w:
        path, other = f"{w.outside}/s", f"{w.outside}/t"
        with listening(path), listening(other):
            equal(reached(w.python(f"grant socket {path}\n", CONNECT, path, other)), [path])


@test
def a_socket_below_a_deny_is_not_there():
    with world() as w:
        directory = w.make("work/d/")
        with listening(f"{directory}/s"), listening(f"{w.work}/w"):
            policy = f"grant socket {w.work}\ndeny $WORK/d\ndeny socket $WORK/w\n"
            equal(reached(w.python(policy, CONNECT, f"{directory}/s", f"{w.work}/w")), [])


@test
def a_planted_link_opens_no_socket():
    with world() as w:
        with listening(f"{w.outside}/s"):
            os.symlink(f"{w.outside}/s", f"{w.work}/s")
            equal(reached(w.python("grant socket $WORK/s\n", CONNECT, f"{w.work}/s", f"{w.outside}/s")), [])


@test
def the_command_may_make_its_own():
    with world() as w:
        script = "import socket; s = socket.socket(socket.AF_UNIX); s.bind('own'); s.listen(); " \
                 "c = socket.socket(socket.AF_UNIX); c.connect('own'); print('ok')"
        equal(w.python("grant socket $WORK/own\n", script).succeeded().out, "ok\n")


@test
# Reported as codex#43764.
def what_starts_programs_of_windows_stays_closed():
    """WSL 2 starts them for whoever connects to a socket in /run/WSL, or by AF_VSOCK."""
    if not IS_ROOT or os.path.exists("/run/WSL"):
        return  # only root can make it, and a real one is not to be touched
    os.mkdir("/run/WSL", 0o755)
    try:
        with world() as w, listening("/run/WSL/1_interop"):
            for text in ("", "grant scratch\n", "grant scratch\ngrant read /run/WSL\n"):
                equal(reached(w.python(text, CONNECT, "/run/WSL/1_interop")), [], text)
            script = "import socket\ntry: socket.socket(40, 1)\nexcept OSError as e: print(e.errno != 0)"
            equal(w.python("grant scratch\n", script).succeeded().out, "True\n")
    finally:
        if os.path.exists("/run/WSL/1_interop"):
            os.unlink("/run/WSL/1_interop")
        os.rmdir("/run/WSL")


main()
