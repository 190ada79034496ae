"""Nothing runs where the policy, the call or the machine is not what it must be."""
import json
import os
import struct

import jsonschema

from lib import HASH, TREE, Suite, check, contains, equal, specification

SUITE = Suite()
TIERS = ("restricted", "restricted-low", "appcontainer")


def refused(world, policy, part, options=(), production=False, directory=None):
    result = world.launch(policy, world.windows("subject.exe"), "leave", world.windows("made"), options=options, production=production,
                          directory=directory)
    equal((result.code, result.out), (125, b""), result.err)
    contains(result.err, part, "standard error")
    check(not world.exists("made"), "the command ran")
    return result


def imported(path):
    """The names of the libraries that Windows loads before the program begins."""
    with open(path, "rb") as file:
        data = file.read()
    at, = struct.unpack_from("<I", data, 0x3C)
    sections, size = struct.unpack_from("<6xH12xH", data, at)
    table, = struct.unpack_from("<I", data, at + 24 + 120)  # of an image for 64 bits

    def offset(address):
        for number in range(sections):
            length, start, _, raw = struct.unpack_from("<4I", data, at + 24 + size + 40 * number + 8)
            if start <= address < start + length:
                return address - start + raw
        raise ValueError(f"no section holds {address:#x}")

    names, entry = set(), offset(table)
    while name := struct.unpack_from("<I", data, entry + 12)[0]:
        start = offset(name)
        names.add(data[start:data.index(b"\0", start)].decode().lower())
        entry += 20
    return names


@SUITE.test
def the_production_launcher_runs_nothing_under_wine(world):
    for tier in TIERS:
        refused(world, specification(tier=tier), "SBX480]: cannot verify that anything is enforced: this is Wine", production=True)


# What Windows maps from its own directory for every process, whatever lies beside the program (KnownDLLs).
KNOWN = {"advapi32.dll", "kernel32.dll", "msvcrt.dll", "ole32.dll", "shell32.dll", "user32.dll", "ws2_32.dll"}


@SUITE.test
def no_library_beside_the_launcher_is_loaded_with_it(world):
    for program in ("sbx-launch.exe", "sbx-selftest.exe"):
        libraries = imported(os.path.join(world.build, "windows", program))
        check("kernel32.dll" in libraries, libraries)
        equal(libraries - KNOWN, set(), program)


@SUITE.test
def the_build_for_tests_says_that_it_enforces_nothing(world):
    result = world.launch(specification(), ".\\subject.exe", "words", "a")
    contains(result.err, "THIS IS THE BUILD FOR TESTS: NOTHING IS ENFORCED")
    equal(result.answers(), ["a"], "words")


@SUITE.test
def a_production_launcher_says_no_such_thing(world):
    result = world.launch(specification(), ".\\subject.exe", "words", "a", production=True)
    check("BUILD FOR TESTS" not in result.err, result.err)


@SUITE.test
def a_probe_says_that_wine_cannot_be_verified(world):
    result = world.run("sbx-launch.exe", "--probe", "--json")
    equal(result.code, 125)
    probe = json.loads(result.out)
    with open(os.path.join(TREE, "schema", "sbx-probe.schema.json"), encoding="utf-8") as schema:
        jsonschema.Draft202012Validator(json.load(schema)).validate(probe)
    (backend,) = probe["backends"]
    equal((backend["name"], backend["usable"]), ("windows", False))
    contains(backend["cause"], "this is Wine")


