"""What a launch finds on a machine before it changes anything: roots, the repository, managed policies, and what a policy or a
specification comes to there (machine_tool.c)."""
import os
import subprocess

from lib import Suite, check, contains, equal

SUITE = Suite()


def machine(world, *words, good=True, **rest):
    """The lines that the tool prints, by their first word."""
    result = world.run(os.path.join(world.build, "windows", "machine-tool.exe"), *words, **rest)
    lines = {}
    for line in result.out.decode().splitlines():
        kind, _, text = line.partition(" ")
        lines.setdefault(kind, []).append(text)
    equal(result.code, 0 if good else 1, f"exit code ({result.out.decode()})")
    return lines


def compile_policy(world, statements, name="policy.bin", kind="policy", *options):
    os.makedirs(os.path.dirname(world.file(name)), exist_ok=True)
    world.write("source.sbx", f'sbx 1\n{kind} "t"\n{statements}\n')
    target = [] if name.endswith(".xml") else ["--os", "windows"]
    subprocess.run([os.path.join(world.build, "sbxc"), world.file("source.sbx"), "-q", "-o", world.file(name), *target, *options], check=True)


def git(world, *words, directory=""):
    subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@t", "-c", "protocol.file.allow=always", *words],
                   cwd=world.file(directory), check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def model(world, *names):
    return "/".join(("C:", "t", world.name) + names)


def paths(lines, kind, root):
    return [text.partition(" ")[2] for text in lines.get(kind, []) if text.split(" ")[0] == root]


def said(lines, kind, code, part):
    check(any(text.startswith(code) and part in text for text in lines.get(kind, [])), f"{kind} {code} {part!r} is not in {lines}")


@SUITE.test
def roots_are_windows_folders_whatever_variables_say(world):
    plain = machine(world, "-")
    other = {name: "C:\\windows" for name in ("USERPROFILE", "HOME", "HOMEPATH", "APPDATA", "LOCALAPPDATA", "TEMP", "TMP", "ProgramData")}
    moved = machine(world, "-", environment=other)
    for root in ("HOME", "TMP", "CONFIG", "CACHE", "DATA"):
        equal(len(paths(plain, "root", root)), 1, root)
        equal(paths(moved, "root", root), paths(plain, "root", root), root)
        equal(paths(plain, "managed", root), paths(plain, "root", root), root)
    home = paths(plain, "root", "HOME")[0]
    equal(paths(plain, "root", "CONFIG"), [home + "/AppData/Roaming"])
    equal(paths(plain, "root", "CACHE"), [home + "/AppData/Local"])
    equal(paths(plain, "root", "TMP"), [home + "/AppData/Local/Temp"])
    for place in ("C:/windows", "C:/Program Files", home, home + "/AppData/Local"):
        check(place in plain["guarded"], f"{place} is not in {plain['guarded']}")
    equal(paths(plain, "root", "WORK"), [model(world)])


@SUITE.test
def given_roots_are_taken_as_windows_writes_them_and_judged(world):
    world.write("a/B/c", "")
    lines = machine(world, "-", "CACHE=c:\\t\\" + world.name + "\\A\\b", "HOME=" + world.windows("a"))
    equal(paths(lines, "root", "CACHE"), [model(world, "a", "B")])
    equal(paths(lines, "root", "HOME"), [model(world, "a")])
    check(paths(lines, "managed", "HOME") != paths(lines, "root", "HOME"), "a managed layer's home is the caller's")
    for word, part in (("CACHE=a", "not absolute"), ("CACHE=" + world.windows("x"), "No such file"), ("CACHE=\\\\server\\a", ""),
                       ("CACHE=C:\\NUL", ""), ("CACHE=C:\\t.", ""), ("CACHE=\\\\?\\C:\\t", ""), ("PLACE=C:\\t", "no such root")):
        said(machine(world, "-", word, good=False), "error", "SBX175", part)
    said(machine(world, "-", "CACHE=C:\\t", "CACHE=C:\\t", good=False), "error", "SBX175", "twice")
    lines = machine(world, "-", "HOME=" + world.windows("a", "B", "c"))
    equal(paths(lines, "root", "HOME"), [], "a file as home")


