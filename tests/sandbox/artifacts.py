"""The text artifacts for bubblewrap, carried out without the launcher: words, the shell script, its .bpf."""
import os
import random
import shutil
import subprocess

from lib import BASE, SBXC, check, equal, main, test, world

SHELLS = [["dash"], ["bash"], ["bash", "--posix"]]
ACCEPT = 'accept fs.deny.missing on bwrap because "every path of this test exists"\n'
START = 'set env PATH = "/usr/bin:/bin"\n'

# Prints, for each directory in its arguments, whether its file `f` can be read and written.
PROBE = r"""
for directory in "$@"; do
    level=none
    if cat "$directory/f" >/dev/null 2>&1; then level=read; fi
    if (: >>"$directory/f") 2>/dev/null; then level=write; fi
    echo "$level $directory"
done
"""


def compile_to(made, text, suffix, *options):
    """The artifact's path, or the compiler's result if it refused."""
    made.count += 1
    source = made.make(f"policies/{made.count}.sbx", text)
    target = source[:-4] + suffix
    result = subprocess.run([SBXC, source, "-o", target, *options], env=made.environment(), capture_output=True,
                            text=True)
    return target if result.returncode == 0 else result


def script(made, text, *options):
    """The script, with the .bpf beside it."""
    path = compile_to(made, text, ".sh", *options)
    check(isinstance(path, str), f"sbxc: {getattr(path, 'stderr', '')}")
    bpf = subprocess.run([SBXC, path[:-3] + ".sbx", "-o", path[:-3] + ".bpf", *options],
                         env=made.environment(), capture_output=True, text=True)
    equal(bpf.returncode, 0, "sbxc's exit")
    return path


def run(made, shell, path, *command, cwd=None, **more):
    environment = made.environment(**more.pop("environment", {}))
    return subprocess.run([*shell, path, *command], env=environment, cwd=cwd or made.work,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, **more)


def in_every_shell(made, path, *command, **more):
    results = [run(made, shell, path, *command, **more) for shell in SHELLS if shutil.which(shell[0])]
    for result in results:
        check(result.stdout == results[0].stdout and result.returncode == results[0].returncode,
              f"shells differ: {result.stdout}{result.stderr} / {results[0].stdout}{results[0].stderr}")
    return results[0]


def tried(made, path, lines):
    """Runs lines `works COMMAND` and `fails COMMAND` inside; each must do as it says."""
    helpers = ('works() { if ! (eval "$*") >/dev/null 2>&1; then echo "should work: $*"; fi; }\n'
               'fails() { if (eval "$*") >/dev/null 2>&1; then echo "should fail: $*"; fi; }\n')
    result = in_every_shell(made, path, "sh", "-c", helpers + lines + "\necho finished")
    equal(result.stdout + result.stderr, "finished\n", "output")


@test
def a_script_shows_hides_pins_and_seals():
    with world() as made:
        for path in ("work/d/ok/f", "work/d/f", "work/x/y/ro/f", "work/keep/f", "work/.env", "home/.config/f",
                     "home/f"):
            made.make(path, "text\n")
        path = script(made, BASE + START + ACCEPT + "grant write $WORK\ndeny $WORK/.env\n"
                      "deny write $WORK/x/y/ro\ndeny $WORK/d/ except $WORK/d/ok\ngrant read ~/.config\ngrant scratch\n")
        tried(made, path, f"""
works 'echo a >new'
works 'mv keep kept && mv kept keep'
fails 'cat .env'; fails 'rm -f .env'; fails 'mv .env x'
fails 'cat d/f'; fails 'ls d'; works 'cat d/ok/f'; works 'echo a >d/ok/new'
works 'cat x/y/ro/f'; fails 'echo a >x/y/ro/f'; fails 'mv x z'; fails 'mv x/y x/z'; fails 'mv x/y/ro x/z'
works 'cat {made.home}/.config/f'; fails 'cat {made.home}/f'; fails 'echo a >{made.home}/.config/new'
works 'echo a >/tmp/new'; fails 'echo a >/new'; fails 'mkdir /etc/new'; fails 'ls {made.outside}'
works 'echo a >/dev/null'; works 'echo a >/dev/shm/new'; fails 'echo a >/dev/new'
fails 'echo a >/proc/sys/kernel/hostname'
works 'grep -q "^CapBnd:.0000000000000000" /proc/self/status'
works 'test "$TMPDIR" = /tmp'; works 'test -z "${{SBX_TEST_SECRET-}}"'
works 'test "$(pwd -P)" = {made.work}'
""")


