"""Without namespaces: an engine that runs only policies that accept what it cannot hold."""
import errno
import os
import shutil
import signal
import socket
import subprocess
import time

from lib import (
    NAMESPACES_USED_UP,
    IS_ROOT,
    SECRET,
    Result,
    check,
    end,
    equal,
    filtering,
    main,
    processes_with,
    refusing,
    test,
    world,
)
from lib_landlock import ALWAYS, ENGINE, RESTRICT_SELF, accepting, control


def namespaces_blocked():
    """A preexec_fn: namespace flags of clone and unshare are refused and clone3 is not there, as containers have it."""
    clone, unshare = (56, 272) if os.uname().machine == "x86_64" else (220, 97)
    return filtering(
        [
            (0x20, 0, 0, 0),
            (0x15, 5, 0, unshare),
            (0x15, 5, 0, 435),
            (0x15, 0, 2, clone),
            (0x20, 0, 0, 16),
            (0x45, 1, 0, 0x7E020000),
            (0x06, 0, 0, 0x7FFF0000),
            (0x06, 0, 0, 0x00050001),
            (0x06, 0, 0, 0x00050026),
        ]
    )


@test
def without_the_accepts_each_control_is_named_with_the_line_to_write():
    with world("/var/tmp") as w:
        result = w.launch("", "touch", "ran", options=ENGINE)
        result.refused("SBX300", *[f"accept {name} on landlock because" for name in ALWAYS])
        # One that is missing is enough.
        for left_out in ALWAYS:
            accepts = accepting().replace(f"accept {left_out} ", f"# accept {left_out} ")
            result = w.launch(accepts, "touch", "ran", options=ENGINE)
            result.refused(f"accept {left_out} on landlock because")
            equal(result.err.count("error["), 1, "number of errors")
        check(not os.path.exists(f"{w.work}/ran"), "something ran")


@test
def where_namespaces_are_blocked_a_policy_that_accepts_enough_runs():
    with world("/var/tmp") as w:
        lease = f"{w.outside}/lease"
        for before, preexec in (([], namespaces_blocked()), (NAMESPACES_USED_UP, None)):
            for text, runs in (("", False), (accepting(), True)):
                command = w.command_line(w.policy(text), ["sh", "-c", "echo ran"], ["--engine", "auto", "--lease", lease])
                result = Result(
                    subprocess.run(
                        [*before, *command], cwd=w.work, env=w.environment(), capture_output=True, preexec_fn=preexec
                    )
                )
                if not runs:
                    result.refused("SBX413")
                    equal(result.out, "")
                    continue
                equal(result.succeeded().out, "ran\n")
                check("SBX440" in result.err, result.err)
                check_lease(lease)


def check_lease(path):
    import json

    with open(path) as file:
        lease = json.load(file)
    equal(lease["backend"], "landlock")
    check(lease["backendVersion"].startswith("ABI "), lease["backendVersion"])
    exceptions = {entry["control"]: entry for entry in lease["acceptedExceptions"]}
    equal(sorted(exceptions), sorted(ALWAYS))
    for name, entry in exceptions.items():
        equal((entry["target"], entry["because"]), ("landlock", f"tested: {name}"))
    held = [entry["control"] for entry in lease["enforcedControls"]]
    for name in ("net.closed", "ipc.abstract", "ipc.signal", "tty", "env", "syscall"):
        check(name in held, f"{name} is not in {held}")
    check(not set(held) & set(ALWAYS), held)


@test
def where_namespaces_work_they_are_used():
    with world("/var/tmp") as w:
        result, lease = w.lease(accepting(), "true")
        result.succeeded()
        check(lease["backend"] in ("native", "bwrap"), lease["backend"])
        equal(lease["acceptedExceptions"], [])


