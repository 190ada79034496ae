#!/usr/bin/python3
"""readme.py - the README's tour and its first policy work as they are typed there."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

TREE = os.environ.get("SBX_TREE") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ["SBX_BUILD"]
# What the tour shows to be refused.
REFUSED = ("cat /etc/shadow", "sbxc why ")


def blocks(text):
    return re.findall(r"^```\n(.*?)^```$", text, re.S | re.M)


def run(folder, line):
    environment = dict(os.environ, PATH=f"{BUILD}:{os.environ['PATH']}")
    result = subprocess.run(["bash", "-c", line], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return result.returncode, result.stdout.decode(errors="replace")


def tour(folder, text):
    """Yields (name, problem or None) for each line of the tour, run where the lines before it lead."""
    shutil.copytree(os.path.join(TREE, "examples"), os.path.join(folder, "examples"))
    lines = next(block for block in blocks(text) if block.startswith("export PATH")).splitlines()[1:]
    where = folder
    for line in lines:
        status, output = run(where, line)
        if "&& cd " in line:
            where = os.path.join(where, line.rsplit(" ", 1)[1])
        refused = any(part in line for part in REFUSED)
        good = status not in (0, 125, 126, 127) if refused else status == 0
        yield line.split("#")[0].strip(), None if good else f"exit {status}: {output[-300:]}"
    yield "the tour leaves nothing", None if sorted(os.listdir(folder)) == ["examples"] else str(os.listdir(folder))


def write(folder, name, content):
    with open(os.path.join(folder, name), "w") as file:
        file.write(content)


def first_policy(folder, text):
    """Yields (name, problem or None) for each command below the policy, and for what the policy's comments say."""
    write(folder, "project.sbx", next(block for block in blocks(text) if block.startswith("sbx 1")))
    write(folder, ".env", "secret\n")
    write(folder, "package.json", '{"name": "project", "version": "1.0.0", "scripts": {"test": "echo tested > result"}}')
    lines = next(block for block in blocks(text) if block.startswith("sbxc ")).splitlines()
    for line in [*lines, "sbx-launch policy.bin -- sh -c 'echo x > y && ! cat .env'"]:
        status, output = run(folder, line)
        yield line, None if status == 0 else f"exit {status}: {output[-300:]}"
    result = os.path.join(folder, "result")
    yield "npm ran the test", None if os.path.exists(result) else "nothing was written"


def unknown(text):
    """The blocks that nothing runs: here, or in tests/fresh/run.sh for those of ./bootstrap."""
    known = ("sbx 1", "sbxc project.sbx -o policy.bin\nsbx-launch", "./bootstrap demo", "export PATH=")
    strange = [block for block in blocks(text) if not block.startswith(known)]
    return f"no test runs {strange}" if strange else None


def main():
    with open(os.path.join(TREE, "README.md")) as file:
        text = file.read()
    passed = failed = 0
    with tempfile.TemporaryDirectory(prefix="sbx-readme-") as folder, tempfile.TemporaryDirectory() as other:
        steps = [*tour(folder, text), *first_policy(other, text), ("every block is tested", unknown(text))]
        for name, problem in steps:
            passed, failed = (passed + 1, failed) if problem is None else (passed, failed + 1)
            print(f"ok {name}" if problem is None else f"FAIL {name}: {problem}")
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


main()
