"""The launcher of macOS as its test build on Linux: a stand-in for sandbox-exec says what the profile allows."""
import atexit
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time

from lib import BUILD, PATH, TREE, check, equal, main, test, world

PROGRAMS = ("sbx-launch-macos-test", "macos-stand-in", "sbxc")
BANNER = "sbx-launch-macos-test: FOR TESTS ONLY, nothing is enforced\n"
BASE = 'sbx 1\npolicy "t"\nuse std/system\ngrant env PATH, HOME, LANG, PWD\ngrant write $WORK\n'


class Mac:
    """The two programs in a directory of their own, and what they are asked in a world."""

    def __init__(self, w):
        self.w = w
        self.programs = w.make("programs/")
        for name in PROGRAMS:
            shutil.copy(os.path.join(BUILD, name), self.programs)
        os.chmod(w.make("work/judge", "#!/bin/sh\nexit 99\n"), 0o755)
        self.state = os.path.join(w.home, ".local/state/sbx")
        # macOS has links at /tmp and /var, where a profile takes no parameter.
        self.temporary = tempfile.mkdtemp(prefix="sbx-test-", dir="/dev/shm")
        atexit.register(shutil.rmtree, self.temporary, ignore_errors=True)

    def line(self, text, command, options=()):
        policy = text if text.endswith(".bin") else self.w.compile(BASE + text, "--os", "macos")
        return [os.path.join(self.programs, PROGRAMS[0]), *options, policy, "--", *command]

    def environment(self, **more):
        return self.w.environment(TMPDIR=self.temporary, PWD="/wrong", **more)

    def launch(self, text, *command, options=(), env=None):
        result = subprocess.run(self.line(text, command, options), env=env or self.environment(), cwd=self.w.work,
                                capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60)
        check(result.stderr.startswith(BANNER), f"no banner: {result.stderr}")
        return result

    def judge(self, text, *questions, options=()):
        result = self.launch(text, "./judge", *questions, options=options)
        equal(result.returncode, 0, f"exit ({result.stderr})")
        return result.stdout.split("\n")[:-1]

    def refused(self, text, code, *command, options=()):
        result = self.launch(text, *(command or ("true",)), options=options)
        equal(result.returncode, 125, "exit")
        check(f"error[{code}]" in result.stderr, result.stderr)
        return result


@test
def reads_and_writes_are_what_the_policy_says():
    with world() as w:
        mac = Mac(w)
        w.make("work/.env"), w.make("work/kept/a"), w.make("outside/x")
        text = "deny $WORK/.env\ndeny write $WORK/kept\n"
        asked = ["read", "src", "write", "src", "read", ".env", "write", ".env", "read", "kept/a", "write", "kept/a",
                 "read", f"{w.outside}/x", "file-link", ".env", "file-write-unlink", "kept"]
        equal(mac.judge(text, *asked), ["allow", "allow", "deny", "deny", "allow", "deny", "deny", "deny", "deny"])


@test
def a_denied_path_is_denied_while_it_is_missing_and_through_a_link():
    with world() as w:
        mac = Mac(w)
        w.make("work/store/secret")
        os.symlink(f"{w.work}/store/secret", f"{w.outside}/link")
        equal(mac.judge(f"deny $WORK/not/yet\ndeny {w.outside}/link\n", "write", "not/yet", "write", "not", "read",
                        "store/secret", "read", "store"), ["deny", "deny", "deny", "allow"])


@test
def a_grant_through_a_link_that_the_command_could_have_made_is_left_out():
    with world() as w:
        mac = Mac(w)
        w.make("outside/far/x")
        os.symlink(f"{w.outside}/far", f"{w.work}/planted")
        os.symlink(f"{w.outside}/far", f"{w.home}/honest")
        refused = mac.refused("grant read $WORK/planted\n", "SBX452")
        check("SBX451" in refused.stderr, refused.stderr)
        equal(mac.judge("grant read $HOME/honest\n", "read", f"{w.outside}/far/x"), ["allow"])


@test
def a_root_that_is_spelt_with_a_link_is_bound_to_where_it_leads():
    with world() as w:
        mac = Mac(w)
        w.make("private/tmp/a")
        os.symlink(f"{w.top}/private/tmp", f"{w.top}/tmp")
        for spelling in (f"{w.top}/tmp", f"{w.top}/private/tmp"):
            equal(mac.judge("grant write $TMP/a\n", "write", f"{w.top}/tmp/a", "write", f"{w.top}/private/tmp/a",
                            "write", f"{w.top}/tmp/b", options=["--root", f"TMP={spelling}"]),
                  ["allow", "allow", "deny"])