# What the policy closes, tried in each way; prints what worked.
TRY_OUT = r"""
import ctypes, errno, os, signal, socket, sys
outside, process, group = sys.argv[1], int(sys.argv[2]), sys.argv[3]
def tried(name, action):
    try:
        action()
        print("COULD", name)
    except OSError as error:
        if error.errno not in (errno.EACCES, errno.EPERM, errno.EXDEV):
            print(name, error)
tried("read", lambda: open(f"{outside}/secret").read())
tried("list", lambda: os.listdir(outside))
tried("list the root", lambda: os.listdir("/"))
tried("write", lambda: open(f"{outside}/secret", "w"))
tried("append", lambda: open(f"{outside}/secret", "a"))
tried("truncate", lambda: os.truncate(f"{outside}/secret", 0))
tried("make", lambda: open(f"{outside}/new", "x"))
tried("remove", lambda: os.unlink(f"{outside}/secret"))
tried("move out", lambda: os.rename("own", f"{outside}/own"))
tried("move in", lambda: os.rename(f"{outside}/secret", "stolen"))
tried("link", lambda: os.link(f"{outside}/secret", "linked"))
os.symlink(f"{outside}/secret", "link")
tried("follow", lambda: open("link").read())
tried("execute", lambda: os.execv(f"{outside}/program", ["program"]))
tried("shared memory", lambda: open("/dev/shm/sbx-test", "x"))
tried("temporary", lambda: open("/tmp/sbx-test-landlock", "x"))
tried("setting", lambda: open("/proc/sys/kernel/core_pattern", "w"))
for family in (socket.AF_INET, socket.AF_INET6, socket.AF_UNIX, socket.AF_NETLINK):
    tried(f"family {int(family)}", lambda: socket.socket(family, socket.SOCK_DGRAM))
tried("signal", lambda: os.kill(process, 0))
tried("signal the parent", lambda: os.kill(os.getppid(), 0))
tried("environment", lambda: open(f"/proc/{process}/environ").read())
tried("memory", lambda: open(f"/proc/{process}/mem", "rb"))
tried("priority", lambda: os.setpriority(os.PRIO_PROCESS, process, 19))
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *arguments):
    if libc.syscall(number, *arguments) < 0:
        raise OSError(ctypes.get_errno(), "")
if os.uname().machine == "x86_64":
    tried("queue", lambda: call(68, 4711, 0o1600))
    tried("segment", lambda: call(29, 4711, 4096, 0o1600))
    tried("semaphore", lambda: call(64, 4711, 1, 0o1600))
    tried("limit", lambda: call(302, process, 7, None, None))
    tried("trace", lambda: call(101, 16, process, None, None))
print("end")
"""


@test
def what_it_says_it_holds_holds():
    with world("/var/tmp") as w:
        w.make("outside/secret", SECRET)
        shutil.copy("/usr/bin/true", f"{w.outside}/program")
        w.make("work/own", "own\n")
        before = w.tree(w.outside)
        stranger = subprocess.Popen(["sleep", "60"], env={"NAME": SECRET})
        try:
            result = w.python(
                w.policy(accepting()), TRY_OUT, w.outside, str(stranger.pid), str(os.getpgrp()), options=ENGINE
            )
            equal(result.succeeded().out, "end\n", "what could be done")
            equal(stranger.poll(), None, "the state of a process outside")
        finally:
            end(stranger)
        equal(w.tree(w.outside), before, "what is outside")


@test
def names_made_in_a_closed_directory_are_not_told():
    script = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
queue = libc.inotify_init1(0)
libc.inotify_add_watch(queue, sys.argv[1].encode(), 0x100)
print(ctypes.get_errno(), flush=True)
sys.stdin.readline()
os.set_blocking(queue, False)
try:
    print(os.read(queue, 1000))
except OSError:
    print("nothing")
