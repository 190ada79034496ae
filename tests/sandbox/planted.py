"""What one run leaves behind must not open anything to the next."""
import os
import shutil
import subprocess

from lib import LAUNCHER, SBXC, check, main, test, world

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


def text_stays(w, path, result):
    check("evil" not in open(path).read(), f"{path} was written: {result.out}{result.err}")


REPLACE = "rm -f {0}; echo evil > {0}"


@test
def a_policy_named_by_a_link_that_the_command_could_replace_is_refused():
    with world() as w:
        source = w.make("outside/x.sbx", POLICY)
        os.symlink(source, f"{w.work}/pin.sbx")
        w.shell("pin.sbx", REPLACE.format("pin.sbx")).refused("SBX452", "pin.sbx")
        os.symlink(w.outside, f"{w.work}/conf")
        w.shell("conf/x.sbx", "rm conf; mkdir conf").refused("SBX452", "conf")
        w.shell(f"{w.work}/./conf/../outside/x.sbx", "true").refused("SBX452", "conf")
        os.unlink(f"{w.work}/conf")
        os.symlink(source, w.top + "/pin.sbx")
        w.shell(f"{w.top}/pin.sbx", "true").succeeded()


@test
def a_managed_directory_behind_a_replaceable_link_is_refused():
    with world() as w:
        w.make("outside/managed/")
        source = w.make("outside/m.sbx", 'sbx 1\nmanaged "m"\ndeny $WORK/x\n')
        subprocess.run([SBXC, source, "-o", f"{w.outside}/managed/m.bin"], check=True, env=w.environment())
        os.symlink(w.outside, f"{w.work}/link")
        policy = w.compile(POLICY)
        w.shell(policy, "true", options=["--managed", f"{w.outside}/managed"]).succeeded()
        w.shell(policy, "true", options=["--managed", "link/managed"]).refused("SBX452", "link")


@test
def a_launcher_started_through_a_replaceable_link_is_refused():
    with world() as w:
        os.symlink(LAUNCHER, f"{w.work}/run")
        policy = w.compile(POLICY)
        for program in ("./run", f"{w.work}/run"):
            result = subprocess.run(
                [program, policy, "--", "true"], cwd=w.work, env=w.environment(), capture_output=True
            )
            check(result.returncode == 125 and b"SBX452" in result.stderr, f"{program}: {result.stderr}")


@test
def sources_are_held_wherever_the_result_lies():
    with world() as w:
        w.make("work/team/t.sbx", 'sbx 1\npreset "t"\ngrant env TEAM\n')
        w.make("work/p2.sbx", POLICY + 'use "team/t.sbx"\n')
        w.make("work/out/")
        os.makedirs(w.outside + "/far")
        for output in ("out/p2.bin", f"{w.outside}/far/p2.bin", "-"):
            result = subprocess.run(
                [SBXC, "p2.sbx", "-t", "bin", "-o", output], cwd=w.work, env=w.environment(), capture_output=True
            )
            check(result.returncode == 0, result.stderr)
            if output == "-":
                output = "p2.bin"
                with open(f"{w.work}/{output}", "wb") as file:
                    file.write(result.stdout)
            for source in ("p2.sbx", "team/t.sbx"):
                result = w.shell(output, REPLACE.format(source))
                text_stays(w, f"{w.work}/{source}", result)
                check("SBX431" not in result.err, result.err)
        result = w.shell("p2.sbx", REPLACE.format("team/t.sbx"))
        text_stays(w, f"{w.work}/team/t.sbx", result)
        check("SBX431" not in result.err, result.err)


@test
def a_source_that_is_not_found_is_told():
    with world() as w:
        policy = w.compile(POLICY)
        os.unlink(policy[:-4] + ".sbx")
        result = w.shell(policy, "true").succeeded()
        check("warning[SBX431]" in result.err and ".sbx" in result.err, result.err)


@test
def a_compiler_that_is_missing_beside_the_launcher_cannot_be_planted():
    with world() as w:
        w.make("work/tool/")
        shutil.copy(LAUNCHER, f"{w.work}/tool/sbx-launch")
        policy = w.compile(POLICY)
        script = "cp /bin/true tool/sbxc; echo evil > tool/sbxc; mv tool away; rm -f tool/sbxc; mkdir tool/sbxc"
        subprocess.run(
            [f"{w.work}/tool/sbx-launch", policy, "--", "sh", "-c", script],
            cwd=w.work, env=w.environment(), capture_output=True,
        )
        check(os.listdir(f"{w.work}/tool") == ["sbx-launch"], f"planted: {os.listdir(w.work + '/tool')}")


@test
def a_link_to_what_surrounds_it_is_named():
    for target in (".", "/", ".."):
        with world() as w:
            os.symlink(target, f"{w.work}/.env")
            w.shell("deny $WORK/.env\n", "true").refused("SBX452", ".env")


if __name__ == "__main__":
    main()
