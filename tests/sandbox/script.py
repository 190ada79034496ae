"""What the shell script must hold against links, roots and programs that somebody put in its way."""
import os
import shutil
import subprocess

from lib import BASE, SBXC, check, equal, main, test, world

SHELLS = [shell for shell in (["dash"], ["bash"], ["bash", "--posix"]) if shutil.which(shell[0])]
HEAD = BASE + 'set env PATH = "/usr/bin:/bin"\naccept fs.deny.missing on bwrap because "a test"\n'


def compiled(made, text, *options, name="p"):
    """The script of HEAD and `text`, with its .bpf beside it."""
    source = made.make(f"policies/{name}.sbx", HEAD + text)
    for suffix in (".sh", ".bpf"):
        result = subprocess.run([SBXC, source, "-o", source[:-4] + suffix, *options], env=made.environment(),
                                capture_output=True, text=True)
        equal(result.returncode, 0, f"sbxc's exit ({result.stderr})")
    return source[:-4] + ".sh"


def run(made, path, line, cwd=None, **environment):
    """Runs `line` inside by every shell; they must agree."""
    results = [subprocess.run([*shell, path, "sh", "-c", line], env=made.environment(**environment),
                              cwd=cwd or made.work, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=60) for shell in SHELLS]
    for result in results:
        check((result.returncode, result.stdout) == (results[0].returncode, results[0].stdout),
              f"shells differ: {results[0]} / {result}")
    return results[0]


def refused(made, path, *words, **more):
    result = run(made, path, "echo started", **more)
    equal((result.returncode, result.stdout), (125, ""), f"exit and output ({result.stderr})")
    for word in words:
        check(word in result.stderr, f"{word!r} is not in: {result.stderr}")


@test
def a_link_planted_under_an_exception_shows_nothing():
    with world() as made:
        top = made.make("outside/top", "top\n")
        made.make("work/d/")
        for level in ("", "deny write $WORK/d/y\n"):
            path = compiled(made, "grant write $WORK\ndeny $WORK/d except $WORK/d/y\n" + level)
            for target in (top, "../../outside/top", made.outside):
                link = os.path.join(made.work, "d/y")
                os.symlink(target, link)
                result = run(made, path, "cat d/y d/y/top; echo x >d/y; echo x >d/y/top")
                os.remove(link)
                equal(result.stdout, "", "output")
                with open(top) as file:
                    equal(file.read(), "top\n", "the file outside")


@test
def a_link_that_the_command_could_plant_grants_nothing_by_another_spelling():
    with world() as made:
        made.make("outside/file", "text\n")
        os.symlink(made.work, os.path.join(made.top, "alias"))
        os.symlink(os.path.join(made.outside, "file"), os.path.join(made.work, "planted"))
        path = compiled(made, f"grant write $WORK\ngrant write {made.top}/alias/planted\n")
        result = run(made, path, f"cat {made.top}/alias/planted; cat planted; echo x >planted")
        equal(result.stdout, "", "output")


@test
def a_granted_link_opens_its_target_no_further_than_rules_on_it_do():
    with world() as made:
        target = made.make("outside/file", "text\n")
        link = os.path.join(made.home, "link")
        os.symlink(target, link)
        for rule, expected in (("", "write"), (f"grant read {target}\n", "read"), (f"deny write {target}\n", "read"),
                               (f"deny {target}\n", "none"), (f"deny {made.outside}\n", "none")):
            path = compiled(made, "grant write ~/link\n" + rule)
            result = run(made, path, f"level=none; cat {link} >/dev/null && level=read; "
                                     f"(: >>{link}) && level=write; echo $level")
            equal(result.stdout, expected + "\n", f"level with {rule!r}")


@test
def a_deny_behind_a_link_holds_where_it_leads():
    with world() as made:
        for name in ("s", "t", "d/s"):
            made.make(f"top/real/{name}", "text\n")
        top = os.path.join(made.top, "top")
        os.symlink("real", f"{top}/alias")
        os.symlink("alias", f"{top}/again")
        os.symlink("real/t", f"{top}/t")
        path = compiled(made, f"grant write {top}/real\ndeny {top}/again/s, {top}/t\ndeny write {top}/alias/d\n"
                              f"deny {top}/alias/missing\n")
        result = run(made, path, f"cd {top}/real; cat s t; cat d/s; echo x >d/s; mv d e; echo x >s; echo x >new; ls")
        equal(result.stdout, "text\nd\nnew\ns\nt\n", "output")


@test
def a_deny_in_bin_holds_on_a_merged_usr():
    if not os.path.islink("/bin"):
        return
    with world() as made:
        path = compiled(made, "grant write $WORK\ndeny /bin/su\ndeny /usr/bin/env\n")
        result = run(made, path, "for f in /bin/su /usr/bin/su /bin/env /usr/bin/env; do cat $f; $f --version; done; echo")
        equal(result.stdout, "\n", "output")


@test
def a_deny_of_everything_denies_everything():
    with world() as made:
        path = compiled(made, "grant write $WORK\ndeny /\n")
        check(run(made, path, "echo started").stdout == "", "the command started")
        path = compiled(made, "grant write $WORK\ndeny write /\n")
        result = run(made, path, "echo x >new; ls; echo done")
        equal(result.stdout, "done\n", "output")


