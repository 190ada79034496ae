"""Limits by control groups: made by root, or by an ordinary user to whom a group was handed down; always removed."""
import contextlib
import json
import os
import shutil
import signal
import subprocess
import time

from lib import BUILD, IS_ROOT, LAUNCHER, Result, check, equal, main, test, world

ORDINARY = 54321
CONTROLLERS = ("pids", "memory")
EATS = "x = []\nfor i in range(400):\n    x.append(b'x' * (1 << 20))\nprint('ate all')\n"
FORKS = """
import os, time
made = 0
try:
    while made < 100:
        if os.fork() == 0:
            time.sleep(100)
        made += 1
except OSError:
    pass
print(made)
"""


def as_root(function):
    """A test that only root can prepare; the other tests of this file say what an ordinary user meets."""
    return test(function) if IS_ROOT else function


def text_of(path):
    with open(path) as file:
        return file.read()


def write(path, text):
    with open(path, "w") as file:
        file.write(text)


def own_groups():
    """{controller: (version, directory of this process's group)}"""
    version_1, version_2, found = {}, None, {}
    for line in text_of("/proc/self/mountinfo").splitlines():
        before, after = line.split(" - ")
        point, kind, options = before.split()[4], after.split()[0], after.split()[-1].split(",")
        if kind == "cgroup":
            version_1.update({name: point for name in options if name in CONTROLLERS})
        if kind == "cgroup2":
            version_2 = point
    for line in text_of("/proc/self/cgroup").splitlines():
        number, names, path = line.split(":", 2)
        for name in CONTROLLERS:
            if name in names.split(","):
                found[name] = (1, version_1[name] + path)
            if number == "0" and name not in version_1:
                found[name] = (2, version_2 + path)
    return {name: (version, os.path.normpath(path)) for name, (version, path) in found.items()}


def divide(directory):
    """Makes a group of version 2 hand its controllers down; what runs in it moves to a group below."""
    if os.path.exists(f"{directory}/cgroup.type"):
        os.makedirs(f"{directory}/rest", exist_ok=True)
        for process in text_of(f"{directory}/cgroup.procs").split():
            with contextlib.suppress(OSError):
                write(f"{directory}/rest/cgroup.procs", process)
    write(f"{directory}/cgroup.subtree_control", " ".join(f"+{name}" for name in CONTROLLERS))


@contextlib.contextmanager
def handed_down():
    """A group of its own for each hierarchy, which belongs to the ordinary user; gives the groups to enter."""
    made, enter = [], []
    for name, (version, own) in own_groups().items():
        directory = f"{own}/test-{os.getpid()}"
        if version == 2 and own.endswith("/rest"):
            directory = f"{os.path.dirname(own)}/test-{os.getpid()}"
        elif version == 2 and directory not in made:
            divide(own)
        if directory in made:
            continue
        os.mkdir(directory)
        made.append(directory)
        owned = [directory, f"{directory}/cgroup.procs"]
        if version == 2:
            divide(directory)
            os.mkdir(f"{directory}/leaf")
            owned += [f"{directory}/cgroup.subtree_control", f"{directory}/leaf", f"{directory}/leaf/cgroup.procs"]
        enter.append(f"{directory}/leaf" if version == 2 else directory)
        for path in owned:
            os.chown(path, ORDINARY, ORDINARY)
    try:
        yield enter
    finally:
        for directory in made:
            for path, _, _ in os.walk(directory, topdown=False):
                os.rmdir(path)


@contextlib.contextmanager
def user_world():
    """A world that belongs to the ordinary user, with programs that this user can run."""
    with world() as w:
        os.makedirs(f"{w.top}/build")
        for program in ("sbxc", "sbx-launch"):
            shutil.copy(f"{BUILD}/{program}", f"{w.top}/build/{program}")
        for directory in (w.top, w.home, w.work, w.outside):
            os.chown(directory, ORDINARY, ORDINARY)
            os.chmod(directory, 0o755)
        yield w


def launch_as_user(w, text, command, enter):
    def become():
        for group in enter:
            write(f"{group}/cgroup.procs", "0")
        os.setgroups([])
        os.setresgid(ORDINARY, ORDINARY, ORDINARY)
        os.setresuid(ORDINARY, ORDINARY, ORDINARY)

    policy = w.policy(text)
    os.chmod(os.path.dirname(policy), 0o755)
    result = subprocess.run(
        [f"{w.top}/build/sbx-launch", "--lease", f"{w.outside}/lease.json", policy, "--", *command],
        cwd=w.work, env=w.environment(), stdin=subprocess.DEVNULL, capture_output=True, preexec_fn=become, timeout=60,
    )
    return Result(result)


def groups_left(id=""):
    """Groups that launches made, in the hierarchies of this process."""
    found = []
    for top in {os.path.dirname(own) if own.endswith("/rest") else own for _, own in own_groups().values()}:
        for directory, names, _ in os.walk(top):
            found += [os.path.join(directory, name) for name in names if name.startswith("sbx-" + id)]
    return found


