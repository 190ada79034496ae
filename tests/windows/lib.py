"""What the tests under Wine share: one prefix, specifications, launches, and one line a test."""
import os
import re
import signal
import subprocess
import time
import traceback

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
WINE = "/usr/lib/wine/wine64"
SERVER = "/usr/lib/wine/wineserver64"
SECONDS = 90
WIDE = 4294967295
HASH = "ab" * 32

TOKENS = {
    "restricted": '<token integrity="medium" write-restricted="true" drop-privileges="true">'
                  '<restrict sid="run"/><restrict sid="logon"/></token>',
    "restricted-low": '<token integrity="low" write-restricted="true" drop-privileges="true">'
                      '<restrict sid="run"/><restrict sid="logon"/></token>',
    "appcontainer": '<token integrity="low" write-restricted="false" drop-privileges="true"/><appcontainer/>',
}


def check(condition, why):
    if not condition:
        raise AssertionError(why)


def equal(actual, expected, what="value"):
    check(actual == expected, f"{what} is {actual!r}, expected {expected!r}")


def contains(text, part, what="text"):
    check(part in text, f"{what} does not hold {part!r}: {text!r}")


def specification(tier="restricted", job="", scratch=False, environment='<keep name="PATH"/>', acl="", controls=("env",),
                  accepted=(), root='version="1"'):
    """An artifact that is valid unless the caller made it otherwise."""
    claims = "".join(f'<control name="{name}" strength="enforced">held</control>' for name in controls)
    claims += "".join(f'<accepted name="{name}">{reason}</accepted>' for name, reason in accepted)
    return (f'<?xml version="1.0" encoding="UTF-8"?>\n<sbx-windows xmlns="urn:sbx:windows:1" {root} tier="{tier}" '
            f'policy="t" policy-sha256="{HASH}" min-build="19041">'
            f"<guarantees>{claims}</guarantees>{TOKENS.get(tier, TOKENS['restricted'])}"
            f'<job kill-on-close="true" breakaway="false"{job}/><desktop mode="private"/>'
            f'{"<scratch/>" if scratch else ""}<environment>{environment}</environment><acl>{acl}</acl></sbx-windows>\n')


class Result:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, (err or b"").decode(errors="replace")

    def answers(self):
        """What tests/windows/subject.c said: each answer ends with a NUL."""
        return self.out.decode().split("\0")[:-1]


class World:
    """A directory of one test's own on drive C:, with the programs in it."""

    def __init__(self, prefix, build, name):
        self.build = build
        self.name = name
        self.path = os.path.join(prefix, "drive_c", "t", name)
        os.makedirs(self.path)
        self.state = os.path.join(prefix, "drive_c", "users", user_name(prefix), "AppData", "Local", "sbx")
        self.temporary = os.path.join(os.path.dirname(self.state), "Temp")
        os.makedirs(self.temporary, exist_ok=True)
        for program in ("sbx-launch.exe", "sbx-launch-test.exe", "subject.exe"):
            os.link(os.path.join(prefix, "drive_c", "programs", program), self.file(program))

    def file(self, *names):
        return os.path.join(self.path, *names)

    def windows(self, *names):
        """The same as Windows names it."""
        return "\\".join(("C:", "t", self.name) + names)

    def write(self, name, text):
        os.makedirs(os.path.dirname(self.file(name)), exist_ok=True)
        with open(self.file(name), "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode())

    def exists(self, name):
        return os.path.exists(self.file(name))

    def begin(self, words, environment=None, directory=None, **streams):
        variables = dict(os.environ, **(environment or {}))
        return subprocess.Popen([WINE] + list(words), cwd=directory or self.path, env=variables, **streams)

    def run(self, *words, stdin=b"", environment=None, directory=None):
        process = self.begin(words, environment, directory, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
        try:
            out, err = process.communicate(stdin, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise AssertionError(f"{' '.join(words)} took more than {SECONDS} seconds") from None
        return Result(process.returncode, out, err)

    def words(self, policy, command, options=(), production=False):
        """The words of a launch; `policy` is a specification's text or the name of a file."""
        if policy.startswith("<?xml"):
            self.write("policy.xml", policy)
            policy = "policy.xml"
        program = "sbx-launch.exe" if production else "sbx-launch-test.exe"
        return [program, "-q", *options, policy, "--", *command]

    def launch(self, policy, *command, options=(), production=False, **rest):
        return self.run(*self.words(policy, command, options, production), **rest)


def user_name(prefix):
    names = [name for name in os.listdir(os.path.join(prefix, "drive_c", "users")) if name != "Public"]
    return names[0]


def size(path):
    return os.path.getsize(path) if os.path.exists(path) else 0


def wait_for(condition, what, seconds=20):
    until = time.monotonic() + seconds
    while not condition():
        check(time.monotonic() < until, f"{what} did not come within {seconds} seconds")
        time.sleep(0.02)


def wait_for_beat(path):
    wait_for(lambda: size(path) > 2, "the first sign of life")


def check_ended(path):
    """That what wrote into `path` every 20 milliseconds does so no longer."""
    before = size(path)
    check(before > 0, f"{path} has never been written")
    for _ in range(100):
        time.sleep(0.25)
        now = size(path)
        if now == before:
            return
        before = now
    raise AssertionError("a process outlived its run")


def end(process, number):
    process.send_signal(number)
    try:
        out, err = process.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        process.communicate()
        raise AssertionError(f"signal {number} did not end the launcher") from None
    return Result(process.returncode, out, err)


class Suite:
    """The tests of a file, in the order in which they stand there."""

    def __init__(self):
        self.tests = []

    def test(self, function):
        """Marks a test; its name is the sentence that it proves."""
        self.tests.append(function)
        return function

    def run(self, prefix, build, name, wanted=()):
        passed = failed = 0
        for function in self.tests:
            if wanted and function.__name__ not in wanted:
                continue
            sentence = function.__name__.replace("_", " ")
            try:
                function(World(prefix, build, re.sub(r"[^a-z0-9]+", "-", f"{name}-{function.__name__}")))
                passed += 1
            except Exception as error:  # one failing test must not hide the others
                failed += 1
                where = traceback.extract_tb(error.__traceback__)[-1]
                why = str(error) or type(error).__name__
                print(f"not ok {sentence}: {why[:2000]} ({os.path.basename(where.filename)}:{where.lineno})", flush=True)
        return passed, failed
