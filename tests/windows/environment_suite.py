"""The command's variables are those of the specification, and it starts where it should."""
import os
import shutil

from lib import SECONDS, Suite, check, contains, equal, specification, wait_for

SUITE = Suite()
# What Wine itself puts into every process.
OF_WINE = ("WINE", "SYSTEMDRIVE", "SYSTEMROOT")


def variables(world, environment, caller, **rest):
    result = world.launch(specification(environment=environment, **rest), ".\\subject.exe", "environment", environment=caller)
    equal(result.code, 0, result.err)
    pairs = [text.split("=", 1) for text in result.answers()]
    return {name: value for name, value in pairs if not name.upper().startswith(OF_WINE)}


@SUITE.test
def nothing_passes_that_is_not_granted(world):
    equal(variables(world, "", {"SECRET": "s", "TOKEN": "t"}), {}, "variables")


@SUITE.test
def granted_names_pass_whatever_their_case(world):
    seen = variables(world, '<keep name="kept"/><keep name="NPM_*"/>', {"KEPT": "ü 1", "npm_config": "x=y", "KEPT2": "no"})
    equal(seen, {"KEPT": "ü 1", "npm_config": "x=y"}, "variables")


@SUITE.test
def a_drop_and_a_limit_take_away_again(world):
    seen = variables(world, '<keep name="T_*"/><drop name="t_b"/><limit><keep name="*A*"/><keep name="*B*"/></limit>',
                     {"T_A": "1", "T_B": "2", "T_C": "3"})
    equal(seen, {"T_A": "1"}, "variables")


@SUITE.test
def what_is_set_replaces_what_passed(world):
    seen = variables(world, '<keep name="T_A"/><set name="T_B" value=""/><set name="t_a" value="a b"/>', {"T_A": "1", "T_B": "2"})
    equal({name.upper(): value for name, value in seen.items()}, {"T_A": "a b", "T_B": ""}, "variables")


@SUITE.test
def the_command_starts_where_the_launcher_was_started(world):
    result = world.launch(specification(), ".\\subject.exe", "directory")
    equal((result.code, result.answers()), (0, [world.windows()]), result.err)


@SUITE.test
def chdir_moves_the_start(world):
    world.write("some where/file", "")
    result = world.launch(specification(), world.windows("subject.exe"), "directory", options=["--chdir", "some where"])
    equal((result.code, result.answers()), (0, [world.windows("some where")]), result.err)
    result = world.launch(specification(), world.windows("subject.exe"), "directory", options=["--chdir", "nowhere"])
    equal(result.code, 125, result.err)


@SUITE.test
def a_program_is_looked_for_along_the_commands_own_path_alone(world):
    result = world.launch(specification(environment=""), "subject", "words", "a")
    equal(result.code, 127, "without a PATH: " + result.err)
    contains(result.err, "subject: not found")
    path = f'<set name="PATH" value="relative;&quot;{world.windows()}&quot;"/>'
    result = world.launch(specification(environment=path), "subject", "words", "a")
    equal((result.code, result.answers()), (0, ["a"]), result.err)
    result = world.launch(specification(environment='<set name="PATH" value=".;;\\t"/>'), "subject", "words", "a")
    equal(result.code, 127, "with a relative PATH: " + result.err)


@SUITE.test
def a_program_cannot_be_exchanged_while_its_process_is_made(world):
    shutil.copy(world.file("subject.exe"), world.file("program.exe"))
    process = world.begin(world.words(specification(), [".\\program.exe", "exit", "7"]), {"SBX_TEST_MADE": world.windows("made")})
    wait_for(lambda: world.exists("made"), "the launch")
    world.run("cmd.exe", "/c", "ren", "program.exe", "other.exe")
    world.run("cmd.exe", "/c", "echo x>>program.exe")
    os.unlink(world.file("made"))
    equal(process.wait(SECONDS), 7)
    equal(os.path.getsize(world.file("program.exe")), os.path.getsize(world.file("subject.exe")), "the size of the program")


@SUITE.test
def what_is_no_program_is_exit_126_and_what_is_not_there_127(world):
    world.write("text.exe", "no program")
    equal(world.launch(specification(), ".\\text.exe").code, 126)
    equal(world.launch(specification(), ".\\missing.exe").code, 127)
    equal(world.launch(specification(), "C:missing.exe").code, 127)
    equal(world.launch(specification(), world.windows()).code, 127)


@SUITE.test
def a_command_has_a_desktop_of_its_own_and_pipes_for_streams(world):
    names = set()
    for _ in range(2):
        desktop, *streams = world.launch(specification(), ".\\subject.exe", "place").answers()
        check(desktop.startswith("sbx-") and len(desktop) == 36, desktop)
        equal(streams, ["pipe"] * 3, "streams")
        names.add(desktop)
    equal(len(names), 2, "desktops of two runs")
