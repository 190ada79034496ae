#!/usr/bin/python3
"""replacing.py BUILD [TIMES] - how often a command that does nothing else gets to read what the host puts at a denied
path by rename, or to write what it puts at one that may only be read, before the launcher has covered it again; and
how often that ends the run."""
import json
import os
import subprocess
import sys
import tempfile
import time

POLICY = ('sbx 1\npolicy "replacing"\nuse std/system\ngrant env PATH\ngrant write $WORK\n'
          'deny $WORK/secret\ndeny write $WORK/kept\n')
ATTEMPTS = {
    "secret": """
        try:
            with open("secret") as file:
                text = file.read()
        except OSError:
            continue
        if text and text != last:
            last = text
            os.write(record, b"x")
""",
    "kept": """
        try:
            file = os.open("kept", os.O_RDWR | os.O_APPEND)
        except OSError:
            continue
        text = os.read(file, 100).split(b"x")[0]
        os.write(file, b"x")
        os.close(file)
        if text != last:
            last = text
            os.write(record, b"x")
""",
}
LOOP = """
import os
last, record = "", os.open("record", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
open("ready", "w").close()
while not os.path.exists("stop"):
    for _ in range(1000):
"""


def run(build, top, name, times):
    """One run in which the host replaces the file until it ends or `times` are over: (replacements, ended)."""
    work = f"{top}/work"
    for left in ("ready", "stop"):
        if os.path.exists(f"{work}/{left}"):
            os.unlink(f"{work}/{left}")
    command = [f"{build}/sbx-launch", "--lease", f"{top}/lease", f"{top}/policy.sbx", "--", "/usr/bin/python3", "-c",
               LOOP + ATTEMPTS[name]]
    process = subprocess.Popen(command, cwd=work, stderr=subprocess.DEVNULL)
    while not os.path.exists(f"{work}/ready") and process.poll() is None:
        time.sleep(0.01)
    number = 0
    while number < times and process.poll() is None:
        with open(f"{work}/new", "w") as file:
            file.write(f"content {number}")
        os.rename(f"{work}/new", f"{work}/{name}")
        number += 1
        time.sleep(0.005)
    open(f"{work}/stop", "w").close()
    process.wait()
    with open(f"{top}/lease") as file:
        return number, any(event["kind"] == "mask.lost" for event in json.load(file)["events"])


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    build, times = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) == 3 else 1000
    for name, verb in (("secret", "read"), ("kept", "written")):
        with tempfile.TemporaryDirectory() as top:
            os.mkdir(f"{top}/work")
            for file in (f"{top}/work/secret", f"{top}/work/kept", f"{top}/work/record"):
                open(file, "w").close()
            with open(f"{top}/policy.sbx", "w") as file:
                file.write(POLICY)
            done, ends = 0, 0
            while done < times:
                number, ended = run(build, top, name, times - done)
                done, ends = done + number, ends + ended
            print(f"{done} replacements: {verb} in {os.path.getsize(f'{top}/work/record')} of them, "
                  f"runs ended: {ends}", flush=True)


main()