@SUITE.test
def the_repository_is_found_as_on_other_systems(world):
    world.write("r/a/b", "")
    world.write("lib/f", "")
    git(world, "init", "-q", directory="lib")
    git(world, "add", ".", directory="lib")
    git(world, "commit", "-q", "-m", "x", directory="lib")
    git(world, "init", "-q", directory="r")
    git(world, "submodule", "add", "-q", "../lib", "s", directory="r")
    git(world, "commit", "-q", "-m", "x", directory="r")
    git(world, "worktree", "add", "-q", "../wt", directory="r")
    for name in (("wt", ".git"), ("r", ".git", "worktrees", "wt", "gitdir")):  # as Git for Windows writes them
        text = open(world.file(*name)).read().replace(os.path.dirname(world.file("r")), model(world))
        world.write("/".join(name), text)
    lines = machine(world, "-", directory=world.file("r", "a"))
    equal(paths(lines, "root", "REPO"), [model(world, "r")])
    equal(paths(lines, "root", "GITDIR"), [model(world, "r", ".git")])
    equal(paths(lines, "root", "SUBMODULES"), [model(world, "r", "s", ".git")])
    equal(sorted(paths(lines, "root", "GITDIRS")), [model(world, "r", ".git", "modules", "s"), model(world, "r", ".git", "worktrees", "wt")])
    lines = machine(world, "-", directory=world.file("wt"))
    equal(paths(lines, "root", "REPO"), [model(world, "wt")])
    equal(paths(lines, "root", "GITDIR"), [model(world, "r", ".git", "worktrees", "wt"), model(world, "r", ".git")])
    equal(paths(lines, "unknown", "GITDIR"), [])
    lines = machine(world, "-", directory=world.file("r", "s"))
    equal(paths(lines, "root", "REPO"), [model(world, "r", "s")])
    equal(paths(lines, "root", "GITDIR"), [model(world, "r", ".git", "modules", "s")])
    lines = machine(world, "-", directory=world.file())
    equal(paths(lines, "root", "REPO") + paths(lines, "root", "GITDIR"), [])


@SUITE.test
def a_repository_that_others_can_write_opens_nothing_and_is_denied(world):
    world.write("r/a", "")
    git(world, "init", "-q", directory="r")
    os.chmod(world.file("r"), 0o777)
    lines = machine(world, "-", directory=world.file("r"))
    equal(paths(lines, "root", "REPO") + paths(lines, "root", "GITDIR"), [])
    equal(paths(lines, "deny", "GITDIR"), [model(world, "r", ".git")])
    said(lines, "note", "SBX177", "not yours alone")


@SUITE.test
def a_git_file_that_names_a_foreign_directory_opens_nothing(world):
    world.write("victim/objects/a", "")
    world.write("w/.git", f"gitdir: {model(world, 'victim')}\n")
    lines = machine(world, "-", directory=world.file("w"))
    equal(paths(lines, "root", "GITDIR"), [])
    equal(paths(lines, "deny", "GITDIR"), [model(world, "victim")])
    said(lines, "note", "SBX177", "does not make a repository")
    world.write("w/.git", "gitdir: //server/share\n")
    lines = machine(world, "-", directory=world.file("w"))
    equal(paths(lines, "root", "GITDIR"), [])
    check(paths(lines, "unknown", "GITDIR") != [], "a place on a server counts as known")


