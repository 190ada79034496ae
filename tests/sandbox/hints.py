"""What a caller may not expect is said in one line, and a denied path is explained in one."""
import json
import subprocess

from lib import SBXC, check, equal, main, test, world


def hints(result):
    return [line for line in result.err.splitlines() if "SBX430" in line]


@test
def a_path_that_scratch_hides_gets_one_line():
    with world("/tmp") as w:
        file = w.make("outside/data.csv", "x")
        for command in (["cat", file], ["cat", f"{w.outside}/./data.csv"], ["ls", w.outside, file]):
            result = w.launch("grant scratch\n", *command)
            check(result.code != 0, "it was found")
            equal(len(hints(result)), 1, result.err)
            check(f"grant read {w.outside}" in hints(result)[0], result.err)
        result = w.launch(f"grant scratch\ngrant read {file}\n", "cat", file)
        equal((result.code, result.out, hints(result)), (0, "x", []))


@test
def what_is_not_there_or_not_hidden_gets_none():
    with world("/tmp") as w:
        file, own = w.make("outside/data.csv", "x"), w.make("work/own", "y")
        for policy, path in (
            ("grant scratch\n", f"{w.outside}/missing"),
            ("grant scratch\n", own),
            ("grant scratch\n", "/tmp"),
            ("grant scratch\n", "/etc/shadow"),
            ("grant scratch\n", f"--file={file}"),
            ("", file),
        ):
            equal(hints(w.launch(policy, "ls", path)), [], path)
        equal(hints(w.launch("grant scratch\n", "cat", file, options=["-q"])), [])


@test
def a_temporary_directory_elsewhere_is_hidden_too():
    with world("/var/tmp") as w:
        directory = w.make("t/")
        file = w.make("t/data", "x")
        result = w.launch("grant scratch\n", "cat", file, env=w.environment(TMPDIR=directory))
        check(result.code != 0, "it was found")
        equal(len(hints(result)), 1, result.err)


@test
def why_answers_for_what_was_launched():
    with world() as w:
        policy = w.policy("deny $WORK/secret\n")
        secret = w.make("work/secret", "x")
        check(w.launch(policy, "cat", secret).code != 0, "it was read")
        for name in (policy, policy[:-4] + ".sbx"):
            command = [SBXC, "why", name, "read", secret]
            result = subprocess.run(command, env=w.environment(), cwd=w.work, capture_output=True, text=True)
            equal(result.returncode, 1, name + result.stderr)
            check("deny $WORK/secret" in result.stdout and "fix: " in result.stdout, result.stdout)
        command = [SBXC, "why", policy, "write", policy, "--json"]
        result = subprocess.run(command, env=w.environment(), cwd=w.work, capture_output=True, text=True)
        equal(json.loads(result.stdout)["decision"], "deny")
        for more in ([], ["--json"]):
            command = [SBXC, "show", policy, *more]
            result = subprocess.run(command, env=w.environment(), cwd=w.work, capture_output=True, text=True)
            equal(result.returncode, 0, result.stderr)
            check("$WORK" in result.stdout or w.work in result.stdout, result.stdout)


main()
