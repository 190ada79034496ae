"""What attempts to escape share: a world that is made anew for each, launches in every way that has to be
compared, and the judgement from outside.

An attempt is a function of a world that returns whether harm was done. It runs in the sandbox, where it must
fail; and with each of its sets of measures dropped (base/measures.def), where it must succeed, while it must fail
again as soon as one measure of the set holds. One that no measure lets through must succeed without a sandbox.
"""
import contextlib
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.abspath(os.environ.get("SBX_BUILD") or os.path.join(TREE, "build"))
SBXC = os.path.join(BUILD, "sbxc")
LAUNCHER = os.path.join(BUILD, "sbx-launch")
TEST_ONLY = os.path.join(BUILD, "sbx-launch-test-only")
PROGRAM = os.path.join(BUILD, "escape-attempt")
IS_ROOT = os.geteuid() == 0
SECONDS = 60
STAGE = b"--inner-stage"
HELD_DESCRIPTOR = 100
ATTEMPTS = []


class Attempt:
    def __init__(self, function, sets, plain, root, user, shown_by_root, possible):
        self.function = function
        self.name = function.__name__.replace("_", " ")
        self.sets = [frozenset(names.split()) for names in sets]
        self.plain = plain or not sets
        self.tried = IS_ROOT if root else not IS_ROOT if user else True
        self.shown_by_root = root or shown_by_root
        self.possible = possible


def attempt(*sets, plain=False, root=False, user=False, shown_by_root=False, possible=None):
    """Marks an attempt. Each of `sets` names measures, parted by blanks, without all of which it succeeds; with
    `plain` it succeeds without a sandbox too. With `root` only root makes it, with `user` only an ordinary user;
    with `shown_by_root` only root's succeeds without the measures. `possible()` says whether this machine allows
    it to anybody.
    """

    def mark(function):
        ATTEMPTS.append(Attempt(function, sets, plain, root, user, shown_by_root, possible))
        return function

    return mark


class Mode:
    """How to launch: without a sandbox, or with `dropped` measures (none: the ordinary launcher). Policies accept that
    the controls `accepted` do not hold by Landlock alone."""

    def __init__(self, engine=None, dropped=(), plain=False, accepted=()):
        self.engine, self.dropped, self.plain, self.accepted = engine, sorted(dropped), plain, accepted

    def command_line(self, policy, command, options=()):
        if self.plain:
            return list(command)
        launcher = [TEST_ONLY, "--drop", ",".join(self.dropped)] if self.dropped else [LAUNCHER]
        engine = ["--engine", self.engine] if self.engine else []
        return [*launcher, *engine, *options, policy, "--", *command]

    def __str__(self):
        if self.plain:
            return "without a sandbox"
        return f"without {' '.join(self.dropped)}" if self.dropped else "in the sandbox"


class NotStarted(Exception):
    """The attempt was not even made."""


