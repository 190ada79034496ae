"""Whatever a command starts ends with its run, however that ends."""
import json
import signal
import subprocess
import time

from lib import WIDE, Suite, check, check_ended, contains, end, equal, specification, wait_for_beat

SUITE = Suite()
PLAIN = specification(controls=("env", "process.tree"))


def lease_of(world):
    with open(world.file("lease.json"), encoding="utf-8") as file:
        return json.load(file)


@SUITE.test
def exit_codes_are_the_commands_own(world):
    for code in (0, 1, 2, 128, 255):
        equal(world.launch(PLAIN, ".\\subject.exe", "exit", str(code)).code, code)
    for word, code in (("0x12345678", 0x12345678), ("4294967295", WIDE), ("0xc0000022", 0xC0000022)):
        result = world.launch(PLAIN, ".\\subject.exe", "exit", word, options=["--lease", world.windows("lease.json")])
        equal(result.code, code & 255, result.err)
        equal(lease_of(world)["exit"], {"code": code}, "exit in the lease")


@SUITE.test
def a_crash_is_a_code_like_any_other(world):
    world.launch(PLAIN, ".\\subject.exe", "crash", options=["--lease", world.windows("lease.json")])
    equal(lease_of(world)["exit"], {"code": 0xC0000005}, "exit in the lease")


@SUITE.test
def what_the_command_leaves_running_ends_with_it(world):
    result = world.launch(PLAIN, ".\\subject.exe", "leave", world.windows("beat"))
    equal(result.code, 0, result.err)
    check_ended(world.file("beat"))


@SUITE.test
def so_does_what_that_started(world):
    result = world.launch(PLAIN, ".\\subject.exe", "deeper", world.windows("beat"))
    equal(result.code, 0, result.err)
    check_ended(world.file("beat"))


@SUITE.test
def a_killed_launcher_takes_everything_with_it(world):
    process = world.begin(world.words(PLAIN, [".\\subject.exe", "leave", world.windows("beat"), "stay"]), stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for_beat(world.file("beat"))
    process.kill()
    process.wait()
    check_ended(world.file("beat"))


@SUITE.test
def leaving_the_job_is_refused(world):
    equal(world.launch(PLAIN, ".\\subject.exe", "escape").answers(), ["5"], "the error")


@SUITE.test
def ctrl_c_ends_everything_with_130(world):
    process = world.begin(world.words(PLAIN, [".\\subject.exe", "leave", world.windows("beat"), "stay"],
                                      ["--lease", world.windows("lease.json")]),
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_for_beat(world.file("beat"))
    result = end(process, signal.SIGINT)
    equal(result.code, 130, result.err)
    check_ended(world.file("beat"))
    equal(lease_of(world)["exit"], {"code": 130}, "exit in the lease")


@SUITE.test
def time_that_is_over_ends_everything_with_137(world):
    started = time.monotonic()
    result = world.launch(specification(job=' time-ms="1500"', controls=("limit.time",)), ".\\subject.exe", "leave",
                          world.windows("beat"), "stay", options=["--lease", world.windows("lease.json")])
    equal(result.code, 137, result.err)
    check(1.4 < time.monotonic() - started < 15, "it took another time")
    contains(result.err, "(limit time) are over")
    equal([event["kind"] for event in lease_of(world)["events"]], ["limit.time"], "events")
    check_ended(world.file("beat"))


@SUITE.test
def a_handle_of_the_callers_stays_outside(world):
    world.write("secret", "s")
    world.write("policy.xml", PLAIN)
    question = ["handle", "HANDLE", "secret"]
    caller = world.run("subject.exe", "leak", world.windows("secret"), world.windows("subject.exe"), *question)
    equal(caller.answers(), ["open"], "without the launcher")
    inside = world.run("subject.exe", "leak", world.windows("secret"), world.windows("sbx-launch-test.exe"), "-q", "policy.xml", "--",
                       world.windows("subject.exe"), *question)
    equal((inside.code, inside.answers()), (0, ["closed"]), inside.err)
