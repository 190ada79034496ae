"""Reaching who listens outside."""
import contextlib
import os
import select
import socket
import subprocess

from harness import PROGRAM, attempt, held_link

SHARED = "grant network any\n"
OPEN = "grant scratch\n"


def knocked(server):
    return bool(select.select([server], [], [], 0.05)[0])


@contextlib.contextmanager
def listening(family, address, kind=socket.SOCK_STREAM):
    with socket.socket(family, kind) as server:
        server.bind(address)
        if kind == socket.SOCK_STREAM:
            server.listen(8)
        yield server


@attempt("OWN_NETWORK EVIDENCE", plain=True)
def connect_to_a_server_of_the_host(w):
    with listening(socket.AF_INET, ("127.0.0.1", 0)) as server:
        w.run("connect-tcp", server.getsockname()[1])
        return knocked(server)


@attempt("OWN_NETWORK EVIDENCE", plain=True)
def connect_by_an_address_of_version_6(w):
    with listening(socket.AF_INET, ("127.0.0.1", 0)) as server:
        w.run("connect-tcp6", server.getsockname()[1])
        return knocked(server)


@attempt("OWN_NETWORK EVIDENCE", plain=True)
def send_a_datagram_to_the_host(w):
    with listening(socket.AF_INET, ("127.0.0.1", 0), socket.SOCK_DGRAM) as server:
        w.run("send-udp", server.getsockname()[1])
        return knocked(server)


@attempt("UNIX_SOCKETS", plain=True)
def connect_to_a_unix_socket_in_the_workspace(w):
    with listening(socket.AF_UNIX, f"{w.work}/socket") as server:
        w.run("connect-unix", "socket")
        return knocked(server)


@attempt("UNIX_SOCKETS", plain=True)
def connect_to_a_unix_socket_in_a_directory_for_reading(w):
    with listening(socket.AF_UNIX, f"{w.top}/readable/socket") as server:
        w.run("connect-unix", f"{w.top}/readable/socket")
        return knocked(server)


@attempt("SOCKET_MASKS", plain=True)
def connect_to_a_unix_socket_while_they_are_open(w):
    with listening(socket.AF_UNIX, f"{w.work}/socket") as server:
        w.run("connect-unix", "socket", policy=OPEN)
        return knocked(server)


@attempt("DATAGRAM_PAIRS", plain=True)
def turn_a_pair_to_a_socket_of_the_host(w):
    with listening(socket.AF_UNIX, f"{w.work}/socket", socket.SOCK_DGRAM) as server:
        w.run("send-by-pair", "socket")
        return knocked(server)


@attempt("RING_CALLS", plain=True)
def connect_to_a_unix_socket_by_io_uring(w):
    with listening(socket.AF_UNIX, f"{w.work}/socket") as server:
        w.run("connect-by-ring", "socket")
        return knocked(server)


@attempt("LANDLOCK_SCOPES EVIDENCE", plain=True)
def connect_to_an_abstract_socket(w):
    with listening(socket.AF_UNIX, f"\0{w.secret_text}") as server:
        w.run("connect-abstract", w.secret_text, policy=SHARED + OPEN + "grant listen any\n")
        return knocked(server)


@attempt("LANDLOCK_SCOPES OWN_NETWORK EVIDENCE", plain=True)
def connect_to_an_abstract_socket_without_the_network(w):
    with listening(socket.AF_UNIX, f"\0{w.secret_text}") as server:
        w.run("connect-abstract", w.secret_text, policy=OPEN)
        return knocked(server)


def makes_socket(w, family, kind, protocol, policy=""):
    with w.held("make-socket", family, kind, protocol, policy=policy) as process:
        return held_link(process).startswith("socket:")


def can_make(family, kind, protocol):
    """Whether this machine's kernel has such sockets for everybody."""
    with contextlib.suppress(OSError):
        socket.socket(family, kind, protocol).close()
        return True
    return False


@attempt("SOCKET_FAMILIES", plain=True)
def watch_the_devices_of_the_machine(w):
    return makes_socket(w, 16, 2, 15)  # AF_NETLINK, NETLINK_KOBJECT_UEVENT


@attempt("SOCKET_FAMILIES", plain=True)
def list_all_sockets_by_their_diagnosis(w):
    return makes_socket(w, 16, 3, 4)  # AF_NETLINK, NETLINK_SOCK_DIAG


@attempt("SOCKET_FAMILIES", plain=True, possible=lambda: can_make(40, 1, 0))
def reach_the_hypervisor(w):
    return makes_socket(w, 40, 1, 0)  # AF_VSOCK


@attempt("SOCKET_FAMILIES", plain=True, possible=lambda: can_make(38, 5, 0))
def use_the_cryptography_of_the_kernel(w):
    return makes_socket(w, 38, 5, 0)  # AF_ALG


@attempt("SOCKET_FAMILIES CAPABILITIES EVIDENCE", shown_by_root=True)
def listen_to_all_packets(w):
    return makes_socket(w, 17, 3, 0)  # AF_PACKET, SOCK_RAW


@attempt("LISTEN_CALLS", plain=True)
def listen_on_the_network_of_the_host(w):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with w.held("listen-tcp", port, policy=SHARED) as process:
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return process is not None
    return False