@test
def matches_of_patterns_are_denied():
    with world() as w:
        mac = Mac(w)
        w.make("work/a/b/key.pem"), w.make("work/a/ok")
        equal(mac.judge("deny $WORK/**/*.pem\n", "read", "a/b/key.pem", "read", "later/X.PEM", "read", "a/ok",
                        "file-write-unlink", "a/b"), ["deny", "deny", "allow", "deny"])


@test
def network_and_sockets_are_closed_unless_granted():
    with world() as w:
        mac = Mac(w)
        asked = ["connect", "localhost:3000", "connect", "localhost:3001", "connect", "other:443", "listen", "3000",
                 "socket", f"{w.outside}/s"]
        equal(mac.judge("", *asked), ["deny"] * 5)
        equal(mac.judge("grant network loopback port 3000\n", *asked), ["allow"] + ["deny"] * 4)
        equal(mac.judge("grant network any\n", *asked)[:3], ["allow"] * 3)


@test
def what_the_policy_does_not_let_run_gives_126_and_what_is_missing_127():
    with world() as w:
        mac = Mac(w)
        os.chmod(w.make("outside/tool", "#!/bin/sh\n"), 0o755)
        equal(mac.launch("", f"{w.outside}/tool").returncode, 126)
        equal(mac.launch("deny exec $WORK/judge\n", "./judge").returncode, 126)
        equal(mac.launch("", "no-such-command").returncode, 127)
        equal(mac.launch("", "./missing").returncode, 127)


@test
def the_exit_code_is_the_commands_own():
    with world() as w:
        mac = Mac(w)
        for code in (0, 7, 65, 71, 255):
            equal(mac.launch("", "sh", "-c", f"exit {code}").returncode, code)
        equal(mac.launch("", "sh", "-c", "kill -KILL $$").returncode, 128 + 9)


@test
def the_environment_holds_what_is_granted_and_the_directory_is_the_launchers():
    with world() as w:
        mac = Mac(w)
        lines = set(mac.judge('set env A = "b"\n', "environment"))
        equal(lines, {"A=b", f"PATH={PATH}", f"HOME={w.home}", "LANG=C.UTF-8", f"PWD={w.work}"})
        equal(mac.judge("", "directory"), [w.work])


@test
def inside_another_sandbox_nothing_runs_and_the_reason_is_said():
    with world() as w:
        mac = Mac(w)
        w.make("programs/nested")
        mac.refused("", "SBX435", "touch", "ran")
        check(not os.path.exists(f"{w.work}/ran"), "it ran")
        probe = subprocess.run([os.path.join(mac.programs, PROGRAMS[0]), "--probe", "--json"], capture_output=True)
        equal(probe.returncode, 125, "exit of --probe")
        check(not json.loads(probe.stdout)["backends"][0]["usable"], "usable")


@test
def scratch_is_private_and_gone_afterwards():
    with world() as w:
        mac = Mac(w)
        result = mac.launch("grant scratch\n", "sh", "-c", 'stat -c "%a %n" "$TMPDIR"; echo x > "$TMPDIR/f"; mkdir "$TMPDIR/d"')
        mode, place = result.stdout.split()
        equal(mode, "700")
        equal(os.path.dirname(place), mac.temporary)
        equal(os.listdir(mac.temporary), [])
        equal([name for name in os.listdir(mac.state) if name.startswith("scratch-")], [])


def wait_until(holds, what):
    for _ in range(200):
        if holds():
            return
        time.sleep(0.05)
    raise AssertionError(what)


def alive(pid):
    try:
        os.kill(pid, 0)
        return open(f"/proc/{pid}/stat").read().split(")")[1].split()[0] != "Z"
    except OSError:
        return False


