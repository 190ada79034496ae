#!/usr/bin/python3
"""No rename and no hard link gets a denied path out of the way, for this run or the next; all others work
as outside (language.md 7, docs/launch.md)."""
import json
import os
import subprocess

from lib import check, equal, main, test, world

KEY = "held-3e9b"
POLICY = "deny $WORK/a/b/secret, $WORK/top\ndeny write $WORK/a/conf\n"
CALLS = """
import ctypes, errno, json, os, sys
libc = ctypes.CDLL(None, use_errno=True)
NOREPLACE, EXCHANGE, WHITEOUT = 1, 2, 4
def renameat2(old, new, flags):
    result = libc.syscall({"x86_64": 316, "aarch64": 276}[os.uname().machine], -100, old.encode(), -100, new.encode(), flags)
    if result != 0:
        raise OSError(ctypes.get_errno(), "")
def told(call, *arguments):
    try:
        call(*arguments)
        return "done"
    except OSError as error:
        return errno.errorcode[error.errno]
"""
ATTACK = CALLS + """
names = [".", "a", "a/b", "a/b/secret", "a/conf", "top"]
free = ["free", "a/free", "a/b/free", "d/free", "new"]
os.makedirs("d", exist_ok=True)
for name in ("free", "a/free", "a/b/free", "d/free"):
    open(name, "w").write("x")
os.makedirs("full/b", exist_ok=True)
open("full/b/secret", "w").write("planted")
results = {}
for name in names[1:]:
    for other in free + names[1:] + ["d", "full"]:
        if other == name:
            continue
        for call, word in ((lambda a, b: renameat2(a, b, 0), "rename"), (lambda a, b: renameat2(a, b, EXCHANGE), "exchange"),
                           (lambda a, b: renameat2(a, b, NOREPLACE), "noreplace"), (os.link, "link")):
            for pair in ((name, other), (other, name)):
                results[f"{word} {pair[0]} {pair[1]}"] = told(call, *pair)
for name in names[1:]:
    results["unlink " + name] = told(os.unlink, name)
    results["rmdir " + name] = told(os.rmdir, name)
    results["symlink " + name] = told(os.symlink, "/etc/passwd", name)
print(json.dumps(results))
"""


def fill(w):
    w.make("work/a/b/secret", KEY)
    w.make("work/a/conf", "conf\n")
    w.make("work/top", KEY)


def protected(w):
    found = {}
    for name in ("a/b/secret", "a/conf", "top"):
        with open(f"{w.work}/{name}") as file:
            found[name] = (file.read(), os.stat(f"{w.work}/{name}").st_ino, os.stat(f"{w.work}/{name}").st_nlink)
    return found


@test
def no_way_of_renaming_or_linking_moves_a_protected_path():
    with world() as w:
        fill(w)
        before = protected(w)
        result = w.python(w.policy(POLICY), ATTACK).succeeded()
        done = [word for word, answer in json.loads(result.out).items() if answer == "done"]
        equal(done, [], "what succeeded")
        equal(protected(w), before)


@test
def a_second_run_cannot_read_what_the_first_moved():
    with world() as w:
        fill(w)
        policy, before = w.policy(POLICY), protected(w)
        w.python(policy, ATTACK).succeeded()
        w.shell(policy, "mv a x; mv a/b y; cp -a a z; mv top t; ln top u; mv -T full a; mv full/b/secret a/b/secret; true")
        for _ in range(2):
            result = w.shell(policy, f"grep -rs {KEY} . && echo SEEN; find . -name secret -exec cat {{}} \\;; cat top")
            check(KEY not in result.out + result.err, result.out + result.err)
        equal(protected(w), before)


@test
def two_runs_at_once_cannot_help_each_other():
    with world() as w:
        fill(w)
        policy, before = w.policy(POLICY), protected(w)
        loop = "import time\nend = time.time() + 2\nwhile time.time() < end:\n    " + "\n    ".join(
            ATTACK.replace("print(json.dumps(results))", "").strip().splitlines())
        search = f"n=0; while [ $n -lt 40 ]; do grep -rs {KEY} . && echo SEEN; n=$((n+1)); sleep 0.05; done"
        first = w.start(policy, "/usr/bin/python3", "-c", loop)
        second = w.start(policy, "/usr/bin/python3", "-c", loop)
        third = w.start(policy, "sh", "-c", search)
        output = [process.communicate(timeout=120)[0].decode() for process in (first, second, third)]
        check(KEY not in output[2], output[2])
        equal((first.returncode, second.returncode), (0, 0), output)
        equal(protected(w), before)


@test
def a_file_that_is_moved_to_a_denied_name_is_not_taken():
    with world() as w:
        script = "echo mine > f; mv f a/b/secret; mv f top; cp f top; ln f top2; mv -f f a/conf; cat a/conf"
        fill(w)
        before = protected(w)
        result = w.shell(POLICY, script)
        equal(protected(w), before, result.err)
        equal(result.out, "conf\n")


