#!/usr/bin/python3
"""What the host replaces or removes while a run is under way is covered again, or the run ends
(docs/launch.md)."""
import contextlib
import ctypes
import fcntl
import json
import os
import shutil
import signal
import subprocess
import termios
import time

from lib import check, equal, main, test, world

NEW = "replaced-7d21"
# Waits for the file `go`, gives the keeper a moment, and then tries everything.
WAIT = "touch ready; while [ ! -e go ]; do sleep 0.02; done; sleep 0.3; "


@contextlib.contextmanager
def run(text, script, prepare=None):
    """A run that waits; yields (world, work, finish). finish() lets it go on and returns (code, output, lease)."""
    with world() as w:
        w.make("work/.env", "old\n")
        w.make("work/dir/key", "old\n")
        w.make("work/dir/plain", "plain\n")
        if prepare:
            prepare(w)
        lease = f"{w.outside}/lease.json"
        process = w.start(w.policy(text), "sh", "-c", WAIT + script, options=["--lease", lease])
        try:
            for _ in range(1000):
                if os.path.exists(f"{w.work}/ready") or process.poll() is not None:
                    break
                time.sleep(0.01)

            def finish():
                w.make("work/go")
                output = process.communicate(timeout=60)[0].decode()
                with open(lease) as file:
                    return process.returncode, output, json.load(file)

            yield w, w.work, finish
        finally:
            process.kill()
            process.wait()


def kinds(lease):
    return [event["kind"] for event in lease["events"]]


def replace(path, text=NEW):
    """As editors save."""
    with open(path + ".new", "w") as file:
        file.write(text)
    os.rename(path + ".new", path)


def write_anew(path):
    os.unlink(path)
    with open(path, "x") as file:
        file.write(NEW)


def backup_and_write(path):
    os.rename(path, path + "~")
    with open(path, "x") as file:
        file.write(NEW)
    os.unlink(path + "~")


def exchange(path):
    with open(path + ".other", "w") as file:
        file.write(NEW)
    subprocess.run(["mv", "--exchange", path + ".other", path], check=False, capture_output=True)
    if open(path).read() != NEW:  # an mv without --exchange
        ctypes.CDLL(None).renameat2(-100, (path + ".other").encode(), -100, path.encode(), 2)
    os.unlink(path + ".other")


def check_held(output, code, lease, why=""):
    """What came while nothing was at the place, before everything was stopped, could be the command's own: whether it
    did is a matter of microseconds. It is covered again, or the run is ended."""
    if "mask.lost" in kinds(lease):
        equal(code, 137, f"{why}: {output}")
        # The command of one test has it open now and then.
        reasons = ("the command could have put it there", "went away uncovered", "the command has it open")
        check(any(reason in output for reason in reasons), f"{why}: {output}")
        return False
    check("mask.replaced" in kinds(lease) and set(kinds(lease)) <= {"mask.replaced", "mask.removed"}, f"{why}: {lease['events']}")
    return True


READ = f"cat .env 2>&1; cp .env copy 2>&1; grep -r {NEW} . 2>/dev/null && echo SEEN; echo x > .env; mv .env e; rm -f .env; ln .env l; ls -A"


@test
def a_denied_file_that_the_host_replaces_stays_closed():
    for way in (replace, write_anew, backup_and_write, exchange):
        with run("deny $WORK/.env\n", READ) as (_, work, finish):
            way(f"{work}/.env")
            code, output, lease = finish()
            check("SEEN" not in output and NEW not in output, f"{way.__name__}: {output}")
            with open(f"{work}/.env") as file:
                equal(file.read(), NEW, way.__name__)
            check(check_held(output, code, lease, way.__name__) or way != replace, output)
            equal({event["arg"] for event in lease["events"]}, {f"{work}/.env"})


@test
def a_file_that_is_replaced_a_hundred_times_is_closed_afterwards():
    with run("deny $WORK/.env\n", READ) as (_, work, finish):
        for _ in range(100):
            replace(f"{work}/.env")
        code, output, lease = finish()
        check("SEEN" not in output, output)
        check_held(output, code, lease)


