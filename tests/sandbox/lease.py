"""The lease: what held, by what evidence (commands.md; ZH-8 and ZH-9 of the experiments)."""
import datetime
import json
import os
import subprocess
import time

from lib import BASE, ENGINE, check, check_schema, end, equal, main, test, world

MEMBERS = [
    "leaseId",
    "policy",
    "requestedPolicyHash",
    "effectivePolicyHash",
    "backend",
    "backendVersion",
    "kernel",
    "enforcedControls",
    "acceptedExceptions",
    "layers",
    "notes",
    "pid",
    "startedAt",
    "expiresAt",
    "endedAt",
    "exit",
    "unterminated",
    "events",
]
ALWAYS = {
    "fs.closed",
    "fs.write",
    "net.closed",
    "ipc.abstract",
    "ipc.signal",
    "tty",
    "env",
    "syscall",
    "process.tree",
}


def controls(lease):
    return {entry["control"]: entry for entry in lease["enforcedControls"]}


@test
def every_member_is_there_and_every_needed_control_with_evidence():
    with world() as w:
        w.make("work/secret", "x")
        _, lease = w.lease(
            "deny $WORK/secret, $WORK/**/*.key, $WORK/missing\ngrant scratch\nlimit files to 100\n", "true"
        )
        equal(list(lease), MEMBERS)
        check_schema(lease, "sbx-lease.schema.json")
        held = controls(lease)
        wanted = ALWAYS | {
            "socket.path",
            "fs.deny",
            "fs.deny.pattern",
            "fs.deny.missing",
            "scratch",
            "limit.files",
        }
        check(wanted <= set(held), f"missing: {wanted - set(held)}")
        for entry in lease["enforcedControls"]:
            equal(sorted(entry), ["control", "evidence", "how"])
            check(entry["how"] in ("enforced", "snapshot"), entry)
            check(len(entry["evidence"]) > 8, entry)
        equal(held["fs.deny.pattern"]["how"], "snapshot")
        equal(held["limit.files"]["evidence"], "RLIMIT_NOFILE 100, at most 100")
        check("interfaces: lo" in held["net.closed"]["evidence"], held["net.closed"])
        check("Seccomp: 2" in held["syscall"]["evidence"], held["syscall"])
        equal(
            (lease["backend"], lease["policy"], lease["expiresAt"], lease["unterminated"]),
            (ENGINE or "native", "t", None, []),
        )
        equal(lease["kernel"], os.uname().release)
        for name in ("startedAt", "endedAt"):
            datetime.datetime.fromisoformat(lease[name].replace("Z", "+00:00"))


@test
def the_end_is_recorded_as_the_caller_saw_it():
    with world() as w:
        for script, expected in (
            ("exit 9", {"code": 9}),
            ("kill -9 $$", {"signal": 9}),
            ("exit 0", {"code": 0}),
        ):
            equal(w.lease("", "sh", "-c", script)[1]["exit"], expected)
        equal(w.lease("", "no-such-command")[1]["exit"], {"code": 127})


@test
def it_exists_before_the_command_starts_and_after_a_crash():
    with world() as w:
        path = f"{w.outside}/lease.json"
        process = subprocess.Popen(
            w.command_line(w.policy(""), ["sh", "-c", "touch ready; sleep 60"], ["--lease", path]),
            cwd=w.work,
            env=w.environment(),
        )
        try:
            while not os.path.exists(f"{w.work}/ready"):
                time.sleep(0.01)
            with open(path) as file:
                lease = json.load(file)
            equal((lease["endedAt"], lease["exit"], lease["pid"]), (None, None, process.pid))
            check(ALWAYS <= set(controls(lease)), "controls are missing while it runs")
        finally:
            end(process)
        with open(path) as file:
            equal(json.load(file)["endedAt"], None, "after a crash")


@test
def refused_launches_leave_no_lease():
    with world() as w:
        path = f"{w.outside}/lease.json"
        w.launch(w.compile(BASE), "true", options=["--lease", path]).refused()
        equal(os.listdir(w.outside), [])