@SUITE.test
def a_policy_is_bound_to_the_machine(world):
    world.write("w/sub/a", "")
    compile_policy(world, "grant write $WORK\ndeny $WORK/.env\ngrant read ~/notes")
    lines = machine(world, "policy.bin", "WORK=" + world.windows("w"), "chdir=sub", "state=" + world.windows("state"))
    equal(lines["work"], [world.windows("w")])
    equal(lines["directory"], [world.windows("w", "sub")])
    objects = lines["object"]
    check(f"{world.windows('w')} -10000 +1301bf" in objects, objects)
    check(f"{world.windows('w', '.env')} -1f01ff" in objects, objects)
    for name in ("policy.bin", "source.sbx"):
        check(world.windows(name) in lines["own"], f"{name} is not in {lines['own']}")
    equal(lines["hidden"], [world.windows("state")])
    said(machine(world, "policy.bin", "chdir=nowhere", good=False), "error", "SBX409", "chdir")
    said(machine(world, "policy.bin", "WORK=" + world.windows("x"), good=False), "error", "SBX409", "working directory")
    said(machine(world, "policy.sbx", good=False), "error", "SBX401", "policy.sbx")
    said(machine(world, "source.sbx", good=False), "error", "SBX403", "compiled")


@SUITE.test
def the_profile_and_windows_are_never_granted(world):
    compile_policy(world, "grant read $WORK")
    said(machine(world, "policy.bin", directory=os.path.dirname(world.temporary), good=False), "error", "SBX", "")
    drive = os.path.dirname(os.path.dirname(world.path))
    for place in ("windows", "users", "Program Files", ""):
        policy = "C:\\t\\" + world.name + "\\policy.bin"
        said(machine(world, policy, directory=os.path.join(drive, place), good=False), "error", "SBX", "")


@SUITE.test
def a_specification_is_bound_to_the_machine(world):
    compile_policy(world, "grant write $WORK\ndeny $WORK/**/*.pem\ndeny write $GITDIR/hooks/", "policy.xml")
    world.write("r/a", "")
    git(world, "init", "-q", directory="r")
    lines = machine(world, world.windows("policy.xml"), directory=world.file("r"))
    check(f"{world.windows('r', '.git')} -10000" in lines["object"], lines["object"])
    check(any(text.startswith(world.windows("r", ".git", "hooks") + " -d0156") for text in lines["object"]), lines["object"])
    equal(lines["match"], [world.windows("r") + "\\**\\*.pem"])


@SUITE.test
def managed_policies_narrow_and_must_be_safe(world):
    compile_policy(world, "deny $WORK/keys/", "m/a.bin", "managed")
    compile_policy(world, "grant write $WORK")
    compile_policy(world, "grant write $WORK", "policy.xml")
    directory = "managed=" + world.windows("m")
    lines = machine(world, "policy.bin", directory)
    check(f"{world.windows('keys')} -1f01ff" in lines["object"], lines["object"])
    check(world.windows("m", "a.bin") in lines["own"], lines["own"])
    os.rename(world.file("policy.bin"), world.file("other.bin"))
    said(machine(world, "policy.xml", directory, good=False), "error", "SBX470", "not beside it")
    os.rename(world.file("other.bin"), world.file("policy.bin"))
    said(machine(world, "policy.xml", directory, good=False), "error", "SBX470", "another")
    world.write("managed.sbx", 'sbx 1\nmanaged "t"\ndeny $WORK/keys/\n')
    compile_policy(world, "grant write $WORK", "policy.xml", "policy", "--managed", world.file("managed.sbx"))
    check(f"{world.windows('keys')} -1f01ff" in machine(world, "policy.xml", directory)["object"], "the managed deny is not there")
    said(machine(world, "policy.bin", directory, "WORK=" + world.windows(), good=False), "error", "SBX406", "WORK")

    said(machine(world, "policy.bin", "managed=" + world.windows("none"), good=False), "error", "SBX404", "none")
    os.chmod(world.file("m"), 0o777)
    said(machine(world, "policy.bin", directory, good=False), "error", "SBX404", "others may write it")
    os.chmod(world.file("m"), 0o755)
    os.chmod(world.file("m", "a.bin"), 0o666)
    said(machine(world, "policy.bin", directory, good=False), "error", "SBX404", "others may write it")
    os.chmod(world.file("m", "a.bin"), 0o644)
    world.write("m/b.BIN", "hello")
    said(machine(world, "policy.bin", directory, good=False), "error", "SBX405", "b.BIN")
    os.remove(world.file("m", "b.BIN"))
    compile_policy(world, "grant write $WORK", "m/c.bin")
    said(machine(world, "policy.bin", directory, good=False), "error", "SBX405", "not a managed one")
    os.remove(world.file("m", "c.bin"))
    os.mkdir(world.file("m", "d.bin"))
    said(machine(world, "policy.bin", directory, good=False), "error", "SBX404", "no regular file")