class World:
    """A directory tree, the same for every attempt and mode, with fresh secrets."""

    compiled = {}

    def __init__(self, top, mode):
        self.top, self.mode = top, mode
        self.secret_text = secrets.token_hex(16)
        self.marker = f"mark-{secrets.token_hex(8)}"
        self.work, self.home = f"{top}/work", f"{top}/home"
        self.started = False
        for name in ("work", "home", "outside", "readable", "policies"):
            os.makedirs(f"{top}/{name}", exist_ok=True)

    def path(self, name):
        full = f"{self.top}/{name}"
        os.makedirs(os.path.dirname(full), exist_ok=True)
        return full

    def file(self, name, text="ours\n"):
        with open(self.path(name), "w") as file:
            file.write(text)
        return self.path(name)

    def secret(self, name):
        return self.file(name, self.secret_text)

    def text(self, name):
        with contextlib.suppress(OSError):
            with open(f"{self.top}/{name}", errors="replace") as file:
                return file.read()
        return None

    def environment(self, **more):
        return dict({"PATH": "/usr/bin:/bin", "HOME": self.home}, **more)

    def compile(self, text):
        if text not in self.compiled:
            source = self.file(f"policies/{len(self.compiled)}.sbx", text)
            target = f"{source[:-4]}.bin"
            done = subprocess.run([SBXC, source, "-o", target], env=self.environment(), capture_output=True)
            if done.returncode != 0:
                raise AssertionError(f"sbxc: {done.stderr.decode()}\n{text}")
            self.compiled[text] = target
        return self.compiled[text]

    def policy(self, more=""):
        accepts = "".join(f'accept {one} on landlock because "it is tried"\n' for one in self.mode.accepted)
        return self.compile(
            f'sbx 1\npolicy "escape"\ngrant read {PROGRAM}, {self.top}/readable\ngrant write $WORK\n{more}{accepts}'
        )

    def start(self, *move, policy="", options=(), env=None, cwd=None, wrap=(), **more):
        """Starts the attempt `move`; `policy` is a path or what stands after the usual grants."""
        if not policy.endswith(".bin"):
            policy = self.policy(policy)
        command = [PROGRAM, *[str(word) for word in move], self.marker]
        more.setdefault("stdin", subprocess.DEVNULL)
        more.setdefault("stderr", subprocess.PIPE)
        return subprocess.Popen(
            [*wrap, *self.mode.command_line(policy, command, options)],
            cwd=cwd or self.work,
            env=env or self.environment(),
            stdout=subprocess.PIPE,
            **more,
        )

    def run(self, *move, **more):
        """The whole output of an attempt."""
        process = self.start(*move, **more)
        try:
            out, err = process.communicate(timeout=SECONDS)
        finally:
            process.kill()
        self.started = self.started or b"started" in out
        self.said, self.code = (err or b"").decode(errors="replace"), process.returncode
        return out.decode(errors="replace")

    def leaks(self, *move, **more):
        return self.secret_text in self.run(*move, **more)

    @contextlib.contextmanager
    def held(self, *move, **more):
        """Runs an attempt until it holds; yields its process as seen from outside (None: it does not hold)."""
        process = self.start(*move, stdin=subprocess.PIPE, **more)
        try:
            self.output = b""
            while b"holding" not in self.output:
                chunk = os.read(process.stdout.fileno(), 4096)
                if not chunk:
                    break
                self.output += chunk
            self.started = self.started or b"started" in self.output
            self.launcher = process
            yield self.attempt_process() if b"holding" in self.output else None
        finally:
            with contextlib.suppress(BrokenPipeError):
                process.stdin.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=2)
            process.kill()
            process.wait()
            self.end_all()
            os.set_blocking(process.stderr.fileno(), False)
            self.said = (process.stderr.read() or b"").decode(errors="replace")
            process.stdout.close()
            process.stderr.close()

    def processes(self):
        """Numbers of the attempt's processes."""
        return [
            int(name)
            for name in os.listdir("/proc")
            if name.isdigit()
            and (line := proc(name, "cmdline").split(b"\0"))[0] == PROGRAM.encode()
            and self.marker.encode() in line
        ]

    def attempt_process(self):
        found = self.processes()
        return max(found) if found else None

    def end_all(self):
        """Ends what an attempt that got out has left: itself, and the stage inside that it may have stopped."""
        for number in self.processes():
            above = parent(number)
            for one in (above, number) if STAGE in proc(above, "cmdline") else (number,):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(one, signal.SIGKILL)

    def gone_within(self, seconds):
        deadline = time.monotonic() + seconds
        while self.processes():
            if time.monotonic() > deadline:
                return False
            time.sleep(0.01)
        return True


def proc(number, name):
    """A file of /proc, empty if it cannot be read."""
    with contextlib.suppress(OSError):
        with open(f"/proc/{number}/{name}", "rb") as file:
            return file.read()
    return b""


def status(number, field):
    for line in proc(number, "status").decode().splitlines():
        if line.startswith(field + ":"):
            return line.split(":", 1)[1].strip()
    return ""


def parent(number):
    return int(status(number, "PPid") or 0)


def held_link(number):
    """What the attempt's held descriptor is, seen from outside."""
    if number is None:
        return ""
    with contextlib.suppress(OSError):
        return os.readlink(f"/proc/{number}/fd/{HELD_DESCRIPTOR}")
    return ""


def clear(top):
    for name in os.listdir(top):
        if name != "policies":
            shutil.rmtree(f"{top}/{name}", ignore_errors=True)


def succeeds(top, one, mode):
    """Whether the attempt does harm in this mode, and whether it was made at all."""
    clear(top)
    world = World(top, mode)
    try:
        return bool(one.function(world)), world
    finally:
        world.end_all()


