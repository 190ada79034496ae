"""--probe: what this machine can enforce, and each obstacle with its cause and remedy."""
import ctypes
import json
import os
import subprocess

from lib import IS_ROOT, LAUNCHER, NAMESPACES_USED_UP, Result, check, check_schema, equal, filtering, main, refusing, test, world


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
    equal([backend["name"] for backend in answer["backends"]], ["native", "bwrap", "landlock"])
    for backend in answer["backends"]:
        equal(sorted(backend), ["cause", "name", "remedy", "usable", "version"])
        equal((code, backend["usable"], backend["cause"], backend["remedy"]), (0, True, None, None))
    text = subprocess.run([LAUNCHER, "--probe"], capture_output=True)
    check(text.returncode == 0 and b"usable" in text.stdout, text)


def refused(answer, cause, remedy):
    code, found = answer
    for backend in found["backends"][:2]:
        equal((code, backend["usable"]), (125, False))
        check(cause in backend["cause"], f"cause: {backend['cause']}")
        check(remedy in backend["remedy"], f"remedy: {backend['remedy']}")


@test
def a_sandbox_that_allows_no_user_namespace_is_named():
    refused(
        probe(*NAMESPACES_USED_UP),
        "max_user_namespaces=0",
        "outside of it",
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
# Reported as codex#16211, claude-code#48304, codex#15434, codex#23468.
def a_filter_of_a_container_is_named():
    clone, unshare = (56, 272) if os.uname().machine == "x86_64" else (220, 97)
    # clone3: ENOSYS; namespace flags of clone, and unshare: EPERM, as the default profiles of container engines have
    # it.
    code = [
        (0x20, 0, 0, 0),
        (0x15, 0, 1, 435),
        (0x06, 0, 0, 0x00050026),
        (0x15, 4, 0, unshare),
        (0x15, 0, 2, clone),
        (0x20, 0, 0, 16),
        (0x45, 1, 0, 0x7E020000),
        (0x06, 0, 0, 0x7FFF0000),
        (0x06, 0, 0, 0x00050001),
    ]
    filtered = filtering(code)
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
def a_limit_of_another_kind_of_namespace_is_named():
    script = 'echo 0 > /proc/sys/user/max_mnt_namespaces && exec "$@"'
    refused(probe("unshare", "--user", "--map-root-user", "sh", "-c", script, "sh"), "kind of namespace", "max_KIND")


@test
def a_covered_proc_is_named():
    """As container engines cover parts of it: a new procfs would show what is hidden."""
    enter = ["unshare", "--mount"] if IS_ROOT else ["unshare", "--user", "--map-root-user", "--mount"]
    script = 'mount --bind /dev/null /proc/meminfo && exec "$@"'
    refused(probe(*enter, "sh", "-c", script, "sh"), "covers parts of /proc", "systempaths")


def without_bubblewrap(w, *options, env=None, preexec=None):
    enter = ["unshare", "--mount"] if IS_ROOT else ["unshare", "--user", "--map-root-user", "--mount"]
    hide = "for f in /usr/bin/bwrap /usr/local/bin/bwrap; do [ ! -e $f ] || mount --bind /dev/null $f; done"
    command = w.command_line(w.policy(""), ["touch", "ran"], options)
    return Result(
        subprocess.run(
            [*enter, "sh", "-c", f'{hide}; exec "$@"', "sh", *command],
            cwd=w.work, env=env or w.environment(), capture_output=True, preexec_fn=preexec,
        )
    )


@test
def a_missing_bubblewrap_is_named():
    with world() as w:
        without_bubblewrap(w, "--engine", "bwrap").refused("SBX412")
        # One that the command could have planted is not taken.
        os.symlink("/bin/true", w.make("work/bin/") + "/bwrap")
        planted = w.environment(PATH=f"{w.work}/bin:/usr/bin:/bin")
        without_bubblewrap(w, "--engine", "bwrap", env=planted).refused("SBX412")
        check(not os.path.exists(f"{w.work}/ran"), "something ran")


@test
def the_native_engine_needs_no_bubblewrap():
    with world() as w:
        without_bubblewrap(w, "--engine", "auto").succeeded()
        check(os.path.exists(f"{w.work}/ran"), "nothing ran")


@test
def a_kernel_without_the_mount_calls_lets_bubblewrap_make_the_sandbox():
    for number, name in ((428, "open_tree"), (442, "mount_setattr"), (429, "move_mount"), (435, "clone3"), (430, "fsopen")):
        refuse = refusing({number: 38})
        with world() as w:
            result, lease = w.lease("", "true", options=["--engine", "auto"], preexec_fn=refuse)
            result.succeeded()
            equal(lease["backend"], "bwrap")
            told = [note["text"] for note in lease["notes"] if note["code"] == "SBX434"]
            check(told and name in told[0], f"{name}: {told}")
            w.launch("", "touch", "ran", options=["--engine", "native"], preexec_fn=refuse).refused("SBX420", name)
            without_bubblewrap(w, "--engine", "auto", preexec=refuse).refused("SBX412", name)
            check(not os.path.exists(f"{w.work}/ran"), "something ran")
        code, answer = probe(preexec=refuse)
        equal((code, [backend["usable"] for backend in answer["backends"]]), (0, [False, True, True]))
        check(name in answer["backends"][0]["cause"], answer)


main()
