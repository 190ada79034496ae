#!/usr/bin/python3
"""In a Git work tree nothing is seen of what holds missing denied paths, neither inside nor by a Git on
the host, neither during a run nor after it."""
import os
import stat
import subprocess
import time

from lib import check, end, equal, main, test, world

IDENTITY = {"GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.org", "GIT_COMMITTER_NAME": "A",
            "GIT_COMMITTER_EMAIL": "a@example.org"}
POLICIES = {
    "closed": "deny $WORK/.env, $WORK/d/key\n",
    "read-only": "deny write $WORK/.env, $WORK/.gitattributes, $WORK/.gitmodules, $WORK/.mailmap, $WORK/d/e/file, $WORK/dir/\n",
    "preset": "use std/dev\n",
    "both": "use std/dev\ndeny $WORK/.env, $WORK/a/b\ndeny write $WORK/conf, $WORK/a/c\n",
}


def git(w, *words):
    return subprocess.run(["git", *words], cwd=w.work, env=w.environment(**IDENTITY), check=True, capture_output=True,
                          text=True).stdout


def repository(w):
    git(w, "init", "-q", "-b", "main")
    w.make("work/tracked", "one\n")
    git(w, "add", "-A")
    git(w, "commit", "-q", "-m", "start")


def policy(w, text):
    return w.compile('sbx 1\npolicy "t"\nuse std/system\nuse std/git\ngrant env PATH, HOME, LANG, GIT_*\ngrant write $WORK\n' + text)


def inside(w, text, script):
    return w.shell(policy(w, text), "set -e\n" + script, env=w.environment(**IDENTITY))


@test
def git_works_inside_and_sees_nothing():
    for name, text in POLICIES.items():
        with world("/var/tmp") as w:
            repository(w)
            result = inside(w, text, """
                git status --short; git status --short --ignored=no; git ls-files -o --exclude-standard
                echo two >> tracked; echo new > new; git add -A; git commit -qm all
                echo three >> tracked; git commit -qam commit-a; echo four >> tracked; git add .; git commit -qm dot
                echo five >> tracked; echo u > untracked; git stash -qu; git status --short; git stash pop -q
                git status --short; git add -A; git commit -qm last; git checkout -q -b side; git merge -q main
                git rebase -q main; git diff --stat; git log --format=%s""")
            equal(result.succeeded().out.splitlines(),
                  [" M tracked", "?? untracked", "last", "dot", "commit-a", "all", "start"], f"{name}: {result.err}")
            check(name == "closed" or result.err == "", f"{name}: {result.err}")
            equal(git(w, "ls-files").split(), ["new", "tracked", "untracked"], name)
            equal(git(w, "status", "--short", "--ignored"), "", f"{name}: afterwards")


@test
def a_git_on_the_host_sees_nothing_either():
    for name, text in POLICIES.items():
        with world("/var/tmp") as w:
            repository(w)
            before = w.tree()
            running = w.start(policy(w, text), "sh", "-c", "touch .git/ready; while [ ! -e .git/go ]; do sleep 0.05; done")
            for _ in range(1000):
                if os.path.exists(f"{w.work}/.git/ready"):
                    break
                time.sleep(0.02)
            os.unlink(f"{w.work}/.git/ready")
            check(len(w.tree()) > len(before), f"{name}: no placeholder, so this shows nothing")
            equal(git(w, "status", "--short"), "", name)
            w.make("work/mine", "")
            git(w, "add", "-A")
            equal(git(w, "status", "--short"), "A  mine\n", name)
            git(w, "stash", "-q", "-u")
            equal(git(w, "stash", "show", "--only-untracked", "--name-only"), "", name)
            w.make("work/.git/go")
            equal(running.wait(30), 0)
            equal(git(w, "status", "--short", "--ignored"), "", f"{name}: afterwards")