"""
    with world("/var/tmp") as w:
        process = w.start(w.policy(accepting()), "/usr/bin/python3", "-c", script, w.outside, options=ENGINE,
                          stdin=subprocess.PIPE)
        error = process.stdout.readline()
        w.make("outside/name-of-a-secret", "")
        equal((error, process.communicate(b"\n", timeout=20)[0]), (b"%d\n" % errno.EACCES, b"nothing\n"))


@test
def what_is_granted_can_be_used():
    script = """
        set -e
        mkdir a b; echo x > a/f; mv a/f b/g; ln b/g a/h; mkfifo a/p; mv b a/b; rm -r a
        cp /usr/bin/true own; ./own; : > /dev/null; head -c 4 /dev/urandom > r; read x < /dev/stdin; cat /proc/self/comm
        cat "$1/shown"; echo done; (sleep 0.1; echo later) & wait"""
    with world("/var/tmp") as w:
        w.make("outside/shown", "shown\n")
        policy = w.policy(accepting() + f"grant read {w.outside}/shown\n")
        with open(w.make("typed", "typed\n")) as file:
            result = w.launch(policy, "sh", "-c", script, "sh", w.outside, options=ENGINE, stdin=file)
        equal(result.succeeded().out, "cat\nshown\ndone\nlater\n")
        w.shell(policy, "exit 7", options=ENGINE).exited(7)
        w.shell(policy, "kill -9 $$", options=ENGINE).exited(128 + 9)
        w.launch(policy, "no-such-program", options=ENGINE).exited(127)


@test
def programs_get_no_rights_of_their_owner():
    if not IS_ROOT:
        return  # making such a program needs another user's file
    with world("/var/tmp") as w:
        os.chmod(w.top, 0o755)
        program = f"{w.work}/other"
        shutil.copy("/usr/bin/id", program)
        os.chown(program, 54321, 54321)
        os.chmod(program, 0o4755)
        equal(subprocess.run([program, "-u"], capture_output=True).stdout, b"54321\n", "the program outside")
        equal(w.launch(accepting(), program, "-u", options=ENGINE).succeeded().out, "0\n")


@test
def what_the_command_leaves_running_is_ended():
    with world("/var/tmp") as w:
        marker = f"sleep-{os.getpid()}-{time.monotonic_ns()}"
        script = "setsid sh -c 'exec -a \"$0\" sleep 300' & (setsid sleep 300 &) ; setsid setsid sleep 300 & sleep 0.2; exit 3"
        environment = w.environment(LANG=marker)
        w.launch(accepting(), "bash", "-c", script, options=ENGINE, env=environment).exited(3)
        equal(processes_with(marker), [], "what still runs")


@test
def everything_ends_with_a_killed_launcher():
    with world("/var/tmp") as w:
        marker = f"marker-{os.getpid()}-{time.monotonic_ns()}"
        # The first thing that the command does is seen before the launcher has heard that it runs.
        command = w.command_line(
            w.policy(accepting()), ["sh", "-c", "setsid sleep 300 & echo ready; sleep 300"], ENGINE
        )
        for _ in range(12):
            process = subprocess.Popen(
                command, cwd=w.work, env=w.environment(LANG=marker), stdout=subprocess.PIPE, stdin=subprocess.DEVNULL
            )
            try:
                equal(process.stdout.readline(), b"ready\n")
            finally:
                end(process)
        deadline = time.monotonic() + 20
        while processes_with(marker) and time.monotonic() < deadline:
            time.sleep(0.05)
        equal(processes_with(marker), [], "what still runs")


@test
def a_signal_reaches_the_command():
    with world("/var/tmp") as w:
        script = "trap 'echo caught; exit 9' TERM; echo ready; while :; do sleep 0.05; done"
        process = subprocess.Popen(
            w.command_line(w.policy(accepting()), ["sh", "-c", script], ENGINE),
            cwd=w.work,
            env=w.environment(),
            stdout=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
        )
        equal(process.stdout.readline(), b"ready\n")
        process.send_signal(signal.SIGTERM)
        equal((process.communicate(timeout=20)[0], process.returncode), (b"caught\n", 9))


@test
def a_deny_inside_what_is_open_needs_its_own_accept_and_is_noted():
    with world("/var/tmp") as w:
        w.make("work/key", SECRET)
        w.make("work/a.pem", "pem\n")
        denies = "deny $WORK/key\ndeny $WORK/*.pem\n"
        result = w.launch(denies + accepting(), "true", options=ENGINE)
        result.refused(*[f"accept {name} on landlock" for name in ("fs.deny", "fs.deny.pattern", "fs.deny.missing")])
        text = denies + accepting("fs.deny", "fs.deny.pattern", "fs.deny.missing")
        result, lease = w.lease(text, "cat", "key", "a.pem", options=ENGINE)
        equal(result.succeeded().out, SECRET + "pem\n")
        notes = [note["text"] for note in lease["notes"] if note["code"] == "SBX441"]
        check(any("/key " in note and "(fs.deny)" in note for note in notes), notes)
        check(any("/a.pem " in note and "(fs.deny.pattern)" in note for note in notes), notes)
        # Without namespaces nothing is put where a denied path is missing.
        w.launch(text + "deny $WORK/missing\n", "true", options=ENGINE).succeeded()
        check(not os.path.exists(f"{w.work}/missing"), "a placeholder was made")


@test
def a_deny_beside_what_is_open_holds():
    with world("/var/tmp") as w:
        w.make("home/.ssh/id", SECRET)
        result, lease = w.lease("deny ~/.ssh\n" + accepting(), "cat", f"{w.home}/.ssh/id", options=ENGINE)
        check(result.code == 1 and "Permission denied" in result.err, result.err)
        equal(control(lease, "fs.deny")["how"], "enforced")


@test
def a_denied_links_target_inside_what_is_open_stops_the_launch():
    with world("/var/tmp") as w:
        target = w.make("work/target", SECRET)
        os.symlink(target, f"{w.home}/link")
        result = w.launch("deny ~/link\n" + accepting(), "true", options=ENGINE)
        result.refused("SBX300", "accept fs.deny on landlock", "work/target")


def told_by_server(w, server, policy, script, address):
    """What a Python script prints to which `server` says one word."""
    words = ["/usr/bin/python3", "-c", script, address]
    process = subprocess.Popen(w.command_line(policy, words, ENGINE), cwd=w.work, env=w.environment(),
                               stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
    server.settimeout(20)
    connection = server.accept()[0]
    connection.send(b"served")
    connection.close()
    return process.communicate(timeout=20)[0]


@test
def sockets_are_open_only_where_that_is_accepted():
    connect = "import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); print(s.recv(9))"
    with world("/var/tmp") as w:
        path = f"{w.outside}/agent"
        server = socket.socket(socket.AF_UNIX)
        server.bind(path)
        server.listen()
        text = f"grant socket {path}\n" + accepting()
        with server:
            w.python(w.policy(text), connect, path, options=ENGINE).refused("accept socket.path on landlock")
            policy = w.policy(text + accepting("socket.path").splitlines()[-1] + "\n")
            equal(told_by_server(w, server, policy, connect, path), b"b'served'\n")


@test
def abstract_names_outside_are_out_of_reach():
    connect = "import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect(chr(0) + sys.argv[1]); print('connected')"
    with world("/var/tmp") as w:
        name = f"sbx-test-{os.getpid()}"
        with socket.socket(socket.AF_UNIX) as server:
            server.bind("\0" + name)
            server.listen()
            text = "grant scratch\n" + accepting("socket.path", "scratch")
            result = w.python(w.policy(text), connect, name, options=ENGINE)
            check(result.code == 1 and "Operation not permitted" in result.err, result.out + result.err)


@test
def rights_that_the_caller_hands_on_are_given_up():
    if not IS_ROOT:
        return
    with world("/var/tmp") as w:
        policy = w.policy(accepting())
        hand_on = ["setpriv", "--inh-caps=+chown", "--ambient-caps=+chown"]
        show = ["grep", "-E", "Cap(Inh|Prm|Eff|Amb|Bnd)", "/proc/self/status"]
        before = subprocess.run([*hand_on, *show], capture_output=True, text=True, check=True).stdout
        equal(sum(int(line.split()[1], 16) != 0 for line in before.splitlines()), 5, before)
        after = subprocess.run([*hand_on, *w.command_line(policy, show, ENGINE)], capture_output=True, text=True,
                               env=w.environment(), cwd=w.work, stdin=subprocess.DEVNULL)
        equal((after.returncode, [int(line.split()[1], 16) for line in after.stdout.splitlines()]), (0, [0] * 5), after)


@test
def an_open_network_is_the_hosts_and_nothing_listens():
    script = r"""
