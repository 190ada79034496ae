"""Reading and writing what the policy does not open."""
import contextlib
import ctypes
import os
import shutil
import stat
import subprocess
import tempfile
import time

from harness import PROGRAM, attempt, held_link

WRITTEN = "written by the attempt"
UNCOVER = "MASKS"
DENY = "deny $WORK/denied\n"
# bubblewrap gives an ordinary user's command capabilities in one more user namespace, which has no mounts.
CAPABLE = "CAPABILITIES EVIDENCE"
MOUNTING = f"MOUNT_CALLS LANDLOCK_FILES {CAPABLE}"


@attempt("CLOSED_ROOT", plain=True)
def read_what_no_rule_grants(w):
    return w.leaks("read", w.secret("outside/secret"))


@attempt("CLOSED_ROOT", plain=True)
def climb_out_of_the_working_directory(w):
    return w.leaks("climb", w.secret("outside/secret"))


@attempt("CLOSED_ROOT", plain=True)
def read_by_the_roots_of_processes(w):
    return w.leaks("read-by-roots", w.secret("outside/secret"))


@attempt("CLOSED_ROOT", plain=True)
def read_by_a_link_made_inside(w):
    return w.leaks("read-by-symlink", w.secret("outside/secret"), "link")


@attempt("CLOSED_ROOT", plain=True)
def list_a_directory_outside(w):
    w.file(f"outside/{w.secret_text}")
    return w.leaks("list", f"{w.top}/outside")


@attempt(UNCOVER, plain=True)
def read_a_denied_file(w):
    return w.leaks("read", w.secret("work/denied"), policy=DENY)


@attempt(UNCOVER, plain=True)
def read_in_a_denied_directory(w):
    return w.leaks("read", w.secret("work/denied/file"), policy=DENY)


@attempt(UNCOVER, plain=True)
def list_a_denied_directory(w):
    w.file(f"work/denied/{w.secret_text}")
    return w.leaks("list", "denied", policy=DENY)


@attempt(UNCOVER, plain=True)
def read_a_match_of_a_pattern(w):
    return w.leaks("read", w.secret("work/a/b/key.pem"), policy="deny $WORK/**/*.pem\n")


@attempt(UNCOVER, plain=True)
def read_a_denied_file_by_a_link(w):
    return w.leaks("read-by-symlink", w.secret("work/denied"), "link", policy=DENY)


@attempt(UNCOVER, plain=True)
def read_a_denied_file_by_a_hard_link(w):
    return w.leaks("read-by-hard-link", w.secret("work/denied"), "link", policy=DENY)


@attempt(UNCOVER, plain=True)
def read_a_denied_file_by_its_new_name(w):
    return w.leaks("read-by-rename", w.secret("work/denied"), "moved", policy=DENY)


@attempt(UNCOVER, plain=True)
def write_a_denied_file(w):
    w.file("work/denied")
    w.run("write", "denied", WRITTEN, policy=DENY)
    return w.text("work/denied") == WRITTEN


@attempt(UNCOVER, plain=True)
def put_another_file_over_a_denied_one(w):
    w.file("work/denied")
    w.run("write-by-rename", "denied", WRITTEN, policy=DENY)
    return w.text("work/denied") == WRITTEN


@attempt(UNCOVER, plain=True)
def remove_a_denied_file(w):
    w.file("work/denied")
    w.run("remove", "denied", policy=DENY)
    return not os.path.exists(f"{w.work}/denied")


@attempt(UNCOVER, plain=True)
def exchange_a_denied_file_for_another(w):
    w.file("work/denied")
    w.file("work/other", WRITTEN)
    w.run("exchange", "denied", "other", policy=DENY)
    return w.text("work/denied") == WRITTEN


@attempt(UNCOVER, plain=True)
def change_the_mode_of_a_denied_file(w):
    os.chmod(w.file("work/denied"), 0o600)
    w.run("change-mode", "denied", policy=DENY)
    return stat.S_IMODE(os.stat(f"{w.work}/denied").st_mode) == 0o777


@attempt("PINS", plain=True)
def rename_the_directory_above_a_denied_file(w):
    w.secret("work/a/denied")
    w.run("rename", "a", "b", policy="deny $WORK/a/denied\n")
    return w.text("work/b/denied") == w.secret_text


@attempt("PINS", plain=True)
def exchange_the_directory_above_a_denied_one(w):
    w.secret("work/a/denied/file")
    w.file("work/b/other")
    w.run("exchange", "a", "b", policy="deny $WORK/a/denied\n")
    return w.text("work/b/denied/file") == w.secret_text


