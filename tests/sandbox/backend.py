"""A bubblewrap that hangs, fails, or does not do what it was asked: nothing runs. Each stands in for
/usr/bin/bwrap in a mount namespace of the test's own."""
import os
import subprocess
import time

from lib import IS_ROOT, check, equal, main, processes_with, test, world

REAL = "/usr/bin/bwrap"


def launch_with(w, script, *command, text="grant scratch\n", prelude="true"):
    """Launches under a /usr/bin/bwrap that is `script`; $BWRAP in it is the real one. The shell command `prelude` is run
    in the namespaces of the test's own."""
    moved = w.make("real/bwrap")
    with open(REAL, "rb") as source, open(moved, "wb") as target:
        target.write(source.read())
    fake = w.make(
        "fake/bwrap",
        f'#!/bin/bash\nBWRAP={moved}\n[ "$1" = --version ] && exec echo bubblewrap 0.8.0\n{script}\n',
    )
    os.chmod(moved, 0o755)
    os.chmod(fake, 0o755)
    enter = ["unshare", "--mount"] if IS_ROOT else ["unshare", "--user", "--map-root-user", "--mount"]
    return subprocess.run(
        [
            *enter,
            "sh",
            "-c",
            f'{prelude} && mount --bind {fake} {REAL} && exec "$@"',
            "sh",
            *w.command_line(w.policy(text), command or ["touch", "ran"], ["--engine", "bwrap"]),
        ],
        cwd=w.work,
        env=w.environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=100,
    )


def refused(w, result, *words):
    check(result.returncode == 125, str(result))
    for word in words:
        check(word in result.stderr.decode(), f"{word!r} is not in {result.stderr.decode()}")
    equal(os.listdir(w.work), [], "something ran or was left behind")


@test
def the_stand_in_itself_works():
    with world() as w:
        equal(launch_with(w, 'exec $BWRAP "$@"', "sh", "-c", "exit 7").returncode, 7)


@test
def one_that_makes_no_sandbox_at_all_runs_nothing():
    with world() as w:
        refused(
            w, launch_with(w, 'while [ "$1" != -- ]; do shift; done; shift; exec "$@"', text="deny $WORK/x\n")
        )


@test
def one_that_leaves_the_filter_out_is_found_out():
    with world() as w:
        refused(w, launch_with(w, 'exec $BWRAP --args "$2" "${@:5}"'), "SBX416", "filter")


@test
def one_that_adds_a_writable_mount_is_found_out():
    with world() as w:
        refused(
            w,
            launch_with(w, 'exec $BWRAP --args "$2" --bind /usr /usr "${@:3}"'),
            "SBX416",
            "/usr is mounted writable",
        )


@test
def one_that_hides_a_grant_behind_another_directory_is_found_out():
    with world() as w:
        refused(w, launch_with(w, f'exec $BWRAP --args "$2" --tmpfs {w.work} "${{@:3}}"'), "SBX416")


@test
def one_that_adds_a_variable_is_found_out():
    with world() as w:
        refused(
            w, launch_with(w, 'exec $BWRAP --args "$2" --setenv EXTRA 1 "${@:3}"'), "SBX416", "environment"
        )


@test
def one_that_shares_the_network_is_found_out():
    with world() as w:
        result = launch_with(
            w,
            'exec 99< <(tr "\\0" "\\n" <&$2 | grep -vx -e --unshare-net | tr "\\n" "\\0"); '
            'exec $BWRAP --args 99 "${@:3}"',
        )
        refused(w, result, "SBX416", "net namespace")


@test
def one_that_shares_another_namespace_is_found_out():
    with world() as w:
        for option in ("ipc", "uts", "cgroup"):
            filter_out = f'tr "\\0" "\\n" <&$2 | grep -vx -e --unshare-{option} | tr "\\n" "\\0"'
            result = launch_with(w, f'exec 99< <({filter_out}); exec $BWRAP --args 99 "${{@:3}}"')
            refused(w, result, "SBX416", f"the {option} namespace")


@test
def what_it_says_is_shown_escaped_and_placeholders_go():
    with world() as w:
        result = launch_with(w, r'printf "bwrap: \033[31mno\n" >&2; exit 1', text="deny $WORK/missing\n")
        refused(w, result, "SBX414", "\\x1b[31mno")
        check(b"\x1b" not in result.stderr, result.stderr)


@test
def one_that_is_too_old_is_refused():
    with world() as w:
        fake = w.make("old/bwrap", "#!/bin/sh\necho bubblewrap 0.4.1\n")
        os.chmod(fake, 0o755)
        enter = ["unshare", "--mount"] if IS_ROOT else ["unshare", "--user", "--map-root-user", "--mount"]
        result = subprocess.run(
            [
                *enter,
                "sh",
                "-c",
                f'mount --bind {fake} {REAL} && exec "$@"',
                "sh",
                *w.command_line(w.policy(""), ["touch", "ran"], ["--engine", "bwrap"]),
            ],
            cwd=w.work,
            env=w.environment(),
            capture_output=True,
        )
        refused(w, result, "SBX429", "0.4.1")


@test
def one_that_hangs_is_ended():
    with world() as w:
        begun, seconds = time.monotonic(), 100000 + os.getpid()
        refused(w, launch_with(w, f"sleep {seconds} & sleep {seconds}", text="deny $WORK/missing\n"), "SBX415")
        check(time.monotonic() - begun < 60, "it took too long")
        equal(processes_with(f"sleep\0{seconds}"), [], "left running")


# Each mount that can be reached, with what statvfs says of it (1: read-only, 2: nosuid, 4: nodev, 8: noexec).
REACHED = """
import os
with open("/proc/self/mountinfo") as file:
    lines = [line.split() for line in file]
for line in lines:
    kind = line[line.index("-") + 1]
    try:
        print(line[4], kind, os.statvfs(line[4]).f_flag)
    except OSError:
        pass
"""


@test
def around_what_may_be_written_everything_is_read_only_to_it():
    with world() as w:
        looks = w.make("looks.py", REACHED)
        result = launch_with(w, f'/usr/bin/python3 {looks} > {w.work}/seen; exec $BWRAP "$@"', "true",
                             text="deny $WORK/.env\n",
                             prelude=f"mount -t tmpfs -o nosuid,nodev,noexec none {w.outside}")
        equal(result.returncode, 0, result.stderr)
        with open(f"{w.work}/seen") as file:
            seen = {line.split()[0]: line.split()[1:] for line in file}
        open_to_it = [place for place, (kind, flags) in seen.items() if kind != "proc" and int(flags) & 1 == 0]
        equal(open_to_it, [w.work])
        equal(int(seen[w.outside][1]) & 15, 15, "flags")


@test
def nothing_is_mounted_for_who_shares_the_mounts():
    for engine in ("native", "bwrap"):
        with world() as w:
            launch = " ".join(w.command_line(w.policy("deny $WORK/.env\n"), ["true"], ["--engine", engine]))
            count = "grep -c . /proc/self/mountinfo"
            enter = ["unshare", "--mount"] if IS_ROOT else ["unshare", "--user", "--map-root-user", "--mount"]
            result = subprocess.run([*enter, "sh", "-c", f"mount --make-rshared / && {count} && {launch} && {count}"], cwd=w.work,
                                    env=w.environment(), stdin=subprocess.DEVNULL, capture_output=True, timeout=100)
            equal((result.returncode, len(set(result.stdout.split()))), (0, 1), f"{engine}: {result}")


main()