@test
def a_file_that_only_may_be_read_stays_read_only():
    script = "cat conf; echo x > conf; echo x >> conf; mv conf c; rm -f conf; sed -i s/r/R/ conf; ls -A"
    with run("deny write $WORK/conf\n", script, lambda w: w.make("work/conf", "old\n")) as (_, work, finish):
        replace(f"{work}/conf")
        code, output, lease = finish()
        check(output.startswith(NEW), output)
        with open(f"{work}/conf") as file:
            equal(file.read(), NEW, output)
        equal(kinds(lease), ["mask.replaced"])


@test
def git_config_on_the_host_does_not_open_the_config():
    def prepare(w):
        subprocess.run(["git", "init", "-q", w.work], check=True, env=w.environment())

    script = "git config core.fsmonitor evil; echo '[core]fsmonitor=evil' >> .git/config; mv .git/config x; mv .git g; cat .git/config"
    with run("deny write $WORK/.git/config\n", script, prepare) as (w, work, finish):
        for number in range(5):
            subprocess.run(["git", "-C", work, "config", "user.name", f"N{number}"], check=True, env=w.environment())
        code, output, lease = finish()
        check("N4" in output, output)
        with open(f"{work}/.git/config") as file:
            check("evil" not in file.read(), "the command wrote the configuration")
        check("mask.replaced" in kinds(lease), str(lease["events"]))


@test
def a_denied_directory_that_is_swapped_stays_closed():
    script = f"cat dir/key; ls dir; grep -r {NEW} . && echo SEEN; touch dir/n; mv dir d; ls -A"
    with run("deny $WORK/dir\n", script) as (w, work, finish):
        w.make("work/other/key", NEW)
        os.rename(f"{work}/dir", f"{work}/old")
        os.rename(f"{work}/other", f"{work}/dir")
        code, output, lease = finish()
        check("SEEN" not in output, output)
        if check_held(output, code, lease):
            check("old\n" in output.split("ls: ")[-1] and "plain" not in output, f"the old directory was opened: {output}")
        equal(sorted(os.listdir(f"{work}/dir")), ["key"])


@test
def a_directory_above_a_denied_file_that_is_swapped_changes_nothing():
    script = f"cat dir/plain; cat dir/key; echo x > dir/key; mv dir d; rm -rf dir; grep -r {NEW}-secret . && echo SEEN; ls -A dir"
    with run("deny $WORK/dir/key\ndeny write $WORK/dir/plain\n", script) as (w, work, finish):
        w.make("work/other/key", NEW + "-secret")
        w.make("work/other/plain", NEW + "-plain\n")
        os.rename(f"{work}/dir", f"{work}/old")
        os.rename(f"{work}/other", f"{work}/dir")
        code, output, lease = finish()
        check("SEEN" not in output, output)
        check(not check_held(output, code, lease) or output.startswith(NEW + "-plain"), output)
        equal(sorted(os.listdir(f"{work}/dir")), ["key", "plain"])
        with open(f"{work}/dir/plain") as file:
            equal(file.read(), NEW + "-plain\n", output)


@test
def a_directory_may_be_swapped_again_and_again():
    with run("deny $WORK/dir/key\n", f"grep -r {NEW} . && echo SEEN; cat dir/key; mv dir d; ls -A") as (w, work, finish):
        for number in range(20):
            w.make(f"work/n{number}/key", NEW)
            shutil.move(f"{work}/dir", f"{w.outside}/o{number}")
            os.rename(f"{work}/n{number}", f"{work}/dir")
            time.sleep(0.01)
        code, output, lease = finish()
        check("SEEN" not in output, output)
        check_held(output, code, lease)