class Suite:
    def __init__(self, top, engine):
        self.top, self.engine = top, engine
        self.passed = self.failed = 0
        self.shown = set()

    def say(self, good, name, why=""):
        self.passed += good
        self.failed += not good
        label = f"{self.engine}: " if self.engine else ""
        print(f"{'ok' if good else 'FAIL'} {label}{name}{': ' + why if why else ''}", flush=True)

    def expect(self, one, mode, wanted):
        done, world = succeeds(self.top, one, mode)
        if done != wanted:
            raise AssertionError(f"harmless {mode} {world.said}" if wanted else f"it gets out {mode}")
        return world

    def try_one(self, one):
        world = self.expect(one, Mode(self.engine), False)
        if not world.started and "SBX" not in world.said:
            raise AssertionError(f"it was not made: {world.said}")
        if one.shown_by_root and not IS_ROOT:
            return
        if one.plain:
            self.expect(one, Mode(plain=True), True)
        for names in one.sets:
            self.expect(one, Mode(self.engine, names), True)
            for name in names:
                if len(names) > 1:
                    self.expect(one, Mode(self.engine, names - {name}), False)
            self.shown |= names

    def run(self, wanted):
        for one in ATTEMPTS:
            if wanted and one.function.__name__ not in wanted:
                continue
            if not one.tried:
                continue
            if one.possible is not None and not one.possible():
                self.shown |= {name for names in one.sets for name in names}
                print(f"# not to be had on this machine: {one.name}", flush=True)
                continue
            self.judge(one, self.try_one)

    def judge(self, one, trying):
        """Says whether `trying(one)` went through; one failing attempt must not hide the others."""
        try:
            trying(one)
            self.say(True, one.name)
        except Exception as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            found = isinstance(error, AssertionError)
            self.say(False, one.name, str(error) if found else f"{error!r} at {where.filename}:{where.lineno}")

    def measures_shown(self):
        """Each measure is what stops at least one attempt; what only root can try counts for root."""
        output = subprocess.run([TEST_ONLY, "--measures"], capture_output=True, check=True).stdout.decode()
        roots = {name for one in ATTEMPTS if one.shown_by_root for names in one.sets for name in names}
        for name in (line.split()[0] for line in output.splitlines()):
            shown = name in self.shown or (name in roots and not IS_ROOT)
            self.say(shown, f"{name} stops something", "" if shown else "no attempt succeeds without it")


def no_trace(suite):
    """The ordinary launcher knows nothing of dropping, and what drops is not installed."""
    with open(LAUNCHER, "rb") as file:
        ordinary = file.read()
    with open(TEST_ONLY, "rb") as file:
        test_only = file.read()
    for word in (b"sbx-launch-test-only", b"FOR TESTS ALONE", b"--drop", b"\0PLANTED_LINKS\0"):
        alone = word in test_only and word not in ordinary
        suite.say(alone, f"{word.decode().strip(chr(0))} is in one build alone")
    if not os.path.exists(f"{TREE}/Makefile"):
        return
    with tempfile.TemporaryDirectory(prefix="sbx-install-") as target:
        call = ["make", "-C", TREE, f"BUILD={BUILD}", "install", f"DESTDIR={target}", "PREFIX=/usr"]
        subprocess.run(call, check=True, capture_output=True)
        found = sorted(os.listdir(f"{target}/usr/bin"))
    suite.say(found == ["sbx-launch", "sbxc"], "two programs are installed", str(found))


def banner(suite):
    """It says what it is at each start, also where it then refuses."""
    done = subprocess.run([TEST_ONLY, "--drop", "MASKS", "/nothing", "--", "true"], capture_output=True)
    said = b"FOR TESTS ALONE, THIS IS NO SANDBOX: MASKS dropped" in done.stderr
    suite.say(said, "it says at each start what it drops")
    done = subprocess.run([TEST_ONLY, "--drop", "WALLS", "/nothing", "--", "true"], capture_output=True)
    suite.say(done.returncode == 125 and b"no measure WALLS" in done.stderr, "an unknown measure is an error")


def is_usable(top, mode):
    """Whether this machine can launch so."""
    world = World(top, mode)
    try:
        world.run("read", "/nothing")
    finally:
        clear(top)
    if not world.started:
        print(f"# not to be had on this machine: {mode.engine}: {world.said}", flush=True)
    return world.started


def main(landlock, run_landlock):
    """Runs all attempts, or those named on the command line, with each engine; `run_landlock` what Landlock alone holds,
    where `landlock` says how it is launched."""
    wanted = sys.argv[1:]
    passed = failed = 0
    if not wanted:
        build = Suite(None, None)
        no_trace(build)
        banner(build)
        passed, failed = build.passed, build.failed
    for engine in ("native", "bwrap", "landlock"):
        top = os.path.realpath(tempfile.mkdtemp(prefix="sbx-escape-"))
        World.compiled.clear()
        try:
            suite = Suite(top, engine)
            if engine != "landlock":
                suite.run(wanted)
            elif not wanted and is_usable(top, landlock):
                run_landlock(suite)
            if not wanted and engine != "landlock":
                suite.measures_shown()
            passed, failed = passed + suite.passed, failed + suite.failed
        finally:
            shutil.rmtree(top, ignore_errors=True)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)
