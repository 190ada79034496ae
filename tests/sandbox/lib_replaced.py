"""What the tests share in which the host replaces covered files while a run is under way."""
import contextlib
import json
import os
import time

from lib import check, equal, world

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


def comm(process):
    try:
        with open(f"/proc/{process}/comm") as file:
            return file.read().strip()
    except OSError:
        return None
