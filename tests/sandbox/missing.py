"""Denied paths that do not exist cannot be created, and what holds them is gone afterwards (language.md 7)."""
import os
import pwd
import resource

from lib import IS_ROOT, check, equal, main, test, world


@test
def a_missing_denied_path_cannot_be_created():
    with world() as w:
        policy = "deny $WORK/.env\ndeny $WORK/keys/\ndeny write $WORK/.vscode/settings.json\n"
        before = w.tree()
        for script in ("echo x > .env", "rm -f .env && echo x > .env", "touch keys/k", "mkdir keys/k", "rmdir keys",
                       "mv keys k", "ln -sf /etc/passwd .env", "touch n && mv n .env", "mkdir -p .vscode && echo > .vscode/settings.json",
                       "rm -rf .vscode && mkdir .vscode && echo > .vscode/settings.json", "mv .vscode v"):
            result = w.shell(policy, script)
            check(result.code not in (0, 125), f"{script}: {result.code} {result.err}")
            equal([path for path in w.tree() if path not in before and "/n" not in path], [], script)


@test
def the_rest_of_the_directory_stays_usable():
    with world() as w:
        policy = "deny $WORK/.env\ndeny write $WORK/a/b/hook\n"
        w.shell(policy, "echo x > file && mkdir d && mv file d/ && echo y > a/b/mine && cat d/file a/b/mine").succeeded()
        equal(sorted(os.listdir(w.work)), ["a", "d"])
        equal(os.listdir(f"{w.work}/a/b"), ["mine"])


@test
def placeholders_disappear_whatever_the_end():
    with world() as w:
        policy = w.policy("deny $WORK/.env\ndeny write $WORK/a/b/c\ndeny $WORK/d/\n")
        for command, code in ((["true"], 0), (["sh", "-c", "exit 7"], 7), (["sh", "-c", "kill -9 $$"], 137),
                              (["no-such-program"], 127)):
            w.launch(policy, *command).exited(code)
            equal(w.tree(), {}, f"after {command}")
        w.launch(policy, "true", options=["--dry-run"]).succeeded()
        equal(w.tree(), {}, "after a dry run")


@test
def a_missing_denied_path_shows_as_empty_and_closed():
    with world() as w:
        result = w.python("deny $WORK/.env\ndeny write $WORK/hooks/\n",
                          "import os, stat\n"
                          "print(stat.S_ISREG(os.stat('.env').st_mode), os.stat('.env').st_size, os.listdir('hooks'))\n"
                          "try: open('.env')\n"
                          "except PermissionError: print('closed')\n").succeeded()
        check(result.out.startswith("True 0 []"), result.out)
        check(IS_ROOT or "closed" in result.out, result.out)


@test
def a_missing_grant_that_lowers_holds_too():
    with world() as w:
        policy = "grant read $WORK/vendor/\n"
        check(w.shell(policy, "mkdir -p vendor && touch vendor/x").code != 0, "it was created writable")
        equal(w.tree(), {})


@test
def a_placeholder_in_a_git_directory_does_not_break_git():
    with world() as w:
        w.make("work/repo/.git/HEAD", "ref: refs/heads/main\n")
        w.make("work/repo/.git/objects/")
        w.make("work/repo/.git/refs/")
        result = w.shell("deny write $WORK/repo/.git/commondir\n", "cd repo && git status --short && cat .git/commondir")
        equal(result.succeeded().out, ".\n")
        check(not os.path.exists(f"{w.work}/repo/.git/commondir"), "it was left behind")


@test
def no_placeholder_is_made_through_a_link():
    with world() as w:
        os.symlink(w.outside, f"{w.work}/dir")
        w.shell("deny $WORK/dir/key\n", "true").refused("dir")
        equal(os.listdir(w.outside), [])


@test
def where_no_placeholder_can_be_put_nothing_runs():
    with world() as w:
        w.make("work/file", "x")
        w.shell("deny $WORK/file/key\n", "touch ran").refused("file")
        check(not os.path.exists(f"{w.work}/ran"), "the command ran")
        if IS_ROOT:
            w.make("work/theirs/")
            os.chown(f"{w.work}/theirs", pwd.getpwnam("nobody").pw_uid, 0)
            w.shell("deny $WORK/theirs/key\n", "touch ran").refused("theirs", "another user")
            equal(os.listdir(f"{w.work}/theirs"), [])


def with_open_files(soft, hard):
    return lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@test
def each_takes_an_open_file_of_what_the_caller_may_have():
    with world() as w:
        policy = w.policy("".join(f"deny write $WORK/d/f{number}\n" for number in range(700)))
        result = w.shell(policy, "ulimit -Sn; ulimit -Hn", preexec_fn=with_open_files(300, 2000)).succeeded()
        equal(result.out, "300\n2000\n", "the command's own limit")
        result = w.shell(policy, "true", preexec_fn=with_open_files(300, 600))
        result.refused("SBX463", "765 open files", "600", "ulimit")
        equal(w.tree(), {})


@test
def what_was_there_before_is_not_removed():
    with world() as w:
        w.make("work/.env", "")
        w.make("work/keys/")
        w.shell("deny $WORK/.env\ndeny $WORK/keys/\ndeny $WORK/missing\n", "true").succeeded()
        equal(sorted(os.listdir(w.work)), [".env", "keys"])


main()
