#!/usr/bin/python3
"""run.py BUILD [SUITE [TEST...]] - what of the programs for Windows can be seen under Wine: everything but enforcement, which
Wine does not know, and that nothing runs where it is not known.

One prefix is made for the whole run, in a directory of its own, and its server is kept alive. Needs wine64, which is installed
where it is missing; `make check-windows` builds the programs. A missing prerequisite is a failure. Prints each suite with its
time and ends by the line `N passed, N failed`.
"""
import glob
import importlib
import os
import shutil
import subprocess
import sys
import tempfile
import time

import lib

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = ("sbx-launch.exe", "sbx-launch-test.exe", "subject.exe")


def say(text):
    print(text, flush=True)


def install_wine():
    if os.path.exists(lib.WINE) and os.path.exists(lib.SERVER):
        return
    become = [] if os.geteuid() == 0 else ["sudo"]
    quiet = {"stdout": subprocess.DEVNULL, "env": dict(os.environ, DEBIAN_FRONTEND="noninteractive")}
    subprocess.run(become + ["apt-get", "update", "-qq"], check=True, **quiet)
    subprocess.run(become + ["apt-get", "install", "-y", "-qq", "--no-install-recommends", "wine64", "wine"], check=True, **quiet)


def prefix_make(folder, build):
    """Sets the environment in which every test runs."""
    prefix = os.path.join(folder, "prefix")
    home = os.path.join(folder, "home")
    os.makedirs(home)
    os.makedirs(prefix)
    for name in [name for name in os.environ if name.startswith(("WINE", "SBX_", "XDG_"))] + ["DISPLAY"]:
        os.environ.pop(name, None)
    os.environ.update(WINEPREFIX=prefix, WINEARCH="win64", WINEDEBUG="-all", HOME=home, LANG="C.UTF-8", LC_ALL="C.UTF-8",
                      WINEDLLOVERRIDES="mscoree,mshtml=")
    subprocess.run([lib.SERVER, "-p"], check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    subprocess.run([lib.WINE, "wineboot.exe", "-i"], check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, timeout=300)
    programs = os.path.join(prefix, "drive_c", "programs")
    os.makedirs(programs)
    # Nothing looks at a program that crashes, on any terminal.
    subprocess.run([lib.WINE, "reg.exe", "add", r"HKLM\Software\Microsoft\Windows NT\CurrentVersion\AeDebug", "/v", "Debugger",
                    "/d", "false", "/f"], check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    for program in PROGRAMS:
        shutil.copy(os.path.join(build, "windows", program), programs)
    return prefix


def suite_run(prefix, build, name, wanted):
    started = time.monotonic()
    try:
        passed, failed = importlib.import_module(name + "_suite").SUITE.run(prefix, build, name, wanted)
    except Exception as error:  # such as a suite that cannot be loaded
        say(f"not ok {name}: {error}")
        passed, failed = 0, 1
    say(f"windows/{name}: {passed} passed, {failed} failed ({time.monotonic() - started:.1f} s)")
    return passed, failed


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    build, only = os.path.abspath(sys.argv[1]), sys.argv[2:]
    names = sorted(os.path.basename(path)[:-len("_suite.py")] for path in glob.glob(os.path.join(HERE, "*_suite.py")))
    folder = tempfile.mkdtemp(prefix="sbx-wine-", dir="/tmp")
    passed = failed = 0
    started = time.monotonic()
    try:
        install_wine()
        prefix = prefix_make(folder, build)
        say(f"windows: the prefix was made ({time.monotonic() - started:.1f} s)")
        for name in [name for name in names if not only or name == only[0]]:
            done = suite_run(prefix, build, name, only[1:])
            passed, failed = passed + done[0], failed + done[1]
    except (OSError, subprocess.SubprocessError) as error:
        say(f"not ok prerequisites: {error}")
        failed += 1
    finally:
        if os.path.exists(lib.SERVER):
            subprocess.run([lib.SERVER, "-k"], check=False)
        shutil.rmtree(folder, ignore_errors=True)
    if passed + failed == 0:
        say("not ok no suite ran")
        failed = 1
    say(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


main()
