"""What a command finds inside: privileges, /proc and /sys, descriptors, devices, and nothing that was
withheld."""
import json
import os
import resource
import subprocess
import tempfile
import time

from lib import IS_ROOT, SECRET, check, end, equal, main, processes_with, test, world

# Every file that can be opened for writing below a directory, other than the process's own.
WRITABLE = r"""
import os, sys
found, seen = [], 0
own = set(name for name in os.listdir("/proc") if name.isdigit()) | {"self", "thread-self"}
for directory, names, files in os.walk(sys.argv[1]):
    if directory == "/proc":
        names[:] = [name for name in names if name not in own]
    for name in files:
        path = os.path.join(directory, name)
        if os.path.islink(path):
            continue
        seen += 1
        try:
            os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
            found.append(path)
        except OSError:
            pass
print(seen)
print("\n".join(found))
"""

@test
def what_proc_tells_of_process_1_cannot_be_set():
    # Root owns it inside; bubblewrap cannot cover it (docs/launch.md).
    script = '''
import os
for directory, names, files in os.walk("/proc/1"):
    for name in files:
        try:
            os.close(os.open(os.path.join(directory, name), os.O_WRONLY | os.O_NONBLOCK))
            print(os.path.join(directory, name))
        except OSError:
            pass
with open("/proc/self/oom_score_adj", "w") as file:
    file.write("7")
'''
    with world() as w:
        equal(w.python("", script, options=("--engine", "native")).succeeded().out, "", "what can be written")


# Looks for sys.argv[1] in everything that /proc shows of each process but this one.
LEAKS = r"""
import os, sys
needle, me = sys.argv[1].encode(), str(os.getpid())
def look(path):
    try:
        with open(path, "rb") as file:
            return file.read(1 << 20)
    except OSError:
        return b""
def memory(pid):
    for line in look(f"/proc/{pid}/maps").decode(errors="replace").splitlines():
        span, mode = line.split()[:2]
        low, high = (int(part, 16) for part in span.split("-"))
        if mode[0] != "r" or high - low > 64 << 20:
            continue
        try:
            with open(f"/proc/{pid}/mem", "rb") as file:
                file.seek(low)
                if needle in file.read(high - low):
                    return True
        except (OSError, ValueError):
            pass
    return False
count = 0
for pid in filter(str.isdigit, os.listdir("/proc")):
    count += 1
    for part in ("environ", "cmdline"):
        # This process has the needle as its argument.
        own = needle if pid == me and part == "cmdline" else b"\0none"
        if needle in look(f"/proc/{pid}/{part}").replace(own, b""):
            print(f"{pid} {part}")
    if pid != me and memory(pid):
        print(f"{pid} mem")
    if pid != me:
        try:
            for descriptor in os.listdir(f"/proc/{pid}/fd"):
                print(f"{pid} fd {descriptor} {os.readlink(f'/proc/{pid}/fd/{descriptor}')}")
        except OSError:
            pass
print("looked at", count)
"""

STATUS = r"""
import json
fields = dict(line.split(":", 1) for line in open("/proc/self/status").read().splitlines() if ":" in line)
print(json.dumps({name: fields[name].strip() for name in fields if name.startswith("Cap") or name in
                  ("NoNewPrivs", "Seccomp", "Uid", "Gid", "Groups")}))
"""


@test
def no_capability_no_new_privileges_and_a_filter():
    with world() as w:
        status = json.loads(w.python("", STATUS).succeeded().out)
        for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
            equal(int(status[name], 16), 0, name)
        equal((status["NoNewPrivs"], status["Seccomp"]), ("1", "2"))
        equal(status["Uid"].split()[0], str(os.geteuid()), "the user")


@test
def nothing_below_proc_is_writable_but_the_own_processes():
    with world() as w:
        for policy in ("", "use std/dev\n"):
            lines = w.python(policy, WRITABLE, "/proc").succeeded().out.split("\n")
            check(int(lines[0]) > 200, f"only {lines[0]} files were tried")
            equal(lines[1:], ["", ""], "writable files")


@test
def sys_and_control_groups_are_not_there():
    with world() as w:
        result = w.shell(
            "use std/dev\n",
            "ls -A /sys /sys/fs/cgroup 2>/dev/null; awk '$3 ~ /^(cgroup2?|sysfs)$/' /proc/mounts; true",
        )
        equal(result.succeeded().out, "")


@test
def process_one_hides_its_descriptors_and_memory():
    with world() as w:
        for part in ("environ", "maps", "mem", "cwd", "root", "exe"):
            result = w.shell(
                "",
                f"head -c 1 /proc/1/{part} 2>/dev/null | wc -c; readlink /proc/1/{part}; ls "
                f"/proc/1/{part}/ 2>/dev/null; true",
            )
            equal(result.succeeded().out.split(), ["0"], part)
        out = (
            w.shell(
                "",
                "for n in $(seq 0 20); do readlink /proc/1/fd/$n; cat /proc/1/fd/$n; done 2>/dev/null; true",
            )
            .succeeded()
            .out
        )
        equal(out, "", "descriptors")


