"""What one run leaves behind must not open anything to the next."""
import os
import subprocess

from lib import check, main, test, world

POLICY = 'sbx 1\npolicy "t"\nuse std/dev\ngrant write $WORK\n'


def git(w, *arguments, cwd=None):
    environment = w.environment(GIT_CONFIG_GLOBAL="/dev/null", GIT_CONFIG_NOSYSTEM="1")
    subprocess.run(["git", *arguments], cwd=cwd or w.work, env=environment, check=True, capture_output=True)


def repository(w, submodules=()):
    git(w, "init", "-q")
    w.make("work/file", "x\n")
    git(w, "add", "file")
    for path in submodules:
        identity = "0123456789012345678901234567890123456789"
        git(w, "update-index", "--add", "--cacheinfo", f"160000,{identity},{path}")
        w.make(f"work/{path}/")


def run(w, script, **more):
    return w.shell(w.compile(POLICY), script, **more)


def hooks_hold(w, hooks=".git/hooks"):
    """A second run cannot plant a hook: it is refused, or it fails to write."""
    result = run(w, f"mkdir -p {hooks}; echo evil > {hooks}/pre-commit")
    check(result.code != 0, "the hook was planted")
    check(not os.path.exists(f"{w.work}/{hooks}/pre-commit"), "the hook is there")
    return result


@test
def a_workspace_that_a_run_opened_to_all_keeps_its_repository_protected():
    with world() as w:
        repository(w)
        run(w, "chmod 777 .").succeeded()
        hooks_hold(w)
        check(run(w, "git config core.fsmonitor ./evil").code != 0, "the configuration was written")
        check(run(w, "mv .git .away").code != 0, "the repository was moved away")
        run(w, "echo y >> file").succeeded()


@test
def a_git_file_that_does_not_count_protects_what_it_names():
    with world() as w:
        git(w, "init", "-q", "--separate-git-dir", f"{w.work}/.store")
        check(not os.path.isdir(f"{w.work}/.git"), "it is a directory")
        hooks_hold(w, ".store/hooks")
        check(run(w, "echo 'gitdir: x' > .git").code != 0, "the pointer was written")


@test
def a_git_file_that_cannot_be_read_or_followed_is_refused():
    with world() as w:
        w.make("work/.git", "gitdir: loop\n")
        os.symlink("loop", f"{w.work}/loop")
        run(w, "true").refused("SBX167", ".git")
        os.unlink(f"{w.work}/.git")
        os.mkfifo(f"{w.work}/.git")
        run(w, "true").succeeded()


@test
def a_git_that_is_a_replaceable_link_is_refused():
    with world() as w:
        git(w, "init", "-q")
        os.rename(f"{w.work}/.git", f"{w.work}/.store")
        os.symlink(".store", f"{w.work}/.git")
        run(w, "true").refused("SBX452", ".git")


@test
def a_repository_planted_below_does_not_hide_the_one_above():
    with world() as w:
        repository(w)
        below = w.make("work/below/")
        policy = w.compile(POLICY + f"grant write {w.work}\n")
        w.shell(policy, "git init -q .", cwd=below).succeeded()
        check(w.shell(policy, "echo evil > ../.git/hooks/pre-commit", cwd=below).code != 0, "a hook was planted")


def submodule_holds(w, path="sub"):
    result = run(w, f"mkdir -p {path}/.git && echo evil > {path}/.git/config")
    check(result.code != 0, "a repository was planted in the submodule")
    check(not os.path.exists(f"{w.work}/{path}/.git/config"), "it is there")
    return result


@test
def a_split_index_names_its_submodules():
    with world() as w:
        repository(w, ["sub", "libs/two"])
        git(w, "update-index", "--split-index")
        submodule_holds(w)
        submodule_holds(w, "libs/two")
        # A submodule in the place of a file has no name in the split index.
        identity = "0123456789012345678901234567890123456789"
        os.unlink(f"{w.work}/file")
        w.make("work/file/")
        git(w, "update-index", "--cacheinfo", f"160000,{identity},file")
        submodule_holds(w, "file")


@test
def an_index_that_cannot_be_understood_is_refused():
    with world() as w:
        repository(w, ["sub"])
        index = f"{w.work}/.git/index"
        with open(index, "rb") as file:
            whole = file.read()
        for damaged in (whole[:-30], whole[:7] + b"\5" + whole[8:], b"DIRC", b""):
            with open(index, "wb") as file:
                file.write(damaged)
            run(w, "true").refused("SBX167", "index")
        os.unlink(index)
        os.mkdir(index)
        run(w, "true").refused("SBX167", "index")
        os.rmdir(index)
        run(w, "true").succeeded()
        with open(index, "wb") as file:
            file.write(whole)
        if os.geteuid() != 0:
            os.chmod(index, 0)
            run(w, "true").refused("SBX167", "index")
        os.chmod(index, 0o644)
        git(w, "update-index", "--split-index")
        for name in os.listdir(f"{w.work}/.git"):
            if name.startswith("sharedindex."):
                os.unlink(f"{w.work}/.git/{name}")
        run(w, "true").refused("SBX167", "sharedindex")


if __name__ == "__main__":
    main()