@SUITE.test
def the_systems_own_directory_belongs_to_administrators(world):
    """Under Wine everything is the user's, so what lies there must stop each launch, also if it is empty."""
    compile_policy(world, "grant write $WORK")
    place = os.path.join(os.path.dirname(os.path.dirname(world.path)), "ProgramData", "sbx", "managed.d")
    os.makedirs(place)
    try:
        said(machine(world, "policy.bin", good=False, environment={"ProgramData": "C:\\t"}), "error", "SBX404", "another user")
    finally:
        os.rmdir(place)
        os.rmdir(os.path.dirname(place))
    machine(world, "policy.bin")


@SUITE.test
def rules_for_a_command_need_one_that_the_command_cannot_replace(world):
    world.write("tools/git.exe", "MZ")
    world.write("open/git.exe", "MZ")
    compile_policy(world, f"grant env PATH\ngrant write {model(world, 'Open')}\nwhen command git {{\ngrant read C:/Data\n}}")
    for command, path, holds in (("git", "tools", True), ("GIT.exe", "tools", True), ("git", "open", False),
                                 ("git", "nothing", False), (".\\git", "tools", False)):
        lines = machine(world, "policy.bin", "command=" + command, environment={"WINEPATH": world.windows(path), "PATH": os.environ["PATH"]})
        equal("C:\\Data +1200a9" in lines["object"], holds, f"whether rules hold for {command} in {path}")


ACCEPTED = "".join(f'accept {control} on windows because "t"\n' for control in (
    "fs.closed", "fs.write", "fs.deny", "fs.deny.missing", "net.closed", "process.tree", "ipc.signal", "ipc.abstract", "socket.path"))
LAUNCHED = ACCEPTED + 'grant write $WORK\ndeny $WORK/keys/\ngrant env PATH, SystemRoot, ComSpec\nset env GREETING = "hello"'


@SUITE.test
def a_policy_and_its_specification_launch_alike(world):
    compile_policy(world, LAUNCHED)
    compile_policy(world, LAUNCHED, "policy.xml")
    for policy in ("policy.bin", "policy.xml"):
        result = world.launch(policy, "cmd.exe", "/c", "echo %GREETING% & dir /b")
        equal(result.code, 0, result.err)
        words = result.out.decode().split()
        check(words[0] == "hello" and "keys" in words, f"{policy}: {words}")
        check(not world.exists("keys"), "the placeholder is still there")


@SUITE.test
def a_managed_policy_takes_part_in_a_launch(world):
    compile_policy(world, LAUNCHED)
    compile_policy(world, "deny env GREETING", "m/a.bin", "managed")
    result = world.launch("policy.bin", "cmd.exe", "/c", "echo %GREETING%", options=("--managed", "m"))
    equal((result.code, result.out.decode().strip()), (0, "%GREETING%"), result.err)
    compile_policy(world, LAUNCHED, "policy.xml")
    result = world.launch("policy.xml", "cmd.exe", "/c", "echo ran", options=("--managed", "m"))
    equal((result.code, result.out), (125, b""), result.err)
    contains(result.err, "sbx-launch.exe policy.bin -- COMMAND")
    os.chmod(world.file("m"), 0o777)
    result = world.launch("policy.bin", "cmd.exe", "/c", "echo ran", options=("--managed", "m"))
    equal((result.code, result.out), (125, b""), result.err)
