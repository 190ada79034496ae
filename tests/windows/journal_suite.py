"""What a run changed is taken back wherever its launcher is killed, and no run is blocked for good."""
import os
import subprocess

from lib import Suite, check, contains, equal, specification

SUITE = Suite()
DIED = 99


class Tree:
    """A tree of the test's own, and the program that changes it and takes the changes back."""

    def __init__(self, world):
        self.world = world
        self.path = world.windows("tree")
        self.journals = os.path.join(world.state, "journal")
        equal(self.tool("make").code, 0)
        self.before = self.dump()
        check("NO_ACCESS_CONTROL" in self.before and ";;;S-1-16-4096)" in self.before, self.before)

    def words(self, what, *rest):
        return [os.path.join(self.world.build, "windows", "journal-tool.exe"), what, self.path, *rest]

    def tool(self, what, *rest, **variables):
        environment = {"SBX_TEST_" + name.upper(): str(value) for name, value in variables.items()}
        for _ in range(3):
            result = self.world.run(*self.words(what, *rest), environment=environment)
            if result.code != 127 or "ld.so" not in result.err:
                break
            # The loader of the host stumbled over the end of Wine's process, which had done its work by then.
            if "die_at" in variables:
                result.code = DIED
                break
        return result

    def begin(self, number, **variables):
        """A run that goes on until its standard input ends."""
        environment = {"SBX_TEST_" + name.upper(): str(value) for name, value in variables.items()}
        return self.world.begin(self.words("run", number), environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE)

    def dump(self):
        result = self.tool("dump")
        equal(result.code, 0, result.err)
        return "\n".join(sorted(result.out.decode().splitlines()))

    def files(self):
        return sorted(name for name in os.listdir(self.journals) if name != "turn")

    def check_as_before(self):
        equal(self.dump(), self.before, "the tree")
        equal(self.files(), [], "the journals")

    def recover(self):
        result = self.tool("recover")
        equal(result.code, 0, result.out.decode())
        self.check_as_before()


def changed(process):
    equal(process.stdout.readline().strip(), b"changed", "what the run says")


def finish(process, code=0):
    out, err = process.communicate(b"\n", timeout=60)
    equal(process.returncode, code, out.decode() + err.decode())


@SUITE.test
def a_run_that_ends_leaves_every_descriptor_as_it_was(world):
    tree = Tree(world)
    process = tree.begin("7")
    changed(process)
    during = tree.dump()
    contains(during, "(A;OICI;0x1301bf;;;S-1-5-21-7-2-3-4)")
    contains(during, "tree\\git\\commondir")
    finish(process)
    tree.check_as_before()


@SUITE.test
def killed_between_every_two_steps_nothing_is_left(world):
    tree = Tree(world)
    for step in range(1000):
        code = tree.tool("run", die_at=step).code
        if code == 0:
            break
        equal(code, DIED, f"the code of a run that dies at step {step}")
        tree.recover()
    check(30 < step < 1000, f"a run has {step} steps")
    tree.check_as_before()


@SUITE.test
def killed_while_taking_back_nothing_is_left(world):
    tree = Tree(world)
    for step in range(0, 1000, 4):  # every step: tests/unit/windows_journal_test.c
        process = tree.begin("7")
        changed(process)
        process.kill()
        process.communicate()
        code = tree.tool("recover", die_at=step).code
        tree.recover()
        if code == 0:
            break
        equal(code, DIED, f"the code of a recovery that dies at step {step}")
    check(5 < step < 1000, f"taking back has {step} steps")


@SUITE.test
def the_next_run_takes_back_what_a_killed_one_left(world):
    tree = Tree(world)
    process = tree.begin("7")
    changed(process)
    process.kill()
    process.communicate()
    check(tree.dump() != tree.before, "the run has changed nothing")
    equal(tree.tool("run", "8").code, 0)
    tree.check_as_before()


@SUITE.test
def two_runs_at_once_take_back_their_own_and_the_last_what_they_share(world):
    tree = Tree(world)
    for first in (0, 1):
        runs = [tree.begin("7"), tree.begin("8")]
        for process in runs:
            changed(process)
        finish(runs[first])
        during = tree.dump()
        gone, stays = ("-7-", "-8-") if first == 0 else ("-8-", "-7-")
        check(f"S-1-5-21{gone}2" not in during and f"S-1-5-21{stays}2" in during, during)
        contains(during, "tree\\git\\commondir")
        contains(during, "S:(ML;OICI;0x1;;;S-1-16-4096)")
        finish(runs[1 - first])
        tree.check_as_before()


@SUITE.test
def a_run_waits_while_another_one_changes_an_object(world):
    tree = Tree(world)
    for step in (8, 20):
        slow = tree.begin("7", pause_at=step)
        quick = tree.begin("8")
        changed(quick)
        changed(slow)
        finish(quick)
        finish(slow)
        tree.check_as_before()


