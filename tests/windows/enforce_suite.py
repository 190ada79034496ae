"""Each read-back refuses by itself where Windows' calls report success without effect, which is what Wine does."""
import os

from lib import Suite, check, contains, equal, specification, wait_for

SUITE = Suite()
RESTRICTED = ("restricted", "restricted-low")
TIERS = RESTRICTED + ("appcontainer",)


def ask(world, word, tier, goes_on=False):
    name = "enforce-tool-test.exe" if goes_on else "enforce-tool.exe"
    result = world.run(os.path.join(world.build, "windows", name), word, tier)
    equal(result.code, 0, result.err)
    return result.out.decode().splitlines()


@SUITE.test
def wine_and_an_old_windows_refuse_each_by_itself(world):
    equal(ask(world, "system", "restricted")[0],
          "cannot verify that anything is enforced: this is Wine, which reports success without effect")
    lines = ask(world, "system", "restricted", goes_on=True)
    contains(lines[1], "cannot verify the version of Windows: it is 6.1.7601, and build 19041 or newer is needed")


@SUITE.test
def every_property_of_a_token_that_is_not_as_asked_is_named(world):
    for tier in RESTRICTED:
        said = "\n".join(ask(world, "token", tier, goes_on=True))
        for part in ("privilege", "windows of a higher level", "it is not restricted", "its integrity level is S-1-16-12288",
                     "integrity levels do not bind it"):
            contains(said, part, tier)
    contains("\n".join(ask(world, "token", "appcontainer", goes_on=True)), "privilege")


@SUITE.test
def what_is_set_as_asked_is_not_complained_of(world):
    said = "\n".join(ask(world, "token", "restricted", goes_on=True))
    for part in ("its user", "primary", "group", "default DACL"):
        check(part not in said, said)


@SUITE.test
def a_token_that_is_not_as_asked_is_refused(world):
    for tier in TIERS:
        lines = ask(world, "token", tier)
        equal(lines[-1], "refused")
        contains(lines[0], "cannot verify the token: ")


@SUITE.test
def a_process_outside_of_a_sandbox_is_told_from_one_inside(world):
    said = "\n".join(ask(world, "process", "appcontainer", goes_on=True))
    for part in ("privilege", "still gives rights", "the process runs in none", "its capabilities cannot be read", "its integrity level"):
        contains(said, part)
    said = "\n".join(ask(world, "process", "restricted", goes_on=True))
    for part in ("still gives rights", "it is not restricted", "its default DACL gives rights to others"):
        contains(said, part)
    for tier in TIERS:
        equal(ask(world, "process", tier)[-1], "refused")


@SUITE.test
def a_system_without_app_containers_is_refused(world):
    lines = ask(world, "package", "appcontainer")
    equal((lines[0], lines[-1]), ("cannot verify the AppContainer: this system has none", "refused"))


@SUITE.test
def every_run_has_a_sid_of_its_own(world):
    sids = {line for _ in range(8) for line in ask(world, "none", "restricted") if line.startswith("run S-1-5-21-")}
    equal(len(sids), 8, str(sids))


@SUITE.test
def a_launcher_that_does_not_know_wine_by_its_name_runs_nothing_either(world):
    launcher = os.path.join(world.build, "windows", "sbx-launch-any-name.exe")
    for tier in TIERS:
        world.write("policy.xml", specification(tier=tier))
        result = world.run(launcher, "policy.xml", "--", world.windows("subject.exe"), "leave", world.windows("made"))
        equal((result.code, result.out), (125, b""), result.err)
        contains(result.err, "cannot verify the AppContainer" if tier == "appcontainer" else "cannot verify the token")
        check(not world.exists("made"), "the command ran")


def place(path, entries, kind="any", missing="skip", cap=False):
    cap = ' cap="true"' if cap else ""
    return (f'<object path="{path}" kind="{kind}" on-missing="{missing}"{cap} rule="rule of {path}">'
            + "".join(entries) + "</object>")


