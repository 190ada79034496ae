"""Git under `use std/dev` and `grant write $WORK`: it works, and what makes it run code cannot be planted."""
import os
import subprocess

from lib import check, equal, main, test, world

POLICY = 'sbx 1\npolicy "t"\nuse std/dev\ngrant write $WORK\n'
IDENTITY = {"GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.org", "GIT_COMMITTER_NAME": "A",
            "GIT_COMMITTER_EMAIL": "a@example.org"}
PROTECTED = ["hooks", "config", "config.worktree", "info/attributes", "commondir", "gitdir"]

# Tries every way to write at, replace, move or remove each path given, and to move each directory above it,
# up to the first argument. Prints a line for each that worked.
ATTACK = r'''
import ctypes, os, sys
AT_FDCWD, RENAME_EXCHANGE = -100, 2
libc = ctypes.CDLL(None, use_errno=True)
top, targets = sys.argv[1], sys.argv[2:]

def try_way(name, path, way):
    try:
        way()
    except OSError:
        return
    print("OPEN", name, path)

def write(path, flags):
    descriptor = os.open(path, flags, 0o755)
    os.write(descriptor, b"evil\n")
    os.close(descriptor)

def exchange(one, other):
    if libc.renameat2(AT_FDCWD, os.fsencode(one), AT_FDCWD, os.fsencode(other), RENAME_EXCHANGE) != 0:
        raise OSError(ctypes.get_errno(), "renameat2")

def fresh(make, name=[0]):
    name[0] += 1
    path = f"{top}/.attack{name[0]}"
    make(path)
    return path

def remove_fresh():
    for name in os.listdir(top):
        if name.startswith(".attack"):
            path = f"{top}/{name}"
            (os.rmdir if os.path.isdir(path) and not os.path.islink(path) else os.unlink)(path)

def file_at(path):
    write(path, os.O_WRONLY | os.O_CREAT)

for path in targets:
    present = os.path.lexists(path)
    for name, flags in (("create", os.O_WRONLY | os.O_CREAT), ("append", os.O_WRONLY | os.O_APPEND),
                        ("truncate", os.O_WRONLY | os.O_TRUNC), ("read-write", os.O_RDWR)):
        try_way(name, path, lambda: write(path, flags))
    try_way("a file in it", path, lambda: write(path + "/pre-commit", os.O_WRONLY | os.O_CREAT))
    try_way("mkdir", path, lambda: os.mkdir(path))
    try_way("mkdir in it", path, lambda: os.mkdir(path + "/x"))
    try_way("rename over", path, lambda: os.rename(fresh(file_at), path))
    try_way("rename a directory over", path, lambda: os.rename(fresh(os.mkdir), path))
    try_way("exchange with a file", path, lambda: exchange(fresh(file_at), path))
    try_way("exchange with a directory", path, lambda: exchange(fresh(os.mkdir), path))
    try_way("link over", path, lambda: os.link(fresh(file_at), path))
    try_way("symlink over", path, lambda: os.symlink("/tmp", path))
    if present:
        try_way("rename away", path, lambda: os.rename(path, path + ".moved"))
        try_way("another hard link", path, lambda: os.link(path, f"{top}/hard"))
        try_way("unlink", path, lambda: os.unlink(path))
        try_way("rmdir", path, lambda: os.rmdir(path))
        try_way("chmod", path, lambda: os.chmod(path, 0o777))
        try_way("xattr", path, lambda: os.setxattr(path, "user.x", b"x"))
        real = os.path.realpath(path)
        again = "/proc/self/root" + real
        try_way("through /proc/self/root", path, lambda: write(again, os.O_WRONLY | os.O_CREAT))
    above = os.path.dirname(path)
    while above != top and above.startswith(top + "/"):
        away = f"{top}/.away"
        def away_and_back():
            os.rename(above, away)
            os.rename(away, above)
        try_way("move away", above, away_and_back)
        try_way("exchange", above, lambda: exchange(fresh(os.mkdir), above))
        above = os.path.dirname(above)
    remove_fresh()
print("DONE")
'''