@test
def a_killed_launcher_takes_the_process_group_and_the_scratch_directory_with_it():
    with world() as w:
        mac = Mac(w)
        process = subprocess.Popen(mac.line("grant scratch\n", ("sh", "-c", "sleep 300 & echo $!; wait")),
                                   env=mac.environment(), cwd=w.work, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        sleeper = int(process.stdout.readline())
        process.kill()
        process.wait()
        wait_until(lambda: not alive(sleeper), "the command goes on")
        wait_until(lambda: os.listdir(mac.temporary) == [], "the scratch directory stays")


@test
def scratch_that_a_crash_left_goes_at_the_next_launch_and_nothing_else_does():
    with world() as w:
        mac = Mac(w)
        name = "0123456789abcdef0123456789abcdef"
        os.makedirs(f"{mac.temporary}/sbx-{name}/d")
        w.make("outside/precious/file")
        w.make(f"home/.local/state/sbx/scratch-{name}", f"{mac.temporary}/sbx-{name}")
        w.make("home/.local/state/sbx/scratch-other", f"{w.outside}/precious")
        equal(mac.launch("grant scratch\n", "true").returncode, 0)
        equal(os.listdir(mac.temporary), [])
        check(os.path.exists(f"{w.outside}/precious/file"), "something else was removed")


@test
def signals_reach_the_command_and_its_time_ends():
    with world() as w:
        mac = Mac(w)
        process = subprocess.Popen(mac.line("", ("sh", "-c", "trap 'exit 42' TERM; echo ready; while :; do sleep 0.05; done")),
                                   env=mac.environment(), cwd=w.work, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        equal(process.wait(timeout=20), 42)
        result = mac.launch("limit time to 1s\n", "sleep", "60")
        equal(result.returncode, 128 + signal.SIGTERM)
        check("limit time" in result.stderr, result.stderr)


@test
def open_files_are_limited():
    with world() as w:
        equal(Mac(w).launch("limit files to 77\n", "sh", "-c", "ulimit -n; ulimit -Hn").stdout.split(), ["77", "77"])


@test
def the_lease_is_valid_and_says_what_was_measured():
    import jsonschema
    with world() as w:
        mac = Mac(w)
        place = f"{w.outside}/lease.json"
        mac.launch("grant scratch\ndeny $WORK/x\n", "true", options=["--lease", place])
        lease = json.load(open(place))
        jsonschema.validate(lease, json.load(open(os.path.join(TREE, "schema/sbx-lease.schema.json"))))
        equal(lease["backend"], "sandbox-exec")
        equal(lease["exit"], {"code": 0})
        how = {item["control"]: item["how"] for item in lease["enforcedControls"]}
        equal((how["fs.deny"], how["process.tree"], how["scratch"]), ("enforced", "snapshot", "snapshot"))
        mac.refused("", "SBX410", "true", options=["--lease", f"{w.work}/lease.json"])


@test
def what_seatbelt_cannot_hold_is_refused():
    with world() as w:
        mac = Mac(w)
        policy = w.compile(BASE + "limit memory to 1GiB\n")
        mac.refused(policy, "SBX300")


@test
def a_call_that_is_too_long_is_refused():
    with world() as w:
        mac = Mac(w)
        room = os.sysconf("SC_ARG_MAX") - 12000
        long = {f"V{i}": "x" * 100000 for i in range(room // 100100)}
        result = subprocess.run(mac.line("grant env V*\n", ("true",)), env=dict(mac.environment(), V="x" * (room % 100100), **long),
                                cwd=w.work, capture_output=True, text=True)
        check("SBX437" in result.stderr, result.stderr[-300:])
        equal(result.returncode, 125)


@test
def a_dry_run_prints_the_profile_and_makes_nothing():
    with world() as w:
        mac = Mac(w)
        result = mac.launch("grant scratch\n", "touch", "ran", options=["--dry-run"])
        equal(result.returncode, 0)
        check("(deny default)" in result.stdout and "-p PROFILE -- " in result.stdout, result.stdout[-300:])
        check(not os.path.exists(f"{w.work}/ran") and os.listdir(mac.temporary) == [], "something was made")


@test
def without_a_sandbox_it_runs_only_where_bypass_is_granted():
    with world() as w:
        mac = Mac(w)
        mac.refused("", "SBX419", "true", options=["--unsandboxed"])
        equal(mac.launch("grant bypass\n", "sh", "-c", "exit 3", options=["--unsandboxed"]).returncode, 3)


@test
def the_readmes_policy_holds():
    with world() as w:
        mac = Mac(w)
        w.make("work/.env"), w.make("work/.git/config"), w.make("home/.ssh/id")
        text = 'use std/dev\ndeny $WORK/.env, $WORK/secrets/\ndeny write $WORK/.github/workflows\n'
        equal(mac.judge(text, "read", "a", "write", "a", "read", ".env", "write", "secrets/x", "write",
                        ".github/workflows/ci.yml", "read", f"{w.home}/.ssh/id", "write", ".git/config", "process-exec*", "/bin/sh"),
              ["allow", "allow", "deny", "deny", "deny", "deny", "deny", "allow"])


if __name__ == "__main__":
    main()