@test
def a_script_loads_its_seccomp_program():
    with world() as made:
        path = script(made, BASE + START + "grant write $WORK\n")
        tried(made, path, """
works 'grep -q "^Seccomp:.2" /proc/self/status'
fails 'unshare -U true'
fails '/usr/bin/python3 -c "import socket; socket.socket(socket.AF_UNIX)"'
works '/usr/bin/python3 -c "import socket; socket.socketpair()"'
works 'test "$(tail -n +3 /proc/net/dev | grep -c -v lo:)" = 0'
""")
        os.remove(path[:-3] + ".bpf")
        result = in_every_shell(made, path, "true")
        equal(result.returncode, 125, "exit")
        check(".bpf is missing" in result.stderr, result.stderr)


@test
def a_script_cannot_be_changed_from_inside():
    with world() as made:
        source = script(made, BASE + START + "grant write $WORK\n")
        path = shutil.copy(source, made.work)
        shutil.copy(source[:-3] + ".bpf", made.work)
        name = os.path.basename(path)
        tried(made, path, f"fails 'echo a >>{name}'; fails 'rm -f {name}'; fails 'mv {name[:-3]}.bpf x'\n"
                          f"works 'cat {name}'")


@test
def a_script_gives_words_and_exit_codes_on():
    with world() as made:
        path = script(made, BASE + START + "grant write $WORK\n")
        equal(in_every_shell(made, path, "sh", "-c", "exit 7").returncode, 7, "exit")
        printed = in_every_shell(made, path, "printf", "%s|", "a b", "", "$x", "it's", "*", "\n", "-n")
        equal(printed.stdout, "a b||$x|it's|*|\n|-n|", "output")


@test
def a_script_refuses_what_it_cannot_hold():
    with world() as made:
        made.make("work/real", "text\n")
        os.symlink("real", os.path.join(made.work, ".env"))
        deny = script(made, BASE + START + ACCEPT + "grant write $WORK\ndeny $WORK/.env\n")
        result = in_every_shell(made, deny, "true")
        equal(result.returncode, 125, "exit")
        check("symbolic link" in result.stderr, result.stderr)
        plain = script(made, BASE + START + "grant write $WORK\n")
        values = (made.home, "relative", f"{made.work}\n/x")
        for options in ({"cwd": made.home}, {"cwd": "/"}, {"cwd": made.top},
                        *({"environment": {"SBX_WORK": value}} for value in values)):
            result = in_every_shell(made, plain, "true", **options)
            equal(result.returncode, 125, f"exit with {options}")
        directory = os.open(made.outside, os.O_RDONLY)
        result = run(made, ["dash"], plain, "true", pass_fds=[directory])
        os.close(directory)
        equal(result.returncode, 125, "exit with an open directory")
        check("open directory" in result.stderr, result.stderr)


@test
def a_link_to_outside_every_grant_leads_nowhere_new():
    with world() as made:
        made.make("outside/dir/f", "text\n")
        made.make("outside/file", "text\n")
        os.symlink(os.path.join(made.outside, "dir"), os.path.join(made.home, "dir"))
        os.symlink(os.path.join(made.outside, "file"), os.path.join(made.home, "file"))
        os.symlink(os.path.join(made.outside, "file"), os.path.join(made.work, "planted"))
        path = script(made, BASE + START + "grant write $WORK, $WORK/planted\ngrant read ~/dir, ~/file\n")
        tried(made, path, f"works 'cat {made.home}/file'; fails 'cat {made.home}/dir/f'; fails 'cat planted'")
        closed = script(made, BASE + START + f"grant read ~/file\ndeny {made.outside}\n")
        tried(made, closed, f"fails 'cat {made.home}/file'")


