"""Managed policies: who may have written them, and that nobody gets around them. The system's directory is
put in place in a mount namespace of the test's own."""
import json
import os
import subprocess
import sys

from lib import BASE, IS_ROOT, LAUNCHER, check, equal, main, test, world

SYSTEM = "/etc/sbx/managed.d"
MANAGED = 'sbx 1\nmanaged "corporate"\ndeny $WORK/company\ndeny env CI\n'


def private_etc(w, script, *arguments):
    """Runs a shell script as root of its own namespaces, where /etc can be written."""
    w.count += 1
    upper, work = w.make(f"upper-{w.count}/"), w.make(f"overlay-{w.count}/")
    enter = (
        ["unshare", "--mount", "--propagation", "private"]
        if IS_ROOT
        else ["unshare", "--user", "--map-root-user", "--mount"]
    )
    options = f"lowerdir=/etc,upperdir={upper},workdir={work}" + ("" if IS_ROOT else ",userxattr")
    prelude = f"mount -t overlay overlay -o {options} /etc && mkdir -p {SYSTEM} && "
    return subprocess.run(
        [*enter, "sh", "-c", prelude + script, "sh", *arguments],
        cwd=w.work,
        env=w.environment(CI="1"),
        stdin=subprocess.DEVNULL,
        capture_output=True,
    )


def launch_line(policy, command, *options):
    quoted = " ".join([LAUNCHER, *options, policy, "--", "sh", "-c", f"'{command}'"])
    return quoted


@test
def the_systems_policies_apply_to_every_launch():
    with world() as w:
        w.make("work/company", "c")
        managed, policy = w.compile(MANAGED), w.policy("grant env CI\n")
        w.launch(policy, "cat", "company").succeeded()
        result = private_etc(
            w,
            f"cp {managed} {SYSTEM}/a.bin && "
            + launch_line(policy, "cat company; echo CI=$CI", "--lease", f"{w.outside}/l"),
        )
        equal(result.stdout, b"CI=\n", result.stderr)
        with open(f"{w.outside}/l") as file:
            equal(
                [(layer["name"], layer["kind"]) for layer in json.load(file)["layers"]],
                [("t", "policy"), ("corporate", "managed")],
            )


@test
def anything_doubtful_there_stops_the_launch():
    with world() as w:
        managed, policy = w.compile(MANAGED), w.policy("")
        other = w.make("other/")
        for name, script in (
            ("writable file", f"cp {managed} {SYSTEM}/a.bin; chmod 666 {SYSTEM}/a.bin"),
            ("writable by the group", f"cp {managed} {SYSTEM}/a.bin; chmod 664 {SYSTEM}/a.bin"),
            ("writable directory", f"cp {managed} {SYSTEM}/a.bin; chmod 777 {SYSTEM}"),
            ("writable parent", f"chmod 777 /etc/sbx"),
            ("link to a file", f"ln -s {managed} {SYSTEM}/a.bin"),
            ("dangling link", f"ln -s /nowhere {SYSTEM}/a.bin"),
            ("link to a directory", f"rmdir {SYSTEM}; ln -s {other} {SYSTEM}"),
            ("directory", f"mkdir {SYSTEM}/a.bin"),
            ("damaged file", f"head -c 100 {managed} > {SYSTEM}/a.bin"),
            ("empty file", f": > {SYSTEM}/a.bin"),
            ("policy of another kind", f"cp {policy} {SYSTEM}/a.bin"),
            ("file instead of the directory", f"rmdir {SYSTEM}; : > {SYSTEM}"),
        ):
            result = private_etc(w, f"umask 022; {script} && " + launch_line(policy, "touch ran"))
            check(result.returncode == 125 and b"SBX40" in result.stderr, f"{name}: {result}")
        check(not os.path.exists(f"{w.work}/ran"), "something ran")


@test
def another_owner_stops_the_launch():
    if not IS_ROOT:
        # Without root no file can be given away; the owner is then checked by --managed on a file of root.
        with world() as w:
            w.launch(w.policy(""), "true", options=["--managed", "/etc"]).succeeded()
        return
    with world() as w:
        managed, policy = w.compile(MANAGED), w.policy("")
        result = private_etc(
            w,
            f"cp {managed} {SYSTEM}/a.bin && chown 12345 {SYSTEM}/a.bin && "
            + launch_line(policy, "touch ran"),
        )
        check(result.returncode == 125 and b"SBX404" in result.stderr, str(result))
        directory = w.make("given/")
        os.chown(directory, 12345, 12345)
        w.launch(policy, "touch", "ran", options=["--managed", directory]).refused("SBX404")
        check(not os.path.exists(f"{w.work}/ran"), "something ran")


