"""verify_lib.py - what the tests of sbxc verify share: making an artifact, editing it, and what verify says of it."""
import json
import os
import subprocess
import sys
import tempfile

SBXC = os.path.join(os.environ["SBX_BUILD"], "sbxc")
ROOTS = {"WORK": "/w/app", "HOME": "/home/u", "TMP": "/tmp", "CONFIG": "/home/u/.config", "CACHE": "/home/u/.cache",
         "DATA": "/home/u/.local/share", "REPO": "/w/app", "GITDIR": "/w/app/.git",
         "SUBMODULES": "/w/app/.git/modules", "GITDIRS": "/w/app/.git"}
GIVEN = [word for name, path in ROOTS.items() for word in ("--root", f"{name}={path}")]


class Suite:
    def __init__(self, folder):
        self.folder, self.passed, self.failed = folder, 0, 0

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, content):
        with open(self.path(name), "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def sbxc(self, *arguments):
        return subprocess.run([SBXC, *arguments], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)

    def expect(self, name, condition, detail=""):
        if condition:
            self.passed += 1
        else:
            self.failed += 1
            print(f"FAIL {name}: {detail}")

    def make(self, artifact, policy="p.sbx", *options):
        result = self.sbxc("-q", policy, "-o", artifact, *(options or GIVEN))
        self.expect(f"{artifact} is made", result.returncode == 0, result.stderr.decode())

    def verify(self, artifact, policy="p.sbx", *options):
        result = self.sbxc("verify", artifact, policy, "--json", "-q", *(options or GIVEN))
        try:
            report = json.loads(result.stdout)
        except ValueError:
            report = {"equal": None, "differences": []}
        return result, report

    def equal(self, name, artifact, *options):
        result, report = self.verify(artifact, *options)
        self.expect(name, result.returncode == 0 and report == {"equal": True, "differences": []},
                    f"{result.returncode} {report['differences'][:3]} {result.stderr.decode()}")

    def different(self, name, artifact, question, policy, found, *options):
        result, report = self.verify(artifact, *options)
        hits = [entry for entry in report["differences"] if entry["question"] == question]
        good = result.returncode == 1 and report["equal"] is False and len(hits) == 1
        good = good and (hits[0]["policy"], hits[0]["artifact"]) == (policy, found)
        self.expect(name, good, f"{result.returncode} {hits} of {len(report['differences'])} {result.stderr.decode()}")
        return hits[0] if good else None

    def unreadable(self, name, artifact, words):
        result, _ = self.verify(artifact)
        self.expect(name, result.returncode == 2 and words in result.stderr.decode(), result.stderr.decode())


def run(*checks):
    """Runs each check on one suite, and ends by how many held."""
    with tempfile.TemporaryDirectory(prefix="sbx-verify-") as folder:
        suite = Suite(folder)
        for check in checks:
            check(suite)
    print(f"{suite.passed} passed, {suite.failed} failed")
    sys.exit(1 if suite.failed else 0)