@test
def no_withheld_value_is_visible_in_any_process():
    with world() as w:
        for policy in ("", "use std/dev\n"):
            result = w.python(policy, LEAKS, SECRET).succeeded()
            equal(result.out.split("\n")[:-1], ["looked at 2"])


@test
def the_environment_holds_what_is_granted_and_nothing_else():
    with world() as w:
        environment = w.environment(
            AWS_SECRET_ACCESS_KEY="x", LD_PRELOAD="", GITHUB_TOKEN="t", EDITOR="ed", BASH_ENV="/tmp/x", CI="1"
        )
        policy = w.policy('grant env CI, *_TOKEN\ndeny env GITHUB_*\nset env MODE = "a b"\n')
        out = w.launch(policy, "env", env=environment).succeeded().out
        equal(
            sorted(out.splitlines()),
            sorted(["CI=1", f"HOME={w.home}", "LANG=C.UTF-8", "MODE=a b", f"PATH={environment['PATH']}"]),
        )


@test
def scratch_names_tmp_in_the_environment():
    with world() as w:
        out = (
            w.launch("grant scratch\ngrant env TMPDIR\n", "env", env=w.environment(TMPDIR="/elsewhere"))
            .succeeded()
            .out
        )
        for name in ("TMPDIR", "TMP", "TEMP"):
            check(f"{name}=/tmp\n" in out, f"{name} is missing in {out}")
        check("elsewhere" not in out, out)


@test
def pwd_is_right_where_it_is_granted_and_absent_elsewhere():
    with world() as w:
        environment = w.environment(PWD="/wrong", OLDPWD="/older")
        equal(w.launch("grant env PWD, OLDPWD\n", "printenv", "PWD", env=environment).out, f"{w.work}\n")
        equal(w.launch("", "printenv", "PWD", env=environment).exited(1).out, "")
        equal(w.launch("", "printenv", "OLDPWD", env=environment).exited(1).out, "")


@test
def descriptors_beyond_the_streams_do_not_pass():
    with world() as w:
        marker = w.make("outside/marker", "x")
        with open(marker) as file, tempfile.TemporaryFile() as other:
            os.set_inheritable(file.fileno(), True)
            command = w.command_line(w.policy(""), ["sh", "-c", "ls /proc/self/fd"])
            result = subprocess.run(
                command,
                cwd=w.work,
                env=w.environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                pass_fds=(file.fileno(), other.fileno()),
            )
        # ls itself opens the directory as 3.
        equal(result.stdout.split(), [b"0", b"1", b"2", b"3"])


@test
def devices_that_programs_need_work_and_no_other_is_there():
    with world() as w:
        w.shell(
            "",
            "echo x > /dev/null && head -c 8 /dev/zero /dev/urandom /dev/random >/dev/null && : < /dev/full"
            " && test -c /dev/tty && test -d /dev/pts && test -d /dev/shm",
        ).succeeded()
        out = w.shell("", "find /dev -exec stat -c '%F %n' {} + | sort").succeeded().out
        devices = [line.split()[-1] for line in out.splitlines() if "special" in line]
        equal(
            devices,
            [f"/dev/{name}" for name in ("full", "null", "pts/ptmx", "random", "tty", "urandom", "zero")],
        )
        w.shell("", "echo x > /dev/new").exited(2)
        w.shell("", "mknod x b 1 1 || mknod /dev/shm/x c 1 3").exited(1)


@test
def every_mount_is_without_rights_of_owners_and_devices():
    with world() as w:
        for name in ("open", "closed"):
            w.make(f"work/{name}/below/")
        w.make("work/.env", SECRET)
        policy = w.policy("deny $WORK/.env\ngrant read $WORK/closed\ngrant scratch\n")
        launch = " ".join(w.command_line(policy, ["cat", "/proc/self/mountinfo"]))
        mounts = "".join(f"mount -t tmpfs -o suid,dev,exec none {w.work}/{name}/below && " for name in ("open", "closed"))
        enter = ["unshare", "-m"] if IS_ROOT else ["unshare", "-Urm"]
        result = subprocess.run([*enter, "sh", "-c", mounts + launch], env=w.environment(), cwd=w.work, capture_output=True,
                                stdin=subprocess.DEVNULL, text=True)
        equal(result.returncode, 0, result.stderr)
        found = {}
        for line in result.stdout.splitlines():
            place, options = line.split()[4:6]
            found[place] = set(options.split(","))
            wanted = {"nosuid"} | (set() if place.startswith("/dev/") else {"nodev"})
            wanted |= {"noexec"} if place in ("/dev/pts", "/proc") else set()
            check(wanted <= found[place], f"{place}: {options}")
        check("rw" in found[f"{w.work}/open/below"] and "ro" in found[f"{w.work}/closed/below"], result.stdout)
        check({"/", "/proc", "/dev/pts", "/tmp", f"{w.work}/.env"} <= set(found), result.stdout)