def git(w, *arguments, cwd=None):
    """Git on the host; its output."""
    command = ["git", "-c", "init.defaultBranch=main", "-c", "protocol.file.allow=always", *arguments]
    result = subprocess.run(command, cwd=cwd or w.work, env=w.environment(**IDENTITY), capture_output=True)
    check(result.returncode == 0, f"git {arguments}: {result.stderr.decode(errors='replace')}")
    return result.stdout.decode()


def repository(w, cwd=None):
    git(w, "init", "-q", cwd=cwd)
    git(w, "commit", "-q", "--allow-empty", "-m", "first", cwd=cwd)


def superproject(w):
    """A repository in $WORK with one submodule that is populated (sub) and one that is not (empty)."""
    for name in ("sub", "empty"):
        source = w.make(f"outside/{name}/")
        repository(w, cwd=source)
        w.make(f"outside/{name}/file", "text\n")
        git(w, "add", "file", cwd=source)
        git(w, "commit", "-qm", "file", cwd=source)
    repository(w)
    for name in ("sub", "empty"):
        git(w, "submodule", "--quiet", "add", f"{w.outside}/{name}", name)
    git(w, "commit", "-qm", "submodules")
    git(w, "submodule", "--quiet", "deinit", "-f", "empty")


def inside(w, script, **more):
    return w.shell(w.compile(POLICY), "set -e\n" + script, env=w.environment(**IDENTITY), **more)


def contents(*roots):
    """What is at every path below `roots`: kind, mode, and bytes or target."""
    found = {}
    for root in roots:
        for directory, names, files in os.walk(root):
            for path in [directory] + [os.path.join(directory, name) for name in names + files]:
                status = os.lstat(path)
                if os.path.islink(path):
                    what = os.readlink(path)
                elif os.path.isdir(path):
                    what = "directory"
                else:
                    with open(path, "rb") as file:
                        what = file.read()
                found[path] = (status.st_mode, status.st_nlink, what)
    return found


def holds(w, top, targets, cwd=None):
    """Every attack on `targets` fails from `cwd`, and afterwards everything is as it was."""
    statuses = [git(w, "status", "--porcelain", cwd=cwd)]
    before = contents(w.work, w.outside)
    environment = w.environment(**IDENTITY)
    result = w.python(w.compile(POLICY), ATTACK, top, *targets, env=environment, cwd=cwd).succeeded()
    worked = [line for line in result.out.splitlines() if line.startswith("OPEN")]
    check(not worked and "DONE" in result.out, f"{len(worked)} ways are open: {worked[:12]}")
    after = contents(w.work, w.outside)
    changed = sorted(path for path in set(before) | set(after) if before.get(path) != after.get(path))
    equal(changed, [], "what has changed")
    statuses.append(git(w, "status", "--porcelain", cwd=cwd))
    equal(statuses[1], statuses[0], "git status afterwards")


def below(directory, names=PROTECTED):
    return [f"{directory}/{name}" for name in names]


# What works.

@test
def init_and_commit_work_in_an_empty_directory():
    with world("/var/tmp") as w:
        inside(w, "git init -q; echo x > f; git add f; git commit -qm one; git status").succeeded()
        equal(git(w, "log", "--format=%s"), "one\n")
        equal(git(w, "status", "--porcelain"), "")


@test
# Reported as codex#19786, codex#27418, codex#7071, pi-sandbox#44.
def everyday_commands_work_in_a_repository():
    with world("/var/tmp") as w:
        repository(w)
        result = inside(w, """
            echo x > f; git add f; git commit -qm two
            git branch side; git checkout -q side; echo y > g; git add g; git commit -qm three
            echo z >> g; git stash -q; git stash pop -q; git checkout -q -- g
            git checkout -q main; echo w > h; git add h; git commit -qm four
            git checkout -q side; git rebase -q main; git checkout -q main; git merge -q side
            git tag v1; git mv f f2; git commit -qm five; git rm -q h; git commit -qm six
            git commit -q --amend -m 'six again'; git reset -q --hard HEAD~1
            git cherry-pick -n side; git reset -q --hard
            git reflog > /dev/null; git blame g > /dev/null; git diff HEAD~1 > /dev/null
            git gc -q; git fsck --no-dangling; git clean -fdq; git branch -qD side
            git status --porcelain; git log --format=%s""")
        equal(result.succeeded().out.split(), ["five", "three", "four", "two", "first"])


