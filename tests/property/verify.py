#!/usr/bin/env python3
"""Compiles random policies to each target that takes them and expects `sbxc verify` to find them equal.

    tests/property/verify.py [--build DIR] [--seed N] [--count N] [--world N]

The policies are those of run.py. A failure is shrunk and printed: files, call, witness.
"""

import argparse
import json
import multiprocessing
import os
import shlex
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from run import make, texts_of  # noqa: E402
from shrink import shrink  # noqa: E402
from writer import binding_words  # noqa: E402

TARGETS = {"linux": ("bin", "json", "args"), "macos": ("bin", "json", "sb"), "windows": ("bin", "json")}


def options_of(world):
    options = ["--pure", "-q"]
    for file in world.files:
        if file.kind == "managed":
            options += ["--managed", file.name]
    return options + binding_words(world)


def compare(world, texts, sbxc):
    """(how many artifacts were made, what is wrong with one or None)."""
    made = 0
    with tempfile.TemporaryDirectory(prefix="sbx-property-") as directory:
        for name, text in texts.items():
            with open(os.path.join(directory, name), "wb") as file:
                file.write(text)
        for suffix in TARGETS[world.os]:
            artifact = "a." + suffix
            system = [] if suffix == "sb" else ["--os", world.os]
            call = [sbxc, "policy.sbx", "-o", artifact] + system + options_of(world)
            if subprocess.run(call, cwd=directory, capture_output=True).returncode != 0:
                continue  # the target cannot hold the policy, or the policy cannot be bound
            made += 1
            call = [sbxc, "verify", artifact, "policy.sbx", "--json"] + system + options_of(world)
            done = subprocess.run(call, cwd=directory, capture_output=True)
            if done.returncode != 0:
                try:
                    witness = json.loads(done.stdout)["differences"][0]
                except (ValueError, LookupError):
                    witness = done.stderr.decode(errors="replace")
                words = shlex.join(os.fsdecode(word) for word in call[1:])
                return made, (suffix, "sbxc " + words.encode("utf-8", "backslashreplace").decode(), witness)
    return made, None


def run_world(job):
    seed, number, sbxc = job
    world, _ = make(seed, number, 1)
    made, problem = compare(world, texts_of(world, number), sbxc)
    return number, made, problem


def report(seed, number, problem, sbxc):
    world, questions = make(seed, number, 1)

    def fails(smaller, _):
        try:
            _, found = compare(smaller, texts_of(smaller, number, plain=True), sbxc)
        except (OSError, ValueError):
            return False
        return found is not None and found[0] == problem[0]
    plain = fails(world, None)
    if plain:
        world, _ = shrink(world, questions[0], fails)
    texts = texts_of(world, number, plain)
    _, again = compare(world, texts, sbxc)
    print("world %d of seed %d: an artifact is not what the policy says" % (number, seed))
    for name, text in texts.items():
        print("--- %s\n%s" % (name, text.decode("utf-8", "backslashreplace").rstrip("\n")))
    print("--- %s\n%s" % (again or problem)[1:3])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.environ.get("SBX_BUILD", os.path.join(HERE, "../../build")))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=1000 // int(os.environ.get("SBX_DIVISOR", "1")))
    parser.add_argument("--world", type=int)
    parser.add_argument("--failures", type=int, default=1, help="stop after this many")
    options = parser.parse_args()
    sbxc = os.path.abspath(os.path.join(options.build, "sbxc"))
    if not os.access(sbxc, os.X_OK):
        print("there is no %s\n0 passed, 1 failed" % sbxc)
        return 1
    worlds = range(options.count) if options.world is None else [options.world]
    equal, failed = 0, 0
    with multiprocessing.Pool(2) as pool:
        for number, made, problem in pool.imap(run_world, [(options.seed, world, sbxc) for world in worlds],
                                               chunksize=8):
            equal += made
            if problem is not None:
                equal -= 1
                failed += 1
                report(options.seed, number, problem, sbxc)
                if failed >= options.failures:
                    pool.terminate()
                    break
    print("%d passed, %d failed" % (equal, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