@SUITE.test
def damaged_specifications_are_refused_with_a_reason(world):
    good = specification()
    cases = {
        "no XML": ("hello", "SBX"),
        "cut off": (good[:len(good) // 2], "SBX"),
        "a DTD": (good.replace("<sbx-windows", '<!DOCTYPE a [<!ENTITY b "c">]><sbx-windows', 1), "SBX"),
        "another version": (good.replace('version="1" tier', 'version="2" tier'), "SBX"),
        "an unknown element": (good.replace("<desktop", "<surprise/><desktop"), "SBX"),
        "an unknown attribute": (good.replace("<desktop", '<desktop extra="1"'), "SBX"),
        "a missing attribute": (good.replace(f' policy-sha256="{HASH}"', ""), "SBX"),
        "breakaway": (good.replace('breakaway="false"', 'breakaway="true"'), "SBX"),
        "the reserved tier": (good.replace('tier="restricted"', 'tier="account"'), "SBX"),
        "a token of another tier": (good.replace('integrity="medium"', 'integrity="low"'), "SBX"),
        "another namespace": (good.replace("urn:sbx:windows:1", "urn:sbx:windows:9"), "SBX"),
        "a network path": (specification(acl='<object path="\\\\server\\a" kind="any" on-missing="skip" rule="r">'
                                             '<ace type="allow" sid="run" mask="0x1200a9" inherit="true"/></object>'), "SBX"),
        "a root of a drive": (specification(acl='<object path="C:\\" kind="any" on-missing="skip" rule="r">'
                                                '<ace type="allow" sid="run" mask="0x1301bf" inherit="true"/></object>'), "SBX"),
    }
    for name, (text, part) in cases.items():
        world.write("case.xml", text)
        result = world.launch("case.xml", world.windows("subject.exe"), "leave", world.windows("made"))
        equal((result.code, result.out), (125, b""), f"{name}: {result.err}")
        contains(result.err, part, name)
        check("cannot verify" not in result.err, f"{name} was not found before anything was made: {result.err}")
    check(not world.exists("made"), "a command ran")


@SUITE.test
def a_policy_that_is_not_there_and_one_of_no_kind_are_refused(world):
    refused(world, "missing.xml", "SBX401")
    world.write("policy.txt", "hello")
    refused(world, "policy.txt", "SBX")
    world.write("policy.bin", "hello")
    refused(world, "policy.bin", "SBX")


@SUITE.test
def wrong_calls_are_refused(world):
    world.write("policy.xml", specification())
    for words, part in ((["policy.xml"], "a command is missing"), (["--engine", "bwrap", "policy.xml"], "there is no option --engine"),
                        (["--as-owner", "policy.xml"], "there is no option --as-owner"), (["--root", "policy.xml"], "--root needs"),
                        (["--recover", "policy.xml"], "--recover takes no policy"), ([], "a policy is missing")):
        for program in ("sbx-launch.exe", "sbx-launch-test.exe"):
            result = world.run(program, *words)
            equal(result.code, 125, result.err)
            contains(result.err, part)


@SUITE.test
def a_run_that_gets_no_random_number_is_refused(world):
    result = world.launch(specification(), world.windows("subject.exe"), "leave", world.windows("made"),
                          environment={"SBX_TEST_NO_RANDOM": "1"})
    equal((result.code, result.out), (125, b""), result.err)
    contains(result.err, "no random bytes")
    check(not world.exists("made"), "the command ran")


# The last things that are looked at, with the tier in which each is: what is started, and what a trial of it found.
DOUBTS = (("restricted", "the process is in its job"), ("restricted", "the process runs"),
          ("restricted", "the command may execute its program"), ("appcontainer", "the process runs in none"),
          ("appcontainer", "is closed to the command"))


@SUITE.test
def each_last_look_before_the_start_refuses(world):
    acl = '<object path="$WORK" kind="any" on-missing="skip" rule="grant read $WORK"><ace type="allow" sid="%s" mask="0x1200a9" ' \
          'inherit="true"/></object>'
    for tier, doubt in DOUBTS:
        policy = specification(tier=tier, acl=acl % ("package" if tier == "appcontainer" else "run"))
        result = world.launch(policy, world.windows("subject.exe"), "leave", world.windows("made"), environment={"SBX_TEST_DOUBT": doubt})
        equal((result.code, result.out), (125, b""), f"{doubt}: {result.err}")
        check(any("error[SBX480]: cannot verify" in line and doubt in line for line in result.err.splitlines()), f"{doubt}: {result.err}")
        check(not world.exists("made"), f"{doubt}: the command ran")


@SUITE.test
def a_dry_run_says_what_would_be_done_and_does_nothing(world):
    for production in (False, True):
        result = world.launch(specification(scratch=True, environment='<set name="CI" value="1"/>'), world.windows("subject.exe"),
                              "leave", world.windows("made"), options=["--dry-run"], production=production)
        equal(result.code, 0, result.err)
        text = result.out.decode()
        for part in ("# tier restricted", "CI=1", "TEMP=", "subject.exe"):
            contains(text, part)
    check(not world.exists("made"), "the command ran")
