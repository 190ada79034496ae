"""What a command reads and writes is copied byte for byte, and nobody waits for another."""
import hashlib
import json
import os
import select
import signal
import subprocess
import time

from lib import SECONDS, Suite, check, contains, equal, specification, wait_for

SUITE = Suite()
PLAIN = specification()


@SUITE.test
def every_byte_passes_both_ways(world):
    every = bytes(range(256)) * 8000 + b"\r\n\n\x1a\0end"
    result = world.launch(PLAIN, ".\\subject.exe", "copy", stdin=every)
    equal(result.code, 0, result.err)
    equal(hashlib.sha256(result.out).hexdigest(), hashlib.sha256(every).hexdigest(), "what came back")


@SUITE.test
def much_output_on_both_streams_does_not_hold_up(world):
    count = 5 * 1024 * 1024
    result = world.launch(PLAIN, ".\\subject.exe", "both", str(count))
    equal((result.code, len(result.out)), (0, count))
    check(len(result.err) > count // 2, "standard error is missing")


@SUITE.test
def input_that_the_command_does_not_read_holds_up_nobody(world):
    result = world.launch(PLAIN, ".\\subject.exe", "exit", "5", stdin=b"x" * 3000000)
    equal(result.code, 5, result.err)


@SUITE.test
def input_that_never_ends_holds_up_nobody(world):
    reading, writing = os.pipe()
    process = world.begin(world.words(PLAIN, [".\\subject.exe", "words", "a"]), stdin=reading, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL)
    out, _ = process.communicate(timeout=SECONDS)
    os.close(reading)
    os.close(writing)
    equal((process.returncode, out), (0, b"a\0"))


@SUITE.test
def output_that_cannot_be_written_is_said_and_exit_1(world):
    with open("/dev/full", "wb") as full:
        process = world.begin(world.words(PLAIN, [".\\subject.exe", "words", "a"], ["--lease", world.windows("lease.json")]),
                              stdin=subprocess.DEVNULL, stdout=full, stderr=subprocess.PIPE)
        _, err = process.communicate(timeout=SECONDS)
    equal(process.returncode, 1, err.decode())
    contains(err.decode(), "could not be written to standard output")
    with open(world.file("lease.json"), encoding="utf-8") as file:
        equal([event["kind"] for event in json.load(file)["events"]], ["output.lost"], "events")


@SUITE.test
def output_that_nobody_takes_does_not_outlast_ctrl_c(world):
    reading, writing = os.pipe()
    process = world.begin(world.words(PLAIN, [".\\subject.exe", "both", "1000000"], ["--lease", world.windows("lease.json")]),
                          stdin=subprocess.DEVNULL, stdout=writing, stderr=subprocess.DEVNULL)
    os.close(writing)
    wait_for(lambda: select.select([reading], [], [], 0)[0], "the first output")
    started = time.monotonic()
    process.send_signal(signal.SIGINT)
    equal(process.wait(timeout=SECONDS), 130)
    check(time.monotonic() - started < 15, "it took its time")
    os.close(reading)
    with open(world.file("lease.json"), encoding="utf-8") as file:
        equal([event["kind"] for event in json.load(file)["events"]], ["output.lost"], "events")


@SUITE.test
def streams_that_the_caller_closed_are_empty_ones(world):
    world.write("policy.xml", PLAIN)
    launcher = [world.windows("sbx-launch-test.exe"), "-q", "policy.xml", "--"]
    result = world.run("subject.exe", "bare", *launcher, world.windows("subject.exe"), "copy")
    equal(result.code, 0, result.err)
    result = world.run("subject.exe", "bare", *launcher, world.windows("subject.exe"), "both", "100000")
    equal(result.code, 0, result.err)