def entry(kind, mask, inherit=True):
    inherit = ' inherit="true"' if inherit else ""
    return f'<ace type="{kind}" sid="run" mask="{mask}"{inherit}/>'


PIN = entry("deny", "0x10000", False)
ALLOW = entry("allow", "0x1301bf")


def workspace(world, *more):
    """A writable place, with what the caller adds below it."""
    world.write("open/file", "text")
    return specification(acl=place(world.windows("open"), [PIN, ALLOW]) + "".join(more))


@SUITE.test
def a_missing_denied_place_is_held_while_the_command_runs(world):
    denied = place(world.windows("open", "a", "secret"), [entry("deny", "0x1f01ff")], missing="create-file", cap=True)
    process = world.begin(world.words(workspace(world, denied), [".\\subject.exe", "beat", world.windows("beat")]))
    try:
        wait_for(lambda: world.exists("beat"), "the command")
        check(world.exists("open/a/secret"), "nothing holds the denied place")
        equal(os.path.getsize(world.file("open", "a", "secret")), 0)
        # What Wine makes of the access list with which it is made: that of this build is kept elsewhere.
        equal(os.stat(world.file("open", "a", "secret")).st_mode & 0o007, 0, "rights of others from the first moment")
    finally:
        process.kill()
        process.wait()
    equal(world.launch(specification(), ".\\subject.exe", "exit", "0").code, 0)
    check(not world.exists("open/a"), "a placeholder is left")


@SUITE.test
def places_that_are_not_what_the_policy_says_refuse_before_anything_runs(world):
    cases = {
        "is not a directory": place(world.windows("open", "file"), [entry("deny", "0x1f01ff")], kind="dir", cap=True),
        "not a directory": place(world.windows("open", "file", "deep"), [entry("deny", "0x1f01ff")], missing="create-file", cap=True),
    }
    for part, denied in cases.items():
        result = world.launch(workspace(world, denied), ".\\subject.exe", "leave", world.windows("made"))
        equal((result.code, result.out), (125, b""), result.err)
        contains(result.err, part)
        contains(result.err, "rule of ")
        check(not world.exists("made"), "the command ran")


@SUITE.test
def what_a_pattern_matches_is_looked_for_without_case(world):
    world.write("open/deep/A.ENV", "text")
    match = (f'<match pattern="{world.windows("open")}\\**\\*.env" rule="deny pattern">'
             '<ace type="deny" sid="run" mask="0x1f01ff" inherit="true"/></match>')
    process = world.begin(world.words(workspace(world, match), [".\\subject.exe", "beat", world.windows("beat")]))
    try:
        wait_for(lambda: world.exists("beat"), "the command")
        found = world.run("sbx-launch-test.exe", "--doctor").out.decode()
        contains(found, "A.ENV")
    finally:
        process.kill()
        process.wait()
    equal(world.run("sbx-launch-test.exe", "--recover").code, 0)


def closed_in_open(world, tier):
    """A writable place with a missing one in it that is denied, as each tier says it."""
    low = tier == "restricted-low"
    acl = (place(world.windows("open"), ['<label level="low" policy="nw"/>' if low else "", PIN, ALLOW])
           + place(world.windows("open", "secret"), ['<label level="medium" policy="nw nr nx"/>' if low else "", entry("deny", "0x1f01ff")],
                   missing="create-dir", cap=True))
    return specification(tier=tier, acl=acl.replace('sid="run"', 'sid="package"') if tier == "appcontainer" else acl)


@SUITE.test
def a_launch_of_each_tier_takes_all_its_steps_and_leaves_nothing(world):
    """In the build for tests, which starts an AppContainer's process outside of it."""
    world.write("open/file", "text")
    before = sorted(os.listdir(world.temporary))
    for tier in TIERS:
        equal(world.launch(closed_in_open(world, tier), ".\\subject.exe", "exit", "7").code, 7, tier)
        check(not world.exists("open/secret"), "a placeholder is left")
        contains(world.run("sbx-launch-test.exe", "--doctor").out.decode(), "no run has changed anything")
    equal(sorted(os.listdir(world.temporary)), before)