@test
def the_command_cannot_write_its_own_lease():
    with world() as w:
        w.launch("", "touch", "ran", options=["--lease", f"{w.work}/lease.json"]).refused("SBX410")
        os.symlink(w.work, f"{w.top}/link")
        w.launch("", "touch", "ran", options=["--lease", f"{w.top}/link/lease.json"]).refused("SBX410")
        w.launch("", "touch", "ran", options=["--lease", f"{w.top}/none/lease.json"]).refused("SBX411")
        equal(os.listdir(w.work), [])


@test
def a_descriptor_can_take_it():
    with world() as w:
        with open(f"{w.outside}/lease", "w+") as file:
            command = w.command_line(
                w.policy(""), ["sh", "-c", "ls /proc/self/fd"], ["--lease", f"fd:{file.fileno()}"]
            )
            result = subprocess.run(
                command,
                cwd=w.work,
                env=w.environment(),
                pass_fds=(file.fileno(),),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
            )
            equal(result.stdout.split(), [b"0", b"1", b"2", b"3"], "the descriptor reached the command")
            file.seek(0)
            equal(json.load(file)["exit"], {"code": 0})
        read, write = os.pipe()
        subprocess.run(
            w.command_line(w.policy(""), ["true"], ["--lease", f"fd:{write}"]),
            cwd=w.work,
            env=w.environment(),
            pass_fds=(write,),
            stdin=subprocess.DEVNULL,
            check=True,
        )
        os.close(write)
        with open(read) as file:
            lines = [json.loads(line) for line in file.read().splitlines()]
        equal([line["exit"] for line in lines], [None, {"code": 0}])
        w.launch("", "true", options=["--lease", "fd:99"]).refused("SBX411")


def records(directory):
    return [name for name in os.listdir(directory) if name.endswith(".json")]


@test
def a_descriptor_on_what_the_command_could_write_is_refused():
    with world() as w:
        policy = w.policy("")
        os.mkfifo(f"{w.work}/fifo")
        os.mkfifo(f"{w.outside}/fifo")
        w.make("outside/linked")
        os.link(f"{w.outside}/linked", f"{w.work}/linked")
        for path, code in (("work/lease", 125), ("work/fifo", 125), ("outside/linked", 125), ("outside/lease", 0),
                           ("outside/fifo", 0)):
            descriptor = os.open(f"{w.top}/{path}", os.O_RDWR | os.O_CREAT, 0o600)
            result = w.launch(policy, "touch", "ran", options=["--lease", f"fd:{descriptor}"],
                              pass_fds=[descriptor]).exited(code)
            os.close(descriptor)
            check(code == 0 or "SBX410" in result.err, result.err)
            equal(os.path.exists(f"{w.work}/ran"), code == 0, "whether it ran")
            if code == 0:
                os.unlink(f"{w.work}/ran")


@test
def a_run_without_a_record_is_told():
    with world() as w:
        state = w.make("state/")
        w.make("state/sbx", "a file in its place")
        result = w.launch("", "true", env=w.environment(XDG_STATE_HOME=state)).succeeded()
        check("warning[SBX428]" in result.err, result.err)


@test
def the_lease_says_what_is_done_when_the_host_replaces_a_file():
    with world() as w:
        w.make("work/.env")
        _, lease = w.lease("deny $WORK/.env\n", "true")
        [deny] = [control for control in lease["enforcedControls"] if control["control"] == "fs.deny"]
        check("1 directories are watched, and what the host replaces in them is covered again" in deny["evidence"], deny)


@test
def a_lease_does_not_replace_what_is_no_file():
    with world() as w:
        os.mkfifo(f"{w.outside}/pipe")
        for name in ("pipe", "directory"):
            os.makedirs(f"{w.outside}/directory", exist_ok=True)
            w.launch("", "true", options=["--lease", f"{w.outside}/{name}"]).refused("SBX411", name)
        equal(sorted(os.listdir(w.outside)), ["directory", "pipe"])


@test
def records_are_kept_in_the_state_directory():
    with world() as w:
        w.launch("", "true").succeeded()
        directory = f"{w.home}/.local/state/sbx"
        names = records(directory)
        equal(len(names), 1)
        equal(os.stat(directory).st_mode & 0o777, 0o700)
        with open(f"{directory}/{names[0]}") as file:
            equal(json.load(file)["exit"], {"code": 0})
        state = w.make("state/")
        w.launch("", "true", env=w.environment(XDG_STATE_HOME=state)).succeeded()
        equal(len(records(f"{state}/sbx")), 1)