@test
def a_file_that_becomes_a_directory_or_the_other_way_round_stays_closed():
    script = f"cat .env .env/key dir; ls .env; grep -r {NEW} . && echo SEEN; touch .env/x; ls -A"
    with run("deny $WORK/.env\ndeny $WORK/dir\n", script) as (w, work, finish):
        os.unlink(f"{work}/.env")
        w.make("work/.env/key", NEW)
        shutil.rmtree(f"{work}/dir")
        w.make("work/dir", NEW)
        code, output, lease = finish()
        check("SEEN" not in output, output)
        equal(os.listdir(f"{work}/.env"), ["key"])
        check_held(output, code, lease)


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
                os.unlink(f"{w.work}/.env")
                await_stopped(w.work)
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


@test
def a_link_on_the_way_that_is_replaced_ends_the_run():
    def prepare(w):
        w.make("outside/v1/secret", "old\n")
        w.make("outside/v2/secret", NEW)
        os.symlink("v1", f"{w.outside}/current")

    with world() as w:
        prepare(w)
        lease = f"{w.top}/lease.json"
        policy = w.policy(f"grant read {w.outside}\ndeny {w.outside}/current/secret\n")
        process = w.start(policy, "sh", "-c",
                          WAIT + f"sleep 5; cat {w.outside}/current/secret", options=["--lease", lease])
        while not os.path.exists(f"{w.work}/ready"):
            time.sleep(0.01)
        os.symlink("v2", f"{w.outside}/next")
        os.rename(f"{w.outside}/next", f"{w.outside}/current")
        w.make("work/go")
        output = process.communicate(timeout=60)[0].decode()
        check(NEW not in output and "the run was ended" in output, output)
        equal(process.returncode, 137)
        with open(lease) as file:
            equal(kinds(json.load(file)), ["mask.lost"])


@test
def a_link_in_place_of_a_denied_file_ends_the_run():
    with run("deny $WORK/.env\n", "sleep 5; cat .env") as (w, work, finish):
        w.make("work/elsewhere", NEW)
        os.symlink("elsewhere", f"{work}/link")
        os.rename(f"{work}/link", f"{work}/.env")
        code, output, lease = finish()
        check(NEW not in output and code == 137, output)
        equal(kinds(lease), ["mask.lost"])


@test
def a_directory_on_the_way_to_a_denied_file_that_becomes_a_link_ends_the_run():
    with world() as w:
        w.make("outside/sub/secret", "old\n")
        w.make("outside/other/secret", NEW)
        policy = w.policy(f"grant read {w.outside}\ndeny {w.outside}/sub/secret\n")
        process = w.start(policy, "sh", "-c", WAIT + f"cat {w.outside}/sub/secret")
        while not os.path.exists(f"{w.work}/ready"):
            time.sleep(0.01)
        os.rename(f"{w.outside}/sub", f"{w.outside}/old")
        os.symlink("other", f"{w.outside}/sub")
        w.make("work/go")
        output = process.communicate(timeout=60)[0].decode()
        check(process.returncode == 137 and "symbolic links" in output and NEW not in output, output)


@test
def what_covers_a_replaced_path_is_not_the_commands_to_open():
    with run("deny $WORK/.env\n", "chmod 700 .env; echo x > .env; stat -c %a .env") as (_, work, finish):
        replace(f"{work}/.env")
        code, output, lease = finish()
        equal(kinds(lease), ["mask.replaced"], output)
        check("chmod: changing permissions of '.env': Read-only file system" in output and output.endswith("\n0\n"), output)


@test
def in_a_place_that_only_may_be_read_it_is_the_same():
    with world() as w:
        w.make("outside/data/secret", "old\n")
        w.make("outside/data/sub/secret", "old\n")
        policy = w.policy(f"grant read {w.outside}\ndeny {w.outside}/data/secret, {w.outside}/data/sub/secret\n")
        process = w.start(policy, "sh", "-c", WAIT + f"cat {w.outside}/data/secret {w.outside}/data/sub/secret")
        while not os.path.exists(f"{w.work}/ready"):
            time.sleep(0.01)
        replace(f"{w.outside}/data/secret")
        w.make("outside/data/other/secret", NEW)
        os.rename(f"{w.outside}/data/sub", f"{w.outside}/data/old")
        os.rename(f"{w.outside}/data/other", f"{w.outside}/data/sub")
        w.make("work/go")
        output = process.communicate(timeout=60)[0].decode()
        check(NEW not in output and output.count("Permission denied") == 2, output)


