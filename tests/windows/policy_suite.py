"""A policy from its text to the end of a run: what is changed on the machine for it, and that all of it is taken back."""
import glob
import os
import re
import signal
import subprocess

from lib import Suite, check, check_ended, contains, end, equal, specification, wait_for, wait_for_beat

SUITE = Suite()
ACCEPTED = ("fs.closed", "net.closed", "process.tree", "fs.write", "fs.deny", "fs.deny.missing", "listen", "ipc.signal", "ipc.abstract")
POLICY = ('sbx 1\npolicy "t"\ngrant write $WORK\ndeny $WORK/secret\ndeny write $WORK/missing/\ngrant env PATH\n' +
          "".join(f'accept {control} on windows because "Wine holds nothing"\n' for control in ACCEPTED))
OF_A_RUN = re.compile(r"S-1-5-21-(?!0-0-0-)[0-9-]+")


def compile_policy(world, *names):
    """In a directory `work`; the programs stay outside of what the policy grants."""
    world.write("work/secret", "s")
    world.write("project.sbx", POLICY)
    for name in names:
        subprocess.run([os.path.join(world.build, "sbxc"), "project.sbx", "--os", "windows", "-q", "-o", name], cwd=world.path, check=True,
                       stdin=subprocess.DEVNULL)


def call(world, policy, *command, options=()):
    return [world.windows("sbx-launch-test.exe"), "-q", *options, world.windows(policy), "--", *command]


def descriptors(world):
    """Lines that speak of a run, of what the build for tests keeps in the place of Windows, about objects of this test."""
    path = os.path.join(os.path.dirname(world.state), "sbx-descriptors")
    there = {os.stat(os.path.join(folder, name)).st_ino for folder, *names in os.walk(world.path) for name in sum(names, ["."])}
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        parts = [line.split(" ", 2) for line in file]
    # A protected list is that of a scratch directory that is gone, whose number something here has now.
    return [text for _, number, text in parts
            if int.from_bytes(bytes.fromhex(number), "little") in there and OF_A_RUN.search(text.split("D:", 1)[-1]) and "D:P" not in text]


