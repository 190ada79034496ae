"""What was reported of other sandboxes, tried here (docs/comparison.md). A test's text names the reports: srt
is sandbox-runtime, the others go by their repository."""
import contextlib
import glob
import os
import re
import socket
import subprocess

from lib import SECRET, TREE, check, equal, main, test, world

HOME = "grant write ~\n"
DEV = 'sbx 1\npolicy "t"\nuse std/dev\ngrant write $WORK\n'


def fails(w, policy, script, **more):
    """The script runs and does not succeed, and shows no secret."""
    result = w.shell(policy, script, **more)
    check(result.code not in (0, 125), f"{script}: exit {result.code} {result.err}")
    check(SECRET not in result.out, f"{script} shows a secret")


def compile_fails(w, text, *words):
    result = w.compile(f'sbx 1\npolicy "t"\n{text}', check_status=False)
    message = result.stderr.decode()
    check(result.returncode in (2, 3), f"exit {result.returncode}: {text}")
    for word in words:
        check(word in message, f"{word!r} is not in {message}")


@contextlib.contextmanager
def server(family, address):
    with socket.socket(family) as listening:
        listening.bind(address)
        listening.listen(8)
        yield listening


CONNECT = """
import socket, sys
with socket.socket(getattr(socket, sys.argv[1])) as s:
    s.settimeout(5)
    s.connect(sys.argv[2] if sys.argv[1] == "AF_UNIX" else (sys.argv[2], int(sys.argv[3])))
    print("reached")
"""


def reaches(w, policy, *where):
    result = w.python(policy, CONNECT, *[str(word) for word in where])
    check(result.code in (0, 1), f"{result.code}: {result.err}")
    return "reached" in result.out


@test
def nothing_granted_is_nothing_open():
    """srt's empty allowedDomains, which meant no restriction; copilot-cli#3653 and mxc#482, where the home
    was readable."""
    with world() as w, server(socket.AF_INET, ("127.0.0.1", 0)) as listening:
        w.make("home/secret", SECRET)
        check(not reaches(w, "", "AF_INET", *listening.getsockname()), "the host was reached")
        fails(w, "", "cat ~/secret")
        fails(w, "use std/dev\n", "cat ~/secret")


@test
def listening_opens_no_way_out():
    """srt#88, srt#131, srt#188, srt#225: allowing local binding opened every connection."""
    with world() as w, server(socket.AF_INET, ("127.0.0.1", 0)) as listening:
        policy = "grant listen loopback port 3000\n"
        compile_fails(w, policy, "SBX300")
        policy += 'accept listen on bwrap because "it is tried"\n'
        check(not reaches(w, policy, "AF_INET", *listening.getsockname()), "the host was reached")


@test
def a_directory_above_a_denied_file_stays_where_it_is():
    """srt#8: a denied file was read after its directory had been renamed."""
    with world() as w:
        w.make("work/a/b/secret", SECRET)
        policy = w.policy("deny $WORK/a/b/secret\n")
        fails(w, policy, "mv a c || mv a/b a/c")
        fails(w, policy, "cat c/b/secret a/c/secret a/b/secret")


@test
def a_file_denied_in_a_readable_directory_stays_closed():
    """srt#193 and openclaw#91741: a grant of what lies around let a denied path be read; OpenShell#698: a
    file for reading in a writable directory stayed writable."""
    with world() as w:
        w.make("outside/d/secret", SECRET)
        w.make("work/fixed", "before")
        policy = f"grant read {w.outside}\ndeny {w.outside}/d/secret\ngrant read $WORK/fixed\n"
        fails(w, policy, f"cat {w.outside}/d/secret")
        fails(w, policy, "echo after > fixed")
        fails(w, policy, "rm -f fixed")


@test
def writing_where_nothing_may_be_written_fails():
    """srt#149: writes into a denied directory seemed to succeed; codex#36852: so did writes beside what was
    granted."""
    with world() as w:
        w.make("work/closed/file", "x")
        for place in ("closed", w.outside, "/", "/usr", "/etc"):
            fails(w, "deny $WORK/closed\n", f"echo x > {place}/new")
        equal(os.listdir(w.outside), [])