@test
def a_deny_behind_a_link_that_could_be_replaced_is_refused():
    with world() as made:
        made.make("work/real/s", "text\n")
        made.make("outside/s", "text\n")
        os.symlink("real", os.path.join(made.work, "alias"))
        os.symlink(os.path.join(made.work, "alias"), os.path.join(made.home, "way"))
        for rule in ("deny $WORK/alias/s", "deny $WORK/alias", "deny ~/way/s", "deny write ~/way/missing",
                     "deny socket $WORK/alias/s"):
            path = compiled(made, f"grant write $WORK\n{rule}\n")
            refused(made, path, "symbolic link", "sbx-launch")


@test
def a_grant_through_a_link_that_would_lower_what_another_opens_is_refused():
    with world() as made:
        made.make("top/real/s", "text\n")
        os.symlink("real", os.path.join(made.top, "top/alias"))
        top = os.path.join(made.top, "top")
        refused(made, compiled(made, f"grant write {top}/real\ngrant read {top}/alias/s\n"), "alias/s")
        equal(run(made, compiled(made, f"grant read {top}/real\ngrant read {top}/alias\n"),
                  f"cat {top}/alias/s").stdout, "text\n", "output")


@test
def the_callers_path_gives_the_script_no_programs():
    with world() as made:
        for name in ("bwrap", "sort", "tr", "readlink", "getent", "find", "id", "cut", "dirname", "cat"):
            planted = made.make(f"work/bin/{name}", f"#!/bin/sh\n/bin/echo x >>{made.outside}/planted\n")
            os.chmod(planted, 0o755)
        os.symlink("/nowhere", os.path.join(made.home, "link"))
        path = compiled(made, "grant write $WORK\ngrant read ~/link, ~/.config\n")
        for search in (f"{made.work}/bin:/usr/bin:/bin", "bin:/usr/bin:/bin"):
            result = run(made, path, "echo $PATH", PATH=search)
            equal(result.stdout, "/usr/bin:/bin\n", f"output ({result.stderr})")
        check(not os.path.exists(f"{made.outside}/planted"), "a planted program ran")


@test
def a_root_that_is_too_wide_is_found_however_home_is_spelled():
    with world() as made:
        path = compiled(made, "grant write $WORK\n")
        made.make("home/project/")
        os.symlink(made.home, os.path.join(made.top, "spelled"))
        for home in (made.home, made.home + "/", made.top + "//home", made.top + "/./home",
                     made.top + "/outside/../home", made.top + "/spelled"):
            for work in (made.home, made.top, "/"):
                refused(made, path, "too wide", cwd=work, HOME=home)
            equal(run(made, path, "echo started", cwd=f"{made.home}/project", HOME=home).stdout, "started\n", "output")
        named = compiled(made, "grant write $WORK\ngrant read ~/x\n")
        refused(made, named, "too wide", cwd=made.top, HOME="/nowhere", SBX_HOME=made.home)


@test
def a_managed_limit_on_a_root_that_is_too_wide_is_refused():
    with world() as made:
        layer = made.make("policies/m.sbx", 'sbx 1\nmanaged "m"\nlimit write to $WORK\n')
        path = compiled(made, f"grant write {made.outside}\n", "--managed", layer)
        refused(made, path, "too wide", cwd="/")
        refused(made, path, "too wide", cwd=made.top)
        result = run(made, path, f"echo x >{made.outside}/new || echo closed")
        equal(result.stdout, "closed\n", "output")


@test
def a_script_that_is_started_by_a_link_protects_itself():
    with world() as made:
        source = compiled(made, "grant write $WORK\n")
        path = shutil.copy(source, made.work)
        shutil.copy(source[:-3] + ".bpf", made.work)
        link = os.path.join(made.home, "start")
        os.symlink(path, link)
        lines = "for f in p.sh p.bpf; do echo x >>$f; rm -f $f; mv $f q; done; ls"
        for name, cwd in ((link, None), ("../home/start", None), (f"{made.top}/./home/../home/start", None)):
            equal(run(made, name, lines, cwd=cwd).stdout, "p.bpf\np.sh\n", f"output by {name}")
        planted = os.path.join(made.work, "planted")
        os.symlink(source, planted)
        refused(made, planted, "symbolic link")
        equal(run(made, source, "echo started").stdout, "started\n", "output")


@test
def a_relative_name_and_cdpath_lead_to_the_same_script():
    with world() as made:
        source = compiled(made, "grant write $WORK\n")
        made.make("work/sub/")
        for suffix in (".sh", ".bpf"):
            shutil.copy(source[:-3] + suffix, os.path.join(made.work, "sub"))
        result = run(made, "sub/p.sh", "echo x >>sub/p.sh; rm -f sub/p.sh; ls sub", CDPATH=made.outside)
        equal(result.stdout, "p.bpf\np.sh\n", "output")


@test
def the_head_says_which_granted_variables_do_not_pass_in():
    with world() as made:
        path = compiled(made, 'grant env LC_*, OTHER, SECRET, GIVEN\ngrant env OTHER\ndeny env SECRET\n', "--env", "GIVEN=x")
        with open(path) as file:
            lines = [line for line in file if line.startswith("# Left out:")]
        equal(len(lines), 1, "lines")
        equal(lines[0].split(": ")[2].split(), ["HOME,", "LANG,", "LC_*,", "OTHER"], "variables")
        equal(run(made, path, "echo $GIVEN $OTHER").stdout, "x\n", "output")


main()