@attempt("PLACEHOLDERS", plain=True)
def make_a_denied_file_that_is_missing(w):
    w.run("write", "denied", WRITTEN, policy=DENY)
    return w.text("work/denied") == WRITTEN


@attempt("PLACEHOLDERS", plain=True)
def make_a_denied_directory_that_is_missing(w):
    w.run("make-directory", "denied", WRITTEN, policy="deny $WORK/denied/\n")
    return w.text("work/denied/made") == WRITTEN


@attempt("PLACEHOLDERS", plain=True)
def put_a_link_where_a_denied_file_is_missing(w):
    w.run("symlink", w.secret("outside/secret"), "denied", policy=DENY)
    return os.path.islink(f"{w.work}/denied")


@attempt("READ_ONLY", plain=True)
def write_a_file_that_is_granted_for_reading(w):
    w.file("readable/file")
    w.run("write", f"{w.top}/readable/file", WRITTEN)
    return w.text("readable/file") == WRITTEN


@attempt("READ_ONLY", plain=True)
def write_a_directory_for_reading_in_the_workspace(w):
    w.file("work/fixed/file")
    w.run("write", "fixed/file", WRITTEN, policy="grant read $WORK/fixed\n")
    return w.text("work/fixed/file") == WRITTEN


@attempt("READ_ONLY", plain=True)
def make_a_file_in_a_directory_for_reading(w):
    w.run("write", f"{w.top}/readable/new", WRITTEN)
    return w.text("readable/new") == WRITTEN


@attempt("READ_ONLY", plain=True)
def truncate_a_file_for_reading(w):
    w.file("readable/file")
    w.run("truncate", f"{w.top}/readable/file")
    return w.text("readable/file") == ""


@attempt("READ_ONLY", plain=True)
def open_a_file_for_reading_again_for_writing(w):
    path = w.file("readable/file")
    w.run("reopen", path, WRITTEN)
    return w.text("readable/file") == WRITTEN


@attempt("READ_ONLY", plain=True)
def move_a_file_out_of_a_directory_for_reading(w):
    path = w.secret("readable/file")
    w.run("rename", path, f"{w.top}/readable/moved")
    return not os.path.exists(path)


@attempt("READ_ONLY", plain=True)
def remove_a_file_for_reading(w):
    path = w.file("readable/file")
    w.run("remove", path)
    return not os.path.exists(path)


@attempt("READ_ONLY", plain=True)
def change_the_mode_of_a_file_for_reading(w):
    path = w.file("readable/file")
    w.run("change-mode", path)
    return stat.S_IMODE(os.stat(path).st_mode) == 0o777


@attempt("READ_ONLY", plain=True)
def change_the_times_of_a_file_for_reading(w):
    path = w.file("readable/file")
    w.run("change-times", path)
    return os.stat(path).st_mtime == 1000000000


@attempt("READ_ONLY", plain=True)
def change_an_attribute_of_a_file_for_reading(w):
    path = w.file("readable/file")
    w.run("change-attribute", path, WRITTEN)
    return "user.escape" in os.listxattr(path)


@attempt("SEALS LANDLOCK_FILES EVIDENCE")
def write_into_the_root_of_the_sandbox(w):
    with w.held("write-and-hold", "/made", WRITTEN) as process:
        return process is not None and os.path.exists(f"/proc/{process}/root/made")


@attempt("DENIED_TARGETS", plain=True)
def read_where_a_denied_link_leads(w):
    w.secret("readable/real/file")
    os.symlink(f"{w.top}/readable/real", f"{w.top}/readable/link")
    policy = f"deny {w.top}/readable/link\n"
    return w.leaks("read", f"{w.top}/readable/real/file", policy=policy)


@attempt("PLANTED_LINKS")
def follow_a_link_that_an_earlier_run_planted(w):
    w.secret("outside/secret")
    w.run("symlink", f"{w.top}/outside", "planted")
    return w.leaks("read", f"{w.top}/outside/secret", policy="grant read $WORK/planted\n")


@attempt("STEADY_DENIES", plain=True)
def turn_a_denied_link_elsewhere(w):
    w.secret("work/real")
    os.symlink("real", f"{w.work}/link")
    w.file("work/other", WRITTEN)
    w.run("replace-by-symlink", "other", "link", policy="deny $WORK/link\n")
    return not os.path.islink(f"{w.work}/link") or os.readlink(f"{w.work}/link") != "real"


def own_policy(w):
    """The policy where the command may write."""
    return shutil.copy(w.policy(), f"{w.work}/own.bin")


