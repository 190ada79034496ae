"""With Unix sockets open inside, the host's own sockets stay closed unless they are granted by path."""
import contextlib
import os
import socket

from lib import check, equal, main, test, world

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


main()