@test
def many_masked_files_need_a_shell_that_names_descriptors():
    with world() as made:
        names = [f"secret{i}" for i in range(40)]
        for name in names:
            made.make(f"work/{name}", "text\n")
        denies = "".join(f"deny $WORK/{name}\n" for name in names)
        path = script(made, BASE + START + ACCEPT + "grant write $WORK\n" + denies)
        result = run(made, ["bash"], path, "sh", "-c", "cat secret* 2>/dev/null; ls | wc -l")
        equal(result.stdout.split(), ["40"], "output")
        result = run(made, ["dash"], path, "true")
        check(result.returncode == 0 or "bash" in result.stderr, result.stderr)


@test
def words_do_the_same_with_roots_given():
    with world() as made:
        for name in ("work/d/ok/f", "work/d/f", "work/.env", "work/f"):
            made.make(name, "text\n")
        text = BASE + START + ACCEPT + "grant write $WORK\ndeny $WORK/.env\ndeny $WORK/d/ except $WORK/d/ok\n"
        words = compile_to(made, text, ".args", "--root", f"WORK={made.work}")
        check(isinstance(words, str), f"sbxc: {getattr(words, 'stderr', '')}")
        with open(words, "rb") as file:
            first = file.read().split(b"\0")[:3]
        equal(first[:2], [b"--setenv", b"SBX_POLICY"], "first words")
        check(first[2].startswith(b"t sha256:"), f"{first[2]}")
        check(first[2].endswith(b" exceptions=fs.deny.missing"), f"{first[2]}")
        result = subprocess.run(["bash", "-c", 'exec 9<"$0" 10</dev/null; bwrap --args 9 sh -c "$1"', words,
                                 "cat f; cat d/ok/f; cat .env d/f; pwd; env"],
                                capture_output=True, text=True, env=made.environment())
        lines = result.stdout.splitlines()
        equal(lines[:3], ["text", "text", made.work], "output")
        names = {line.split("=")[0] for line in lines[3:]}
        check("PATH" in names and names <= {"PATH", "PWD", "SHLVL", "OLDPWD", "_"}, f"variables: {names}")


@test
def words_need_every_root():
    with world() as made:
        text = BASE + "grant write $WORK\ngrant read ~/x\n"
        refused = compile_to(made, text, ".args", "--root", f"WORK={made.work}")
        equal(refused.returncode, 2, "exit")
        check("SBX350" in refused.stderr and "--root HOME=" in refused.stderr, refused.stderr)


@test
def what_only_the_launcher_holds_needs_an_accept():
    with world() as made:
        work = BASE + "grant write $WORK\n"
        for text, control in ((work + "deny $WORK/.env\n", "fs.deny.missing"),
                              (work + "deny $WORK/*.pem\n", "fs.deny.pattern"),
                              (work + "grant socket /run/x.sock\n", "socket.path"),
                              (work + "grant network host example.com\n", "net.host")):
            for suffix in (".sh", ".args"):
                refused = compile_to(made, text, suffix, "--root", f"WORK={made.work}")
                equal(getattr(refused, "returncode", 0), 3, f"exit of {suffix} for {control}")
                check(f"accept {control} on bwrap" in refused.stderr, refused.stderr)
            accepted = compile_to(made, text + f'accept {control} on bwrap because "a test"\n', ".sh")
            check(isinstance(accepted, str), f"sbxc: {getattr(accepted, 'stderr', '')}")
            with open(accepted) as file:
                header = "".join(line for line in file if line.startswith("#"))
            check(control in header and "a test" in header, header)


@test
def a_limit_of_open_files_holds_in_a_script_only():
    with world() as made:
        text = BASE + START + "grant write $WORK\nlimit files to 40\n"
        result = in_every_shell(made, script(made, text), "sh", "-c", "ulimit -n; ulimit -Hn")
        equal(result.stdout, "40\n40\n", "output")
        equal(compile_to(made, text, ".args", "--root", f"WORK={made.work}").returncode, 3, "exit")


