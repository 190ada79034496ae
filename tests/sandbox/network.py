"""The network is closed, or shared where the policy opens it whole; abstract sockets of the host are always
closed."""
import os
import socket
import threading

from lib import check, equal, main, test, world

CONNECT = """
import socket, sys
family = socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET
kind = socket.SOCK_DGRAM if sys.argv[3] == "udp" else socket.SOCK_STREAM
s = socket.socket(family, kind)
s.settimeout(3)
s.connect((sys.argv[1], int(sys.argv[2])))
s.send(b"hello")
print(s.recv(100))
"""


class Server:
    """Echoes on the host's loopback, TCP and UDP on one port."""

    def __init__(self):
        self.tcp = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self.tcp.bind(("127.0.0.1", 0))
        self.tcp.listen()
        self.port = self.tcp.getsockname()[1]
        self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.udp.bind(("127.0.0.1", self.port))
        self.seen = 0
        for loop in (self.serve_tcp, self.serve_udp):
            threading.Thread(target=loop, daemon=True).start()

    def serve_tcp(self):
        while True:
            connection, _ = self.tcp.accept()
            self.seen += 1
            with connection:
                connection.sendall(connection.recv(100))

    def serve_udp(self):
        while True:
            text, address = self.udp.recvfrom(100)
            self.seen += 1
            self.udp.sendto(text, address)


SERVER = Server()


@test
def nothing_outside_is_reached_without_a_grant():
    with world() as w:
        for policy in ("", "use std/dev\n"):
            for address, protocol in (
                ("127.0.0.1", "tcp"),
                ("127.0.0.1", "udp"),
                ("192.0.2.1", "tcp"),
                ("192.0.2.1", "udp"),
                ("2001:db8::1", "tcp"),
            ):
                result = w.python(policy, CONNECT, address, str(SERVER.port), protocol)
                check(result.code != 0, f"{address} {protocol}: {result.out}")
        equal(SERVER.seen, 0)


@test
def the_commands_own_loopback_works():
    script = """
import socket, threading
server = socket.socket(); server.bind(("127.0.0.1", 0)); server.listen()
threading.Thread(target=lambda: server.accept()[0].sendall(b"own"), daemon=True).start()
print(socket.create_connection(server.getsockname()).recv(3))
"""
    with world() as w:
        equal(w.python("", script).succeeded().out, "b'own'\n")


@test
def network_any_shares_the_hosts_network():
    with world() as w:
        equal(
            w.python("grant network any\n", CONNECT, "127.0.0.1", str(SERVER.port), "tcp").succeeded().out,
            "b'hello'\n",
        )
        _, lease = w.lease("grant network any\n", "true")
        held = {entry["control"] for entry in lease["enforcedControls"]}
        check("net.closed" not in held, "an open network is called closed")


@test
def abstract_sockets_of_the_host_are_closed():
    name = f"\0sbx-test-{os.getpid()}"
    server = socket.socket(socket.AF_UNIX)
    server.bind(name)
    server.listen()
    script = (
        "import socket, sys; socket.socket(socket.AF_UNIX).connect('\\0' + sys.argv[1]); print('reached')"
    )
    with world() as w:
        # With the host's network and Unix sockets both open, only Landlock's scope stands between.
        both = "grant scratch\ngrant network any\ngrant listen any\n"
        equal(w.python(both, "import socket; socket.socket(socket.AF_UNIX); print(1)").succeeded().out, "1\n")
        for policy in ("", "grant scratch\n", "grant network any\n", both):
            result = w.python(policy, script, name[1:])
            check(result.code != 0 and "reached" not in result.out, f"reached under {policy!r}")
    server.close()


@test
def unix_sockets_are_refused_as_a_family_unless_opened():
    script = "import socket; socket.socket(socket.AF_UNIX); print('made')"
    with world() as w:
        result = w.python("", script)
        check(result.code != 0 and "PermissionError" in result.err, result.err)
        equal(w.python("grant scratch\n", script).succeeded().out, "made\n")


@test
def unix_sockets_work_inside_scratch():
    script = """
import socket, threading
server = socket.socket(socket.AF_UNIX); server.bind("/tmp/s"); server.listen()
threading.Thread(target=lambda: server.accept()[0].sendall(b"own"), daemon=True).start()
client = socket.socket(socket.AF_UNIX); client.connect("/tmp/s"); print(client.recv(3))
"""
    with world() as w:
        equal(w.python("grant scratch\n", script).succeeded().out, "b'own'\n")


@test
def other_socket_families_are_refused():
    script = """
import socket, errno
for name, family, kind in (("vsock", 40, 1), ("packet", 17, 3), ("alg", 38, 5), ("netlink audit", 16, 3)):
    try:
        socket.socket(family, kind, 9 if name == "netlink audit" else 0)
        print(name, "made")
    except OSError as error:
        pass
"""
    with world() as w:
        for policy in ("", "grant scratch\n", "grant network any\n"):
            equal(w.python(policy, script).succeeded().out, "")


main()