@contextlib.contextmanager
def root_groups():
    """Where this process's group of version 2 must be divided first, it is."""
    for version, own in own_groups().values():
        if version == 2 and not own.endswith("/rest"):
            divide(own)
    yield


@test
def the_group_is_gone_after_the_run():
    with world() as w, root_groups() if IS_ROOT else contextlib.nullcontext():
        result, lease = w.lease("limit processes to 20\n", "sh", "-c", "sleep 100 & exit 3")
        result.exited(3)
        equal(groups_left(lease["leaseId"]), [])


@as_root
def memory_of_the_whole_tree_is_limited():
    with world() as w, root_groups():
        result, lease = w.lease("limit memory to 64MiB\n", "/usr/bin/python3", "-c", EATS)
        equal((result.code, result.out), (137, ""))
        check("limit memory" in result.err, result.err)
        held = {entry["control"]: entry for entry in lease["enforcedControls"]}
        check("67108864" in held["limit.memory"]["evidence"], str(held))
        equal([event["kind"] for event in lease["events"]], ["limit.memory"])
        # No process of these takes 64 MiB alone.
        many = f"import os\nfor _ in range(8):\n    if os.fork() == 0:\n        break\n{EATS.replace('400', '30')}"
        many += "import time\ntime.sleep(2)\n"
        _, lease = w.lease("limit memory to 64MiB\n", "/usr/bin/python3", "-c", many)
        equal([event["kind"] for event in lease["events"]], ["limit.memory"])
        equal(groups_left(), [])


@as_root
def files_in_scratch_count_as_memory():
    with world() as w, root_groups():
        script = "dd if=/dev/zero of=/tmp/big bs=1M count=200 2>/dev/null; echo wrote $?"
        _, lease = w.lease("limit memory to 64MiB\ngrant scratch\n", "sh", "-c", script)
        equal([event["kind"] for event in lease["events"]], ["limit.memory"])


@as_root
def a_refused_process_is_recorded():
    with world() as w, root_groups():
        result, lease = w.lease("limit processes to 5\nlimit memory to 512MiB\n", "/usr/bin/python3", "-c", FORKS)
        equal(result.succeeded().out, "4\n")
        equal([event["kind"] for event in lease["events"]], ["limit.processes"])
        equal(groups_left(), [])


@as_root
def a_killed_launcher_leaves_its_group_to_the_next_launch():
    with world() as w, root_groups():
        policy = w.policy("limit processes to 20\n")
        launcher = subprocess.Popen(
            w.command_line(policy, ["sh", "-c", "touch ready; sleep 100"]), cwd=w.work, env=w.environment(),
            stdin=subprocess.DEVNULL,
        )
        while not os.path.exists(f"{w.work}/ready"):
            time.sleep(0.01)
        equal(len(groups_left()), 1, "groups during the run")
        # It stays while its launcher lives, whoever starts beside it.
        w.launch(policy, "true").succeeded()
        equal(len(groups_left()), 1, "groups beside another run")
        launcher.send_signal(signal.SIGKILL)
        launcher.wait()
        deadline = time.monotonic() + 10
        while groups_left() and time.monotonic() < deadline:
            w.launch(policy, "true").succeeded()
        equal(groups_left(), [])


@as_root
def a_refused_launch_leaves_no_group():
    with world() as w, root_groups():
        read_only, _ = os.pipe()
        os.set_inheritable(read_only, True)
        result = w.launch("limit processes to 5\n", "touch", "ran", options=["--lease", f"fd:{read_only}"],
                          pass_fds=(read_only,))
        result.refused("SBX411")
        check(not os.path.exists(f"{w.work}/ran"), "something ran")
        equal(groups_left(), [])


@as_root
def a_command_that_could_leave_its_group_is_refused():
    with world() as w, root_groups():
        below = f"{own_groups()['pids'][1]}/test-{os.getpid()}"
        os.mkdir(below)
        try:
            for place in ("/sys", "/sys/fs/cgroup", below):
                result = w.launch(f"grant write {place}\nlimit processes to 5\n", "touch", "ran")
                result.refused("limit.processes", "leave its control group")
        finally:
            os.rmdir(below)
        check(not os.path.exists(f"{w.work}/ran"), "something ran")
        script = "for f in $(find /sys/fs/cgroup -name cgroup.procs); do echo $$ > $f && echo left; done 2>/dev/null; true"
        result = w.shell("grant read /sys\nlimit processes to 5\n", script)
        equal(result.succeeded().out, "")


ALONE = "".join(
    f'accept {control} on landlock because "test"\n'
    for control in (
        "fs.closed", "fs.write", "fs.deny", "net.closed", "socket.path", "ipc.abstract", "ipc.signal", "process.tree"
    )
)


@as_root
def a_group_counts_also_where_landlock_stands_alone():
    with world() as w, root_groups():
        text = "limit processes to 5\nlimit memory to 64MiB\n" + ALONE
        result = w.launch(text, "/usr/bin/python3", "-c", FORKS, options=["--engine", "landlock"])
        equal(result.succeeded().out, "4\n")
        equal(w.launch(text, "/usr/bin/python3", "-c", EATS, options=["--engine", "landlock"]).code, 137)
        equal(groups_left(), [])


