"""What the policy says of paths holds inside: levels at any depth, hidden things, placeholders, patterns,
links (language.md 4 and 7)."""
import os
import signal
import subprocess
import time

from lib import BASE, check, end, equal, main, test, world


def can(w, policy, path):
    """What a command can do at a directory inside: 'none', 'read' or 'write'."""
    script = (
        f"if touch {path}/.probe 2>/dev/null && rm {path}/.probe; then echo write; elif ls {path}/* "
        f">/dev/null 2>&1; "
        "then echo read; else echo none; fi"
    )
    return w.shell(policy, script).succeeded().out.strip()


@test
def nested_levels_hold_at_any_depth():
    with world() as w:
        levels = ["none", "read", "write", "none", "write", "read", "none", "read", "write", "read"]
        path, rules = w.outside, [f"grant read {w.outside}"]
        for number, level in enumerate(levels):
            path = f"{path}/d{number}"
            w.make(os.path.relpath(path, w.top) + "/file", "x")
            if level != "none":
                rules.append(f"grant {level} {path}")
        policy = w.policy("\n".join(rules) + "\n")
        path, expected = w.outside, "read"
        for number, level in enumerate(levels):
            path = f"{path}/d{number}"
            expected = level if level != "none" else expected
            equal(can(w, policy, path), expected, path)


@test
def denials_win_over_deeper_grants_and_cap():
    with world() as w:
        for name in ("a/b/c/file", "r/s/file"):
            w.make(f"work/{name}", "x")
        policy = w.policy("deny $WORK/a\ngrant write $WORK/a/b\ndeny write $WORK/r\ngrant write $WORK/r/s\n")
        for path, level in (
            ("a", "none"),
            ("a/b", "none"),
            ("a/b/c", "none"),
            ("r", "read"),
            ("r/s", "read"),
            (".", "write"),
        ):
            equal(can(w, policy, f"{w.work}/{path}"), level, path)


@test
def exceptions_lift_their_own_denial():
    with world() as w:
        for name in ("keys/a", "keys/public/b"):
            w.make(f"work/{name}", "x")
        policy = w.policy("deny $WORK/keys except $WORK/keys/public\n")
        equal([can(w, policy, f"{w.work}/{path}") for path in ("keys", "keys/public")], ["none", "write"])


@test
def a_hidden_directory_is_empty_and_read_only():
    with world() as w:
        w.make("work/hidden/file", "x")
        result = w.shell(
            "deny $WORK/hidden\n",
            "ls -A hidden; touch hidden/x; mkdir hidden/d; chmod 777 hidden; rmdir hidden; "
            "mv hidden h; stat -c %F:%a hidden; true",
        ).succeeded()
        equal(result.out, "directory:0\n")
        equal(sorted(w.tree()), [f"{w.work}/hidden", f"{w.work}/hidden/file"])


@test
def a_hidden_file_is_an_empty_regular_file_without_a_mode():
    with world() as w:
        w.make("work/secret", "content")
        result = w.shell(
            "deny $WORK/secret\n",
            "cat secret; echo x > secret; chmod 777 secret; rm -f secret; mv secret s; "
            "ln secret l; stat -c %F:%a:%s secret; git init -q . && git add -A . ; true",
        ).succeeded()
        equal(result.out, "regular empty file:0:0\n")
        with open(f"{w.work}/secret") as file:
            equal(file.read(), "content")


@test
# Reported as codex#16451.
def dev_null_works_under_every_policy():
    with world() as w:
        w.make("work/x/y", "")
        for text in (
            "",
            "grant scratch\n",
            "use std/dev\n",
            "deny $WORK/x\n",
            f"grant read /dev\n",
            "deny /dev\n",
            f"grant write {w.top}\n",
        ):
            w.shell(text, "echo x > /dev/null && cat /dev/null").succeeded()


@test
def a_missing_denied_path_cannot_be_made_and_nothing_stays():
    with world() as w:
        policy = w.policy("deny $WORK/file, $WORK/dir/, $WORK/deep/er/file\ndeny write $WORK/kept\n")
        for path in ("file", "dir", "deep/er/file", "kept"):
            for script in (
                f"echo x > {path}",
                f"mkdir -p {path}",
                f"ln -s /etc/passwd {path}",
                f"rm -rf {path}; echo x > {path}",
                f"touch o; mv -f o {path}; rm -f o",
                f"touch o; ln -f o {path}; rm -f o",
                "mv deep d2; mkdir -p deep/er; echo x > deep/er/file; rm -rf d2",
            ):
                w.shell(policy, script + "; true").succeeded()
                equal(sorted(w.tree()), [], f"{path} after {script}")


@test
def placeholders_go_however_the_command_ends():
    with world() as w:
        policy = w.policy("deny $WORK/missing\n")
        w.launch(policy, "no-such-command").exited(127)
        w.shell(policy, "kill -9 $$").exited(137)
        equal(os.listdir(w.work), [])
        process = subprocess.Popen(
            w.command_line(policy, ["sh", "-c", "touch ready; sleep 60"]), cwd=w.work, env=w.environment()
        )
        try:
            while not os.path.exists(f"{w.work}/ready"):
                time.sleep(0.01)
            check(os.path.exists(f"{w.work}/missing"), "there was no placeholder")
            process.send_signal(signal.SIGTERM)
            equal(process.wait(timeout=20), 128 + signal.SIGTERM)
        finally:
            end(process)
        equal(os.listdir(w.work), ["ready"])