@test
def a_pattern_says_where_it_starts():
    """srt#432: patterns that start with two stars silently meant the working directory; srt#154: grants by
    pattern were dropped; codex#22179, codex#22351, claude-code#92684: patterns of denies did not hold."""
    with world() as w:
        compile_fails(w, "deny **/x\n", "$WORK/")
        compile_fails(w, "grant write $WORK/d/**\n", "pattern")
        w.make("work/a/b/.env", SECRET)
        w.make("work/one/fixed/file", "before")
        policy = "deny $WORK/**/.env\ndeny write $WORK/*/fixed\n"
        fails(w, policy, "cat a/b/.env")
        fails(w, policy, "echo after > one/fixed/file")


@test
def a_path_that_is_not_absolute_is_an_error():
    """claude-code#50454: relative denies did nothing; srt#79: one that went up closed the working
    directory."""
    with world() as w:
        compile_fails(w, "deny secrets\n", "$WORK/secrets")
        compile_fails(w, "deny $WORK/../x\n", "..")


@test
def what_a_shell_runs_stays_closed_in_a_home_that_may_be_written():
    """srt#175, fence#125: only the working directory's own files were protected; gemini-cli#28215: the tool's
    and Git's configuration could be written."""
    with world() as w:
        below = w.make("home/src/project/")
        w.make("home/.gitconfig", "before")
        policy = w.compile(DEV + HOME)
        for name in (".bashrc", ".profile", ".gitconfig", ".ssh/config"):
            fails(w, policy, f"mkdir -p ~/.ssh; echo evil >> ~/{name}", cwd=below)


@test
def a_socket_in_a_place_for_reading_is_not_reached():
    """greywall#32, greywall#55, nono#1711, landrun#43, kilocode#11650, fence#186, agent-safehouse#19: a
    directory for reading, or a denied file, did not keep a command from connecting to the socket in it."""
    with world() as w, server(socket.AF_UNIX, f"{w.outside}/docker.sock"):
        path = f"{w.outside}/docker.sock"
        for policy in (
            f"grant read {w.outside}\n",
            f"grant scratch\ngrant read {w.outside}\n",
            f"grant scratch\ngrant write {w.outside}\n",
            f"grant scratch\ngrant read {w.outside}\ndeny {path}\n",
        ):
            check(not reaches(w, policy, "AF_UNIX", path), policy)


@test
def one_socket_is_opened_by_its_path():
    """claude-code#44180, srt#343, codex#39140: on Linux it was all sockets or none."""
    with world() as w, server(socket.AF_UNIX, f"{w.outside}/a"), server(socket.AF_UNIX, f"{w.outside}/b"):
        policy = f"grant socket {w.outside}/a\n"
        check(reaches(w, policy, "AF_UNIX", f"{w.outside}/a"), "the granted one is closed")
        check(not reaches(w, policy, "AF_UNIX", f"{w.outside}/b"), "its neighbour is open")


@test
def what_only_a_cooperating_program_would_heed_is_refused():
    """nono#713, claude-code#40213, claude-code#87381: host names were held by variables or by one kind of
    connection."""
    with world() as w:
        compile_fails(w, "grant network host example.org\n", "SBX300", "accept")


@test
def a_missing_path_takes_no_other_rule_along():
    """OpenShell#664: one missing path dropped every rule; codex's missing writable roots; claude-code#39284
    and claude-code#86508: a missing denied path, or one through a link, stopped every command."""
    with world() as w:
        w.make("outside/secret", SECRET)
        os.symlink(f"{w.outside}", f"{w.home}/link")
        policy = f"grant write {w.top}/missing\ndeny $WORK/missing, ~/link/missing, ~/nowhere/at/all\n"
        w.shell(policy, "echo x > file && cat file").succeeded()
        fails(w, policy, f"cat {w.outside}/secret")
        equal(os.listdir(w.work), ["file"])


