"""Everyday Git under `use std/dev` and `grant write $WORK`: commands do their work and leave a clean work tree."""
import subprocess

from lib import check, equal, main, test, world

POLICY = 'sbx 1\npolicy "t"\nuse std/dev\ngrant write $WORK\n'
IDENTITY = {"GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.org", "GIT_COMMITTER_NAME": "A",
            "GIT_COMMITTER_EMAIL": "a@example.org"}


def git(w, *words, cwd=None):
    command = ["git", "-c", "protocol.file.allow=always", *words]
    return subprocess.run(command, cwd=cwd or w.work, env=w.environment(**IDENTITY), check=True, capture_output=True,
                          text=True).stdout


def inside(w, script, policy=POLICY):
    return w.shell(w.compile(policy), "set -e\n" + script, env=w.environment(**IDENTITY)).succeeded()


def repository(w, cwd=None):
    git(w, "init", "-q", "-b", "main", cwd=cwd)
    git(w, "commit", "-q", "--allow-empty", "-m", "start", cwd=cwd)


def clean(w):
    equal(git(w, "status", "--short", "--ignored"), "", "git status afterwards")


@test
def a_repository_is_made_and_filled():
    with world("/var/tmp") as w:
        result = inside(w, """
            git init -q -b main; mkdir src; echo one > src/a; git add -A; git commit -qm one
            echo two >> src/a; git commit -qam two; git tag -a -m tagged v1; git log --format=%s; git status --short""")
        equal(result.out, "two\none\n")
        equal(git(w, "show", "--format=", "--name-only", "HEAD~").split(), ["src/a"])
        clean(w)


@test
def branches_are_merged_rebased_and_picked():
    with world("/var/tmp") as w:
        repository(w)
        result = inside(w, """
            echo base > f; git add f; git commit -qm base; git tag base
            git checkout -qb side; echo side > g; git add g; git commit -qm side
            git checkout -q main; echo main > h; git add h; git commit -qm main
            git checkout -q side; git rebase -q main; git log --format=%s
            GIT_SEQUENCE_EDITOR='sed -i 1s/pick/reword/' GIT_EDITOR='sed -i s/side/better/' git rebase -q -i main
            git checkout -q main; git merge -q --no-ff --no-edit side; git log -1 --format=%s side
            git revert --no-edit side >/dev/null; git checkout -qb third base; git cherry-pick side >/dev/null; ls g
            git bisect start main base >/dev/null; git bisect bad >/dev/null; git bisect reset 2>/dev/null""")
        equal(result.out.splitlines()[:4], ["side", "main", "base", "start"])
        equal(result.out.splitlines()[-2:], ["better", "g"])
        clean(w)


@test
def a_conflict_is_resolved():
    with world("/var/tmp") as w:
        repository(w)
        inside(w, """
            echo base > f; git add f; git commit -qm base; git checkout -qb side; echo side > f; git commit -qam side
            git checkout -q main; echo main > f; git commit -qam main
            git rebase side >/dev/null 2>&1 && exit 1
            echo both > f; git add f; GIT_EDITOR=true git rebase --continue >/dev/null 2>&1; test "$(cat f)" = both""")
        clean(w)


@test
def changes_are_stashed_with_what_is_untracked():
    with world("/var/tmp") as w:
        repository(w)
        inside(w, """
            echo one > f; git add f; git commit -qm one; echo two > f; echo new > n
            git stash -q; test "$(cat f)" = one; git stash pop -q; test "$(cat f)" = two
            git stash -q -u; test ! -e n; git stash pop -q; test -e n
            git add -A; git commit -qm all; git clean -fdq""")
        clean(w)


@test
def a_linked_worktree_is_made_used_and_removed():
    with world("/var/tmp") as w:
        repository(w)
        inside(w, """
            git worktree add -q trees/side -b side; cd trees/side; echo x > f; git add f; git commit -qm side
            git status --short; cd ../..; git worktree list | wc -l | grep -qx 2
            git worktree remove trees/side; rmdir trees; git merge -q side; git branch -qd side""")
        clean(w)


@test
def a_repository_with_submodules_is_used():
    with world("/var/tmp") as w:
        source = w.make("outside/source/")
        repository(w, cwd=source)
        repository(w)
        git(w, "submodule", "--quiet", "add", source, "module")
        git(w, "commit", "-qm", "module")
        result = inside(w, """
            git submodule status | cut -c1,42-; git submodule foreach --quiet 'git log --format=%s'
            cd module; echo x > f; git add f; git commit -qm inner; cd ..; git add module; git commit -qm outer
            git diff --submodule=log HEAD~ | grep -c inner""")
        equal(result.out, "  module (heads/main)\nstart\n1\n")
        clean(w)


@test
def a_clone_is_fetched_from_and_pulled():
    with world("/var/tmp") as w:
        origin = w.make("work/origin/")
        repository(w, cwd=origin)
        git(w, "clone", "-q", origin, f"{w.work}/clone")
        git(w, "commit", "-q", "--allow-empty", "-m", "later", cwd=origin)
        result = inside(w, """
            cd clone; git fetch -q; git pull -q --ff-only; git log -1 --format=%s
            git checkout -qb topic; git commit -q --allow-empty -m topic; git push -q origin topic
            git -C ../origin branch --list topic | tr -d ' '""")
        equal(result.out, "later\ntopic\n")


@test
def what_changes_the_configuration_needs_the_exception():
    with world("/var/tmp") as w:
        repository(w)
        opened = POLICY.replace("std/dev", "std/dev except $GITDIR/config, $GITDIR/config.worktree")
        script = "git remote add origin /nowhere; git config user.name B; git branch -q --set-upstream-to=main side"
        git(w, "branch", "side")
        for command in script.split("; "):
            result = w.shell(w.compile(POLICY), command, env=w.environment(**IDENTITY))
            check(f"{w.work}/.git/config: Device or resource busy" in result.err, f"{command}: {result.err}")
        inside(w, script + "; git remote remove origin", opened)
        equal(git(w, "config", "user.name"), "B\n")
        clean(w)


main()