@test
def a_denial_that_cannot_be_held_refuses_the_launch():
    with world() as w:
        w.make("work/file", "x")
        os.symlink("nowhere/deeper", f"{w.work}/dangling")
        for path in ("file/below", "dangling/below"):
            before = w.tree()
            w.launch(f"deny $WORK/{path}\n", "touch", "ran").refused(path)
            equal(w.tree(), before)


@test
def directories_above_a_lower_place_stay_where_they_are():
    with world() as w:
        w.make("work/a/b/c/secret", "x")
        policy = w.policy("deny $WORK/a/b/c/secret\ndeny write $WORK/p/q/r\n")
        before = w.tree()
        w.shell(
            policy,
            "mv a a2; mv a/b a/b2; mv a/b/c a/b/c2; rm -rf a; mv p p2; mkdir -p p/q; echo x > p/q/r; "
            "rm -rf a2 a/b2 a/b/c2 p2 2>/dev/null; true",
        )
        equal(w.tree(), before)


@test
def pattern_matches_are_hidden_and_exceptions_are_not():
    with world() as w:
        for name in ("a.pem", "d/e/b.pem", "tests/fixtures/c.pem", "d/x.txt", ".hidden.pem"):
            w.make(f"work/{name}", f"content of {name}\n")
        out = (
            w.shell(
                "deny $WORK/**/*.pem except $WORK/tests/fixtures\n",
                "cat $(find . -type f) 2>/dev/null | sort; true",
            )
            .succeeded()
            .out
        )
        equal(out, "content of d/x.txt\ncontent of tests/fixtures/c.pem\n")


@test
def a_link_that_the_command_could_have_planted_grants_nothing():
    with world() as w:
        w.make("outside/file", "content")
        os.symlink(w.outside, f"{w.work}/planted")
        result = w.launch("grant read $WORK/planted\n", "cat", f"{w.outside}/file", "planted/file")
        check("content" not in result.out, result.out)


@test
def a_link_outside_grants_what_it_leads_to():
    with world() as w:
        w.make("outside/file", "content\n")
        os.symlink(w.outside, f"{w.top}/link")
        out = (
            w.launch(f"grant read {w.top}/link\n", "cat", f"{w.top}/link/file", f"{w.outside}/file")
            .succeeded()
            .out
        )
        equal(out, "content\ncontent\n")


@test
def a_denied_link_hides_what_it_leads_to():
    with world() as w:
        w.make("work/real", "content")
        os.symlink("real", f"{w.work}/link")
        out = w.shell("deny $WORK/link\n", "cat link real; rm -f link; echo x > link; true").out
        check("content" not in out, out)
        check(os.path.islink(f"{w.work}/link"), "the link was replaced")


@test
def names_with_awkward_bytes_are_held():
    with world() as w:
        for name in ("a b", "quote'\"", "star*", "new\nline", "-dash", "ümlaut", "back\\slash"):
            w.make(f"work/{name}", "content")
        policy = w.policy(
            'deny $WORK/a\\ b, "$WORK/quote\'\\"", $WORK/star\\*, $WORK/new\\x0aline, $WORK/-dash, '
            '$WORK/ümlaut, '
            "$WORK/back\\\\slash\n"
        )
        equal(w.shell(policy, "cat -- * 2>/dev/null; true").succeeded().out, "")


@test
def grants_below_a_hidden_temporary_directory_show_though_the_workspace_is_around_it():
    for base in ("/tmp", "/var/tmp"):
        with world(base) as w:
            for name in ("a/g/mine", "a/r/theirs", "a/g/closed/x", "a/other", "b"):
                w.make(f"work/{name}", "x")
            policy = w.policy("use std/env\ngrant scratch\ngrant write $WORK/a/g\ngrant read $WORK/a/r\ndeny $WORK/a/g/closed\n")
            result = w.shell(policy, "cat a/other; cat a/g/mine; touch a/g/new; cat a/r/theirs; ls a/g/closed; touch a/r/new; touch a/new; touch c",
                             env=w.environment(TMPDIR=f"{w.work}/a"))
            equal(result.out, "xx", f"{base}: {result.err}")
            equal(sorted(os.listdir(f"{w.work}/a/g") + os.listdir(f"{w.work}/a/r") + os.listdir(w.work)),
                  ["a", "b", "c", "closed", "mine", "new", "theirs"], f"{base}: {result.err}")
            equal(result.err.count("Permission denied") + result.err.count("Read-only"), 3, result.err)


@test
def scratch_is_private_empty_and_gone_afterwards():
    with world() as w:
        before = set(os.listdir("/tmp"))
        policy = w.policy("grant scratch\n")
        out = w.shell(
            policy,
            f"ls -A /tmp | grep -v {w.top.split('/')[2]}; echo x > /tmp/made && stat -c %a /tmp; df /tmp "
            f"| tail -1 | cut -d' ' -f1",
        )
        equal(out.succeeded().out, "1777\ntmpfs\n")
        equal(w.shell(policy, "cat /tmp/made").code, 1)
        check("made" not in set(os.listdir("/tmp")) - before, "it reached the host")


main()
