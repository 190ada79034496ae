"""The record of a run, its scratch directory, and what is left when a launcher is killed."""
import glob
import json
import os
import subprocess

import jsonschema

from lib import HASH, TREE, Suite, check, contains, equal, specification, wait_for, wait_for_beat

SUITE = Suite()
with open(os.path.join(TREE, "schema", "sbx-lease.schema.json"), encoding="utf-8") as schema:
    VALIDATOR = jsonschema.Draft202012Validator(json.load(schema))


def read_lease(path):
    with open(path, encoding="utf-8") as file:
        lease = json.load(file)
    VALIDATOR.validate(lease)
    return lease


@SUITE.test
def a_lease_follows_the_schema_and_says_what_was_asked(world):
    policy = specification(controls=("fs.write", "env", "process.tree", "limit.processes"), job=' active-processes="8"',
                           accepted=(("fs.closed", "reads are no secret here"),))
    result = world.launch(policy, ".\\subject.exe", "exit", "3", options=["--lease", "lease.json"])
    equal(result.code, 3, result.err)
    lease = read_lease(world.file("lease.json"))
    equal([lease[name] for name in ("policy", "backend", "backendVersion", "effectivePolicyHash", "exit")],
          ["t", "windows", "restricted", "sha256:" + HASH, {"code": 3}])
    equal([control["control"] for control in lease["enforcedControls"]], ["fs.write", "env", "process.tree", "limit.processes"])
    equal([(entry["control"], entry["because"]) for entry in lease["acceptedExceptions"]], [("fs.closed", "reads are no secret here")])
    check("SBX480" in [note["code"] for note in lease["notes"]], "the lease of the build for tests does not say that it held nothing")
    check(all("build for tests" in control["evidence"] for control in lease["enforcedControls"]), "evidence that there is not")


@SUITE.test
def the_lease_is_there_before_the_command_runs(world):
    process = world.begin(world.words(specification(), [".\\subject.exe", "leave", world.windows("beat"), "stay"],
                                      ["--lease", "lease.json"]), stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for_beat(world.file("beat"))
    process.kill()
    process.wait()
    lease = read_lease(world.file("lease.json"))
    equal((lease["exit"], lease["endedAt"]), (None, None))


@SUITE.test
def without_a_place_a_record_goes_to_the_state_directory(world):
    before = set(glob.glob(os.path.join(world.state, "*.json")))
    equal(world.launch(specification(), ".\\subject.exe", "exit", "0").code, 0)
    fresh = set(glob.glob(os.path.join(world.state, "*.json"))) - before
    equal(len(fresh), 1, "new records")
    equal(read_lease(fresh.pop())["exit"], {"code": 0})


@SUITE.test
def a_lease_that_the_command_could_write_is_refused(world):
    world.write("open/x", "")
    policy = specification(acl=f'<object path="{world.windows("open")}" kind="any" on-missing="skip" rule="r">'
                               '<ace type="allow" sid="run" mask="0x1301bf" inherit="true"/></object>')
    result = world.launch(policy, ".\\subject.exe", "exit", "0", options=["--lease", "open/lease.json"])
    equal(result.code, 125, result.err)
    contains(result.err, "SBX410")
    result = world.launch(policy, ".\\subject.exe", "exit", "0", options=["--lease", "nowhere/lease.json"])
    equal(result.code, 125, result.err)
    contains(result.err, "SBX411")


def scratch_directories(world):
    return glob.glob(os.path.join(world.temporary, "sbx-*"))


@SUITE.test
def scratch_is_a_directory_of_the_run_and_goes_with_it(world):
    policy = specification(scratch=True, controls=("scratch",))
    result = world.launch(policy, ".\\subject.exe", "environment")
    seen = dict(text.split("=", 1) for text in result.answers())
    equal(seen["TEMP"], seen["TMP"], result.err)
    check("\\sbx-" in seen["TEMP"], seen["TEMP"])
    world.write("fill.cmd", "@if not exist %TEMP% exit /b 9\r\n@mkdir %TEMP%\\a\\b\r\n@echo x> %TEMP%\\a\\b\\c\r\n"
                            "@attrib +r %TEMP%\\a\\b\\c\r\n@exit /b 4\r\n")
    equal(world.launch(policy, ".\\fill.cmd").code, 4)
    equal(scratch_directories(world), [], "what is left")


@SUITE.test
def scratch_of_a_killed_launcher_goes_with_the_next_start(world):
    policy = specification(scratch=True, controls=("scratch",))
    words = [".\\subject.exe", "leave", world.windows("beat"), "stay"]
    dead = world.begin(world.words(policy, words), stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for_beat(world.file("beat"))
    left = scratch_directories(world)
    equal(len(left), 1, "directories of a run")
    os.makedirs(os.path.join(left[0], "deep", "deeper"))
    dead.kill()
    dead.wait()
    words[2] = world.windows("beat2")
    live = world.begin(world.words(policy, words), stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for_beat(world.file("beat2"))
    check(not os.path.exists(left[0]), "what the dead launcher left is still there")
    mine = scratch_directories(world)
    equal(len(mine), 1, "directories of the run that lives")
    equal(world.run("sbx-launch-test.exe", "--recover").code, 0)
    equal(scratch_directories(world), mine, "directories after --recover")
    live.kill()
    live.wait()
    wait_for(lambda: world.run("sbx-launch-test.exe", "--recover").code == 0 and not scratch_directories(world), "recovery")