@test
def the_whole_workspace_may_be_renamed_by_the_host():
    with run("deny $WORK/.env\n", READ) as (w, work, finish):
        os.rename(work, work + ".moved")
        w.make("work/.env", NEW)
        w.make("work.moved/go")
        code, output, lease = finish()
        check("SEEN" not in output, output)


@test
def ordinary_files_are_the_hosts_to_change():
    with run("deny $WORK/.env\n", "cat plain; cat dir/plain; ls -A") as (w, work, finish):
        w.make("work/plain", "one\n")
        replace(f"{work}/plain", "two\n")
        replace(f"{work}/dir/plain", "three\n")
        code, output, lease = finish()
        check(output.startswith("two\nthree\n"), output)
        equal(lease["events"], [])


@test
def a_storm_of_other_changes_hides_nothing():
    script = f"while [ ! -e over ]; do cat .env; sleep 0.01; done 2>/dev/null; grep {NEW} .env && echo SEEN"
    with run("deny $WORK/.env\n", script) as (w, work, finish):
        w.make("work/go")
        for number in range(30000):
            path = f"{work}/f{number % 10}"
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY))
            os.unlink(path)
        replace(f"{work}/.env")
        time.sleep(0.2)
        w.make("work/over")
        code, output, lease = finish()
        check("SEEN" not in output, output[-300:])
        check_held(output, code, lease)


@test
def changes_that_are_not_heard_of_open_nothing():
    with open("/proc/sys/fs/inotify/max_queued_events") as file:
        most = int(file.read())
    with world() as w:
        w.make("work/.env", "old\n")
        process = w.start(w.policy("deny $WORK/.env\n"), "sh", "-c", WAIT + "cat .env")
        while not os.path.exists(f"{w.work}/ready"):
            time.sleep(0.01)
        keeper = watching(process.pid)[0]
        os.kill(keeper, signal.SIGSTOP)
        for number in range(most // 2 + 100):
            path = f"{w.work}/f{number % 10}"
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY))
            os.unlink(path)
        replace(f"{w.work}/.env")
        os.kill(keeper, signal.SIGCONT)
        w.make("work/go")
        output = process.communicate(timeout=60)[0].decode()
        check(NEW not in output, output)
        check(process.returncode == 137 or "Permission denied" in output, output)


@test
def where_nothing_can_be_watched_the_lease_says_so():
    if os.geteuid() == 0:
        return  # root may have as many as it likes
    libc, taken = ctypes.CDLL(None), []
    with world() as w:
        w.make("work/.env", "old\n")
        policy = w.policy("deny $WORK/.env\n")
        try:
            for _ in range(20):  # those of runs that have just ended become free again
                time.sleep(0.1)
                while (descriptor := libc.inotify_init1(os.O_CLOEXEC)) >= 0:
                    taken.append(descriptor)
                result, lease = w.lease(policy, "true")
                result.succeeded()
                [deny] = [item["evidence"] for item in lease["enforcedControls"] if item["control"] == "fs.deny"]
                if "not watched" in deny:
                    break
        finally:
            for descriptor in taken:
                os.close(descriptor)
        check("not watched" in deny and "Too many open files" in deny, deny)
        _, lease = w.lease(policy, "true")
        [deny] = [item["evidence"] for item in lease["enforcedControls"] if item["control"] == "fs.deny"]
        check("1 directories are watched" in deny, deny)


@test
def what_watches_is_out_of_the_commands_sight():
    with run("deny $WORK/.env\n", "cat /proc/[0-9]*/comm; kill -9 -1; sleep 0.2") as (w, work, finish):
        replace(f"{work}/.env")
        code, output, lease = finish()
        check("keeper" not in output, output)
        equal(kinds(lease), ["mask.replaced"])


