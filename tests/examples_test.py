#!/usr/bin/python3
"""examples_test.py - every example compiles, and its committed artifacts are what sbxc writes today."""
import glob
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SBXC = os.path.join(os.environ["SBX_BUILD"], "sbxc")


def check(arguments):
    result = subprocess.run([SBXC] + arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
    return None if result.returncode == 0 else result.stdout.decode(errors="replace")


def main():
    passed = failed = 0
    for policy in sorted(glob.glob(os.path.join(ROOT, "examples/*/project.sbx"))):
        folder = os.path.dirname(policy)
        jobs = {policy: ["compile", policy, "--pure", "-t", "bin", "--check", "-o", os.path.join(folder, "policy.bin")]}
        for artifact in sorted(glob.glob(os.path.join(folder, "policy.*"))):
            jobs[artifact] = ["compile", policy, "--pure", "--check", "-o", artifact]
            jobs[f"{artifact} (verify)"] = ["verify", artifact, policy, "--pure"]
        if len(jobs) < 2:
            jobs = {policy: ["compile", policy, "--pure", "-t", "json", "-o", "-"]}
        for name, arguments in jobs.items():
            problem = check(arguments)
            if problem is None:
                passed += 1
            else:
                failed += 1
                print(f"FAIL {os.path.relpath(name, ROOT)}: {problem}")
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


main()