@test
def bare_repositories_clones_and_templates_work_inside_the_workspace():
    with world("/var/tmp") as w:
        w.make("work/template/hooks/post-commit", "#!/bin/sh\n")
        result = inside(w, """
            git init -q --bare store.git; git clone -q store.git copy 2>/dev/null; cd copy
            echo x > f; git add f; git commit -qm one; git push -q origin HEAD:main; cd ..
            git init -q --template="$PWD/template" made; ls made/.git/hooks
            git -C store.git log --format=%s main""")
        equal(result.succeeded().out, "post-commit\none\n")


@test
def a_worktree_can_be_added_and_used_inside_the_workspace():
    with world("/var/tmp") as w:
        repository(w)
        inside(w, """
            git worktree add -q linked -b linked
            cd linked; echo x > f; git add f; git commit -qm two""").succeeded()
        equal(git(w, "log", "--format=%s", "linked", "--"), "two\nfirst\n")


@test
# Reported as srt#98, claude-code#17374, claude-code#22320, claude-code#50505.
def a_workspace_that_is_a_linked_worktree_commits():
    with world("/var/tmp") as w:
        common = w.make("outside/common/")
        repository(w, cwd=common)
        linked = f"{w.top}/linked"
        git(w, "worktree", "add", "-q", linked, "-b", "linked", cwd=common)
        inside(w, "echo x > f; git add f; git commit -qm two; git status --porcelain", cwd=linked).succeeded()
        equal(git(w, "log", "--format=%s", "linked", cwd=common), "two\nfirst\n")


@test
def a_workspace_below_the_top_of_a_repository_finds_it():
    with world("/var/tmp") as w:
        repository(w)
        below_top = w.make("work/packages/one/")
        w.make("work/README", "read me\n")
        result = inside(w, """
            git rev-parse --show-toplevel; cat ../../README
            echo x > f; git add f; git commit -qm two""", cwd=below_top)
        equal(result.succeeded().out, f"{w.work}\nread me\n")
        inside(w, "echo x >> ../../README", cwd=below_top).exited(2)
        equal(git(w, "log", "--format=%s"), "two\nfirst\n")


@test
def a_workspace_that_is_a_submodule_commits():
    with world("/var/tmp") as w:
        superproject(w)
        sub = f"{w.work}/sub"
        inside(w, "echo x > g; git add g; git commit -qm two; git status --porcelain", cwd=sub).succeeded()
        equal(git(w, "log", "-1", "--format=%s", cwd=sub), "two\n")


@test
def a_superproject_shows_its_status_and_commits_in_a_submodule():
    with world("/var/tmp") as w:
        superproject(w)
        result = inside(w, """
            git status --porcelain; git submodule status
            cd sub; echo x > g; git add g; git commit -qm two; cd ..; git status --porcelain
            git add sub; git commit -qm moved""")
        check(" M sub\n" in result.succeeded().out, result.out)
        equal(git(w, "log", "-1", "--format=%s"), "moved\n")


# What is refused.

@test
# Reported as dirge#774, omac#31.
def a_repository_is_protected_from_every_side():
    with world("/var/tmp") as w:
        repository(w)
        w.make("work/.git/info/attributes", "* text\n")
        hooks = f"{w.work}/.git/hooks"
        holds(w, w.work, below(f"{w.work}/.git") + [f"{hooks}/pre-commit", f"{hooks}/pre-commit.sample"])


@test
def a_repository_without_hooks_and_info_is_protected_and_stays_without():
    with world("/var/tmp") as w:
        repository(w)
        subprocess.run(["rm", "-rf", f"{w.work}/.git/hooks", f"{w.work}/.git/info"], check=True)
        holds(w, w.work, below(f"{w.work}/.git"))
        inside(w, "echo x > f; git add f; git commit -qm two; git gc -q; git status --porcelain").succeeded()
        equal(os.path.exists(f"{w.work}/.git/hooks"), False, "hooks")


@test
def a_repository_above_the_workspace_is_protected():
    with world("/var/tmp") as w:
        repository(w)
        w.make("work/packages/one/f")
        holds(w, w.work, below(f"{w.work}/.git"), cwd=f"{w.work}/packages")


