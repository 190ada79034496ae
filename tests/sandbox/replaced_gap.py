#!/usr/bin/python3
"""What the command can do between a replacement on the host and its being covered again ends the run
(docs/launch.md)."""
import contextlib
import ctypes
import fcntl
import os
import shutil
import signal
import subprocess
import termios
import time

from lib import check, equal, main, test, world
from lib_replaced import NEW, READ, check_held, comm, kinds, replace, run


@test
def what_the_host_removes_cannot_be_made_by_the_command():
    script = "sleep 0.5; echo evil > .env; echo evil > conf; mkdir dir; rm -rf dir; mv conf c; ls -A"
    with run("deny $WORK/.env\ndeny write $WORK/conf\ndeny $WORK/dir\n", script,
             lambda w: w.make("work/conf", "old\n")) as (w, work, finish):
        os.unlink(f"{work}/.env")
        os.unlink(f"{work}/conf")
        shutil.rmtree(f"{work}/dir")
        code, output, lease = finish()
        check({"mask.removed"} <= set(kinds(lease)), str(lease["events"]))
        check("evil" not in "".join(open(path).read() for path in w.tree() if os.path.isfile(path)), output)
        equal(sorted(os.listdir(work)), ["go", "ready"], "what is left " + output)


def in_terminal(w, script, meanwhile):
    """The exit code of a launcher under a shell with job control, or of the signal that stopped it."""
    controller, terminal = os.openpty()
    launch = w.command_line(w.policy("deny $WORK/.env\n"), ["sh", "-c", script])
    process = subprocess.Popen(
        ["bash", "-mc", '"$@"; echo $? > code; kill -9 %1 2>/dev/null', "bash", *launch], env=w.environment(), cwd=w.work,
        stdin=terminal, stdout=terminal, stderr=terminal,
        preexec_fn=lambda: (os.setsid(), fcntl.ioctl(0, termios.TIOCSCTTY, 0)))
    os.close(terminal)
    for _ in range(1000):
        if os.path.exists(f"{w.work}/ready"):
            break
        time.sleep(0.01)
    meanwhile()
    w.make("work/go")
    process.wait(30)
    os.close(controller)
    with open(f"{w.work}/code") as file:
        return int(file.read())


@test
def in_a_terminal_a_removal_does_not_suspend_the_launcher():
    script = "touch ready; while [ ! -e go ]; do sleep 0.02; done; cat .env; echo went-on > result"
    for comes_back in (False, True):
        with world() as w:
            w.make("work/.env", "old\n")

            def remove():
                unlink_and_await_stopped(w.work)
                if comes_back:
                    w.make("work/.env", "new\n")
                time.sleep(0.6)

            equal(in_terminal(w, script, remove), 0, "the launcher's exit, or the signal that stopped it")
            check(os.path.exists(f"{w.work}/result"), "the command did not go on")


@test
def in_a_terminal_a_command_that_stops_later_suspends_the_launcher():
    script = "touch ready; while [ ! -e go ]; do sleep 0.02; done; kill -STOP $$"
    with world() as w:
        w.make("work/.env", "old\n")

        def remove():
            os.unlink(f"{w.work}/.env")
            time.sleep(0.6)

        check(in_terminal(w, script, remove) > 128, "the launcher was not stopped")


@test
def a_loop_that_waits_for_a_removal_does_not_get_its_own_file_in():
    script = "n=0; while [ $n -lt 3000 ]; do (echo evil > .env) 2>/dev/null; n=$((n+1)); done; cat .env"
    with run("deny $WORK/.env\n", script) as (w, work, finish):
        w.make("work/go")
        time.sleep(0.5)
        os.unlink(f"{work}/.env")
        time.sleep(0.1)
        code, output, lease = finish()
        check("evil" not in output, output)


def shell_of(work):
    """The number of the command, a shell in that directory; others may be its children that became nothing else yet."""
    found = []
    for name in os.listdir("/proc"):
        with contextlib.suppress(OSError):
            if name.isdigit() and comm(name) == "sh" and os.readlink(f"/proc/{name}/cwd") == work:
                with open(f"/proc/{name}/status") as file:
                    parent = next(line.split()[1] for line in file if line.startswith("PPid:"))
                if comm(parent) != "sh":
                    found.append(int(name))
    return found[0]


def unlink_and_await_stopped(work):
    """The command is stopped for a fifth of a second only, and looking for it takes long on a busy machine."""
    shell = shell_of(work)
    os.unlink(f"{work}/.env")
    for _ in range(500):
        with open(f"/proc/{shell}/stat") as file:
            if file.read().rpartition(")")[2].split()[0] == "T":
                time.sleep(0.05)  # the others, and until the keeper has seen it
                return
        time.sleep(0.005)
    with open(f"/proc/{shell}/status") as file:
        raise AssertionError(f"the command was not stopped: {file.read(200)}")


