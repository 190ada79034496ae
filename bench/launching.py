"""sbx-launch, by each engine, beside the bubblewrap call that it makes with --engine bwrap, called directly: the same
words, mounts, command."""
import os
import pwd
import shutil
import subprocess

from cold import cold

ORDINARY = pwd.getpwnam("nobody")
ROUNDS = 61


def words_of(dry_run):
    """The words for bubblewrap that `sbx-launch --dry-run` prints."""
    call = dry_run.split("# call", 1)[1].splitlines()[2:]
    return [word for line in call for word in line.split()]


def mounts_of(words):
    kinds = ("--bind", "--ro-bind", "--bind-try", "--ro-bind-try", "--dev-bind", "--tmpfs", "--proc")
    return sum(word in kinds for word in words)


class World:
    """Programs and granted directories, as an ordinary user has them; and a home, where `account` has none."""

    def __init__(self, build, place, account=ORDINARY):
        self.top = os.path.join(place, f"launch-{account.pw_name}")
        self.programs = os.path.join(self.top, "bin")
        self.launcher = os.path.join(self.programs, "sbx-launch")
        self.work = os.path.join(self.top, "work")
        os.makedirs(os.path.join(self.programs, "bench"))
        os.makedirs(self.work)
        home = account.pw_dir if os.path.isdir(account.pw_dir) else os.path.join(self.top, "home")
        os.makedirs(home, exist_ok=True)
        for name in ("sbxc", "sbx-launch", "bench/cold", "bench/empty"):
            shutil.copy(os.path.join(build, name), os.path.join(self.programs, name))
        self.become = []
        self.environment = {"PATH": "/usr/bin:/bin", "HOME": home}
        if os.geteuid() == 0:
            uid, gid = account.pw_uid, account.pw_gid
            subprocess.run(["chown", "-R", f"{uid}:{gid}", self.top], check=True)
            self.become = ["setpriv", f"--reuid={uid}", f"--regid={gid}", "--clear-groups", "--inh-caps=-all"]

    def how(self):
        return {"env": self.environment, "cwd": self.work}

    def policy(self, grants, *statements):
        lines = ["sbx 1", 'policy "launch"', *statements, "grant write $WORK", f"grant read {self.programs}/bench"]
        for number in range(grants):
            directory = os.path.join(self.top, f"granted/{number}")
            os.makedirs(directory, exist_ok=True)
            lines.append(f'grant {"write" if number % 2 else "read"} {directory}')
        path = os.path.join(self.top, f"launch-{grants}-{len(statements)}.sbx")
        with open(path, "w") as file:
            file.write("\n".join(lines) + "\n")
        subprocess.run([os.path.join(self.programs, "sbxc"), path, "-o", path[:-4] + ".bin"], check=True)
        return path[:-4] + ".bin"

    def words(self, policy, command):
        call = self.become + [self.launcher, "-q", "--dry-run", "--engine", "bwrap", policy, "--", command]
        shown = subprocess.run(call, check=True, stdout=subprocess.PIPE, **self.how())
        return words_of(shown.stdout.decode())


def pair(table, world, mounts, most):
    command = os.path.join(world.programs, "bench/empty")
    own = mounts_of(world.words(world.policy(0), command))
    policy = world.policy(mounts - own)
    words = world.words(policy, command)
    direct, launched, by_bubblewrap = cold(
        world.programs, ROUNDS, ["bwrap", *words, "--", command], [world.launcher, "-q", policy, "--", command],
        [world.launcher, "-q", "--engine", "bwrap", policy, "--", command], become=world.become, **world.how())
    name = f"{mounts_of(words)} mounts"
    table.say(f"{name}: bubblewrap directly, wall", direct.wall, "ms")
    table.say(f"{name}: sbx-launch, wall", launched.wall, "ms")
    table.say(f"{name}: sbx-launch / bubblewrap, wall", launched.wall / direct.wall, "x", most=most)
    table.say(f"{name}: CPU added", launched.cpu - direct.cpu, "ms", most=6)
    table.say(f"{name}: sbx-launch --engine bwrap, wall", by_bubblewrap.wall, "ms")
    table.say(f"{name}: sbx-launch --engine bwrap / bubblewrap, wall", by_bubblewrap.wall / direct.wall, "x")
    table.say(f"{name}: CPU added by --engine bwrap", by_bubblewrap.cpu - direct.cpu, "ms")


def launch(table, build, place):
    table.title("sbx-launch, evidence and lease on, beside a direct bubblewrap call with the same mounts")
    if shutil.which("bwrap") is None:
        table.skip("skipped: bubblewrap is not installed")
        return
    world = World(build, place)
    os.chmod(place, 0o755)
    pair(table, world, 30, 1.5)
    pair(table, world, 100, 1.35)
