"""std/nested: a program may start a sandbox of its own, and what the policy closes stays closed in it."""
import os

from lib import IS_ROOT, SECRET, check, equal, main, test, world

DEV = 'sbx 1\npolicy "t"\nuse std/dev\ngrant write $WORK\ndeny $WORK/secret, $WORK/vault\ndeny write $WORK/kept\n'
NESTED = DEV + "use std/nested\n"

# In namespaces of its own, tries to come behind what the policy mounts; prints what could be read or changed.
BREAK_OUT = r'''
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
work = os.getcwd()
NEWNS, NEWUSER, BIND, REC, REMOUNT, MOVE, DETACH = 0x20000, 0x10000000, 4096, 16384, 32, 8192, 2
user, group = os.getuid(), os.getgid()
if libc.unshare(NEWUSER | NEWNS) != 0:
    sys.exit("no namespaces: " + os.strerror(ctypes.get_errno()))
try:
    open("/proc/self/setgroups", "w").write("deny")
    open("/proc/self/uid_map", "w").write(f"0 {user} 1")
    open("/proc/self/gid_map", "w").write(f"0 {group} 1")
except PermissionError:
    pass
def mount(source, target, kind=None, flags=0, data=None):
    words = [word.encode() if word else None for word in (source, target, kind)]
    return libc.mount(*words, flags, data.encode() if data else None) == 0
def look(where):
    for name in ("secret", "vault/inside"):
        try:
            text = open(f"{where}/{name}").read()
            if text: print("READ", where, name)
        except OSError:
            pass
    try:
        open(f"{where}/kept", "w").write("changed")
        print("WROTE", where)
    except OSError:
        pass
for name in ("a", "b", "c"):
    os.makedirs(f"/tmp/{name}", exist_ok=True)
if not mount("tmpfs", "/tmp/c", "tmpfs"):
    sys.exit("no mounts: " + os.strerror(ctypes.get_errno()))
look(work)
if mount(work, "/tmp/a", flags=BIND): look("/tmp/a"); print("BOUND without what is mounted in it")
if mount(work, "/tmp/b", flags=BIND | REC): look("/tmp/b")
for name in ("secret", "vault", "kept"):
    path = f"{work}/{name}"
    if libc.umount2(path.encode(), DETACH) == 0: print("UNCOVERED", name)
    if mount(path, "/tmp/c", flags=MOVE): print("MOVED", name)
    for flags in (REMOUNT | BIND, REMOUNT):
        if mount(None, path, flags=flags): print("REMOUNTED", name)
    try:
        os.rename(path, path + "2")
        print("RENAMED", name)
    except OSError:
        pass
for path in ("/usr", "/proc/sys", "/etc/passwd"):
    if mount(None, path, flags=REMOUNT | BIND) and os.access(path, os.W_OK): print("REMOUNTED", path)
if mount("overlay", "/tmp/a", "overlay", data=f"lowerdir={work}"): look("/tmp/a")
libc.umount2(work.encode(), DETACH)
look(work)
print("done")
'''


@test
def without_it_there_are_no_namespaces():
    with world("/var/tmp") as w:
        result = w.python(w.compile(DEV), BREAK_OUT)
        check(result.code == 1 and "no namespaces: Operation not permitted" in result.err, result.out + result.err)


@test
def what_the_policy_closes_stays_closed_in_namespaces_of_the_command():
    with world("/var/tmp") as w:
        w.make("work/secret", SECRET)
        w.make("work/vault/inside", SECRET)
        w.make("work/kept", "kept\n")
        before = w.tree()
        result = w.python(w.compile(NESTED), BREAK_OUT).succeeded()
        equal(result.out, "done\n", "what could be done")
        equal(w.tree(), before, "the workspace")
        with open(f"{w.work}/kept") as file:
            equal(file.read(), "kept\n")


@test
def an_ordinary_user_starts_bubblewrap_inside():
    with world("/var/tmp") as w:
        w.make("work/secret", SECRET)
        result = w.shell(w.compile(NESTED), """
            bwrap --unshare-user --unshare-net --unshare-ipc --unshare-uts --ro-bind / / --dev /dev --tmpfs /tmp \
                sh -c 'ls /tmp | wc -l; cat secret; echo x > here; echo inside'""")
        if IS_ROOT:
            # The kernel lets nobody without CAP_SETFCAP give user 0 a second user namespace.
            check(result.code == 1 and "uid map" in result.err, result.out + result.err)
        else:
            equal(result.succeeded().out, "0\ninside\n")
        check(SECRET not in result.out and not os.path.exists(f"{w.work}/here"), result.out)


main()
