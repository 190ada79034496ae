"""What the launch tests share: a world of temporary directories, compiling, launching, and one line a
test."""
import contextlib
import ctypes
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.abspath(os.environ.get("SBX_BUILD") or os.path.join(TREE, "build"))
SBXC = os.path.join(BUILD, "sbxc")
LAUNCHER = os.path.join(BUILD, "sbx-launch")
IS_ROOT = os.geteuid() == 0
ENGINE = os.environ.get("SBX_ENGINE")  # of every launch that does not choose one itself; else the launcher's choice
SECRET = "withheld-5f1c9d0b"
PATH = "/usr/local/bin:/usr/bin:/bin"
TESTS = []

# Enough to start programs, and no more.
BASE = """sbx 1
policy "t"
use std/system
grant env PATH, HOME, LANG
"""

# The limit of the user namespace that this makes, which is one way to block further ones.
NAMESPACES_USED_UP = ["unshare", "--user", "--map-root-user", "sh", "-c",
                      'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"', "sh"]


def test(function):
    """Marks a test; its name is the sentence that it proves."""
    TESTS.append(function)
    return function


def check(condition, why):
    if not condition:
        raise AssertionError(why)


def equal(actual, expected, what="value"):
    check(actual == expected, f"{what} is {actual!r}, expected {expected!r}")


def main():
    wanted = sys.argv[1:]
    failed = 0
    tests = [function for function in TESTS if not wanted or function.__name__ in wanted]
    for function in tests:
        name = function.__name__.replace("_", " ")
        try:
            function()
            print(f"ok {name}", flush=True)
        except Exception as error:  # one failing test must not hide the others
            failed += 1
            where = traceback.extract_tb(error.__traceback__)[-1]
            why = (
                str(error)
                if isinstance(error, AssertionError)
                else f"{error!r} at {where.filename}:{where.lineno}"
            )
            print(f"FAIL {name}: {why.strip()}", flush=True)
    print(f"{len(tests) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


class World:
    """A home and a working directory of their own, below one temporary directory."""

    def __init__(self, base=None):
        self.top = os.path.realpath(tempfile.mkdtemp(prefix="sbx-test-", dir=base))
        self.home = self.make("home/")
        self.work = self.make("work/")
        self.outside = self.make("outside/")
        self.count = 0

    def make(self, path, text=None):
        """Makes a directory (a path that ends in a slash) or a file below the top; returns its path."""
        full = os.path.join(self.top, path)
        if path.endswith("/"):
            os.makedirs(full, exist_ok=True)
            return full.rstrip("/")
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w") as file:
            file.write(text or "")
        return full

    def environment(self, **more):
        return dict({"PATH": PATH, "HOME": self.home, "LANG": "C.UTF-8", "SBX_TEST_SECRET": SECRET}, **more)

    def compile(self, text, *options, check_status=True):
        self.count += 1
        source = self.make(f"policies/{self.count}.sbx", text)
        target = source[:-4] + ".bin"
        result = subprocess.run(
            [SBXC, source, "-o", target, *options],
            env=self.environment(),
            capture_output=True,
            stdin=subprocess.DEVNULL,
        )
        if not check_status:
            return result
        check(result.returncode == 0, f"sbxc: {result.stderr.decode(errors='replace')}")
        return target

    def policy(self, text):
        """BASE, writable $WORK, and `text`."""
        return self.compile(BASE + "grant write $WORK\n" + text)

    def command_line(self, policy, command, options=()):
        engine = ["--engine", ENGINE] if ENGINE and "--engine" not in options else []
        return [LAUNCHER, *engine, *options, policy, "--", *command]

    def launch(self, policy, *command, options=(), env=None, cwd=None, timeout=120, **more):
        """Runs `command` under `policy`; a .bin path or the text after BASE."""
        if not policy.endswith((".bin", ".sbx")):
            policy = self.policy(policy)
        more.setdefault("stdin", subprocess.DEVNULL)
        return Result(
            subprocess.run(
                self.command_line(policy, command, options),
                env=env or self.environment(),
                cwd=cwd or self.work,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                timeout=timeout,
                **more,
            )
        )

    def start(self, policy, *command, **more):
        """Starts `command` under the .bin `policy` and returns the Popen of its launcher."""
        more.setdefault("stdin", subprocess.DEVNULL)
        more.setdefault("stderr", subprocess.STDOUT)
        return subprocess.Popen(self.command_line(policy, command, more.pop("options", ())), env=self.environment(),
                                cwd=more.pop("cwd", self.work), stdout=subprocess.PIPE, **more)

    def shell(self, policy, script, **more):
        return self.launch(policy, "sh", "-c", script, **more)

    def python(self, policy, script, *arguments, **more):
        return self.launch(policy, "/usr/bin/python3", "-c", script, *arguments, **more)

    def lease(self, policy, *command, **more):
        """Runs and returns (result, lease)."""
        path = os.path.join(self.outside, "lease.json")
        options = [*more.pop("options", ()), "--lease", path]
        result = self.launch(policy, *command, options=options, **more)
        with open(path) as file:
            return result, json.load(file)

    def tree(self, *roots):
        """Every path below `roots` with what it is, to compare before and after."""
        found = {}
        for root in roots or (self.work,):
            for directory, names, files in os.walk(root):
                for name in names + files:
                    path = os.path.join(directory, name)
                    status = os.lstat(path)
                    found[path] = (status.st_mode, status.st_size if not os.path.isdir(path) else 0)
        return found


class Result:
    def __init__(self, completed):
        self.code = completed.returncode
        self.out = completed.stdout.decode(errors="replace")
        self.err = completed.stderr.decode(errors="replace")

    def succeeded(self):
        check(self.code == 0, f"exit {self.code}: {self.out}{self.err}")
        return self

    def exited(self, code):
        check(self.code == code, f"exit {self.code}, expected {code}: {self.out}{self.err}")
        return self

    def refused(self, *words):
        """Exit 125 with an SBX code and each of `words` in the message."""
        self.exited(125)
        check(re.search(r"error\[SBX\d+\]", self.err), f"no code in: {self.err}")
        for word in words:
            check(word in self.err, f"{word!r} is not in: {self.err}")
        return self


def valid(value, schema, root=None, at="$"):
    """Checks `value` by the part of JSON Schema that schema/ uses."""
    root = root or schema
    if "$ref" in schema:
        return valid(value, root["$defs"][schema["$ref"].removeprefix("#/$defs/")], root, at)
    kinds = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}
    names = schema.get("type", [])
    names = [names] if isinstance(names, str) else names
    if names:
        fits = any(
            isinstance(value, kinds[name])
            if name != "integer"
            else isinstance(value, int) and not isinstance(value, bool)
            for name in names
        )
        check(fits, f"{at} is no {names}: {value!r}")
    if "enum" in schema:
        check(value in schema["enum"], f"{at}: {value!r} is none of {schema['enum']}")
    if "pattern" in schema:
        check(re.search(schema["pattern"], value), f"{at}: {value!r} does not match {schema['pattern']}")
    if "minimum" in schema:
        check(value >= schema["minimum"], f"{at}: {value!r} is too small")
    if "oneOf" in schema:
        check(
            sum(fits_schema(value, part, root) for part in schema["oneOf"]) == 1,
            f"{at}: {value!r} fits none or several",
        )
    if isinstance(value, dict):
        for name in schema.get("required", []):
            check(name in value, f"{at} has no {name}")
        for name, part in value.items():
            known = schema.get("properties", {})
            check(name in known or schema.get("additionalProperties", True), f"{at} has {name}")
            if name in known:
                valid(part, known[name], root, f"{at}.{name}")
    if isinstance(value, list):
        check(len(value) >= schema.get("minItems", 0), f"{at} is too short")
        for number, part in enumerate(value):
            valid(part, schema.get("items", {}), root, f"{at}[{number}]")
    return True