@test
def renaming_and_linking_between_directories_work():
    """landrun#48: files could not be moved to another directory."""
    with world() as w:
        script = "mkdir a b && echo x > a/f && mv a/f b/g && ln b/g a/h && mv b a/b && cat a/b/g a/h"
        w.shell("", script).succeeded()


@test
def nothing_goes_into_or_out_of_a_denied_place_by_another_name():
    """pmg#446, cplt#455: renames and links put files into denied places; sandlock#179: a hard link took one
    out."""
    with world() as w:
        w.make("work/closed/secret", SECRET)
        w.make("outside/secret", SECRET)
        w.make("work/mine", "x")
        policy = f"deny $WORK/closed\ngrant read {w.outside}\n"
        for script in (
            "mv mine closed/",
            "ln mine closed/mine",
            "mv -T mine closed",
            "ln closed/secret out && cat out",
            f"ln {w.outside}/secret out && echo x > out",
        ):
            fails(w, policy, script)
        equal(os.listdir(f"{w.work}/closed"), ["secret"])


@test
def a_deny_through_a_link_holds_under_both_names():
    """nono#272, nono#393, nono#1771: a denied link, or one below a linked directory, was read at its
    target."""
    with world() as w:
        w.make("outside/real/deep/secret", SECRET)
        os.symlink("real", f"{w.outside}/first")
        os.symlink("first", f"{w.outside}/second")
        policy = f"grant read {w.outside}\ndeny {w.outside}/second/deep\n"
        for name in ("real", "first", "second"):
            fails(w, policy, f"cat {w.outside}/{name}/deep/secret")


@test
def a_link_in_place_of_what_a_preset_denies_is_held_or_named():
    """srt#221, claude-code#57266, claude-code#72748, codex#15725, codex#20716, codex#27354: a link or a
    directory where a file was expected ended every command with an internal message."""
    with world() as w:
        w.make("work/real/file", "x")
        os.symlink("real", f"{w.work}/.vscode")
        w.shell(w.compile(DEV), "true").refused(".vscode", "help:")
        os.unlink(f"{w.work}/.vscode")
        w.make("work/.mcp.json/file", "x")
        w.shell(w.compile(DEV), "true").succeeded()
        fails(w, w.compile(DEV), "echo y > .mcp.json/file")


@test
def a_managed_deny_beats_the_users_grant():
    """claude-code#43043, claude-code#31296, claude-code#31925, claude-code#55343: what the organisation
    denied was opened again."""
    with world() as w:
        secret = w.make("home/private/key", SECRET)
        layer = w.compile(f'sbx 1\nmanaged "org"\ndeny {w.home}/private\n')
        managed = os.path.dirname(w.make("managed/x"))
        os.replace(layer, f"{managed}/org.bin")
        os.unlink(f"{managed}/x")
        policy = w.policy("grant write ~\ngrant read ~/private\ngrant read ~/private/key\n")
        result = w.launch(policy, "cat", secret, options=["--managed", managed])
        check(result.code not in (0, 125) and SECRET not in result.out, f"{result.code} {result.err}")


@test
def a_sandbox_that_cannot_be_made_runs_nothing():
    """claude-code#84563, srt#13, srt#97, omnigent#1717, agent-code#342, octos#2196, OpenShell#584,
    OpenShell#803: the command ran without a sandbox; copilot-cli#4853: it hung without a word."""
    with world() as w:
        inner = w.policy("")
        directory = os.path.dirname(os.path.realpath(w.command_line(inner, ["true"])[0]))
        line = w.command_line(inner, ["touch", f"{w.work}/ran"])
        outer = f"grant read {w.top}/policies, {directory}\n"
        result = w.launch(outer, *line, timeout=60).exited(125)
        check("error[SBX" in result.err and "help:" in result.err, result.err)
        check(not os.path.exists(f"{w.work}/ran"), "the command ran")


