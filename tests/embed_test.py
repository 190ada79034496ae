#!/usr/bin/python3
"""embed_test.py - what `make install` puts down is enough to build examples/embed/ against, shared and static."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.environ["SBX_BUILD"]
SHOWN = ["sbx_bind", "sbx_check", "sbx_check_connect", "sbx_check_env", "sbx_check_listen", "sbx_check_service", "sbx_free",
         "sbx_hash", "sbx_load", "sbx_load_bytes", "sbx_name", "sbx_restrict"]
RESULTS = []


def run(*command, code=0, **more):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, **more)
    if result.returncode != code:
        raise AssertionError(f"{command[0]}: exit {result.returncode}, expected {code}: {result.stdout}{result.stderr}")
    return result


def expect(name, condition, why=""):
    RESULTS.append(condition)
    print(f"{'ok' if condition else 'FAIL'} {name}{'' if condition else f': {why}'}")


def symbols(*command):
    lines = [line.split() for line in run(*command).stdout.splitlines()]
    return sorted({words[2].split("@")[0] for words in lines if len(words) == 3 and words[1] in "TDBR"})


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)
    return path


def build(top, static, environment):
    """A copy of the example, built."""
    copy = os.path.join(top, f"embed-{'static' if static else 'shared'}")
    shutil.copytree(os.path.join(ROOT, "examples/embed"), copy)
    run("make", "-C", copy, f"STATIC={int(static)}", "CFLAGS=-O1 -Wall -Wextra -Werror", env=environment)
    return os.path.join(copy, "embed")


def answers(program, policy, top, environment, label):
    work = os.path.join(top, "work")
    plain, secret = write(f"{work}/a", "plain\n"), write(f"{work}/secrets/b", "secret\n")
    link, outside = f"{work}/link", write(f"{top}/outside", "outside\n")
    if not os.path.islink(link):
        os.symlink(secret, link)
    result = run(program, policy, work, plain, env=environment)
    expect(f"{label}: what is granted is read", result.stdout == "plain\n", result.stdout)
    for path in (secret, link, outside):
        result = run(program, policy, work, path, code=1, env=environment)
        said = "not allowed by the policy embed" in result.stderr
        expect(f"{label}: {os.path.basename(path)} is not read", said and not result.stdout, result.stderr)
    damaged = write(f"{top}/damaged.bin", "sbx")
    result = run(program, damaged, work, plain, code=2, env=environment)
    expect(f"{label}: a damaged policy is refused", "damaged.bin" in result.stderr, result.stderr)


def profile_is_read(path):
    """Whether apparmor_parser takes the profile; one from before AppArmor 4 knows neither its ABI nor userns."""
    with open(path) as file:
        text = file.read()
    version = run("apparmor_parser", "--version").stdout
    if int(re.search(r"version (\d+)", version).group(1)) < 4:
        text = text.replace("abi <abi/4.0>", "abi <abi/3.0>").replace("  userns,\n", "")
    result = subprocess.run(["apparmor_parser", "-Q", "-K", write(path + ".read", text)], capture_output=True, text=True)
    os.remove(path + ".read")
    return result.returncode == 0, result.stderr


def profiles(top, install):
    """AppArmor profiles are placed only where that is asked for."""
    directory = f"{top}/root/etc/apparmor.d"
    expect("make install places no AppArmor profile by itself", not os.path.exists(directory))
    run(*install, "APPARMOR=1")
    expect("APPARMOR=1 places that of sbx-launch", os.listdir(directory) == ["sbx-launch"], os.listdir(directory))
    run(*install, "APPARMOR=all")
    expect("APPARMOR=all adds that of bubblewrap", sorted(os.listdir(directory)) == ["sbx-bwrap", "sbx-launch"])
    with open(f"{directory}/sbx-launch") as file:
        text = file.read()
    expect("the profile names the installed program", "profile sbx-launch /opt/sbx/bin/sbx-launch " in text, text)
    if shutil.which("apparmor_parser"):
        for name in os.listdir(directory):
            expect(f"apparmor_parser reads {name}", *profile_is_read(f"{directory}/{name}"))


def main():
    with tempfile.TemporaryDirectory(prefix="sbx-embed-") as top:
        sanitized = os.path.basename(BUILD) == "sanitize"
        environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE") and name != "MFLAGS"}
        install = ["env", "-u", "MAKEFLAGS", "-u", "MFLAGS", "make", "-C", ROOT, "install", f"DESTDIR={top}/root",
                   "PREFIX=/opt/sbx", f"BUILD={BUILD}", f"SANITIZE={int(sanitized)}"]
        run(*install, env=environment)
        profiles(top, install)
        library = f"{top}/root/opt/sbx/lib"
        expect("libsbx.so shows sbx.h and nothing else", symbols("nm", "-D", "--defined-only", f"{library}/libsbx.so") == SHOWN)
        expect("libsbx.a shows sbx.h and nothing else", symbols("nm", "-g", "--defined-only", f"{library}/libsbx.a") == SHOWN)
        dynamic = run("readelf", "-d", f"{library}/libsbx.so").stdout
        expect("the library has a versioned name", "[libsbx.so.0]" in dynamic, dynamic)
        expect("the library needs nothing at run time but its own", "libsodium" in dynamic and "libjansson" not in dynamic)
        policy = f"{top}/policy.bin"
        run(os.path.join(BUILD, "sbxc"), os.path.join(ROOT, "examples/embed/project.sbx"), "-o", policy)
        environment.update(PKG_CONFIG_PATH=f"{library}/pkgconfig", PKG_CONFIG_SYSROOT_DIR=f"{top}/root")
        private = run("pkg-config", "--static", "--libs", "sbx", env=environment).stdout.split()
        expect("sbx.pc names private libraries", {"-lsodium", "-lutf8proc"} <= set(private), private)
        public = run("pkg-config", "--libs", "sbx", env=environment).stdout.split()
        expect("sbx.pc keeps them private", "-lsodium" not in public, public)
        if not sanitized:  # these programs are built without the sanitizers that the library would need
            answers(build(top, False, environment), policy, top, dict(environment, LD_LIBRARY_PATH=library), "shared")
            answers(build(top, True, environment), policy, top, environment, "static")
    failed = RESULTS.count(False)
    print(f"{len(RESULTS) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
