"""Looking for denied patterns before a launch, in a tree of a million files, beside `find` on the same tree."""
import os
import shutil
import subprocess
import tempfile
import time

ROUNDS = 3
DIRECTORIES, FILES = 10000, 100

POLICY = """sbx 1
policy "walk"
grant write $WORK
deny $WORK/**/*.pem
deny $WORK/**/.env
deny $WORK/**/secrets/*.json
"""


def make_tree(top):
    for number in range(DIRECTORIES):
        directory = f"{top}/d{number // 100}/e{number % 100}"
        os.makedirs(directory)
        os.chdir(directory)
        for file in range(FILES):
            os.mknod(f"file{file}.txt" if file > 0 or number % 100 > 0 else "key.pem")


def seconds_of(command, where):
    best = None
    for _ in range(ROUNDS):
        started = time.monotonic()
        subprocess.run(command, cwd=where, check=True, stdout=subprocess.DEVNULL)
        taken = time.monotonic() - started
        best = taken if best is None or taken < best else best
    return best


def walk(table, build, place):
    table.title(f"a denied pattern in a tree of {DIRECTORIES * FILES:,} files (best of {ROUNDS})")
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else place
    tree, back = tempfile.mkdtemp(prefix="sbx-bench-walk-", dir=memory), os.getcwd()
    source = os.path.join(place, "walk.sbx")
    with open(source, "w") as file:
        file.write(POLICY)
    subprocess.run([f"{build}/sbxc", source, "-o", f"{place}/walk.bin"], check=True)
    try:
        make_tree(tree)
        find = seconds_of(["find", ".", "-name", "*.pem"], tree)
        launch = seconds_of([f"{build}/sbx-launch", "-q", "--dry-run", f"{place}/walk.bin", "--", "true"], tree)
        table.say("find . -name '*.pem', wall", find, "s")
        table.say("sbx-launch --dry-run with three patterns, wall", launch, "s", 5)
        table.say("as a multiple of find's", launch / find, "", 1.5)
    finally:
        os.chdir(back)
        shutil.rmtree(tree, ignore_errors=True)