@test
def no_file_is_left_and_git_sees_none():
    """srt#103, srt#106, srt#139, claude-code#25603, claude-code#50781, codex#16088, codex#18043, codex#37318:
    what held missing paths stayed behind, stood in the way of Git, or could not be made."""
    with world() as w:
        git = ["git", "-C", w.work, "-c", "safe.directory=*"]
        subprocess.run([*git, "init", "-q"], check=True, env=w.environment())
        before = w.tree()
        policy = w.compile(DEV + "deny $WORK/.env, $WORK/a/b/key\n")
        result = w.shell(policy, "git status --porcelain --ignored=no; git stash list; exit 3").exited(3)
        equal(result.out, "")
        equal(w.tree(), before)


@test
def levels_nest_in_any_order():
    """srt#171, srt#267, srt#446, codex#13635, codex#23601: the order of mounts decided what a nested rule
    meant."""
    with world() as w:
        w.make("work/a/b/c/file", "before")
        w.make("work/a/closed/open/secret", SECRET)
        lines = ["grant read $WORK/a", "grant write $WORK/a/b", "grant read $WORK/a/b/c", "deny $WORK/a/closed",
                 "grant write $WORK/a/closed/open"]
        for rules in (lines, lines[::-1]):
            policy = w.policy("\n".join(rules) + "\n")
            fails(w, policy, "echo x > a/new")
            w.shell(policy, "echo x > a/b/new && cat a/b/c/file").succeeded()
            fails(w, policy, "echo x > a/b/c/file")
            fails(w, policy, "cat a/closed/open/secret")


@test
def tmp_is_private_and_what_the_launcher_keeps_is_elsewhere():
    """srt#176, srt#294, cplt#305, codex#39944: a denied or hidden /tmp took away the tool's own sockets and
    files, or was not writable at all; claude-code#91676: a temporary directory was asked for by a variable
    that nobody heeded."""
    with world(base="/var/tmp") as w:
        policy = "grant scratch\ndeny ~/.local/state\n"
        out = w.shell(policy, 't=$(mktemp -d) && echo x > "$t/f" && cat "$t/f" && echo "$t"').succeeded().out
        check(out.split()[1].startswith("/tmp/"), out)
        w.shell("deny /tmp/\n", "true").succeeded()


@test
def a_link_to_the_resolver_shows_what_it_leads_to():
    """mise#11958, fence#139, codex#34530: a granted link led to a directory that was not there."""
    with world() as w:
        w.make("outside/run/resolv.conf", "nameserver 192.0.2.1")
        os.symlink("../outside/run/resolv.conf", w.make("etc/") + "/resolv.conf")
        out = w.shell(f"grant read {w.top}/etc/resolv.conf\n", f"cat {w.top}/etc/resolv.conf").succeeded().out
        equal(out, "nameserver 192.0.2.1")


LOOPBACK = """
import socket
for family, here in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
    with socket.socket(family) as server:
        server.bind((here, 0))
        server.listen(1)
        port = server.getsockname()[1]
        socket.create_connection((here, port), 5).close()
        if here == "127.0.0.1":
            socket.create_connection(("::ffff:127.0.0.1", port), 5).close()
print("all")
"""


@test
def the_own_loopback_works_by_every_spelling():
    """codex#4279, codex#28517, codex#33227, codex#42925, srt#494: servers of the command itself could not be
    reached; fence#128, fence#193: the host's could, or not, without a word."""
    with world() as w, server(socket.AF_INET, ("127.0.0.1", 0)) as listening:
        equal(w.python("", LOOPBACK).succeeded().out, "all\n")
        port = listening.getsockname()[1]
        for spelling in ("127.0.0.1", "127.0.0.2"):
            check(not reaches(w, "", "AF_INET", spelling, port), spelling)
        check(not reaches(w, "", "AF_INET6", "::ffff:127.0.0.1", port), "by version 6")