# A stand-in for busctl(1) and systemd: moves the process into a group of the scope's name, and shows limits there.
BUSCTL = """#!/usr/bin/python3
import os, subprocess, sys
words, writable, own, show = sys.argv[1:], {writable!r}, {own!r}, {show!r}
name, process = words[words.index("ssa(sv)a(sa(sv))") + 1], words[words.index("au") + 2]
os.makedirs(writable)
subprocess.run(["/usr/bin/mount", "-t", "cgroup2", "none", writable], check=True)
made = writable + {path!r} + "/" + name
os.mkdir(made)
with open(made + "/cgroup.procs", "w") as file:
    file.write(process)
subprocess.run(["/usr/bin/mount", "-t", "tmpfs", "none", own + "/" + name], check=True)
for option, file in (("TasksMax", "pids.max"), ("MemoryMax", "memory.max")):
    if option in words:
        with open(own + "/" + name + "/" + file, "w") as file:
            file.write(words[words.index(option) + 2] if show else "max")
"""


def own_group_of_version_2():
    """(its directory, its path)"""
    point = next(line.split()[4] for line in text_of("/proc/self/mountinfo").splitlines() if " - cgroup2 " in line)
    path = next(line[3:] for line in text_of("/proc/self/cgroup").splitlines() if line.startswith("0::")).rstrip("/")
    return point + path, path


def launch_beside_systemd(w, text, *command, show=True):
    """With a stand-in for systemd, and no right to make a group. Gives (result, lease or None)."""
    own, path = own_group_of_version_2()
    fake = w.make("fake/busctl", BUSCTL.format(writable=f"{w.top}/groups", own=own, path=path, show=show))
    os.chmod(fake, 0o755)
    points = [line.split()[4] for line in text_of("/proc/self/mountinfo").splitlines() if " - cgroup" in line]
    steps = [f"mount --bind {fake} /usr/bin/busctl", "mount -t tmpfs none /run", "mkdir -p /run/systemd/system"]
    if not os.path.exists("/usr/bin/busctl"):
        steps[0] = f"mount -t overlay -o lowerdir={w.top}/fake:/usr/bin none /usr/bin"
    steps += [f"mount -o remount,bind,ro {point}" for point in points] + ['exec "$@"']
    lease = f"{w.outside}/lease.json"
    call = w.command_line(w.policy(text), command, ["--lease", lease])
    try:
        result = Result(subprocess.run(["unshare", "--mount", "sh", "-c", " && ".join(steps), "sh", *call], cwd=w.work,
                                       env=w.environment(), stdin=subprocess.DEVNULL, capture_output=True, timeout=60))
    finally:
        for name in os.listdir(own):
            if name.startswith("sbx-") and name.endswith(".scope"):
                os.rmdir(f"{own}/{name}")
    if not os.path.exists(lease):
        return result, None
    with open(lease) as file:
        return result, json.load(file)


@as_root
def systemd_makes_a_scope_where_the_launcher_may_make_no_group():
    with world() as w, root_groups():
        result, lease = launch_beside_systemd(w, "limit processes to 7\nlimit memory to 1GiB\n", "echo", "ran")
        equal(result.succeeded().out, "ran\n")
        held = {entry["control"]: entry["evidence"] for entry in lease["enforcedControls"]}
        check("pids.max 8 in " in held["limit.processes"], str(held))
        check(".scope, a scope of systemd" in held["limit.processes"], str(held))
        check("memory.max 1073741824 in " in held["limit.memory"], str(held))


@as_root
def a_scope_that_is_not_limited_is_refused():
    with world() as w, root_groups():
        result, lease = launch_beside_systemd(w, "limit memory to 1GiB\n", "touch", "ran", show=False)
        result.refused("limit.memory")
        equal(lease, None)
        check(not os.path.exists(f"{w.work}/ran"), "something ran")


@as_root
def an_ordinary_user_limits_by_a_group_that_was_handed_down():
    with user_world() as w, handed_down() as enter:
        result = launch_as_user(w, "limit memory to 64MiB\n", ["/usr/bin/python3", "-c", EATS], enter)
        equal((result.code, result.out), (137, ""), result.err)
        equal(launch_as_user(w, "limit memory to 64MiB\n", ["echo", "fits"], enter).succeeded().out, "fits\n")
        result = launch_as_user(w, "limit processes to 5\n", ["/usr/bin/python3", "-c", FORKS], enter)
        equal(result.succeeded().out, "4\n")


@as_root
def an_ordinary_user_without_such_a_group_is_refused():
    with user_world() as w:
        result = launch_as_user(w, "limit memory to 64MiB\n", ["touch", "ran"], [])
        result.refused("limit.memory", "Delegate=yes")
        check(not os.path.exists(f"{w.work}/ran"), "something ran")


main()