@SUITE.test
def torn_and_zeroed_journals_block_no_run(world):
    tree = Tree(world)
    process = tree.begin("7")
    changed(process)
    [name] = tree.files()
    with open(os.path.join(tree.journals, name), "rb") as file:
        whole = file.read()
    process.kill()
    process.communicate()
    for length in (0, 1, 15, 60, len(whole) // 2, len(whole) - 1):
        for tail in (b"", bytes(5000)):
            with open(os.path.join(tree.journals, name), "wb") as file:
                file.write(whole[:length] + tail)
            result = tree.tool("run", "8")
            equal(result.code, 0, f"after a journal of {length} bytes, {result.err!r} is said and the code of a run")
            equal(tree.files(), [], "the journals")
    with open(os.path.join(tree.journals, name), "wb") as file:
        file.write(whole)
    tree.recover()


@SUITE.test
def a_damaged_journal_is_set_aside(world):
    tree = Tree(world)
    process = tree.begin("7")
    changed(process)
    [name] = tree.files()
    process.kill()
    process.communicate()
    with open(os.path.join(tree.journals, name), "r+b") as file:
        file.write(b"\xff" * 8)
    result = tree.tool("recover")
    equal(result.code, 2)
    contains(result.out.decode(), f"the journal {name} is damaged")
    equal(tree.dump(), tree.before, "the tree")
    equal(tree.files(), [name + ".corrupt"])
    contains(tree.tool("doctor").out.decode(), f"{name}.corrupt was damaged")
    equal(tree.tool("run").code, 0)
    os.unlink(os.path.join(tree.journals, name + ".corrupt"))


@SUITE.test
def a_full_disk_stops_a_run_and_nothing_is_left(world):
    tree = Tree(world)
    stopped = 0
    for room in range(0, 6000, 450):
        result = tree.tool("run", disk=room)
        if result.code == 0:
            break
        stopped += 1
        contains(result.err, "the journal cannot be")
        tree.check_as_before()
    check(stopped > 2, "no run was stopped")


@SUITE.test
def what_is_gone_is_dropped_and_what_is_used_stays(world):
    tree = Tree(world)
    process = tree.begin("7")
    changed(process)
    os.unlink(world.file("tree", "none"))
    with open(world.file("tree", "git", "commondir"), "w", encoding="utf-8") as file:
        file.write("theirs")
    finish(process)
    equal(tree.files(), [], "the journals")
    during = tree.dump()
    contains(during, "tree\\git\\commondir")
    check("S-1-5-21-7-" not in during, during)


@SUITE.test
def the_doctor_says_what_a_run_left(world):
    tree = Tree(world)
    process = tree.begin("7")
    changed(process)
    contains(tree.tool("doctor").out.decode(), f"{tree.path}\\git: the placeholder (directory) of a sandbox that is running")
    process.kill()
    process.communicate()
    said = tree.tool("doctor").out.decode()
    for part in ("\\git: the placeholder (directory) left by a sandbox that did not end",
                 "\\none: 1 allowing and 1 denying entries left by", ": the integrity label Low left by"):
        contains(said, part)
    tree.recover()
    equal(tree.tool("doctor").out, b"")


@SUITE.test
def a_directory_of_somebody_else_is_refused(world):
    tree = Tree(world)
    if os.geteuid() != 0:
        return  # nobody else's directory can be made
    for directory in (world.state, tree.journals):
        os.chown(directory, 54321, 54321)
        result = tree.tool("run")
        os.chown(directory, 0, 0)
        equal(result.code, 1)
        contains(result.err, "belongs to somebody else")
    tree.check_as_before()


@SUITE.test
def a_directory_that_is_open_to_others_is_closed(world):
    tree = Tree(world)
    for directory in (world.state, tree.journals):
        os.chmod(directory, 0o777)
        equal(tree.tool("run").code, 0)
        equal(os.stat(directory).st_mode & 0o7, 0, f"what others may do in {directory}")


@SUITE.test
def something_else_in_the_place_of_the_directory_is_refused(world):
    tree = Tree(world)
    os.rename(tree.journals, tree.journals + "-away")
    with open(tree.journals, "w", encoding="utf-8"):
        pass
    result = tree.tool("run")
    os.unlink(tree.journals)
    os.rename(tree.journals + "-away", tree.journals)
    equal(result.code, 1)
    contains(result.err, "is not a directory")


@SUITE.test
def lists_are_written_to_an_open_object_as_they_are(world):
    result = Tree(world).tool("event")
    equal(result.code, 0, result.err)
    lines = result.out.decode().splitlines()
    equal(len(lines), 8)
    equal(lines[1::2], lines[::2], "the lists that are read back")


@SUITE.test
def a_launcher_that_is_killed_at_a_step_leaves_nothing_to_the_next(world):
    tree = Tree(world)
    path = tree.path.replace("&", "&amp;")
    policy = specification(acl=f'<object path="{path}" kind="dir" on-missing="skip" rule="grant write"><ace type="allow" sid="run" '
                               f'mask="0x1301bf" inherit="true"/></object>')
    died = 0
    for step in range(0, 200, 7):
        code = world.launch(policy, ".\\subject.exe", "exit", "0", environment={"SBX_TEST_DIE_AT": str(step)}).code
        result = world.run("sbx-launch-test.exe", "--recover")
        equal(result.code, 0, result.err)
        tree.check_as_before()
        if code == 0:
            break
        equal(code, DIED, f"the code of a launcher that dies at step {step}")
        died += 1
    check(died > 2, f"the launcher died {died} times")
    contains(world.run("sbx-launch-test.exe", "--doctor").out.decode(), "no run has changed anything")