def launcher_of(w):
    """The number of the launcher of this world, and of its keeper."""
    for directory in os.listdir("/proc"):
        if directory.isdigit() and comm(directory) == "sbx-keeper":
            with open(f"/proc/{directory}/status") as file:
                parent = next(line.split()[1] for line in file if line.startswith("PPid:"))
            with open(f"/proc/{parent}/cmdline") as file:
                if w.top in file.read():
                    return int(parent), int(directory)
    raise AssertionError("no keeper")


@contextlib.contextmanager
def gap(w):
    """As if the keeper did not get its turn."""
    _, keeper = launcher_of(w)
    os.kill(keeper, signal.SIGSTOP)
    yield
    os.kill(keeper, signal.SIGCONT)


def python(code):
    return "exec python3 -c '" + code.replace("'", '"') + "'"


# Each takes hold of what the host put at .env (or of conf, which may be read) before it is covered again.
TAKING = {
    "a descriptor for writing": "f = os.open(NAME, os.O_WRONLY|os.O_APPEND)",
    "a descriptor for reading": "f = os.open(NAME, os.O_RDONLY)",
    "a descriptor of the place": "f = os.open(NAME, os.O_PATH)",
    "a descriptor in a socket": "a, b = socket.socketpair(); f = os.open(NAME, os.O_RDWR); "
                                "socket.send_fds(a, [b'x'], [f]); os.close(f)",
    "a descriptor of one thread": "go = threading.Event(); "
                                  "t = threading.Thread(target=lambda: (libc.unshare(0x400), os.open(NAME, os.O_RDWR), "
                                  "go.set(), time.sleep(60)), daemon=True); t.start(); go.wait()",
    "a mapping": "f = os.open(NAME, os.O_RDWR); m = mmap.mmap(f, 0); os.close(f); [os.close(n) for n in range(3, 9) "
                 "if os.path.exists(f'/proc/self/fd/{n}')]",
    "a second name": "os.link(NAME, 'second')",
    "another place": "os.rename(NAME, 'second')",
    "a file of its own": "open('mine', 'w').write('evil'); os.rename('mine', NAME)",
}


@test
def what_the_command_takes_hold_of_before_it_is_covered_ends_the_run():
    for name, policy in ((".env", "deny $WORK/.env\n"), ("conf", "deny write $WORK/conf\n")):
        for what, code in TAKING.items():
            script = python("import ctypes, mmap, os, socket, threading, time\nlibc = ctypes.CDLL(None)\n"
                            + code.replace("NAME", f"'{name}'").replace('"', "'")
                            + "\nopen('taken', 'w').close()\ntime.sleep(4)\nopen('late', 'w').close()")
            with run(policy, script, lambda w: w.make("work/conf", "old\n")) as (w, work, finish):
                with gap(w):
                    replace(f"{work}/{name}")
                    w.make("work/go")
                    for _ in range(500):
                        if os.path.exists(f"{work}/taken"):
                            break
                        time.sleep(0.01)
                    check(os.path.exists(f"{work}/taken"), f"{name}: {what} was not taken")
                code, output, lease = finish()
                check(code == 137 and not os.path.exists(f"{work}/late"), f"{name}: {what}: {code} {output}")
                equal(kinds(lease)[-1], "mask.lost", f"{name}: {what}")


@test
def a_command_that_took_hold_of_nothing_goes_on():
    script = python("import os, time\nf = os.open('dir/plain', os.O_RDWR)\nos.chdir('dir')\nopen('../taken', 'w').close()\n"
                    "time.sleep(1)\nprint('WENT-ON')")
    with run("deny $WORK/.env\ndeny $WORK/dir/key\n", script) as (w, work, finish):
        with gap(w):
            replace(f"{work}/.env")
            replace(f"{work}/dir/key")
            w.make("work/go")
            while not os.path.exists(f"{work}/taken"):
                time.sleep(0.01)
        code, output, lease = finish()
        check(code == 0 and "WENT-ON" in output, output)
        equal(kinds(lease), ["mask.replaced", "mask.replaced"])


@test
def a_working_directory_in_what_was_not_covered_yet_ends_the_run():
    for policy in ("deny $WORK/dir\n", "deny $WORK/dir/key\n"):
        with run(policy, "cd dir && touch ../taken; sleep 4; cat key") as (w, work, finish):
            w.make("work/other/key", NEW)
            with gap(w):
                ctypes.CDLL(None).renameat2(-100, f"{work}/other".encode(), -100, f"{work}/dir".encode(), 2)
                w.make("work/go")
                while not os.path.exists(f"{work}/taken"):
                    time.sleep(0.01)
            code, output, lease = finish()
            check(code == 137 and NEW not in output, output)
            equal(kinds(lease), ["mask.lost"])


@test
def what_the_command_makes_where_the_host_left_nothing_ends_the_run():
    for policy in ("deny $WORK/.env\n", "deny write $WORK/.env\n"):
        with run(policy, "echo evil > .env; touch taken; sleep 4; touch late") as (w, work, finish):
            with gap(w):
                os.unlink(f"{work}/.env")
                w.make("work/go")
                while not os.path.exists(f"{work}/taken"):
                    time.sleep(0.01)
            code, output, lease = finish()
            check(code == 137 and not os.path.exists(f"{work}/late"), output)
            equal(kinds(lease), ["mask.lost"])