def watching(launcher):
    """The keeper among the children of a launcher."""
    with open(f"/proc/{launcher}/task/{launcher}/children") as file:
        return [child for child in map(int, file.read().split()) if comm(child) == "sbx-keeper"]


def comm(process):
    try:
        with open(f"/proc/{process}/comm") as file:
            return file.read().strip()
    except OSError:
        return None


@test
def nothing_that_watches_is_left_whatever_the_end():
    for kill in (False, True):
        with world() as w:
            w.make("work/.env", "old\n")
            process = w.start(w.policy("deny $WORK/.env\n"), "sleep", "30" if kill else "0.5")
            for _ in range(500):
                if watching(process.pid):
                    break
                time.sleep(0.01)
            [keeper] = watching(process.pid)
            if kill:
                process.kill()
            process.wait()
            for _ in range(200):
                if comm(keeper) != "sbx-keeper":
                    break
                time.sleep(0.01)
            check(comm(keeper) != "sbx-keeper", f"process {keeper} is left")


@test
def a_run_whose_watch_is_ended_from_outside_ends():
    with run("deny $WORK/.env\n", "sleep 5; echo STILL") as (w, work, finish):
        for directory in os.listdir("/proc"):
            if directory.isdigit() and comm(directory) == "sbx-keeper":
                with open(f"/proc/{directory}/status") as file:
                    parent = next(line.split()[1] for line in file if line.startswith("PPid:"))
                with open(f"/proc/{parent}/cmdline") as file:
                    if w.top in file.read():
                        os.kill(int(directory), 9)
        code, output, lease = finish()
        check(code == 137 and "STILL" not in output, f"{code} {output}")
        equal(kinds(lease), ["mask.lost"])


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


def await_stopped(work):
    shell = shell_of(work)
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
        os.unlink(f"{work}/.env")
        await_stopped(work)
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
def a_directory_that_is_moved_away_and_back_stays_covered():
    with run("deny $WORK/dir/key\n", "cd dir; cat key; ls; echo x > key; cat ../dir/key; echo WENT-ON") as (w, work, finish):
        for _ in range(3):
            os.rename(f"{work}/dir", f"{work}/dir.x")
            os.rename(f"{work}/dir.x", f"{work}/dir")
            time.sleep(0.1)
        code, output, lease = finish()
        check("WENT-ON" in output and "old" not in output, output)


@test
def who_is_in_a_directory_that_is_moved_away_and_back_sees_no_more():
    for moment in (0, 0.05):
        with world() as w:
            w.make("work/dir/key", "old\n")
            process = w.start(w.policy("deny $WORK/dir/key\n"), "sh", "-c",
                              "cd dir; touch ../ready; while [ ! -e ../go ]; do sleep 0.02; done; cat key; echo WENT-ON")
            while not os.path.exists(f"{w.work}/ready"):
                time.sleep(0.01)
            os.rename(f"{w.work}/dir", f"{w.work}/dir.x")
            time.sleep(moment)
            os.rename(f"{w.work}/dir.x", f"{w.work}/dir")
            time.sleep(0.3)
            replace(f"{w.work}/dir/key")
            time.sleep(0.3)
            w.make("work/go")
            output = process.communicate(timeout=60)[0].decode()
            check("WENT-ON" in output and NEW not in output and "old\n" not in output, output)


@test
def what_goes_on_while_nothing_is_there_ends_the_run():
    with run("deny $WORK/.env\n", "sleep 5; touch late") as (w, work, finish):
        shell = shell_of(work)
        launcher, _ = launcher_of(w)
        os.kill(launcher, signal.SIGSTOP)  # else it puts a placeholder there
        os.unlink(f"{work}/.env")
        await_stopped(work)
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
        os.unlink(f"{work}/.env")
        await_stopped(work)
        w.make("work/.env", NEW)
        w.make("work/on")
        code, output, lease = finish()
        check("T\nS" in output, output)


if __name__ == "__main__":
    main()
