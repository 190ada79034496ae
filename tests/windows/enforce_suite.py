"""Each read-back refuses by itself where Windows' calls report success without effect, which is what Wine does."""
import os

from lib import Suite, check, contains, equal, specification

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