@test
def a_path_below_a_file_cannot_be_and_is_no_error():
    """fence#13: a deny below a file ended every command; codex#40433: a grant of a single file was taken for
    a directory."""
    with world() as w:
        w.make("home/.ssh", "a file")
        single = w.make("outside/single", "before")
        w.shell(f"deny ~/.ssh/id_rsa\ngrant write {single}\n", f"echo after > {single}").succeeded()
        with open(single) as file:
            equal(file.read(), "after\n")


@test
def where_the_command_starts_opens_nothing():
    """codex's CVE-2025-59532: a directory that the model chose became writable."""
    with world() as w:
        policy = w.policy(f"grant read {w.outside}\n")
        result = w.launch(policy, "touch", "new", options=["--chdir", w.outside])
        check(result.code not in (0, 125), f"{result.code}: {result.err}")
        equal(os.listdir(w.outside), [])


@test
def rules_do_not_depend_on_the_command():
    """copilot-cli#4846: a user's rule held for a program under one name and not under another."""
    with world() as w:
        policy = w.compile(DEV + f"grant write {w.outside}\n")
        for number, start in enumerate((["sh"], ["env", "sh"], ["/bin/sh"])):
            w.launch(policy, *start, "-c", f"echo x > {w.outside}/{number}").succeeded()


@test
def the_workspace_alone_is_open():
    """copilot-cli#892: paths that go up, absolute ones and links led out of the workspace."""
    with world() as w:
        secret = w.make("outside/secret", SECRET)
        os.symlink(secret, f"{w.work}/link")
        for path in ("../outside/secret", secret, "link", "/proc/self/cwd/../outside/secret"):
            fails(w, "", f"cat {path}")


@test
def a_directory_that_only_lets_pass_hides_no_grant():
    """bubblewrap#801, tend#1279: after a correction, links such as /var/run and directories of mode 0711
    stopped the start."""
    with world() as w:
        inner = w.make("outside/pass/granted/file", "x")
        os.chmod(f"{w.outside}/pass", 0o711)
        w.shell(f"grant read {w.outside}/pass/granted, /var/run/nowhere\n", f"cat {inner}").succeeded()


@test
def what_is_found_by_itself_widens_nothing():
    """OpenShell#905: the tool's own defaults made a directory writable that the policy gave for reading."""
    with world() as w:
        w.make("work/.venv/bin/tool", "x")
        environment = w.environment(PATH=f"{w.work}/.venv/bin:/usr/bin:/bin", VIRTUAL_ENV=f"{w.work}/.venv")
        policy = w.compile(DEV + "grant read $WORK/.venv\n")
        fails(w, policy, "echo x > .venv/bin/tool", env=environment)


def tests_of(path):
    with open(path) as file:
        return set(re.findall(r"^(?:def |static void )(\w+)", file.read(), re.M))


@test
def every_test_that_the_comparison_names_is_there():
    with open(f"{TREE}/docs/comparison.md") as file:
        named = re.findall(r"`(sandbox|escape|unit)/([\w.]+) (\w+)`", file.read())
        file.seek(0)
        cases = re.findall(r"`cases/([\w-]+)`", file.read())
    check(len(named) > 50, f"only {len(named)} tests are named")
    for folder, name, function in named:
        found = tests_of(f"{TREE}/tests/{folder}/{name}")
        check(function in found, f"{folder}/{name} has no {function}")
    for case in cases:
        check(os.path.exists(f"{TREE}/tests/cases/{case}.case"), f"there is no case {case}")


@test
def every_report_that_a_test_names_stands_in_the_comparison():
    with open(f"{TREE}/docs/comparison.md") as file:
        told = file.read()
    for path in glob.glob(f"{TREE}/tests/sandbox/*.py"):
        with open(path) as file:
            for report in re.findall(r"\b[A-Za-z][\w-]*#\d+", file.read()):
                check(report in told, f"{report}, which {path} names, is not in docs/comparison.md")


main()
