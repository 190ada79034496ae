"""--probe: what this machine can enforce, and each obstacle with its cause and remedy."""
import ctypes
import json
import os
import subprocess

from lib import IS_ROOT, LAUNCHER, check, check_schema, equal, main, test, world


def probe(*before, preexec=None):
    result = subprocess.run([*before, LAUNCHER, "--probe", "--json"], capture_output=True, preexec_fn=preexec)
    answer = json.loads(result.stdout)
    check_schema(answer, "sbx-probe.schema.json")
    return result.returncode, answer


@test
def this_machine_can_enforce_policies():
    code, answer = probe()
    equal(sorted(answer), ["backends", "kernel"])
    equal(answer["kernel"], os.uname().release)
    backend = answer["backends"][0]
    equal(sorted(backend), ["cause", "name", "remedy", "usable", "version"])
    equal(
        (code, backend["name"], backend["usable"], backend["cause"], backend["remedy"]),
        (0, "bwrap", True, None, None),
    )
    text = subprocess.run([LAUNCHER, "--probe"], capture_output=True)
    check(text.returncode == 0 and b"usable" in text.stdout, text)


def refused(answer, cause, remedy):
    code, found = answer
    backend = found["backends"][0]
    equal((code, backend["usable"]), (125, False))
    check(cause in backend["cause"], f"cause: {backend['cause']}")
    check(remedy in backend["remedy"], f"remedy: {backend['remedy']}")


@test
def a_limit_of_user_namespaces_is_named():
    refused(
        probe(
            "unshare",
            "--user",
            "--map-root-user",
            "sh",
            "-c",
            'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"',
            "sh",
        ),
        "max_user_namespaces=0",
        "sysctl",
    )


@test
def a_sandbox_that_forbids_nesting_is_named():
    refused(
        probe(
            "bwrap",
            "--unshare-user",
            "--disable-userns",
            "--bind",
            "/",
            "/",
            "--proc",
            "/proc",
            "--dev",
            "/dev",
            "--",
        ),
        "user namespace",
        "",
    )


@test
def a_filter_of_a_container_is_named():
    class Instruction(ctypes.Structure):
        _fields_ = [
            ("code", ctypes.c_uint16),
            ("jt", ctypes.c_uint8),
            ("jf", ctypes.c_uint8),
            ("k", ctypes.c_uint32),
        ]

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_uint16), ("filter", ctypes.POINTER(Instruction))]

    clone, unshare = (56, 272) if os.uname().machine == "x86_64" else (220, 97)
    # Namespace flags of clone, and unshare: EPERM, as the default profiles of container engines have it.
    code = [
        (0x20, 0, 0, 0),
        (0x15, 4, 0, unshare),
        (0x15, 0, 2, clone),
        (0x20, 0, 0, 16),
        (0x45, 1, 0, 0x7E020000),
        (0x06, 0, 0, 0x7FFF0000),
        (0x06, 0, 0, 0x00050001),
    ]
    instructions = (Instruction * len(code))(*[Instruction(*fields) for fields in code])

    def filtered():
        libc = ctypes.CDLL(None, use_errno=True)
        program = Program(len(code), instructions)
        if libc.prctl(38, 1, 0, 0, 0) != 0 or libc.prctl(22, 2, ctypes.byref(program)) != 0:
            os._exit(99)

    refused(probe(preexec=filtered), "system call filter", "seccomp")
    with world() as w:
        w.launch("", "touch", "ran", preexec_fn=filtered).refused("SBX413", "system call filter", "seccomp=")
        check(not os.path.exists(f"{w.work}/ran"), "something ran")


@test
def a_landlock_sandbox_is_named():
    def landlocked():
        libc = ctypes.CDLL(None, use_errno=True)
        ruleset = libc.syscall(444, ctypes.byref(ctypes.c_uint64(1 << 8)), ctypes.c_size_t(8), 0)
        if libc.prctl(38, 1, 0, 0, 0) != 0 or libc.syscall(446, ruleset, 0) != 0:
            os._exit(99)

    refused(probe(preexec=landlocked), "Landlock", "outside")


@test
def a_chroot_is_named():
    enter = [] if IS_ROOT else ["unshare", "--user", "--map-root-user"]
    with world() as w:
        root = w.make("root/")
        for name in ("usr", "bin", "lib", "lib64", "proc", "dev", "tmp"):
            if os.path.exists(f"/{name}"):
                os.mkdir(f"{root}/{name}")
        with open(LAUNCHER, "rb") as source, open(f"{root}/launcher", "wb") as target:
            target.write(source.read())
        os.chmod(f"{root}/launcher", 0o755)
        mounts = "".join(
            f"mount --rbind /{name} {root}/{name} && "
            for name in ("usr", "bin", "lib", "lib64", "proc", "dev")
            if os.path.exists(f"{root}/{name}")
        )
        result = subprocess.run(
            [
                *enter,
                "unshare",
                "--mount",
                "sh",
                "-c",
                f"{mounts} exec /usr/sbin/chroot {root} /launcher --probe --json",
            ],
            capture_output=True,
        )
        check(result.stdout, result.stderr)
        refused((result.returncode, json.loads(result.stdout)), "chroot", "pivot_root")


@test
def a_missing_bubblewrap_is_named():
    enter = ["unshare", "--mount"] if IS_ROOT else ["unshare", "--user", "--map-root-user", "--mount"]
    hide = "for f in /usr/bin/bwrap /usr/local/bin/bwrap; do [ ! -e $f ] || mount --bind /dev/null $f; done"
    with world() as w:
        policy = w.policy("")
        result = subprocess.run(
            [*enter, "sh", "-c", f'{hide}; exec "$@"', "sh", *w.command_line(policy, ["touch", "ran"])],
            cwd=w.work,
            env=w.environment(),
            capture_output=True,
        )
        check(result.returncode == 125 and b"SBX412" in result.stderr, result)
        # One that the command could have planted is not taken.
        os.symlink("/bin/true", w.make("work/bin/") + "/bwrap")
        result = subprocess.run(
            [*enter, "sh", "-c", f'{hide}; exec "$@"', "sh", *w.command_line(policy, ["touch", "ran"])],
            cwd=w.work,
            env=w.environment(PATH=f"{w.work}/bin:/usr/bin:/bin"),
            capture_output=True,
        )
        check(result.returncode == 125 and b"SBX412" in result.stderr, result)
        check(not os.path.exists(f"{w.work}/ran"), "something ran")


main()
