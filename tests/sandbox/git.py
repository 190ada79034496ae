"""Git under `use std/dev` and `grant write $WORK`: it works, and what makes it run code cannot be planted."""
import os
import subprocess

from lib import check, equal, main, test, world

POLICY = 'sbx 1\npolicy "t"\nuse std/dev\ngrant write $WORK\n'
IDENTITY = {"GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.org", "GIT_COMMITTER_NAME": "A",
            "GIT_COMMITTER_EMAIL": "a@example.org"}


def host_git(w, *arguments, cwd=None):
    subprocess.run(["git", "-c", "init.defaultBranch=main", *arguments], cwd=cwd or w.work, check=True,
                   env=w.environment(**IDENTITY), capture_output=True)


def repository(w):
    host_git(w, "init")
    host_git(w, "commit", "--allow-empty", "-m", "first")


def inside(w, script, **more):
    return w.shell(w.compile(POLICY), script, env=w.environment(**IDENTITY), **more)


@test
def init_and_commit_work_in_a_new_directory():
    with world() as w:
        inside(w, "git init -q && echo x > f && git add f && git commit -qm one && git log --oneline && git status -s"
               ).succeeded()
        equal(subprocess.run(["git", "log", "--format=%s"], cwd=w.work, capture_output=True).stdout, b"one\n")


@test
def commit_branch_merge_and_gc_work_in_a_repository():
    with world() as w:
        repository(w)
        result = inside(w, "set -e; echo x > f; git add f; git commit -qm two; git checkout -qb side; echo y > g; git add g; "
                           "git commit -qm three; git checkout -q -; git merge -q side; git stash list; git gc -q; git fsck; "
                           "git status -s; git log --oneline | wc -l")
        equal(result.succeeded().out.strip(), "3")


@test
def a_linked_worktree_works_from_inside_and_outside():
    with world() as w:
        repository(w)
        inside(w, "git worktree add -q linked -b linked && cd linked && echo x > f && git add f && git commit -qm two"
               ).succeeded()
        made = f"{w.top}/second"
        host_git(w, "worktree", "add", "-q", made, "-b", "second")
        inside(w, "echo y > f && git add f && git commit -qm three && git log --oneline | wc -l", cwd=made).succeeded()


PLANTS = [".git/hooks/post-checkout", ".git/config", ".git/config.worktree", ".git/info/attributes", ".git/commondir",
          ".git/gitdir"]


@test
def what_makes_git_run_code_cannot_be_written():
    with world() as w:
        repository(w)
        before = w.tree()
        for path in PLANTS:
            for script in (f"echo evil > {path}", f"rm -f {path}; echo evil > {path}", f"mkdir -p {path}",
                           f"echo evil > e; mv -f e {path}; rm -f e", f"ln -sf /tmp/evil {path}", f"ln -f .git/HEAD {path}",
                           f"mv {os.path.dirname(path)} away; mkdir -p {os.path.dirname(path)}; echo evil > {path}"):
                result = inside(w, script + f"; grep -qs evil {path} && echo planted; rm -rf away")
                check("planted" not in result.out, f"{script}: {result.out}{result.err}")
        inside(w, "mv .git g; mkdir .git; echo evil > .git/config; git config core.fsmonitor evil; git init -q; rm -rf g; true")
        after = w.tree()
        equal({path: after.get(path) for path in before}, before, "the tree")
        equal(sorted(set(after) - set(before)), [], "new files")


@test
def nothing_is_left_behind():
    with world() as w:
        repository(w)
        before = w.tree()
        inside(w, "git status -s").succeeded()
        equal(w.tree(), before)


@test
def worktrees_and_modules_are_protected_too():
    with world() as w:
        repository(w)
        host_git(w, "worktree", "add", "-q", "linked", "-b", "linked")
        for path in (".git/worktrees/linked/commondir", ".git/worktrees/linked/gitdir", "linked/.git"):
            with open(f"{w.work}/{path}") as file:
                content = file.read()
            inside(w, f"echo evil > {path}; rm -f {path}; echo evil > {path}; true", cwd=w.work)
            if path == "linked/.git":
                continue
            with open(f"{w.work}/{path}") as file:
                equal(file.read(), content, path)
        linked = f"{w.work}/linked"
        inside(w, "echo evil > .git; rm -f .git; mkdir .git; true", cwd=linked)
        check(os.path.isfile(f"{linked}/.git"), "the .git pointer was replaced")


@test
def secrets_stay_closed():
    with world() as w:
        w.make("home/.aws/credentials", "secret-content")
        w.make("home/.ssh/id_ed25519", "secret-content")
        w.make("home/.ssh/known_hosts", "public-content")
        w.make("home/.npmrc.bak", "secret-content")
        result = inside(w, "cat ~/.aws/credentials ~/.ssh/id_ed25519 ~/.npmrc.bak ~/.ssh/known_hosts")
        check("secret-content" not in result.out and "public-content" in result.out, result.out + result.err)


main()