@test
def no_directory_means_no_managed_policies_and_other_files_do_not_count():
    with world() as w:
        policy = w.policy("")
        result = private_etc(w, f"echo x > {SYSTEM}/README && " + launch_line(policy, "exit 3"))
        equal(result.returncode, 3, result.stderr)
        result = private_etc(w, "rm -r /etc/sbx && " + launch_line(policy, "exit 3"))
        equal(result.returncode, 3, result.stderr)


@test
def managed_directories_of_the_caller_add_up():
    with world() as w:
        for name in ("a", "b"):
            w.make(f"work/{name}", name)
            directory = w.make(f"managed-{name}/")
            os.rename(w.compile(f'sbx 1\nmanaged "{name}"\ndeny $WORK/{name}\n'), f"{directory}/{name}.bin")
        options = ["--managed", f"{w.top}/managed-a", "--managed", f"{w.top}/managed-b"]
        result, lease = w.lease("", "sh", "-c", "cat a b; true", options=options)
        equal(result.out, "")
        equal([layer["name"] for layer in lease["layers"]], ["t", "a", "b"])
        w.launch("", "true", options=["--managed", f"{w.top}/none"]).refused("SBX404")


@test
def roots_of_managed_layers_cannot_be_moved():
    with world() as w:
        directory = w.make("managed/")
        os.rename(w.compile('sbx 1\nmanaged "m"\nlimit write to $WORK\n'), f"{directory}/m.bin")
        w.launch("", "touch", "ran", options=["--managed", directory, "--root", f"WORK={w.work}"]).refused(
            "SBX406"
        )
        w.launch("", "touch", "ran", options=["--managed", directory]).succeeded()


@test
def the_command_cannot_change_a_managed_policy():
    with world() as w:
        directory = w.make("work/managed/")
        os.rename(w.compile('sbx 1\nmanaged "m"\ndeny $WORK/x\n'), f"{directory}/m.bin")
        with open(f"{directory}/m.bin", "rb") as file:
            before = file.read()
        w.shell(
            "",
            "echo x > managed/m.bin; rm -f managed/m.bin; mv managed n; true",
            options=["--managed", directory],
        )
        with open(f"{directory}/m.bin", "rb") as file:
            equal(file.read(), before)


@test
def bypass_needs_the_policy_and_every_layer():
    with world() as w:
        marker = w.make("outside/marker", "seen")
        w.launch("", "cat", marker, options=["--unsandboxed"]).refused("SBX419")
        policy = w.policy("grant bypass\n")
        result, lease = w.lease(policy, "cat", marker, options=["--unsandboxed"])
        equal((result.out, lease["backend"], lease["enforcedControls"]), ("seen", "none", []))
        w.shell(policy, "kill -9 $$", options=["--unsandboxed"]).exited(137)
        w.launch(policy, "no-such-command", options=["--unsandboxed"]).exited(127)
        check(w.launch(policy, "cat", marker).code != 0, "bypass opened the sandbox by itself")
        directory = w.make("managed/")
        os.rename(w.compile('sbx 1\nmanaged "m"\ndeny $WORK/x\n'), f"{directory}/m.bin")
        w.launch(policy, "cat", marker, options=["--unsandboxed", "--managed", directory]).refused("SBX419")
        os.rename(w.compile('sbx 1\nmanaged "m"\npermit bypass\n'), f"{directory}/m.bin")
        equal(
            w.launch(policy, "cat", marker, options=["--unsandboxed", "--managed", directory])
            .succeeded()
            .out,
            "seen",
        )
        w.launch("", "cat", marker, options=["--unsandboxed", "--managed", directory]).refused("SBX419")


@test
def the_policys_own_files_cannot_be_changed():
    with world() as w:
        source = w.make("work/project.sbx", BASE + 'use "more/extra.sbx"\ngrant write $WORK\n')
        w.make("work/more/extra.sbx", 'sbx 1\npreset "extra"\ngrant env EXTRA\n')
        before = w.tree()
        # Across a pinned file mv makes a copy, which is nobody's business.
        w.shell(
            source,
            "for f in project.sbx more/extra.sbx; do echo x > $f; rm -f $f; mv $f y; done; mv more m; rm "
            "-rf y m",
        )
        equal(w.tree(), before)


main()
