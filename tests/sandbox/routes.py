"""Access routes to a file outside the grants, children that try to get away, and constraints that cannot be
held (ZH-1, ZH-2 and ZH-3 of the experiments)."""
import os
import socket
import subprocess

from lib import BASE, check, equal, main, test, world

MARKER = "marker-6b1d"


def hidden_worlds(w):
    """Two markers: outside every grant, and denied inside a granted directory."""
    outside = w.make("outside/marker", MARKER)
    denied = w.make("work/denied/marker", MARKER)
    return [(outside, ""), (denied, "deny $WORK/denied\n"), (denied, "deny $WORK/denied/marker\n")]


def try_route(script, **more):
    with world() as w:
        for path, policy in hidden_worlds(w):
            result = w.python(policy, script, path, **more)
            check(MARKER not in result.out + result.err, f"read {path} under {policy!r}: {result.out}")
            check(result.code != 0, f"{path} under {policy!r}: {result.out}")


@test
def opening_fails():
    try_route("import sys; print(open(sys.argv[1]).read())")


@test
def mapping_fails():
    try_route(
        "import mmap, os, sys; print(mmap.mmap(os.open(sys.argv[1], os.O_RDONLY), 11, "
        "prot=mmap.PROT_READ)[:])"
    )


@test
def a_hard_link_fails():
    try_route("import os, sys; os.link(sys.argv[1], 'hard'); print(open('hard').read())")


@test
def a_symbolic_link_fails():
    try_route(
        "import os, sys; os.path.lexists('soft') or os.symlink(sys.argv[1], 'soft'); "
        "print(open('soft').read())"
    )


@test
def the_root_of_another_process_fails():
    try_route(
        "import sys\nfor p in ('self', '1', 'thread-self'):\n  try: print(open(f'/proc/{p}/root' + "
        "sys.argv[1]).read())\n"
        "  except OSError as e: pass\nsys.exit(1)"
    )


@test
def going_up_from_the_working_directory_fails():
    try_route("import os, sys; print(open(os.path.relpath(sys.argv[1])).read())")


@test
def renaming_what_lies_above_fails():
    with world() as w:
        path = w.make("work/a/b/secret", MARKER)
        policy = w.policy("deny $WORK/a/b/secret\n")
        w.shell(
            policy,
            "mv a x; mv a/b a/y; mv a/b/secret s; mkdir -p a/b; cat x/b/secret a/y/secret s a/b/secret "
            "2>/dev/null",
        )
        check(os.path.exists(path), "the secret was moved")
        for directory, _, files in os.walk(w.work):
            equal([name for name in files if name != "secret"], [], directory)
        # A second run must not find it under another name either.
        check(
            MARKER not in w.shell(policy, "cat $(find . -type f) 2>/dev/null; true").out,
            "found by a second run",
        )


@test
def an_inherited_descriptor_fails():
    with world() as w:
        path = w.make("outside/marker", MARKER)
        directory = os.open(w.outside, os.O_RDONLY)
        descriptor = os.open(path, os.O_RDONLY)
        script = (
            "import os\nfor n in range(3, 1024):\n  try: print(os.read(n, 100))\n  except OSError: pass\n"
            "  try: print(os.listdir(n))\n  except OSError: pass"
        )
        result = subprocess.run(
            w.command_line(w.policy(""), ["/usr/bin/python3", "-c", script]),
            cwd=w.work,
            env=w.environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            pass_fds=(directory, descriptor),
        )
        os.close(directory)
        os.close(descriptor)
        equal((result.returncode, result.stdout), (0, b""))


@test
def a_descriptor_handed_over_by_a_socket_in_reach_is_not_there():
    with world() as w:
        path = f"{w.top}/s.sock"
        server = socket.socket(socket.AF_UNIX)
        server.bind(path)
        server.listen()
        for policy in ("", "grant scratch\n", f"grant scratch\ngrant read {w.top}\n"):
            result = w.python(
                policy, "import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])", path
            )
            check(result.code != 0, f"connected under {policy!r}")
        granted = f"grant scratch\ngrant socket {path}\n"
        w.python(
            granted, "import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])", path
        ).succeeded()
        server.close()


@test
def every_child_inherits_the_walls():
    with world() as w:
        path = w.make("outside/marker", MARKER)
        script = f"""
import os, subprocess, sys
def look():
    try:
        os.write(1, open({path!r}).read().encode())
    except OSError:
        os.write(1, b".")
def fork(then):
    pid = os.fork()
    if pid == 0:
        then()
        os._exit(0)
    os.waitpid(pid, 0)
look()
fork(look)
fork(lambda: fork(look))
fork(lambda: (os.setsid(), look()))
fork(lambda: (os.setsid(), fork(lambda: (os.setsid(), look()))))
again = "try:\\n open({path!r}); print('!')\\nexcept OSError: print('.', end='')"
subprocess.run([sys.executable, "-c", again])
"""
        equal(w.python("", script).succeeded().out, "......")


@test
def writing_outside_fails_and_leaves_nothing():
    with world() as w:
        kept = w.make("outside/kept", "before")
        seen = w.make("seen/kept", "before")
        policy = w.policy(f"grant read {w.top}/seen\n")
        w.shell(policy, "true", options=["--lease", f"{w.top}/l.json"])  # the launcher makes its own state
        before = w.tree(w.outside, f"{w.top}/seen", w.home)
        script = " ".join(
            f"echo x > {d}/kept; echo x > {d}/new; rm -f {d}/kept; mkdir {d}/d; mv {d}/kept {d}/m; "
            f"chmod 777 {d}/kept; ln {d}/kept hard; touch {d}/kept;"
            for d in (w.outside, f"{w.top}/seen", w.home)
        )
        w.shell(policy, script + " true", options=["--lease", f"{w.top}/l.json"])
        with open(kept) as one, open(seen) as two:
            equal((one.read(), two.read()), ("before", "before"))
        equal(w.tree(w.outside, f"{w.top}/seen", w.home), before)
        check(not os.path.exists(f"{w.work}/hard"), "a hard link was made")


@test
def what_cannot_be_held_is_refused_and_nothing_runs():
    with world() as w:
        for text, control in (
            ("grant network host example.com port 443\n", "net.host"),
            ("grant network address 203.0.113.1\n", "net.address"),
            ("grant network loopback port 3000\n", "net.loopback"),
            ("deny exec /usr/bin/ls\n", "exec.deny"),
            ("grant service keychain\n", "service.keychain"),
        ):
            result = w.compile(BASE + "grant write $WORK\n" + text, check_status=False)
            equal(result.returncode, 3, f"{control}: {result.stderr}")
            check(control.encode() in result.stderr, f"{control}: {result.stderr}")
            # A policy made for another system reaches the launcher, which checks again.
            policy = w.compile(BASE + "grant write $WORK\n" + text, "--os", "macos", check_status=False)
            target = f"{w.top}/policies/{w.count}.bin"
            if policy.returncode == 0:
                w.launch(target, "touch", "ran").refused(control)
        check(not os.path.exists(f"{w.work}/ran"), "something ran")


main()