@attempt("OWN_FILES", plain=True)
def rewrite_the_policy(w):
    w.run("write", "own.bin", WRITTEN, policy=own_policy(w))
    return w.text("work/own.bin") == WRITTEN


@attempt("OWN_FILES", plain=True)
def put_another_policy_in_its_place(w):
    w.run("write-by-rename", "own.bin", WRITTEN, policy=own_policy(w))
    return w.text("work/own.bin") == WRITTEN


@attempt("OWN_FILES", plain=True)
def remove_the_records_of_runs(w):
    record = w.file("home/.local/state/sbx/record.json")
    w.run("remove", record, policy=f"grant write {w.home}\n")
    return not os.path.exists(record)


@attempt("MANAGED", plain=True)
def read_what_the_organisation_denies(w):
    secret = w.secret("readable/denied")
    layer = w.path("managed/layer.bin")
    if not w.mode.plain:
        policy = w.compile(f'sbx 1\nmanaged "layer"\ndeny {secret}\n')
        os.link(policy, layer)
    return w.leaks("read", secret, options=["--managed", f"{w.top}/managed"])


@attempt("LEASE_PLACE")
def rewrite_the_record_of_the_run(w):
    options = ["--lease", f"{w.work}/lease.json"]
    with w.held("write-and-hold", "lease.json", WRITTEN, options=options) as process:
        return process is not None and (w.text("work/lease.json") or "").startswith(WRITTEN)


@attempt("LIMIT_FILES", plain=True)
def open_more_files_than_are_allowed(w):
    with w.held("open-many-and-hold", policy="limit files to 20\n") as process:
        return process is not None and len(os.listdir(f"/proc/{process}/fd")) > 20


@attempt("ENVIRONMENT EVIDENCE", plain=True)
def read_a_variable_that_is_not_granted(w):
    return w.leaks("read-environment", env=w.environment(TOKEN=w.secret_text))


@attempt("DESCRIPTORS", plain=True)
def read_an_inherited_descriptor(w):
    with open(w.secret("outside/secret")) as file:
        number = os.dup2(file.fileno(), 250, inheritable=True)
        try:
            return w.leaks("read-inherited", pass_fds=(number,))
        finally:
            os.close(number)


@attempt("STREAM_PIPES LANDLOCK_FILES", plain=True)
def open_the_input_file_for_writing(w):
    with open(w.file("outside/input")) as file:
        w.run("reopen", "0", WRITTEN, stdin=file)
    return w.text("outside/input").startswith(WRITTEN)


@attempt("STREAM_PIPES", plain=True)
def truncate_the_input_file(w):
    with open(w.file("outside/input"), "r+") as file:
        w.run("truncate-stream", "0", stdin=file)
    return w.text("outside/input") == ""


def cores_are_files():
    with open("/proc/sys/kernel/core_pattern") as file:
        return file.read().strip() == "core"


@attempt("NO_CORE", plain=True, possible=cores_are_files)
def leave_a_core_file(w):
    w.run("crash", wrap=("sh", "-c", 'ulimit -c unlimited; exec "$@"', "sh"))
    return any(name.startswith("core") for name in os.listdir(w.work))


def set_user(move):
    def try_it(w):
        path = w.file("work/file")
        w.run(move, path)
        with contextlib.suppress(OSError):
            return bool(os.stat(path).st_mode & stat.S_ISUID)

    return try_it


for way in ("chmod", "fchmod", "fchmodat", "fchmodat2", "open", "openat2", "mknod", "temporary-file"):
    one = set_user(f"mode-by-{way}")
    one.__name__ = f"leave_a_set_user_file_by_{way.replace('-', '_')}"
    attempt("MODE_CALLS", plain=True)(one)


def allows(move):
    """Whether this machine has such a call at all."""
    made = subprocess.run(["mktemp"], capture_output=True, check=True).stdout.decode().strip()
    subprocess.run([PROGRAM, move, made], capture_output=True)
    has = bool(os.stat(made).st_mode & stat.S_ISUID)
    os.unlink(made)
    return has


one = set_user("mode-by-foreign-call")
one.__name__ = "leave_a_set_user_file_by_a_32_bit_call"
attempt("FOREIGN_CALLS", plain=True, possible=lambda: allows("mode-by-foreign-call"))(one)
one = set_user("mode-by-x32-call")
one.__name__ = "leave_a_set_user_file_by_an_x32_call"
attempt("UNKNOWN_CALLS", plain=True, possible=lambda: allows("mode-by-x32-call"))(one)


@attempt(MOUNTING, shown_by_root=True)
def take_a_mask_away(w):
    return w.leaks("unmount-and-read", w.secret("work/denied"), policy=DENY)