@test
def a_missing_denied_file_shows_as_an_empty_one():
    with world("/var/tmp") as w:
        repository(w)
        script = "\n".join(["import os, stat"] + [f"""
for name in ("closed", "read"):
    status = os.stat(name)
    print(name, stat.S_ISREG(status.st_mode), status.st_size)
    for how in ("r", "w", "a"):
        try:
            print(repr(open(name, how).read() if how == "r" else open(name, how)))
        except OSError as error:
            print(type(error).__name__)
"""])
        result = w.python(policy(w, "deny $WORK/closed\ndeny write $WORK/read\n"), script).succeeded()
        lines = result.out.splitlines()
        equal((lines[0], lines[1], lines[4], lines[5]), ("closed True 0", "PermissionError", "read True 0", "''"), result.out)
        check(all(line in ("OSError", "PermissionError") for line in lines[2:4] + lines[6:]), result.out)


@test
def it_cannot_be_made_moved_or_used_as_a_socket():
    with world("/var/tmp") as w:
        repository(w)
        before = w.tree()
        for script in ("echo x > .env", "rm -f .env; echo x > .env", "mv .env e", "ln .env e", "touch f; mv -f f .env",
                       "python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\".env\")'"):
            w.shell(policy(w, "deny $WORK/.env\n"), script)
        result = w.tree()
        result.pop(f"{w.work}/f", None)
        equal({path: what for path, what in result.items() if "/.git/" not in path},
              {path: what for path, what in before.items() if "/.git/" not in path})


@test
def runs_that_overlap_share_it_and_the_last_removes_it():
    with world("/var/tmp") as w:
        repository(w)
        one, other = policy(w, "deny $WORK/.env\n"), policy(w, "deny write $WORK/.env\n")
        for order in ((one, other), (other, one), (one, one)):
            first = w.start(order[0], "sleep", "1")
            time.sleep(0.5)
            check(stat.S_ISSOCK(os.lstat(f"{w.work}/.env").st_mode), "it is no socket")
            second = w.start(order[1], "sh", "-c", "sleep 1; echo x > .env; ls -l .env; git status --short")
            equal(first.wait(30), 0)
            check(os.path.lexists(f"{w.work}/.env"), "the first run took away what the second needs")
            output = second.communicate(timeout=30)[0].decode()
            check(output.count("\n") == 2 and "r--" in output or "---" in output, output)
            equal(os.listdir(w.work).count(".env"), 0, output)
            equal(git(w, "status", "--short"), "")


@test
def what_a_killed_run_left_is_removed_by_the_next_and_not_before_others_end():
    with world("/var/tmp") as w:
        repository(w)
        text = policy(w, "deny $WORK/.env\ndeny write $WORK/d/conf\n")
        runs = [w.start(text, "sleep", "30") for _ in range(2)]
        for _ in range(500):
            if len(os.listdir(f"{w.home}/.local/state/sbx/placeholders") if os.path.exists(f"{w.home}/.local/state/sbx/placeholders") else []) == 2:
                break
            time.sleep(0.01)
        end(runs[0])
        w.launch(policy(w, ""), "true", cwd=w.make("elsewhere/")).succeeded()
        check(os.path.lexists(f"{w.work}/.env"), "it was removed below a living run")
        end(runs[1])
        equal(git(w, "status", "--short"), "", "after a kill")
        w.launch(policy(w, ""), "true", cwd=w.make("elsewhere/")).succeeded()
        equal(sorted(os.listdir(w.work)), [".git", "tracked"])


@test
def in_another_repository_it_is_the_same():
    with world("/var/tmp") as w:
        nested = w.make("work/nested/")
        w.make("work/nested/tracked", "one\n")
        for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "start"]):
            git(w, "-C", nested, *words)
        result = w.shell(policy(w, "deny $WORK/nested/.env\ndeny write $WORK/nested/a/b\n"),
                         "cd nested; git status --short; git add -A; git status --short", env=w.environment(**IDENTITY))
        equal((result.out, sorted(os.listdir(nested))), ("", [".git", "tracked"]), result.err)


if __name__ == "__main__":
    main()