@test
def the_command_cannot_change_records():
    with world() as w:
        policy = w.compile(BASE + "grant write $WORK, ~\n")
        w.launch(policy, "true").succeeded()
        script = (
            "echo x > ~/written; cd ~/.local/state/sbx && for f in *; do echo x > $f; rm -f $f; mv $f y; "
            "done; "
            "mv ~/.local/state ~/.local/s; mv ~/.local ~/l; rm -rf ~/.local; true"
        )
        w.shell(policy, script)
        check(os.path.exists(f"{w.home}/written"), "home was not writable")
        names = records(f"{w.home}/.local/state/sbx")
        equal(len(names), 2)
        for name in names:
            with open(f"{w.home}/.local/state/sbx/{name}") as file:
                json.load(file)


@test
def the_hash_of_the_meaning_is_stable_and_that_of_the_text_is_not():
    with world() as w:
        texts = [
            "deny $WORK/a, $WORK/b\ngrant env A, B\n",
            "grant env B\ngrant env A   # the same\ndeny $WORK/b\ndeny $WORK/a\n",
            "deny $WORK/a, $WORK/c\ngrant env A, B\n",
        ]
        leases = [w.lease(text, "true")[1] for text in texts]
        effective = [lease["effectivePolicyHash"] for lease in leases]
        requested = [lease["requestedPolicyHash"] for lease in leases]
        equal(effective[0], effective[1])
        check(effective[0] != effective[2], "another policy has the same hash")
        equal(len(set(requested)), 3)
        for value in effective + requested:
            check(value.startswith("sha256:") and len(value) == 71, value)


@test
def accepted_exceptions_are_recorded_and_not_called_enforced():
    with world() as w:
        policy = 'grant network host example.com port 443\naccept net.host on bwrap because "a test"\n'
        result, lease = w.lease(policy, "true")
        result.succeeded()
        check_schema(lease, "sbx-lease.schema.json")
        equal(
            [
                (entry["control"], entry["target"], entry["because"], entry["line"])
                for entry in lease["acceptedExceptions"]
            ],
            [("net.host", "bwrap", "a test", 7)],
        )
        check("net.host" not in controls(lease), "an exception is called enforced")


@test
def notes_name_matches_and_missing_grants():
    with world() as w:
        w.make("work/deep/key.pem", "x")
        _, lease = w.lease(
            "deny $WORK/**/*.pem\ngrant read $WORK/../nowhere\n".replace(
                "$WORK/../nowhere", f"{w.top}/nowhere"
            ),
            "true",
        )
        texts = [note["text"] for note in lease["notes"]]
        check(any(f"{w.work}/deep/key.pem" in text for text in texts), f"no match in {texts}")
        check(any(f"{w.top}/nowhere" in text for text in texts), f"no missing grant in {texts}")


@test
def a_denied_file_with_further_hard_links_is_a_snapshot_with_a_note():
    with world() as w:
        w.make("work/plain", "x")
        os.link(w.make("work/linked", "x"), f"{w.outside}/other")
        for name, how in (("plain", "enforced"), ("linked", "snapshot")):
            _, lease = w.lease(f"deny $WORK/{name}\n", "true")
            equal(controls(lease)["fs.deny"]["how"], how, name)
            noted = [note["line"] for note in lease["notes"] if "hard links" in note["text"] and name in note["text"]]
            equal(noted, [6] if how == "snapshot" else [], "the lines noted")


@test
def names_in_notes_are_escaped_once():
    with world() as w:
        w.make("work/a\x1b[31m\n.pem", "x")
        path = f"{w.outside}/lease.json"
        w.launch("deny $WORK/*.pem\n", "true", options=["--lease", path]).succeeded()
        with open(path, "rb") as file:
            text = file.read()
        check(b"\x1b" not in text and b"\n" not in text[:-1], text)
        texts = [note["text"] for note in json.loads(text)["notes"]]
        check(any(f"{w.work}/a\\x1b[31m\\x0a.pem" in text for text in texts), texts)


main()
