#!/usr/bin/env python3
"""Compares sbxc with the oracle on random policies. A failure is shrunk and printed: files, call, answers.

    tests/property/run.py [--build DIR] [--seed N] [--count N] [--world N]

--count is the number of questions (default 100000, divided by the variable SBX_DIVISOR if that is set);
--world runs one world alone, by the number that a failure names.
"""

import argparse
import json
import multiprocessing
import os
import random
import re
import shlex
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from generator import Generator  # noqa: E402
from oracle import Oracle  # noqa: E402
from shrink import shrink  # noqa: E402
from writer import Writer, argument, binding_words  # noqa: E402

QUESTIONS = 25  # for each policy


def make(seed, number, count=QUESTIONS):
    generator = Generator(random.Random(seed * 1_000_003 + number))
    world = generator.world()
    return world, generator.questions(world, count)


def texts_of(world, seed, plain=False):
    return {file.name: Writer(random.Random(seed), plain).file(file) for file in world.files}


def call_of(world, sbxc, layers):
    call = [sbxc, "why", "policy.sbx", "--batch", "--pure", "--os", world.os]
    for layer in layers:
        call += ["--managed", layer]
    return call + binding_words(world)


def layers_of(world, sbxc, directory):
    """The names of the managed layers' files. A .bin file comes only of what a launcher can hold."""
    names = [file.name for file in world.files if file.kind == "managed"]
    for at, name in enumerate(names if world.binary and directory else []):
        compiled = name.replace(".sbx", ".bin")
        done = subprocess.run([sbxc, name, "-o", compiled, "--pure"], cwd=directory, capture_output=True)
        if done.returncode == 0:
            names[at] = compiled
    return names


def ask(world, questions, texts, sbxc):
    """What sbxc answers: a list of (decision, level), or a string that says why there is none."""
    with tempfile.TemporaryDirectory(prefix="sbx-property-") as directory:
        for name, text in texts.items():
            with open(os.path.join(directory, name), "wb") as file:
                file.write(text)
        lines = b"".join(b"%s\t%s\n" % (each.operation.encode(), argument(each)) for each in questions)
        call = call_of(world, sbxc, layers_of(world, sbxc, directory))
        done = subprocess.run(call, input=lines, cwd=directory, capture_output=True)
    if done.returncode != 0:
        return "exit %d: %s" % (done.returncode, done.stderr.decode(errors="replace"))
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    if len(answers) != len(questions):
        return "%d answers to %d questions" % (len(answers), len(questions))
    return [(each.get("decision", each.get("error")), each.get("level")) for each in answers]


def kind_of(world, question, answer):
    """None if sbxc and the oracle agree, else what the disagreement is about."""
    if isinstance(answer, str):
        code = re.search(r"SBX\d+", answer)
        return "refused " + (code.group() if code else answer[:40])
    return None if answer[0] == Oracle(world).answer(question) else "differs"


def run_world(job):
    seed, number, sbxc = job
    world, questions = make(seed, number)
    answers = ask(world, questions, texts_of(world, number), sbxc)
    if isinstance(answers, str):
        return number, 0, questions[0], answers
    oracle = Oracle(world)
    for question, answer in zip(questions, answers):
        if answer != oracle.answer(question):
            return number, len(questions), question, answer
    return number, len(questions), None, None


def report(seed, number, question, answer, sbxc):
    world, _ = make(seed, number)
    # A smaller world is written plainly; if only an odd spelling fails, the text stays as it was.
    first = kind_of(world, question, answer if isinstance(answer, str) else [answer])

    def fails(smaller, asked):
        try:
            answer = ask(smaller, [asked], texts_of(smaller, number, plain=True), sbxc)
            return kind_of(smaller, asked, answer) == first
        except (OSError, ValueError):
            return False
    plain = fails(world, question)
    if plain:
        world, question = shrink(world, question, fails)
    texts = texts_of(world, number, plain)
    again = ask(world, [question], texts, sbxc)
    print("world %d of seed %d: sbxc and the oracle disagree" % (number, seed))
    for name, text in texts.items():
        print("--- %s\n%s" % (name, text.decode("utf-8", "backslashreplace").rstrip("\n")))
    words = [os.fsdecode(word) for word in call_of(world, "sbxc", layers_of(world, sbxc, None))]
    print("--- " + shlex.join(words).encode("utf-8", "backslashreplace").decode())
    if world.binary:
        print("(with each managed layer compiled to a .bin file where that can be done)")
    print("question: %s %s" % (question.operation, argument(question).decode("utf-8", "backslashreplace")))
    print("sbxc:     %s" % (again if isinstance(again, str) else " ".join(str(part) for part in again[0])))
    print("oracle:   %s" % " ".join(str(part) for part in Oracle(world).answer(question)))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.environ.get("SBX_BUILD", os.path.join(HERE, "../../build")))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100_000 // int(os.environ.get("SBX_DIVISOR", "1")))
    parser.add_argument("--world", type=int)
    parser.add_argument("--failures", type=int, default=1, help="stop after this many")
    options = parser.parse_args()
    sbxc = os.path.abspath(os.path.join(options.build, "sbxc"))
    if not os.access(sbxc, os.X_OK):
        print("there is no %s\n0 passed, 1 failed" % sbxc)
        return 1
    worlds = range(-(-options.count // QUESTIONS)) if options.world is None else [options.world]
    started, asked, failed = time.monotonic(), 0, 0
    with multiprocessing.Pool(2) as pool:
        for number, count, question, answer in pool.imap(
                run_world, [(options.seed, world, sbxc) for world in worlds], chunksize=8):
            asked += count
            if question is not None:
                failed += 1
                report(options.seed, number, question, answer, sbxc)
                if failed >= options.failures:
                    pool.terminate()
                    break
    print("seed %d, %.0f s" % (options.seed, time.monotonic() - started))
    print("%d passed, %d failed" % (asked - failed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
