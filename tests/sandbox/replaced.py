#!/usr/bin/python3
"""What the host replaces or removes while a run is under way is covered again, or the run ends
(docs/launch.md)."""
import ctypes
import json
import os
import shutil
import signal
import subprocess
import time

from lib import check, equal, main, test, world
from lib_replaced import NEW, READ, WAIT, check_held, comm, kinds, replace, run


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


if __name__ == "__main__":
    main()
