"""Bad input ends with a clear error, the documented exit code, the old output untouched, no crash, and soon."""
import contextlib
import os
import random
import resource
import signal
import subprocess
import time

from lib import BASE, BUILD, IS_ROOT, LAUNCHER, PATH, SBXC, check, equal, main, test, world

SECONDS = 60 if os.path.basename(BUILD) == "sanitize" else 10
OLD = b"the output as it was"


def run(w, command, code, *words, **more):
    """Runs and expects an exit code, each of `words` on standard error, no signal, and an end in time."""
    more.setdefault("stdout", subprocess.PIPE)
    more.setdefault("env", w.environment())
    began = time.monotonic()
    result = subprocess.run(
        command, cwd=w.work, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=120, **more
    )
    took = time.monotonic() - began
    error = result.stderr.decode(errors="replace")
    shown = f"{' '.join(command)[-300:]}: {error[:2000]}"
    check(result.returncode in (code if isinstance(code, tuple) else (code,)), f"exit {result.returncode}: {shown}")
    check(took < SECONDS, f"took {took:.1f} s: {shown}")
    check("AddressSanitizer" not in error and "runtime error" not in error, shown)
    for word in words:
        check(word in error, f"{word!r} is not said: {shown}")
    check(not any(byte < 32 and byte not in (9, 10) for byte in result.stderr), f"a raw control byte: {shown}")
    return result


def refused(w, path, *words):
    """`path` as a policy is an error of every command, and no output is touched."""
    out = os.path.join(w.outside, "out.bin")
    with open(out, "wb") as file:
        file.write(OLD)
    for command in (
        [SBXC, path, "-o", out],
        [SBXC, path, "-t", "json", "-o", out],
        [SBXC, path, "--check", "-o", out],
        [SBXC, "show", path],
        [SBXC, "show", path, "--json"],
        [SBXC, "why", path, "read", "/x"],
        [SBXC, "why", path, "--batch"],
        [SBXC, w.good, "--managed", path, "-o", out],
    ):
        run(w, command, 2, *words)
    run(w, [LAUNCHER, path, "--", "true"], 125)
    with open(out, "rb") as file:
        equal(file.read(), OLD, "the old output")
    equal(os.listdir(w.outside), ["out.bin"], "what is beside it")


@contextlib.contextmanager
def place():
    with world() as w:
        w.good = w.make("good.sbx", BASE)
        yield w


def raw(w, name, content):
    path = os.path.join(w.top, name)
    with open(path, "wb") as file:
        file.write(content)
    return path


@test
def a_file_that_cannot_be_read():
    with place() as w:
        if not IS_ROOT:
            path = w.make("closed.sbx", BASE)
            os.chmod(path, 0)
            refused(w, path, "Permission denied")
        refused(w, "/proc/self/mem")
        refused(w, f"{w.top}/missing.sbx", "No such file")
        refused(w, f"{w.good}/below.sbx", "Not a directory")
        refused(w, "x" * 5000 + ".sbx", "too long")


@test
def what_is_no_file():
    with place() as w:
        refused(w, w.make("directory.sbx/"))
        refused(w, w.make("directory.bin/"))
        fifo = f"{w.top}/fifo.sbx"
        os.mkfifo(fifo)
        refused(w, fifo)
        refused(w, "/dev/zero")


@test
def a_binary_file():
    noise = random.Random(1).randbytes(1 << 18)
    with open("/bin/true", "rb") as file:
        program = file.read()
    with place() as w:
        refused(w, raw(w, "utf-16.sbx", b"\xff\xfe" + b"s\0b\0x\0"), "SBX066")
        for number, content in enumerate((noise, program, b"\0" * 100000)):
            refused(w, raw(w, f"{number}.sbx", content), f"{number}.sbx is a binary file")
            refused(w, raw(w, f"{number}.bin", content))