def begin(world, name):
    process = world.begin(call(world, "policy.xml", world.windows("subject.exe"), "leave", world.windows(name), "stay"),
                          directory=world.file("work"), stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for_beat(world.file(name))
    return process


@SUITE.test
def both_forms_of_a_policy_make_the_same_launch(world):
    compile_policy(world, "policy.xml", "policy.bin")
    plans = [world.run(*call(world, name, "cmd.exe", "/c", "exit", options=["--dry-run"]), directory=world.file("work")) for name in
             ("policy.xml", "policy.bin")]
    for plan in plans:
        equal(plan.code, 0, plan.err)
    equal(plans[0].out, plans[1].out, "the plan of the .bin")
    contains(plans[0].out.decode(), world.windows("work", "secret"))


@SUITE.test
def a_run_changes_what_the_policy_says_and_takes_it_back(world):
    compile_policy(world, "policy.xml", "policy.bin")
    for name in ("policy.xml", "policy.bin"):
        script = f"if exist {world.windows('work', 'missing')} exit 5"
        result = world.run(*call(world, name, "cmd.exe", "/c", script), directory=world.file("work"))
        equal(result.code, 5, "the placeholder inside: " + result.err)
        check(not world.exists("work/missing"), "the placeholder is still there")
        equal(descriptors(world), [], "what is left of " + name)


@SUITE.test
def what_cannot_be_executed_leaves_nothing_either(world):
    compile_policy(world, "policy.xml")
    world.write("text.exe", "no program")
    result = world.run(*call(world, "policy.xml", world.windows("text.exe")), directory=world.file("work"))
    equal(result.code, 126, result.err)
    check(not world.exists("work/missing"), "the placeholder is still there")
    equal(descriptors(world), [], "what is left")


@SUITE.test
def a_program_that_the_token_may_not_execute_does_not_run(world):
    compile_policy(world, "policy.xml")
    os.unlink(world.file("subject.exe"))
    with open(os.path.join(world.build, "windows", "subject.exe"), "rb") as program:
        world.write("subject.exe", program.read())
    os.chmod(world.file("subject.exe"), 0o200)  # which Wine shows as an access list without the right to execute
    result = world.run(*call(world, "policy.xml", world.windows("subject.exe"), "leave", world.windows("made")),
                       directory=world.file("work"))
    equal(result.code, 126, result.err)
    check(not world.exists("made"), "it ran")
    equal(descriptors(world), [], "what is left")


@SUITE.test
def scratch_is_closed_to_everybody_but_the_user_and_the_run(world):
    world.write("p.xml", specification(scratch=True, controls=("scratch",)))
    process = world.begin(world.words("p.xml", [world.windows("subject.exe"), "leave", world.windows("beat"), "stay"]),
                          stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
    wait_for_beat(world.file("beat"))
    (path,) = glob.glob(os.path.join(world.temporary, "sbx-*"))
    # Wine makes of the list with which a directory is made the rights of the system below it, and forgets those that come later.
    equal(os.stat(path).st_mode & 0o007, 0, "rights of others from the first moment")
    number = os.stat(path).st_ino.to_bytes(16, "little").hex()
    with open(os.path.join(os.path.dirname(world.state), "sbx-descriptors"), encoding="utf-8") as file:
        (line,) = [line for line in file if f" {number} " in line]
    end(process, signal.SIGINT)
    entries = re.findall(r"\(([^)]*)\)", line.split("D:P", 1)[1])
    equal([re.sub(OF_A_RUN, "RUN", entry) for entry in entries],
          ["A;OICI;0x1f01ff;;;S-1-5-21-0-0-0-1000", "A;OICI;0x1f01ff;;;S-1-5-18", "A;OICI;0x1301bf;;;RUN"], "entries")
    check(not os.path.exists(path), "scratch is still there")


@SUITE.test
def ctrl_c_before_the_start_is_exit_125_and_leaves_nothing(world):
    compile_policy(world, "policy.xml")
    process = world.begin(call(world, "policy.xml", world.windows("subject.exe"), "leave", world.windows("made")),
                          environment={"SBX_TEST_PAUSE_AT": "3"}, directory=world.file("work"), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_for(lambda: world.exists("work/missing"), "the first change")
    equal(end(process, signal.SIGINT).code, 125)
    check(not world.exists("made"), "it ran")
    equal(descriptors(world), [], "what is left")


@SUITE.test
def what_a_killed_launcher_left_is_taken_back_by_the_next_start(world):
    compile_policy(world, "policy.xml")
    process = begin(world, "beat")
    check(world.exists("work/missing"), "there is no placeholder")
    check(descriptors(world), "nothing was changed")
    found = world.run("sbx-launch-test.exe", "--doctor").out.decode()
    contains(found, world.windows("work", "secret"))
    contains(found, "that is running")
    process.kill()
    process.wait()
    check_ended(world.file("beat"))
    check(descriptors(world), "the changes went by themselves")
    result = world.run(*call(world, "policy.xml", "cmd.exe", "/c", "exit 3"), directory=world.file("work"))
    equal(result.code, 3, result.err)
    equal(descriptors(world), [], "what is left")
    check(not world.exists("work/missing"), "the placeholder is still there")


@SUITE.test
def recover_takes_back_what_the_dead_left_and_nothing_of_the_living(world):
    compile_policy(world, "policy.xml")
    dead, living = begin(world, "beat1"), begin(world, "beat2")
    before = len(descriptors(world))
    dead.kill()
    dead.wait()
    wait_for(lambda: world.run("sbx-launch-test.exe", "--recover").code == 0 and len(descriptors(world)) <= before, "recovery")
    check(world.exists("work/missing"), "the placeholder of the living run is gone")
    check(descriptors(world), "the entries of the living run are gone")
    living.kill()
    living.wait()
    wait_for(lambda: world.run("sbx-launch-test.exe", "--recover").code == 0 and not descriptors(world), "recovery")
    check(not world.exists("work/missing"), "the placeholder is still there")
