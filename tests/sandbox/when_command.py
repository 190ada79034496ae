"""Rules of `when command` hold for a command that the command itself could not have placed (language.md 6)."""
import os

from lib import BASE, PATH, check, equal, main, test, world

MARKER = "marker-7d20"


def place(w, directory, name="tool"):
    """Puts a program into a directory below the top that shows what only its rules open; returns the directory."""
    path = w.make(f"{directory}/{name}", f"#!/bin/sh\ncat {w.outside}/data\n")
    os.chmod(path, 0o755)
    return os.path.dirname(path)


def run(w, command, *directories, rules=""):
    """Runs with `directories` first in PATH; returns whether the rules of `tool` held, and what was said."""
    w.make("outside/data", MARKER)
    opened = "".join(f"grant read {each}\n" for each in directories if each.startswith(w.outside))
    text = BASE + f"grant write $WORK\n{opened}when command tool {{\n    grant read {w.outside}/data\n{rules}}}\n"
    environment = w.environment(PATH=":".join([*directories, PATH]))
    result = w.launch(w.compile(text), command, env=environment, options=["-v"])
    check(result.code != 125, result.err)
    equal("SBX427" in result.err, result.out != MARKER and "/" not in command and command == "tool", result.err)
    return result.out == MARKER


@test
def they_hold_where_the_command_can_write_nothing():
    with world() as w:
        check(run(w, "tool", place(w, "outside/bin")), "they did not hold")


@test
def they_hold_for_no_other_name_and_for_no_path():
    with world() as w:
        directory = place(w, "outside/bin")
        place(w, "outside/bin", "other")
        check(not run(w, "other", directory), "they held for another command")
        check(not run(w, f"{directory}/tool", directory), "they held for a path")


@test
def they_do_not_hold_for_what_lies_where_the_command_can_write():
    with world() as w:
        trusted, planted = place(w, "outside/bin"), place(w, "work/bin")
        check(not run(w, "tool", planted), "a program in the workspace was trusted")
        check(not run(w, "tool", planted, trusted), "the first that PATH finds did not count")
        check(run(w, "tool", trusted, planted), "a later directory of PATH counted")


@test
def every_link_on_the_way_and_its_target_are_judged():
    with world() as w:
        planted = place(w, "work/bin")
        os.makedirs(f"{w.outside}/linked")
        os.symlink(f"{planted}/tool", f"{w.outside}/linked/tool")
        check(not run(w, "tool", f"{w.outside}/linked"), "a link into the workspace was trusted")
        trusted = place(w, "outside/bin")
        os.symlink(f"{trusted}/tool", f"{w.work}/tool")
        check(not run(w, "tool", w.work), "a link in the workspace was trusted")
        os.symlink(f"{trusted}/tool", f"{w.make('outside/good/')}/tool")
        check(run(w, "tool", f"{w.outside}/good", trusted), "a link out of reach was not trusted")


@test
def a_relative_directory_of_path_is_not_searched():
    with world() as w:
        check(not run(w, "tool", "bin", place(w, "outside/bin")), "a relative directory was passed over")


@test
def rules_do_not_vouch_for_what_they_make_writable():
    with world() as w:
        directory = place(w, "outside/bin")
        check(not run(w, "tool", directory, rules=f"    grant write {directory}/tool\n"), "they vouched for themselves")


@test
def the_path_that_counts_is_the_one_that_the_command_gets():
    with world() as w:
        trusted, planted = place(w, "outside/bin"), place(w, "work/bin")
        check(not run(w, "tool", trusted, rules=f'    set env PATH = "{planted}:{PATH}"\n'), "the caller's PATH counted")


main()