def fits_schema(value, schema, root):
    try:
        return valid(value, schema, root)
    except AssertionError:
        return False


def check_schema(value, name):
    """Checks `value` by schema/NAME."""
    with open(os.path.join(TREE, "schema", name)) as file:
        valid(value, json.load(file))


@contextlib.contextmanager
def world(base=None):
    made = World(base)
    try:
        yield made
    finally:
        for directory, names, _ in os.walk(made.top):
            for name in names:
                path = os.path.join(directory, name)
                if not os.path.islink(path):
                    os.chmod(path, 0o700)
        shutil.rmtree(made.top, ignore_errors=True)


def refusing(calls):
    """A preexec_fn after which each system call of `calls` (number: errno) fails, as a container's filter has it."""
    code = [(0x20, 0, 0, 0)]
    for number, error in calls.items():
        code += [(0x15, 0, 1, number), (0x06, 0, 0, 0x00050000 | error)]
    return filtering([*code, (0x06, 0, 0, 0x7FFF0000)])


def filtering(code):
    """A preexec_fn that loads the classic BPF program `code` as a system call filter."""

    class Instruction(ctypes.Structure):
        _fields_ = [
            ("code", ctypes.c_uint16),
            ("jt", ctypes.c_uint8),
            ("jf", ctypes.c_uint8),
            ("k", ctypes.c_uint32),
        ]

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_uint16), ("filter", ctypes.POINTER(Instruction))]

    instructions = (Instruction * len(code))(*[Instruction(*fields) for fields in code])
    program = Program(len(code), instructions)

    def load():
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.prctl(38, 1, 0, 0, 0) != 0 or libc.prctl(22, 2, ctypes.byref(program)) != 0:
            os._exit(99)

    return load


def processes_with(marker):
    """Numbers of the processes whose command line or environment holds `marker`, but not this one."""
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) == os.getpid():
            continue
        for part in ("cmdline", "environ"):
            with contextlib.suppress(OSError):
                with open(f"/proc/{name}/{part}", "rb") as file:
                    if marker.encode() in file.read():
                        found.append(int(name))
                        break
    return found


def end(process):
    """Kills and reaps a Popen."""
    with contextlib.suppress(ProcessLookupError):
        process.send_signal(signal.SIGKILL)
    process.wait()