@test
def artifacts_are_the_same_bytes_everywhere():
    with world() as made:
        text = BASE + "use std/dev\ngrant write $WORK\n" + "".join(
            f'accept {control} on bwrap because "x"\n' for control in ("fs.deny.pattern", "fs.deny.missing"))
        source = made.make("policies/same.sbx", text)
        for suffix in (".sh", ".bpf", ".json", ".bin"):
            seen = set()
            for environment, cwd in ((made.environment(), made.work),
                                     ({"HOME": "/nowhere", "LANG": "C"}, "/"),
                                     ({"TMPDIR": made.outside, "XDG_CONFIG_HOME": "/x"}, made.outside)):
                target = os.path.join(made.outside, "same" + suffix)
                result = subprocess.run([SBXC, source, "-o", target, "--pure"], env=environment, cwd=cwd,
                                        capture_output=True, text=True)
                equal(result.returncode, 0, f"exit for {suffix} ({result.stderr})")
                with open(target, "rb") as file:
                    seen.add(file.read())
            equal(len(seen), 1, f"different {suffix} files")


@test
def scripts_are_clean_for_shellcheck():
    if not shutil.which("shellcheck"):
        return
    with world() as made:
        policies = (BASE + "use std/dev\ngrant write $WORK\ndeny $REPO/.x\nlimit files to 9\n"
                    "set env A = \"$(x) `y` \\\"z\\\"\"\n",
                    BASE + 'grant read "$WORK/a b", "/x/\\"q\\"", "/x/\\$y"\ngrant socket /run/s\n')
        accepts = "".join(f'accept {control} on bwrap because "x"\n'
                          for control in ("fs.deny.pattern", "fs.deny.missing", "socket.path"))
        for text in policies:
            path = script(made, text + accepts)
            result = subprocess.run(["shellcheck", path], capture_output=True, text=True)
            equal(result.stdout, "", "shellcheck's output")
            with open(path) as file:
                head = file.read().splitlines()[:3]
            equal(head[0], "#!/bin/sh", "first line")


def random_rules(rng, roots):
    """Rules on directories below roots that lie in each other."""
    lines = []

    def place():
        return "/".join([rng.choice(roots), *(rng.choice("ab") for _ in range(rng.randrange(4)))])

    for _ in range(rng.randrange(2, 10)):
        kind = rng.choice(["grant read", "grant write", "auto grant read", "auto grant write", "deny", "deny",
                           "deny write"])
        target = place()
        while "grant" in kind and "/" not in target.lstrip("/~$"):
            target = place()
        excepts = f" except {place()}" if kind.startswith("deny") and rng.random() < 0.3 else ""
        lines.append(f"{kind} {target}{excepts}")
    return "\n".join(lines) + "\n"


@test
def scripts_decide_like_why_when_roots_lie_in_each_other():
    rng = random.Random(20261130)
    rounds = int(os.environ.get("SBX_ROUNDS", "100"))
    with world() as made:
        data = made.make("home/a/")
        work = made.make("home/a/b/")
        directories = []
        for depth in range(5):
            for number in range(2 ** depth):
                names = ["ab"[number >> bit & 1] for bit in range(depth)]
                directories.append(os.path.join(made.home, *names))
        for directory in directories:
            os.makedirs(directory, exist_ok=True)
            made.make(os.path.join(directory, "f"), "text\n")
        given = {"HOME": made.home, "DATA": data, "WORK": work}
        environment = {f"SBX_{name}": path for name, path in given.items()}
        roots = ["$HOME", "$DATA", "$WORK", made.home]
        for number in range(rounds):
            text = BASE + START + ACCEPT + random_rules(rng, roots)
            path = script(made, text)
            result = run(made, ["dash"], path, "sh", "-c", PROBE, "probe", *directories,
                         environment=environment, cwd="/")
            check(result.returncode == 0, f"{result.stderr}\n{text}")
            options = [word for name, path in given.items() for word in ("--root", f"{name}={path}")]
            questions = "".join(f"{operation}\t{directory}/f\n" for directory in directories
                                for operation in ("read", "write"))
            answers = subprocess.run([SBXC, "why", path[:-3] + ".sbx", "--batch", *options], input=questions,
                                     text=True, capture_output=True, env=made.environment()).stdout.splitlines()
            for index, line in enumerate(result.stdout.splitlines()):
                read, write = ('"decision":"allow"' in answers[2 * index + bit] for bit in range(2))
                expected = "write" if write else "read" if read else "none"
                equal(line.split()[0], expected,
                      f"round {number}: level of {directories[index]} under\n{text}\n")


main()