@test
def the_root_is_closed_and_read_only():
    with world() as w:
        result = w.shell(
            "",
            "ls -A /; for d in / /usr /etc /home /root /var /dev /proc; do touch $d/x 2>/dev/null && "
            "echo $d; done; true",
        )
        names = set(result.succeeded().out.split())
        check(not any(name.startswith("/") for name in names), f"writable: {names}")
        check(
            {"boot", "sys", "root", "srv", "mnt", "media"}.isdisjoint(names - {w.top.split("/")[1]}),
            f"visible: {names}",
        )
        w.shell("", "cat /etc/shadow /etc/gshadow /etc/sudoers").exited(1)


@test
def terminal_injection_and_namespaces_are_refused():
    with world() as w:
        script = r"""
import ctypes, errno, fcntl, os
libc = ctypes.CDLL(None, use_errno=True)
IOCTL = 16 if os.uname().machine == "x86_64" else 29
def refused(name, result):
    print(name, "allowed" if result == 0 else errno.errorcode[ctypes.get_errno()])
for request, name in ((0x5412, "TIOCSTI"), (0x541C, "TIOCLINUX"), (0x5423, "TIOCSETD")):
    for high in (0, 1 << 32):
        try:
            fcntl.ioctl(0, request, b"x")
            print(name, "allowed")
        except OSError as error:
            print(name, errno.errorcode[error.errno])
        refused(name, libc.syscall(IOCTL, 0, ctypes.c_ulong(request | high), b"x"))
for flag, name in ((0x10000000, "user"), (0x20000, "mount"), (0x40000000, "net"), (0x20000000, "pid")):
    refused(name, libc.unshare(flag))
"""
        for line in w.python("", script).succeeded().out.splitlines():
            check(line.endswith(("EPERM", "ENOSYS")), line)


@test
def processes_outside_cannot_be_seen_or_signalled():
    with world() as w:
        out = (
            w.shell(
                "", f"ls /proc | grep -c '^[0-9]'; kill -0 {os.getpid()} 2>/dev/null && echo reached; true"
            )
            .succeeded()
            .out
        )
        check(int(out.split()[0]) <= 6 and "reached" not in out, out)


@test
def limit_files_holds():
    with world() as w:
        equal(w.shell("limit files to 64\n", "ulimit -Sn; ulimit -Hn").succeeded().out, "64\n64\n")
        out = w.python(
            "limit files to 20\n",
            "import os\nn=0\ntry:\n  while True: os.dup(0); n+=1\nexcept OSError: print(n)",
        ).out
        equal(out, "17\n")
        w.shell("limit files to 6\n", "exit 9").exited(9)


@test
def no_core_file_reaches_the_host():
    with world() as w:
        w.shell("", "kill -SEGV $$").exited(128 + 11)
        equal(os.listdir(w.work), [])


@test
def a_crash_starts_no_program_on_the_host():
    """core_pattern may name one ("|/usr/lib/systemd/systemd-coredump"); a limit of 1 is what keeps it from being run."""
    script = "import resource; print(resource.getrlimit(resource.RLIMIT_CORE))"
    with world() as w:

        def limit(most):
            resource.setrlimit(resource.RLIMIT_CORE, (most, most))

        # Only root can raise what the caller of these tests lowered.
        most = resource.RLIM_INFINITY if IS_ROOT else resource.getrlimit(resource.RLIMIT_CORE)[1]
        found = w.python("", script, preexec_fn=lambda: limit(most)).succeeded().out
        equal(found, "(0, 0)\n" if most == 0 else "(1, 1)\n")
        equal(w.python("", script, preexec_fn=lambda: limit(0)).succeeded().out, "(0, 0)\n")


SLEEPER = "import os, time; open('pid', 'w').write('x'); time.sleep(60)"
NEIGHBOUR = """
import ctypes, os, signal
libc = ctypes.CDLL(None, use_errno=True)
seen = [int(name) for name in os.listdir("/proc") if name.isdigit()]
for pid in seen:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            if b"time.sleep(" + b"60)" in file.read():
                print("seen", pid)
    except OSError:
        pass
for pid in map(int, __import__("sys").argv[1:]):
    for name, act in (("signal", lambda: os.kill(pid, 0)), ("group", lambda: os.killpg(pid, 0))):
        try:
            act()
            if pid not in seen:
                print(name, pid)
        except OSError:
            pass
    if pid not in seen and libc.ptrace(16, pid, 0, 0) == 0:
        print("traced", pid)
print("done")
"""


@test
def two_sandboxes_of_one_user_cannot_see_signal_or_trace_each_other():
    with world() as first, world() as second:
        running = subprocess.Popen(
            first.command_line(first.policy(""), ["/usr/bin/python3", "-c", SLEEPER]),
            env=first.environment(),
            cwd=first.work,
            stdin=subprocess.DEVNULL,
        )
        try:
            while not os.path.exists(f"{first.work}/pid"):
                check(running.poll() is None, "the first sandbox does not run")
                time.sleep(0.01)
            others = [str(running.pid)] + [str(pid) for pid in processes_with("time.sleep(60)")]
            check(len(others) > 1, "the first command is not found from outside")
            equal(second.python("", NEIGHBOUR, *others).succeeded().out, "done\n")
            # It is still there, untouched.
            check(running.poll() is None, "the first sandbox ended")
        finally:
            end(running)


main()