@test
def what_starts_before_another_run_denies_it_is_held_there():
    with world() as w:
        fill(w)
        free, held = w.policy(""), w.policy(POLICY)
        first = w.start(free, "sh", "-c", "while [ ! -e go ]; do sleep 0.02; done; mv a x; mv x a; mv top t; mv t top; touch done; sleep 1")
        second = w.start(held, "sh", "-c", f"touch go; while [ ! -e done ]; do sleep 0.02; done; sleep 0.3; grep -rs {KEY} . && echo SEEN; true")
        output = second.communicate(timeout=60)[0].decode()
        first.communicate(timeout=60)
        check("SEEN" not in output, output)


USUAL = CALLS + """
def make(name, text="t"):
    os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
    open(name, "w").write(text)
results = {}
for here in sys.argv[1:]:
    make(here + "/f"); make(here + "/g"); make(here + "/p/q/r"); make(here + "/s/u"); os.makedirs(here + "/e")
    steps = [
        ("rename over a file", os.rename, "f", "g"), ("rename a file", os.rename, "g", "f"),
        ("into a directory", os.rename, "f", "p/f"), ("and out of it", os.rename, "p/f", "f"),
        ("between directories", os.rename, "p/q/r", "s/r"), ("a directory", os.rename, "p", "p2"),
        ("a directory into another", os.rename, "s", "p2/s"), ("over an empty directory", os.rename, "p2/q", "e"),
        ("over a full directory", os.rename, "e", "p2"), ("a directory over a file", os.rename, "p2", "f"),
        ("a hard link", os.link, "f", "h"), ("a hard link elsewhere", os.link, "f", "p2/h"), ("over a link", os.rename, "h", "f"),
        ("exchange", lambda a, b: renameat2(a, b, EXCHANGE), "f", "p2/h"),
        ("exchange of directories", lambda a, b: renameat2(a, b, EXCHANGE), "p2", "e"),
        ("exchange of a file and a directory", lambda a, b: renameat2(a, b, EXCHANGE), "p2", "f"),
        ("no replacing", lambda a, b: renameat2(a, b, NOREPLACE), "f", "e"), ("of nothing", os.rename, "none", "f"),
        ("into itself", os.rename, "e", "e/e"),
    ]
    for name, call, a, b in steps:
        results[name + " in " + here] = told(call, here + "/" + a, here + "/" + b)
print(json.dumps(results))
"""


@test
def every_other_rename_and_link_works_as_outside():
    with world() as w:
        places = ["u", "a/u", "a/b/u", "d/d/u"]
        fill(w)
        inside = json.loads(w.python(POLICY, USUAL, *places).succeeded().out)
        w.work = w.make("twin/")
        outside = json.loads(subprocess.run(["/usr/bin/python3", "-c", USUAL, *places], cwd=w.work, check=True,
                                            capture_output=True).stdout)
        equal(inside, outside)
        check(sum(answer == "done" for answer in outside.values()) > 4 * 12, f"too little was tried: {outside}")


@test
def the_one_exception_is_the_edge_of_a_directory_above_a_protected_path():
    with world() as w:
        fill(w)
        script = CALLS + """
open("f", "w"); os.mkdir("d"); open("a/f", "w"); open("a/b/f", "w")
print(told(os.rename, "f", "a/x"), told(os.link, "f", "a/x"), told(os.rename, "a/f", "x"), told(os.rename, "a/b/f", "a/x"),
      told(os.rename, "d", "a/d"), told(os.rename, "f", "d/x"))
"""
        equal(w.python(POLICY, script).succeeded().out.split(), ["EXDEV"] * 5 + ["done"])
        w.shell(POLICY, "echo t > m && mv m a/m && mv d a/ && mv a/b/f . && cat a/m a/d/x && ls f").succeeded()


def pins(w, text):
    """The directories that are mounted on themselves only so that they stay."""
    result = w.launch(w.policy(text), "true", options=["--dry-run"]).succeeded()
    shown = [line.split(None, 2)[2] for line in result.out.splitlines() if line.startswith("show writable")]
    return [path[len(w.work) + 1:] for path in shown if path.startswith(w.work + "/")]


@test
def only_directories_above_a_protected_path_are_pinned():
    with world() as w:
        fill(w)
        w.make("work/ro/rw/x/key", "")
        w.make("work/c/d/e/one", "")
        w.make("work/c/d/e/two", "")
        equal(pins(w, ""), [])
        equal(pins(w, "deny $WORK/top\n"), [], "at the top of the grant nothing needs a pin")
        equal(pins(w, "deny $WORK/a\n"), [])
        equal(pins(w, POLICY), ["a", "a/b"])
        equal(pins(w, "deny $WORK/c/d/e/one, $WORK/c/d/e/two\n"), ["c", "c/d", "c/d/e"], "each once")
        equal(pins(w, "deny $WORK/c/d\ndeny $WORK/c/d/e/one\n"), ["c"], "nothing below a denied directory")
        equal(pins(w, "grant read $WORK/ro\ndeny $WORK/ro/rw/x/key\n"), [], "nothing where nothing can be renamed")
        equal(pins(w, "grant read $WORK/ro\ngrant write $WORK/ro/rw\ndeny $WORK/ro/rw/x/key\n"), ["ro/rw", "ro/rw/x"])
        equal(pins(w, "deny $WORK/c/d/missing\n"), ["c", "c/d"])


if __name__ == "__main__":
    main()