@test
def what_the_host_makes_anew_after_a_moment_is_covered():
    with run("deny $WORK/.env\n", READ + "; echo WENT-ON") as (w, work, finish):
        unlink_and_await_stopped(work)
        w.make("work/.env", NEW)
        code, output, lease = finish()
        check("WENT-ON" in output and NEW not in output, output)
        check(check_held(output, code, lease), output)


@test
def where_the_command_may_have_mounts_of_its_own_a_replacement_ends_the_run():
    script = "unshare -Um sh -c 'touch inside; while :; do cat .env; sleep 0.05; done' 2>errors & sleep 6"
    for way in (replace, os.unlink):
        with run("use std/nested\ndeny $WORK/.env\n", script) as (w, work, finish):
            w.make("work/go")
            for _ in range(500):
                if os.path.exists(f"{work}/inside"):
                    break
                time.sleep(0.01)
            check(os.path.exists(f"{work}/inside"), "there is no mount namespace inside")
            way(f"{work}/.env")
            code, output, lease = finish()
            # What is read before it is killed is not what this is about.
            check(code == 137 and output.count(NEW) <= 1, output)
            equal(kinds(lease), ["mask.lost"])
            [deny] = [item for item in lease["enforcedControls"] if item["control"] == "fs.deny"]
            equal(deny["how"], "snapshot")
            check("ends the run" in deny["evidence"], deny["evidence"])


@test
def a_launcher_that_is_stopped_holds_as_well():
    script = "while :; do date +%N > beat; cat .env; (echo evil > .env); sleep 0.02; done 2>/dev/null"
    for way in ("link", "removed"):
        with run("deny $WORK/.env\n", script) as (w, work, finish):
            launcher, _ = launcher_of(w)
            w.make("work/go")
            time.sleep(0.5)
            os.kill(launcher, signal.SIGSTOP)
            if way == "link":
                w.make("work/elsewhere", NEW)
                os.symlink("elsewhere", f"{work}/link")
                os.rename(f"{work}/link", f"{work}/.env")
            else:
                os.unlink(f"{work}/.env")
            time.sleep(0.5)
            with open(f"{work}/beat") as file:
                before = file.read()
            time.sleep(0.5)
            with open(f"{work}/beat") as file:
                equal(file.read(), before, f"{way}: the command goes on")
            made = way == "removed" and os.path.exists(f"{work}/.env")
            os.kill(launcher, signal.SIGCONT)
            os.kill(launcher, signal.SIGTERM)
            code, output, lease = finish()
            check(NEW not in output, output)
            check((way == "removed" and not made) or kinds(lease) == ["mask.lost"], str(lease["events"]))


@test
def what_goes_on_while_nothing_is_there_ends_the_run():
    with run("deny $WORK/.env\n", "sleep 5; touch late") as (w, work, finish):
        shell = shell_of(work)
        launcher, _ = launcher_of(w)
        os.kill(launcher, signal.SIGSTOP)  # else it puts a placeholder there
        unlink_and_await_stopped(work)
        os.kill(shell, signal.SIGCONT)
        time.sleep(0.3)
        os.kill(launcher, signal.SIGCONT)
        code, output, lease = finish()
        check(code == 137 and "was continued" in output, output)


@test
def a_directory_with_a_denied_path_may_be_removed():
    """The command writes there at once: a run in which it was quicker than the watch is ended, others go on."""
    went_on = 0
    for number in range(5):
        with run("deny $WORK/dir/key\n", "ls -A; (echo evil > dir/key); echo WENT-ON") as (w, work, finish):
            shutil.rmtree(f"{work}/dir")
            code, output, lease = finish()
            if "mask.lost" in kinds(lease):
                check(code == 137 and "the command could have put it there" in output, output)
                continue
            check(code == 0 and "WENT-ON" in output, output)
            check("mask.removed" in kinds(lease), str(lease["events"]))
            went_on += 1
    check(went_on > 0, "each run was ended")


@test
def what_the_command_had_stopped_stays_stopped():
    script = ("sleep 30 & p=$!; sleep 30 & q=$!; kill -STOP $p; touch asleep; while [ ! -e on ]; do sleep 0.02; done; sleep 0.3; "
              "cut -d' ' -f3 /proc/$p/stat /proc/$q/stat; kill -9 $p $q")
    with run("deny $WORK/.env\n", script) as (w, work, finish):
        w.make("work/go")
        while not os.path.exists(f"{work}/asleep"):
            time.sleep(0.01)
        unlink_and_await_stopped(work)
        w.make("work/.env", NEW)
        w.make("work/on")
        code, output, lease = finish()
        check("T\nS" in output, output)


if __name__ == "__main__":
    main()