@attempt(f"MOUNT_CALLS {CAPABLE}", shown_by_root=True)
def look_below_a_mask_by_a_copy_of_its_mount(w):
    w.secret("work/denied")
    return w.leaks("clone-and-read", w.work, "denied", policy=DENY)


@attempt(MOUNTING, shown_by_root=True)
def look_below_a_mask_by_binding_its_directory(w):
    w.secret("work/denied")
    os.makedirs(f"{w.work}/here")
    return w.leaks("bind-and-read", w.work, f"{w.work}/here", "denied", policy=DENY)


@attempt(MOUNTING, shown_by_root=True)
def make_a_mount_writable_again(w):
    path = w.file("readable/file")
    w.run("remount-and-write", f"{w.top}/readable", path, WRITTEN)
    return w.text("readable/file") == WRITTEN


@attempt(MOUNTING, shown_by_root=True)
def make_a_mount_writable_by_its_attributes(w):
    path = w.file("readable/file")
    w.run("set-writable-and-write", f"{w.top}/readable", path, WRITTEN)
    return w.text("readable/file") == WRITTEN


def file_number(path):
    """Type and bytes of a file's number."""
    handle = ctypes.create_string_buffer(8 + 128)
    ctypes.memmove(handle, (128).to_bytes(4, "little"), 4)
    mount = ctypes.c_int()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.name_to_handle_at(-100, path.encode(), handle, ctypes.byref(mount), 0) != 0:
        return None
    length = int.from_bytes(handle.raw[:4], "little")
    return int.from_bytes(handle.raw[4:8], "little"), handle.raw[8 : 8 + length].hex()


@attempt(f"HANDLE_CALLS {CAPABLE}", shown_by_root=True)
def open_a_denied_directory_by_its_number(w):
    w.secret("work/denied/file")
    kind, number = file_number(f"{w.work}/denied")
    return w.leaks("open-by-number", w.work, kind, number, "file", policy=DENY)


@attempt(f"OWN_USERS {CAPABLE}", root=True)
def leave_a_device_node(w):
    w.run("make-device", "device")
    return os.path.exists(f"{w.work}/device")


def can_make_devices():
    with tempfile.TemporaryDirectory(prefix="sbx-device-") as top, contextlib.suppress(OSError):
        os.mknod(f"{top}/device", stat.S_IFCHR | 0o600, os.makedev(1, 3))
        return True
    return False


@attempt("NO_DEVICES", plain=True, root=True, possible=can_make_devices)
def open_a_device_node_in_the_workspace(w):
    """One of /dev/null's number, which every machine may open."""
    os.mknod(f"{w.work}/device", stat.S_IFCHR | 0o600, os.makedev(1, 3))
    with w.held("open-and-hold", "device") as process:
        return held_link(process) == f"{w.work}/device"


@attempt("IDENTITY")
def exchange_a_directory_while_the_sandbox_is_made(w):
    """The placeholder of a missing denied file shows from outside when all paths have been looked at."""
    policy = f"grant read {w.top}/spot/granted\ndeny $WORK/missing\n"
    w.file("spot/granted/key", "harmless")
    w.secret("outside/private/key")
    places = f"{w.top}/spot/granted", f"{w.top}/outside/private"
    for _ in range(30 if w.mode.dropped else 5):
        exchanging = subprocess.Popen(
            [PROGRAM, "exchange-after", f"{w.work}/missing", *places], stdout=subprocess.PIPE
        )
        exchanging.stdout.readline()
        leaked = w.leaks("read", f"{places[0]}/key", policy=policy)
        exchanging.kill()
        exchanging.communicate()
        if leaked:
            return True
        if w.text("spot/granted/key") != "harmless":
            subprocess.run([PROGRAM, "exchange", *places], capture_output=True)
    return False


@attempt("WATCH")
def read_a_denied_file_that_the_host_has_replaced(w):
    w.file("work/denied")
    new = w.secret("work/new")
    with w.held("wait-and-read", "denied", policy=DENY):
        os.rename(new, f"{w.work}/denied")
        time.sleep(0.2)
        with contextlib.suppress(BrokenPipeError):
            w.launcher.stdin.write(b"x")
            w.launcher.stdin.flush()
        return w.secret_text.encode() in w.launcher.stdout.read()


@attempt("PROC_COVERS", plain=True, root=True)
def change_a_setting_of_the_machine(w):
    path = "/proc/sys/vm/stat_interval"
    with open(path) as file:
        before = file.read()
    try:
        w.run("write", path, str(int(before) + 1))
        with open(path) as file:
            return file.read() != before
    finally:
        with open(path, "w") as file:
            file.write(before)