@test
def ten_mebibytes_of_brackets():
    size = 10 << 20
    with place() as w:
        refused(w, raw(w, "line.sbx", b"[" * size), "SBX")
        line = b"deny $WORK/" + b"[" * 60000 + b"\n"
        content = BASE.encode() + line * (size // len(line))
        refused(w, raw(w, "lines.sbx", content), "SBX")
        refused(w, raw(w, "short.sbx", b"[\n" * (size // 2)), "SBX")


@test
def a_thousand_nested_blocks():
    with place() as w:
        for kinds in (["when os linux {"], ["when os linux {", "when command git {"]):
            lines = [kinds[i % len(kinds)] for i in range(1000)]
            closed = BASE + "\n".join(lines + ["grant read /x"] + ["}"] * 1000) + "\n"
            refused(w, w.make("nested.sbx", closed), "SBX")
            refused(w, w.make("open.sbx", BASE + "\n".join(lines) + "\n"), "SBX")


@test
def uses_that_do_not_end():
    with place() as w:
        head = 'sbx 1\npreset "p"\n'
        w.make("a.sbx", head + 'use "b.sbx"\n')
        w.make("b.sbx", head + 'use "a.sbx"\n')
        w.make("self.sbx", head + 'use "self.sbx"\n')
        for name in ("a", "self"):
            path = w.make("cycle.sbx", f'sbx 1\npolicy "p"\nuse "{name}.sbx"\n')
            refused(w, path, "SBX121", "is being read already")
        for number in range(40):
            w.make(f"deep/{number}.sbx", head + f'use "{number + 1}.sbx"\n')
        path = w.make("deep/top.sbx", 'sbx 1\npolicy "p"\nuse "0.sbx"\n')
        refused(w, path, "SBX122", "16")


@test
def a_damaged_compiled_policy():
    with place() as w:
        own, managed = w.compile(BASE), w.compile('sbx 1\nmanaged "m"\ndeny /x\nlimit service to pty\n')
        for source in (own, managed):
            with open(source, "rb") as file:
                whole = file.read()
            noise = random.Random(2)
            contents = [whole[:length] for length in (0, 1, 7, 40, len(whole) // 2, len(whole) - 1)]
            contents += [whole + b"\0", whole * 2, b"x" + whole[1:]]
            for _ in range(8):
                at = noise.randrange(len(whole))
                contents.append(whole[:at] + bytes([whole[at] ^ 1 << noise.randrange(8)]) + whole[at + 1 :])
            directory = w.make("managed/")
            path = os.path.join(directory, "damaged.bin")
            for content in contents:
                with open(path, "wb") as file:
                    file.write(content)
                run(w, [SBXC, w.good, "--managed", path, "-o", f"{w.top}/out.bin"], 2, "damaged.bin")
                run(w, [SBXC, "why", path, "read", "/x"], 2, "damaged.bin")
                run(w, [LAUNCHER, path, "--", "true"], 125, "error[SBX402]")
                run(w, [LAUNCHER, "--managed", directory, own, "--", "true"], 125, "error[SBX405]")
            check(not os.path.exists(f"{w.top}/out.bin"), "something was written")


@test
def every_byte_of_a_compiled_policy_counts():
    step = int(os.environ.get("SBX_DIVISOR", "1"))
    with place() as w:
        source = w.make("small.sbx", 'sbx 1\npolicy "t"\ngrant write $WORK\ndeny $WORK/*.pem except $WORK/a\n')
        path = f"{w.top}/damaged.bin"
        run(w, [SBXC, source, "-o", path], 0)
        with open(path, "rb") as file:
            whole = file.read()
        flipped = [whole[:at] + bytes([whole[at] ^ 1 << at % 8]) + whole[at + 1 :] for at in range(len(whole))]
        cut = [whole[:length] for length in range(len(whole))]
        check(len(flipped) > 200, "the policy is too small to say anything")
        for content in (flipped + cut)[::step]:
            with open(path, "wb") as file:
                file.write(content)
            run(w, [SBXC, "why", path, "write", "/w/x"], 2, "damaged.bin")
            run(w, [LAUNCHER, path, "--", "touch", "ran"], 125, "error[SBX402]")
        equal(os.listdir(w.work), [], "what ran")


FULL = """
mount -t tmpfs -o size=64k,mode=1777 none "$1" || exit 99
printf '%s' 'the output as it was' > "$1/out.bin"
dd if=/dev/zero of="$1/filler" bs=1k 2>/dev/null
"$2" "$3" -o "$1/out.bin"; code=$?
printf '%s' 'the output as it was' | cmp - "$1/out.bin" || exit 98
test "$(ls -A "$1" | tr '\\n' ' ')" = 'filler out.bin ' || exit 97
exit $code
"""


# A lease is written before the command starts: where it cannot be, nothing runs.
FULL_LEASE = """
mount -t tmpfs -o size=64k,mode=1777 none "$1" || exit 99
printf '%s' 'the lease as it was' > "$1/lease.json"
dd if=/dev/zero of="$1/filler" bs=1k 2>/dev/null
"$2" --lease "$1/lease.json" "$3" -- touch ran; code=$?
printf '%s' 'the lease as it was' | cmp - "$1/lease.json" || exit 98
test "$(ls -A "$1" | tr '\\n' ' ')" = 'filler lease.json ' || exit 97
test ! -e ran || exit 96
exit $code
"""


# A mount namespace of the test's own; an ordinary user gets it with a user namespace.
OWN_MOUNTS = ["unshare", *([] if IS_ROOT else ["--user", "--map-root-user"]), "--mount", "--propagation", "private"]


@test
def a_specification_larger_than_one_may_be():
    with place() as w:
        source = w.make("big.sbx", BASE + "".join(f"grant read C:/a{i}\n" for i in range(60000)))
        out = os.path.join(w.outside, "policy.xml")
        run(w, [SBXC, source, "-o", out], 3, "SBX322", "60000 objects, and may have 3000")
        check(not os.path.exists(out), "it was written")


@test
def a_full_disk():
    with place() as w:
        source = w.make("big.sbx", BASE + "".join(f"grant read /a/{i}\n" for i in range(3000)))
        with open("/dev/full", "wb") as full:
            run(w, [SBXC, source, "-o", "-"], 2, "No space left", stdout=full)
        run(w, [SBXC, source, "-o", "/dev/full"], 2, "/dev/full")
        run(w, [*OWN_MOUNTS, "sh", "-c", FULL, "sh", w.outside, SBXC, source], 2, "No space left")
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))
        out = raw(w, "outside/out.bin", OLD)
        run(w, [SBXC, source, "-o", out], 2, "too large", preexec_fn=limit)
        with open(out, "rb") as file:
            equal(file.read(), OLD, "the old output")
        equal(os.listdir(w.outside), ["out.bin"], "what is beside it")


@test
def a_full_disk_for_the_lease():
    with place() as w:
        policy = w.compile(BASE + "grant write $WORK\n")
        run(w, [*OWN_MOUNTS, "sh", "-c", FULL_LEASE, "sh", w.outside, LAUNCHER, policy], 125, "No space left")


@test
def a_standard_output_that_takes_nothing():
    with place() as w:
        policy = w.compile(BASE + "grant write $WORK\n")
        commands = (
            ([SBXC, w.good, "-o", "-"], 2),
            ([SBXC, "show", w.good], 2),
            ([SBXC, "show", w.good, "--json"], 2),
            ([SBXC, "why", w.good, "read", "/usr"], 2),
            ([SBXC, "--version"], 2),
            ([SBXC, "help"], 2),
            ([LAUNCHER, "--dry-run", policy, "--", "true"], 125),
            ([LAUNCHER, "--version"], 125),
            ([LAUNCHER, "--help"], 125),
        )
        for command, code in commands:
            with open("/dev/full", "wb") as full:
                run(w, command, code, "cannot write to standard output", stdout=full)
            reader, writer = os.pipe()
            os.close(reader)
            # Like every filter: the reader has seen enough.
            run(w, command, (-signal.SIGPIPE, code), stdout=writer)
            os.close(writer)
            # The launcher puts /dev/null where the caller left nothing, for the command's sake.
            closed = code if command[0] == SBXC else 0
            run(w, ["sh", "-c", 'exec "$@" >&-', "sh", *command], closed)


@test
def roots_without_a_value():
    with place() as w:
        env = {"PATH": PATH}
        for rule in ("grant read ~/x", "deny ~/x", "grant read $CONFIG/x", "deny $CACHE/x"):
            source = w.make("home.sbx", BASE + "grant write $WORK\n" + rule + "\n")
            policy = w.compile(BASE + "grant write $WORK\n" + rule + "\n")
            expected = rule.startswith("deny") or "~" in rule
            with contextlib.suppress(FileNotFoundError):
                os.unlink(f"{w.work}/ran")
            code = 125 if expected else 0
            run(w, [LAUNCHER, policy, "--", "touch", "ran"], code, *(["error[SBX15"] if expected else []), env=env)
            equal(os.path.exists(f"{w.work}/ran"), not expected, "whether something ran")
            run(w, [SBXC, "why", source, "read", "/usr"], 2 if expected else 0, env=env)
        out = raw(w, "outside/out.args", OLD)
        run(w, [SBXC, w.good, "-o", out], 0)
        with open(out, "wb") as file:
            file.write(OLD)
        source = w.make("work.sbx", BASE + "grant write $WORK\n")
        run(w, [SBXC, source, "-o", out], 2, "WORK")
        with open(out, "rb") as file:
            equal(file.read(), OLD, "the old output")


@test
def a_home_of_somebody_else():
    with place() as w:
        home = "/" if not IS_ROOT else w.make("theirs/")
        if IS_ROOT:
            os.chown(home, 65534, 65534)
        env = w.environment(HOME=home)
        source = w.make("home.sbx", BASE + "grant write $WORK\ngrant read ~/x\n")
        policy = w.compile(BASE + "grant write $WORK\ngrant read ~/x\n")
        run(w, [LAUNCHER, policy, "--", "touch", "ran"], 125, "error[SBX153]", env=env)
        run(w, [LAUNCHER, source, "--", "touch", "ran"], 125, "error[SBX153]", env=env)
        run(w, [SBXC, "why", source, "read", "~/x"], 2, "SBX153", env=env)
        check(not os.path.exists(f"{w.work}/ran"), "something ran")


main()
