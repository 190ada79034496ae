#!/usr/bin/python3
"""replacing.py BUILD [TIMES] - how often a command that does nothing but read a denied file gets to see
what the host puts there by rename, before the launcher has covered it again."""
import json
import os
import subprocess
import sys
import tempfile
import time

POLICY = 'sbx 1\npolicy "replacing"\nuse std/system\ngrant env PATH\ngrant write $WORK\ndeny $WORK/.env\n'
READER = """
import os
seen, last, tries = 0, "", 0
open("ready", "w").close()
while not os.path.exists("stop"):
    for _ in range(1000):
        tries += 1
        try:
            with open(".env") as file:
                text = file.read()
        except OSError:
            continue
        if text and text != last:
            seen, last = seen + 1, text
print(seen, tries)
"""


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    build, times = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) == 3 else 1000
    with tempfile.TemporaryDirectory() as top:
        work, policy = f"{top}/work", f"{top}/policy.sbx"
        os.mkdir(work)
        with open(f"{work}/.env", "w") as file:
            file.write("old")
        with open(policy, "w") as file:
            file.write(POLICY)
        command = [f"{build}/sbx-launch", "--lease", f"{top}/lease", policy, "--", "/usr/bin/python3", "-c", READER]
        process = subprocess.Popen(command, cwd=work, stdout=subprocess.PIPE, text=True)
        while not os.path.exists(f"{work}/ready") and process.poll() is None:
            time.sleep(0.01)
        for number in range(times):
            with open(f"{work}/.env.new", "w") as file:
                file.write(f"secret {number}")
            os.rename(f"{work}/.env.new", f"{work}/.env")
            time.sleep(0.003)
        open(f"{work}/stop", "w").close()
        seen, tries = process.communicate()[0].split()
        with open(f"{top}/lease") as file:
            covered = [event for event in json.load(file)["events"] if event["kind"] == "mask.replaced"]
    print(f"{times} replacements, {len(covered)} covered again one by one; {tries} reads, {seen} of them saw something")


main()