@test
def a_linked_worktree_as_workspace_is_protected():
    with world("/var/tmp") as w:
        common = w.make("outside/common/")
        repository(w, cwd=common)
        linked = f"{w.work}/linked"
        git(w, "worktree", "add", "-q", linked, "-b", "linked", cwd=common)
        git(w, "worktree", "add", "-q", f"{w.outside}/other", "-b", "other", cwd=common)
        targets = below(f"{common}/.git") + [f"{linked}/.git"]
        for name in ("linked", "other"):
            targets += below(f"{common}/.git/worktrees/{name}")
        holds(w, linked, targets, cwd=linked)


@test
def linked_worktrees_of_the_repository_are_protected():
    with world("/var/tmp") as w:
        repository(w)
        git(w, "worktree", "add", "-q", f"{w.outside}/other", "-b", "other")
        holds(w, w.work, below(f"{w.work}/.git") + below(f"{w.work}/.git/worktrees/other"))


@test
def submodules_are_protected_populated_or_not():
    with world("/var/tmp") as w:
        superproject(w)
        targets = below(f"{w.work}/.git")
        for name in ("sub", "empty"):
            targets += below(f"{w.work}/.git/modules/{name}")
        holds(w, w.work, targets + [f"{w.work}/sub/.git", f"{w.work}/empty/.git", f"{w.work}/empty/x"])


@test
def a_submodule_as_workspace_is_protected():
    with world("/var/tmp") as w:
        superproject(w)
        sub = f"{w.work}/sub"
        targets = below(f"{w.work}/.git/modules/sub") + below(f"{w.work}/.git") + [f"{sub}/.git"]
        holds(w, sub, targets, cwd=sub)


@test
def submodules_in_submodules_are_protected():
    with world("/var/tmp") as w:
        superproject(w)
        source = f"{w.outside}/sub"
        git(w, "submodule", "--quiet", "add", f"{w.outside}/empty", "a/inner", cwd=source)
        git(w, "commit", "-qm", "inner", cwd=source)
        git(w, "pull", "-q", "origin", "HEAD", cwd=f"{w.work}/sub")
        git(w, "submodule", "--quiet", "update", "--init", cwd=f"{w.work}/sub")
        modules = f"{w.work}/.git/modules/sub/modules/a/inner"
        check(os.path.isdir(modules), "git has put it elsewhere")
        holds(w, w.work, below(modules) + [f"{w.work}/sub/.git", f"{w.work}/sub/a/inner/.git"])


@test
def what_an_earlier_run_took_away_does_not_hide_a_submodule():
    with world("/var/tmp") as w:
        superproject(w)
        modules = f"{w.work}/.git/modules"
        inside(w, "mv .git/modules/sub/HEAD .git/modules/sub/objects .; touch .git/modules/HEAD .git/modules/config"
               ).succeeded()
        for name in ("HEAD", "objects"):
            check(not os.path.exists(f"{modules}/sub/{name}"), f"{name} could not be moved")
        result = w.python(w.compile(POLICY), ATTACK, w.work, *below(f"{modules}/sub"), env=w.environment(**IDENTITY))
        equal(result.succeeded().out, "DONE\n")


@test
def other_repositories_below_the_workspace_are_protected_by_git_nested():
    with world("/var/tmp") as w:
        nested = w.make("work/vendor/deep/nested/")
        repository(w, cwd=nested)
        policy = w.compile(POLICY + "use std/git-nested\n")
        targets = below(f"{nested}/.git", ["hooks", "config"])
        before = contents(nested)
        result = w.python(policy, ATTACK, w.work, *targets, env=w.environment(**IDENTITY)).succeeded()
        equal(result.out, "DONE\n")
        equal(contents(nested), before, "the nested repository")
        w.shell(policy, "cd vendor/deep/nested; echo x > f; git add f; git commit -qm two",
                env=w.environment(**IDENTITY)).succeeded()


@test
def an_exception_lets_the_configuration_be_written_and_nothing_else():
    with world("/var/tmp") as w:
        repository(w)
        policy = w.compile(POLICY.replace("use std/dev", "use std/dev except $GITDIR/config"))
        environment = w.environment(**IDENTITY)
        w.shell(policy, "git remote add origin https://example.org/x", env=environment).succeeded()
        check("example.org" in git(w, "remote", "-v"), "the remote is not there")
        w.shell(policy, "echo x > .git/hooks/pre-commit", env=environment).exited(2)


main()
