"""Each service is closed unless it is granted, open with its grant, and closed again by a deny or a managed limit."""
import contextlib
import os
import socket

from lib import IS_ROOT, check, equal, main, test, world

PROBE = """
import os, socket, sys
for item in sys.argv[1:]:
    kind, _, name = item.partition(':')
    try:
        if kind == 'socket':
            s = socket.socket(socket.AF_UNIX)
            s.connect(name)
        elif kind == 'read':
            open(name).close()
        elif kind == 'env':
            os.environ[name]
        print('open', item)
    except (OSError, KeyError):
        print('closed', item)
"""


class Door:
    """What a service has on a private host: fake servers, files and variables."""

    def __init__(self, w, service):
        self.w = w
        self.service = self.limit = service
        self.runtime = w.make("run/")
        self.environment = {"XDG_RUNTIME_DIR": self.runtime}
        self.items = []

    def socket(self, stack, path):
        """Lets a server listen at `path`."""
        path = os.path.join(self.w.top, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        server = stack.enter_context(socket.socket(socket.AF_UNIX))
        server.bind(path)
        server.listen(32)
        self.items.append(f"socket:{path}")
        return path

    def file(self, path):
        self.items.append(f"read:{self.w.make(path, 'x')}")

    def variable(self, name, value):
        self.environment[name] = value
        self.items.append(f"env:{name}")

    def launch(self, policy, options=()):
        result = self.w.python(
            policy, PROBE, *self.items, env=self.w.environment(**self.environment), options=options
        )
        lines = result.succeeded().out.splitlines()
        return [line.partition(" ")[2] for line in lines if line.startswith("open")]

    def managed(self, text):
        directory = self.w.make("managed/")
        self.w.compile('sbx 1\nmanaged "m"\n' + text, "-o", f"{directory}/m.bin")
        return ["--managed", directory]

    def proves(self):
        """Closed, open, closed, for every item of the service."""
        grant = f"grant service {self.service}\n"
        equal(self.launch("grant scratch\n"), [], "open without a grant")
        equal(self.launch(grant), self.items, "open with the grant")
        equal(self.launch(grant + f"deny service {self.service}\n"), [], "open although denied")
        equal(self.launch(grant, self.managed("limit service to pty\n")), [], "open outside a managed limit")
        equal(self.launch(grant, self.managed(f"deny service {self.service}\n")), [], "open, managed deny")
        equal(
            self.launch(grant, self.managed(f"limit service to {self.limit}\n")),
            self.items,
            "open within a managed limit",
        )
        self.closes_what_others_grant()

    def closes_what_others_grant(self):
        doors = [item.split(":", 1) for item in self.items]
        grants = "".join(
            f"grant {'env' if kind == 'env' else 'socket'} {name}\n" for kind, name in doors if kind != "read"
        )
        wanted = [item for item in self.items if not item.startswith("read")]
        equal(self.launch(grants), wanted, "open by other grants")
        equal(self.launch(grants + f"deny service {self.service}\n"), [], "open by other grants, denied")
        managed = self.managed(f"deny service {self.service}\n")
        equal(self.launch(grants, managed), [], "open by other grants, managed deny")


@contextlib.contextmanager
def door(service):
    with world() as w, contextlib.ExitStack() as stack:
        yield Door(w, service), stack


@test
def ssh_agent_is_the_socket_that_its_variable_names():
    with door("ssh-agent") as (d, stack):
        d.variable("SSH_AUTH_SOCK", d.socket(stack, "agent/a"))
        d.proves()


@test
def gpg_agent_is_its_sockets_and_the_public_keyring():
    with door("gpg-agent") as (d, stack):
        d.socket(stack, "home/.gnupg/S.gpg-agent")
        d.socket(stack, "run/gnupg/S.gpg-agent")
        d.file("home/.gnupg/pubring.kbx")
        d.proves()


@test
def private_keys_stay_closed_beside_gpg_agent():
    with door("gpg-agent") as (d, stack):
        d.socket(stack, "home/.gnupg/S.gpg-agent")
        opened = list(d.items)
        d.file("home/.gnupg/private-keys-v1.d/key")
        d.file("home/.gnupg/random_seed")
        d.socket(stack, "home/.gnupg/S.gpg-agent.extra")
        equal(d.launch("grant service gpg-agent\n"), opened)


@test
def docker_is_the_socket_that_its_variable_names():
    with door("docker") as (d, stack):
        d.variable("DOCKER_HOST", "unix://" + d.socket(stack, "docker/d.sock"))
        d.socket(stack, "run/docker.sock")
        d.proves()


@test
def dbus_is_the_session_bus():
    with door("dbus") as (d, stack):
        address = d.socket(stack, "run/bus")
        d.variable("DBUS_SESSION_BUS_ADDRESS", f"unix:path={address},guid=0123")
        d.proves()


@test
def addresses_with_escapes_and_several_parts_are_understood():
    with door("dbus") as (d, stack):
        first, second = d.socket(stack, "a b/one"), d.socket(stack, "two")
        value = f"unix:path={first.replace(' ', '%20')};unix:guid=1,path={second}"
        d.environment["DBUS_SESSION_BUS_ADDRESS"] = value
        equal(d.launch("grant service dbus\n"), d.items)


def display(service):
    with door(service) as (d, stack):
        d.variable("WAYLAND_DISPLAY", "wayland-7")
        d.socket(stack, "run/wayland-7")
        authority = d.w.make("xauth", "x")
        d.items.append(f"read:{authority}")
        d.variable("XAUTHORITY", authority)
        alone = d.launch(f"grant service {service}\n", d.managed("limit service to display\n"))
        check(all(item.startswith("read") for item in alone), f"without the clipboard: {alone}")
        d.limit = "display, clipboard"
        d.proves()


@test
def display_is_the_wayland_socket_and_the_authority():
    display("display")


@test
def clipboard_is_the_display():
    display("clipboard")


@test
def x11_is_the_socket_of_the_display_that_is_named():
    number = 40000 + os.getpid() % 20000 + (0 if IS_ROOT else 20000)
    made = not os.path.exists("/tmp/.X11-unix")
    if made:
        os.mkdir("/tmp/.X11-unix")
        os.chmod("/tmp/.X11-unix", 0o1777)
    paths = [f"/tmp/.X11-unix/X{number}", f"/tmp/.X11-unix/X{number}1"]
    try:
        with door("display") as (d, stack):
            for path in paths:
                d.socket(stack, path)
            d.environment["DISPLAY"] = f":{number}.0"
            equal(d.launch("grant service display\n"), d.items[:1])
            equal(d.launch("grant service display\ngrant scratch\n"), d.items[:1])
            equal(d.launch("grant socket /tmp/.X11-unix\n"), d.items)
            equal(d.launch("grant socket /tmp/.X11-unix\ndeny service display\n"), [])
    finally:
        for path in paths:
            with contextlib.suppress(OSError):
                os.unlink(path)
        if made:
            with contextlib.suppress(OSError):
                os.rmdir("/tmp/.X11-unix")


@test
def audio_is_the_sockets_of_pulse_and_pipewire():
    with door("audio") as (d, stack):
        d.socket(stack, "run/pulse/native")
        d.socket(stack, "run/pipewire-0")
        d.variable("PULSE_SERVER", "unix:" + d.socket(stack, "pulse"))
        d.proves()


@test
def gpu_is_its_devices():
    with door("gpu") as (d, _):
        devices = [f"/dev/{name}" for name in ("dri", "kfd", "dxg", "nvidiactl") if os.path.exists(f"/dev/{name}")]
        d.items = [f"read:{device}" for device in devices if not os.path.isdir(device)]
        opened = d.launch("grant service gpu\n")
        equal(opened, d.items)
        script = "ls -d " + " ".join(devices or ["/dev/null"])
        d.w.shell("grant service gpu\n", script).succeeded()
        equal(d.launch("grant service gpu\ndeny service gpu\n"), [])
        for device in devices:
            check(d.w.shell("deny service gpu\ngrant write /dev\n", f"ls {device}/ || cat {device}").code != 0, device)


@test
def git_credentials_are_the_files_and_sockets_of_gits_own_helpers():
    with door("git-credentials") as (d, stack):
        d.file("home/.git-credentials")
        d.file("home/.config/git/credentials")
        d.socket(stack, "home/.cache/git/credential/socket")
        d.proves()


@test
# Reported as claude-code#90717.
def gh_is_its_configuration_and_its_tokens():
    with door("gh") as (d, _):
        d.file("home/.config/gh/hosts.yml")
        d.variable("GH_TOKEN", "t1")
        d.variable("GITHUB_TOKEN", "t2")
        d.proves()


@test
def terminals_are_always_there():
    with world() as w:
        script = "import os; a, b = os.openpty(); print(os.ttyname(b))"
        for policy in ("", "grant service pty\n"):
            check(w.python(policy, script).succeeded().out.startswith("/dev/pts/"), "no terminal")


@test
def services_of_macos_are_refused():
    with world() as w:
        for service in ("keychain", "trustd"):
            text = f'sbx 1\npolicy "t"\ngrant service {service}\n'
            result = w.compile(text, check_status=False)
            equal(result.returncode, 3)
            check(b"macOS" in result.stderr, result.stderr)
            w.compile(f'sbx 1\npolicy "t"\nwhen os macos {{\n    grant service {service}\n}}\n')


@test
def text_artifacts_take_what_needs_no_look_at_the_machine():
    with world() as w:
        roots = [f"--root={name}={w.home}/{name}" for name in ("WORK", "HOME", "CONFIG", "CACHE")]
        text = 'sbx 1\npolicy "t"\ngrant write $WORK\n'
        managed = w.make("limit.sbx", 'sbx 1\nmanaged "m"\nlimit service to nothing\n')
        for target in ("bwrap", "bwrap-sh"):
            options = ["-t", target, *roots, "-o", "-"]
            for line in ("grant service gh, pty", "deny service ssh-agent, dbus, docker, gpu"):
                result = w.compile(text + line + "\n", *options, check_status=False)
                equal(result.returncode, 0, result.stderr)
                check(b"SSH_AUTH_SOCK" not in result.stdout, "what is closed in any case is spoken of")
            for more in ([], ["--pure"]):
                result = w.compile(text, *options, *more, "--managed", managed, check_status=False)
                # What a managed layer closes is closed in the account's home, which only the script can look up.
                equal(result.returncode, 2 if target == "bwrap" else 0, result.stderr)
                check(target == "bwrap-sh" or b"SBX350" in result.stderr, result.stderr)
            result = w.compile(text + "grant service ssh-agent\n", *options, check_status=False)
            equal(result.returncode, 3, result.stderr)
            check(b"service.ssh-agent" in result.stderr, result.stderr)


@test
def denies_win_over_a_service():
    with door("gh") as (d, stack):
        d.file("home/.config/gh/hosts.yml")
        d.variable("GH_TOKEN", "t")
        equal(d.launch("grant service gh\ndeny env *_TOKEN\n"), d.items[:1])
        equal(d.launch("grant service gh\nuse std/secrets\n"), d.items[1:])
        equal(d.launch("grant service gh\nuse std/secrets except $CONFIG/gh, ~/.config/gh\n"), d.items)
    with door("ssh-agent") as (d, stack):
        d.variable("SSH_AUTH_SOCK", d.socket(stack, "agent/a"))
        equal(d.launch(f"grant service ssh-agent\ndeny {d.w.top}/agent\n"), d.items[:0] + [d.items[1]])
        equal(d.launch("grant service ssh-agent\n", d.managed("limit socket to nothing\n")), [d.items[1]])


@test
def a_link_that_the_command_could_plant_opens_no_service():
    with door("ssh-agent") as (d, stack):
        real = d.socket(stack, "agent/a")
        os.symlink(real, f"{d.w.work}/s")
        d.environment["SSH_AUTH_SOCK"] = f"{d.w.work}/s"
        equal(d.launch("grant service ssh-agent\n"), [])


@test
def the_lease_says_how_a_service_holds():
    with door("ssh-agent") as (d, stack):
        d.variable("SSH_AUTH_SOCK", d.socket(stack, "agent/a"))
        env = d.w.environment(**d.environment)
        _, lease = d.w.lease("grant service ssh-agent\ngrant service pty\n", "true", env=env)
        held = {control["control"]: control for control in lease["enforcedControls"]}
        equal(held["service.ssh-agent"]["how"], "snapshot")
        check("1 of its sockets" in held["service.ssh-agent"]["evidence"], held["service.ssh-agent"])
        equal(held["service.pty"]["how"], "enforced")


@test
def a_service_without_a_server_opens_no_sockets():
    with world() as w:
        script = "import socket\ntry:\n    socket.socket(socket.AF_UNIX)\n    print('open')\nexcept OSError:\n    print('closed')"
        equal(w.python("grant service ssh-agent\n", script).succeeded().out, "closed\n")


main()