import socket, sys
print(socket.create_connection(("127.0.0.1", int(sys.argv[1]))).recv(9))
try:
    socket.socket().bind(("127.0.0.1", 0)); print("BOUND")
except PermissionError:
    print("refused")
"""
    with world("/var/tmp") as w, socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        policy = w.policy("grant network any\n" + accepting())
        port = str(server.getsockname()[1])
        equal(told_by_server(w, server, policy, script, port), b"b'served'\nrefused\n")


@test
def a_dry_run_shows_the_rules():
    with world("/var/tmp") as w:
        result = w.launch(accepting(), "touch", "ran", options=(*ENGINE, "--dry-run")).succeeded()
        check(f"open for write  {w.work}\n" in result.out and "no namespaces" in result.out, result.out)
        check(not os.path.exists(f"{w.work}/ran"), "something ran")


@test
def git_works_under_std_dev_with_what_it_cannot_hold_accepted():
    script = "git init -q . && echo x > f && git add f && git -c user.name=a -c user.email=b commit -qm one && git log --oneline | wc -l"
    with world("/var/tmp") as w:
        text = 'sbx 1\npolicy "t"\nuse std/dev\ngrant write $WORK\n' + accepting(
            "fs.deny", "fs.deny.pattern", "fs.deny.missing", "scratch"
        )
        equal(w.shell(w.compile(text), script, options=ENGINE).succeeded().out, "1\n")


@test
def limits_count_the_command_alone_or_nothing_runs():
    script = "for i in $(seq 30); do sleep 1 & done; wait; echo all"
    with world("/var/tmp") as w:
        result = w.shell("limit processes to 20\n" + accepting(), script, options=ENGINE)
        if result.code == 125:
            result.refused("limit.processes", "accept limit.processes on landlock")
        else:
            check("all" not in result.out and "fork" in result.err.lower(), result.out + result.err)


@test
def time_that_is_over_ends_what_the_command_started():
    with world("/var/tmp") as w:
        marker = f"marker-{os.getpid()}-{time.monotonic_ns()}"
        text = "limit time to 1s\n"
        w.shell(text + accepting(), "true", options=ENGINE).refused("accept limit.time on landlock")
        bystander = subprocess.Popen(["sleep", "60"])
        try:
            started = time.monotonic()
            result = w.shell(
                text + accepting("limit.time"),
                "(setsid sleep 300 &) ; sleep 300",
                options=ENGINE,
                env=w.environment(LANG=marker),
            )
            check(result.code != 0 and time.monotonic() - started < 30, f"{result.code}: {result.err}")
            equal(processes_with(marker), [], "what still runs")
            equal(bystander.poll(), None, "the state of a process outside")
        finally:
            end(bystander)


@test
def a_file_granted_for_reading_cannot_be_written_under_another_name():
    script = 'ln "$1" here && echo linked; mv "$1" there 2>&1 && echo moved; echo x >> "$1" && echo written'
    with world("/var/tmp") as w:
        path = w.make("outside/shown", "shown\n")
        result = w.shell(f"grant read {path}\n" + accepting(), f'set -- "{path}"; {script}', options=ENGINE)
        check(not set(result.out.split()) & {"linked", "moved", "written"}, result.out)
        with open(path) as file:
            equal(file.read(), "shown\n")


@test
def accepted_scratch_is_a_directory_that_is_gone_afterwards():
    script = """
        set -e
        cd "$TMPDIR"; test "$TMP" = "$TMPDIR"; test "$TEMP" = "$TMPDIR"; test "$(stat -c %a .)" = 700
        mkdir -p a/b/c; echo x > a/b/c/f; chmod 0 a/b; ln -s "$1" link; ln -s "$1" a/link; mktemp > /dev/null
        ! ls .. 2> /dev/null
        pwd"""
    with world("/var/tmp") as w:
        kept = w.make("outside/kept", "kept\n")
        text = "grant scratch\n" + accepting("scratch")
        w.launch("grant scratch\n" + accepting(), "true", options=ENGINE).refused("accept scratch on landlock")
        result = w.launch(text, "sh", "-c", script, "sh", w.outside, options=ENGINE)
        path = result.succeeded().out.strip()
        check("/sbx-" in path and not os.path.lexists(path), path)
        check(os.path.exists(kept), "something else was removed")
        # Also where nothing could be started.
        before = set(os.listdir(os.path.dirname(path)))
        w.launch(text, "/no/such/program", options=ENGINE).exited(127)
        result = w.launch(text, "touch", "ran", options=ENGINE, preexec_fn=refusing({RESTRICT_SELF: errno.ENOSYS}))
        result.refused("SBX416", "Landlock does not hold")
        check(not os.path.exists(f"{w.work}/ran"), "something ran")
        w.launch(text, "true", options=(*ENGINE, "--dry-run")).succeeded()
        left = {name for name in set(os.listdir(os.path.dirname(path))) - before if name.startswith("sbx-") and len(name) == 36}
        equal(left, set(), "what was left")


main()
