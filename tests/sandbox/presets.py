"""The presets of `use std/dev`: tools start, credentials stay closed, nothing passes in that is not named."""
import os
import re
import subprocess
import tempfile

from lib import PATH, SECRET, check, equal, main, test, world

TREE = os.environ.get("SBX_TREE") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
DEV = 'sbx 1\npolicy "t"\nuse std/dev\n'
WORKSPACE = DEV + "grant write $WORK\n"
PUBLIC = ["~/.ssh/known_hosts", "~/.ssh/config", "~/.ssh/id_ed25519.pub", "~/.gnupg/pubring.kbx",
          "~/.gnupg/trustdb.gpg"]

# Where the credentials of common tools lie, whatever the preset's own list says, and copies beside them.
CREDENTIALS = """
    ~/.ssh/id_ed25519 ~/.ssh/id_rsa ~/.ssh/keys/deploy ~/.ssh/authorized_keys ~/.gnupg/private-keys-v1.d/x.key
    ~/.gnupg/secring.gpg ~/.aws/credentials ~/.azure/token ~/.kube/config ~/.config/gcloud/credentials.db
    ~/.config/gh/hosts.yml ~/.docker/config.json ~/.git-credentials ~/.netrc ~/.npmrc ~/.pypirc
    ~/.cargo/credentials ~/.cargo/credentials.toml ~/.terraformrc ~/.m2/settings.xml ~/.kaggle/kaggle.json
    ~/.databrickscfg ~/.fly/config.yml ~/.config/containers/auth.json ~/.local/share/keyrings/login.keyring
    ~/.colima/x ~/.orbstack/x ~/.rd/x ~/.lima/x ~/.local/share/containers/x ~/.local/share/nerdctl/x ~/.pgpass
    ~/.vault-token ~/.password-store/x.gpg ~/.config/git/credentials
    ~/.git-credentials~ ~/.git-credentials.old ~/.netrc.bak ~/.npmrc.bak ~/.npmrc~ ~/.pypirc.orig ~/.pgpass.1
    ~/.cargo/credentials.toml.bak ~/.terraformrc.save ~/.vault-token.old ~/.my.cnf.bak""".split()


def secret_places():
    """What `let SECRETS` in compiler/std/paths.sbx names."""
    with open(os.path.join(TREE, "compiler/std/paths.sbx")) as file:
        statement = re.search(r"^let SECRETS = ((?:.*,\n)*.*)\n", file.read(), re.M)
    return [place.strip() for place in statement.group(1).replace("\n", " ").split(",")]


def at_home(place):
    """'~/.x/' as a path below the world's top, ending in a file."""
    return place.replace("~/", "home/").replace("$CONFIG/", "settings/") + ("inside" if place.endswith("/") else "")


def dev(w, command, policy=WORKSPACE, **more):
    return w.shell(w.compile(policy), "set -e\n" + command, **more)


# Credentials.

def readable(w, places, policy):
    for place in places:
        w.make(at_home(place), "content of " + place)
    paths = [w.top + "/" + at_home(place) for place in places]
    environment = w.environment(XDG_CONFIG_HOME=f"{w.top}/settings")
    script = "import sys\nfor path in sys.argv[1:]:\n try: print(open(path).read())\n except OSError: pass"
    result = w.python(w.compile(policy), script, *paths, env=environment).succeeded()
    return [place for place in places if f"content of {place}\n" in result.out]


@test
def credentials_stay_closed_where_the_home_is_granted():
    with world() as w:
        places = secret_places()
        check(len(places) > 60 and "~/.aws/" in places, f"the list of secrets was not read: {places}")
        equal(readable(w, places, WORKSPACE + "grant read ~, $CONFIG\n"), [], "readable")


@test
def common_credentials_and_copies_of_them_stay_closed():
    with world() as w:
        equal(readable(w, CREDENTIALS, WORKSPACE + "grant read ~\n"), [], "readable")


@test
def what_is_public_stays_readable():
    with world() as w:
        private = ["~/.ssh/id_ed25519", "~/.gnupg/private-keys-v1.d/x.key", "~/notes"]
        equal(readable(w, PUBLIC + private, WORKSPACE), PUBLIC, "readable")
        equal(readable(w, PUBLIC + private, WORKSPACE + "grant read ~\n"), PUBLIC + ["~/notes"], "readable")


@test
def an_exception_alone_opens_one_credential():
    with world() as w:
        policy = WORKSPACE.replace("std/dev", "std/dev except ~/.npmrc")
        equal(readable(w, ["~/.npmrc", "~/.npmrc.bak", "~/.netrc"], policy), ["~/.npmrc"], "readable")


@test
def credentials_cannot_be_planted_or_moved_in_a_writable_home():
    with world("/var/tmp") as w:
        w.make("home/.aws/credentials", SECRET)
        w.make("home/.npmrc", SECRET)
        w.make("home/.ssh/id_ed25519", SECRET)
        before = w.tree(w.home)
        result = dev(w, """
            set +e; cd ~; exec 2>&-
            for path in .aws .ssh .npmrc; do mv $path moved && echo "moved $path"; done
            for path in .aws/credentials .npmrc .ssh/id_ed25519; do
                cat $path; ln $path linked && echo "linked $path"; done
            for path in .netrc .git-credentials .config/gh/hosts.yml .kube/config .cargo/credentials.toml; do
                mkdir -p ${path%/*}; echo evil > $path && echo "planted $path"; done
            true""", policy=WORKSPACE + "grant write ~\n", env=w.environment(XDG_STATE_HOME=w.make("state/")))
        equal(result.succeeded().out, "", "what worked")
        after = w.tree(w.home)
        equal({path: after.get(path) for path in before}, before, "the home")
        equal(sorted(set(after) - set(before)), [], "left behind")


# The system.

@test
def shells_interpreters_and_common_tools_work():
    with world() as w:
        result = dev(w, r"""
            test "$(bash -c 'echo ${BASH_VERSION:+bash}')" = bash
            test "$(python3 -c 'import json, ssl, hashlib; print(1 + 1)')" = 2
            test "$(perl -MData::Dumper -e 'print 6 * 7')" = 42
            test "$(echo a b | awk '{print $2}')" = b
            test "$(echo a | sed s/a/b/)" = b
            mkdir -p d/e; echo text > d/e/f; tar cf d.tar d; rm -r d; tar xf d.tar
            test "$(find d -type f)" = d/e/f
            printf 'all:\n\t@echo made\n' > Makefile; test "$(make)" = made
            getent passwd root > account; grep -q '^root:' account
            locale > locales; date > today; diff locales locales; sort today | uniq | xargs -n1 echo > words
            id > me; uname -a > machine; ps > processes || true
            echo done""")
        equal(result.succeeded().out, "done\n")


@test
def a_program_is_compiled_linked_and_run():
    with world() as w:
        w.make("work/a.c", "#include <stdio.h>\n#include <math.h>\n"
                           "int main(int count, char **words)\n"
                           "{ (void)words; printf(\"%.0f\\n\", sqrt(count * 16.0)); return 0; }\n")
        result = dev(w, "gcc -O2 -Wall -o a a.c -lm; ./a; gcc -static -o b a.c -lm; ./b")
        equal(result.succeeded().out, "4\n4\n")


@test
def time_zones_names_and_certificates_are_those_of_the_host():
    script = """
        TZ=America/New_York date -d @1700000000
        LC_ALL=C.UTF-8 locale charmap; getent services https || true; getent hosts localhost || true
        python3 -c 'import ssl, os; c = ssl.create_default_context(); print(c.cert_store_stats())'
        ls /etc/ssl/certs | wc -l; cat /etc/os-release; getent passwd $(id -u) || true"""
    with world() as w:
        outside = subprocess.run(["sh", "-c", "set -e\n" + script], env=w.environment(), capture_output=True)
        equal(dev(w, script).succeeded().out, outside.stdout.decode())


@test
def private_entries_of_the_system_are_not_there():
    with world() as w:
        script = """
import os, sys
for path in sys.argv[1:]:
    try:
        os.stat(path)
        print("there:", path)
    except FileNotFoundError:
        pass
"""
        private = """
            /etc/shadow /etc/shadow- /etc/gshadow /etc/gshadow- /etc/sudoers /etc/sudoers.d /etc/ssl/private
            /etc/ssh/ssh_host_ed25519_key /etc/ssh/ssh_host_rsa_key /etc/ssh/sshd_config /etc/pki/tls/private
            /etc/letsencrypt /etc/krb5.keytab /etc/machine-id /etc/sbx /etc/apt /root/.bashrc
            /boot /srv /media /mnt /var/log /var/lib/dpkg /var/spool /sys/kernel /run/user"""
        equal(w.python(w.compile(WORKSPACE), script, *private.split()).succeeded().out, "")


@test
def nothing_of_the_system_can_be_written():
    with world() as w:
        result = dev(w, """
            for directory in / /usr /usr/bin /usr/local/bin /etc /bin /opt /var /home /root ~ /dev; do
                (echo x > $directory/sbx-planted) 2>&- && echo "$directory is writable"; done
            (echo x >> /etc/passwd) 2>&- && echo passwd; (: > /usr/bin/env) 2>&- && echo env; true""")
        equal(result.succeeded().out, "")


@test
def the_home_shows_nothing_but_what_is_granted():
    with world("/var/tmp") as w:
        for name in ("home/private.txt", "home/Documents/letter", "home/.local/share/other/x", "outside/y"):
            w.make(name, SECRET)
        w.make("home/.local/bin/tool", "#!/bin/sh\necho tool\n")
        w.make("home/.gitconfig", "[user]\n")
        os.chmod(f"{w.home}/.local/bin/tool", 0o755)
        result = dev(w, f"ls -A ~; ls -A ~/.local; ls ~/Documents ~/private.txt {w.outside} 2>&- || true")
        equal(result.succeeded().out.split(), [".gitconfig", ".local", "bin"])


# Tools.

def tool(w, path, text="#!/bin/sh\necho tool\n"):
    made = w.make(path, text)
    os.chmod(made, 0o755)
    return made


@test
def tools_on_the_path_and_in_the_home_run_and_others_are_absent():
    with world("/var/tmp") as w:
        tool(w, "tools/bin/hello")
        tool(w, "other/bin/stranger")
        tool(w, "home/.local/bin/mine")
        tool(w, "home/.pyenv/versions/3/bin/deep")
        env = w.environment(PATH=f"{w.top}/tools/bin:{PATH}")
        result = dev(w, f"""
            hello; ~/.local/bin/mine; ~/.pyenv/versions/3/bin/deep
            {w.top}/other/bin/stranger 2>&- || echo absent
            (echo x >> {w.top}/tools/bin/hello) 2>&- || echo read-only""", env=env)
        equal(result.succeeded().out, "tool\ntool\ntool\nabsent\nread-only\n")


@test
def an_environment_inside_the_workspace_stays_writable():
    with world("/var/tmp") as w:
        w.make("work/venv/lib/")
        tool(w, "work/venv/bin/hello")
        env = w.environment(PATH=f"{w.work}/venv/bin:{PATH}", VIRTUAL_ENV=f"{w.work}/venv")
        script = "hello; touch venv/lib/new; echo x > venv/bin/installed; test $VIRTUAL_ENV = $PWD/venv"
        dev(w, script, env=env).succeeded()


@test
def an_environment_elsewhere_is_readable():
    with world("/var/tmp") as w:
        tool(w, "venv/bin/hello")
        w.make("venv/lib/module", "text\n")
        env = w.environment(PATH=f"{w.top}/venv/bin:{PATH}", VIRTUAL_ENV=f"{w.top}/venv")
        script = "hello; cat $VIRTUAL_ENV/lib/module; touch $VIRTUAL_ENV/lib/new 2>&- || echo read-only"
        result = dev(w, script, env=env)
        equal(result.succeeded().out, "tool\ntext\nread-only\n")


@test
def a_deny_on_a_tool_directory_holds():
    with world("/var/tmp") as w:
        tool(w, "tools/bin/hello")
        env = w.environment(PATH=f"{w.top}/tools/bin:{PATH}")
        result = dev(w, f"hello 2>&- || echo closed; cat {w.top}/tools/bin/hello 2>&- || echo closed",
                     policy=WORKSPACE + f"deny {w.top}/tools/bin\n", env=env)
        equal(result.succeeded().out, "closed\nclosed\n")


@test
def what_is_granted_for_reading_stays_so_though_a_preset_would_write_it():
    with world("/var/tmp") as w:
        subprocess.run(["git", "init", "-q"], cwd=w.work, env=w.environment(), check=True)
        result = dev(w, "echo x > .git/planted", policy=DEV + "grant read $WORK\n")
        check(result.code != 0 and not os.path.exists(f"{w.work}/.git/planted"), result.out + result.err)


@test
def a_path_that_names_the_home_grants_nothing():
    with world("/var/tmp") as w:
        w.make("home/private.txt", SECRET)
        result = dev(w, "cat ~/private.txt", env=w.environment(PATH=f"{PATH}:{w.home}:/", PYTHONPATH=w.home))
        check(result.code != 0 and SECRET not in result.out, result.out)


# The environment.

@test
def only_named_variables_pass_in():
    with world() as w:
        kept = {"LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "TERM": "xterm", "EDITOR": "vi", "TZ": "UTC",
                "CC": "gcc", "GIT_AUTHOR_NAME": "A", "NODE_ENV": "test", "NO_COLOR": "1"}
        secrets = dict.fromkeys("""
            AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN GITHUB_TOKEN GH_TOKEN NPM_TOKEN OPENAI_API_KEY PGPASSWORD
            ANTHROPIC_API_KEY CARGO_REGISTRY_TOKEN DATABASE_URL DOCKER_HOST KUBECONFIG GIT_ASKPASS SSH_ASKPASS
            SSH_AUTH_SOCK GPG_AGENT_INFO DBUS_SESSION_BUS_ADDRESS XDG_RUNTIME_DIR DISPLAY http_proxy LC
            BASH_ENV ENV GIT_SSH_COMMAND GIT_DIR""".split(), SECRET)
        result = w.launch(w.compile(WORKSPACE), "env", "-0", env=w.environment(**kept, **secrets)).succeeded()
        found = dict(entry.split("=", 1) for entry in result.out.split("\0") if entry)
        expected = dict(kept, PATH=PATH, HOME=w.home, TMPDIR="/tmp", TMP="/tmp", TEMP="/tmp")
        for name in ("PWD", "SBX_POLICY"):
            found.pop(name, None)
        equal(found, expected, "the environment")


# Scratch and devices.

@test
def tmp_is_private_empty_and_gone_afterwards():
    with world("/var/tmp") as w:
        descriptor, outside = tempfile.mkstemp(prefix="sbx-outside-", dir="/tmp")
        os.close(descriptor)
        try:
            script = """
                test "$TMPDIR" = /tmp; test "$(ls -A /tmp)" = ""; test "$(stat -c %a /tmp | tail -c 5)" != 000
                file=$(mktemp); case $file in /tmp/*) ;; *) exit 1 ;; esac
                echo x > $file; mkdir /tmp/d; echo x > /tmp/sbx-inside; ls /tmp | wc -l"""
            for _ in range(2):
                equal(dev(w, script).succeeded().out, "3\n")
            equal(os.path.exists("/tmp/sbx-inside"), False, "the file of the run")
        finally:
            os.unlink(outside)


@test
def devices_and_pseudo_terminals_work():
    with world() as w:
        script = r"""
import os, pty, signal
open("/dev/null", "w").write("x")
assert open("/dev/null").read() == ""
assert open("/dev/zero", "rb").read(4) == bytes(4)
assert len(open("/dev/urandom", "rb").read(16)) == 16 and len(open("/dev/random", "rb").read(1)) == 1
try:
    os.write(os.open("/dev/full", os.O_WRONLY), b"x")
    raise SystemExit("/dev/full is not full")
except OSError as error:
    assert error.errno == 28
open("/dev/shm/x", "w").write("x")
assert os.listdir("/dev/shm") == ["x"]
master, slave = pty.openpty()
os.write(slave, b"text\n")
assert b"text" in os.read(master, 100) and os.ttyname(slave).startswith("/dev/pts/")
child, terminal = pty.fork()
if child == 0:
    os.execvp("sh", ["sh", "-c", "tty; test -t 0 && echo terminal > /dev/tty"])
text = b""
try:
    while chunk := os.read(terminal, 1000):
        text += chunk
except OSError:
    pass
assert b"/dev/pts/" in text and b"terminal" in text, text
print(sorted(set(os.listdir("/dev")) & {"sda", "vda", "mem", "kmem", "kvm", "fuse", "snd", "dri", "loop0"}))
"""
        equal(w.python(w.compile(WORKSPACE), script).succeeded().out, "[]\n")


@test
def processes_talk_to_their_own_parts():
    with world() as w:
        w.make("work/parts.py", r"""
import multiprocessing, os, socket, tempfile, threading

def square(number):
    return number * number

if __name__ == "__main__":
    for method in ("fork", "spawn", "forkserver"):
        with multiprocessing.get_context(method).Pool(2) as pool:
            assert pool.map(square, range(5)) == [0, 1, 4, 9, 16], method
    one, other = socket.socketpair()
    one.send(b"x")
    assert other.recv(1) == b"x"
    path = tempfile.mkdtemp() + "/socket"
    server = socket.socket(socket.AF_UNIX)
    server.bind(path)
    server.listen()
    client = socket.socket(socket.AF_UNIX)
    client.connect(path)
    server.accept()[0].send(b"hello")
    assert client.recv(5) == b"hello"
    server = socket.create_server(("127.0.0.1", 0))
    client = socket.create_connection(server.getsockname())
    print("done")
""")
        equal(dev(w, "python3 parts.py").succeeded().out, "done\n")


# What the caller sees.

@test
def a_launch_under_the_presets_says_nothing_of_what_this_machine_lacks():
    with world() as w:
        equal(dev(w, "true").succeeded().err, "", "what was said")
        policy = w.compile(WORKSPACE + "grant read $WORK/vendor\n")
        own = w.launch(policy, "true").succeeded().err
        check("SBX450" in own and "$WORK/vendor" in own and "std/" not in own, own)
        equal(w.launch(policy, "true", options=["-q"]).succeeded().err, "", "what was said under -q")
        everything = w.launch(policy, "true", options=["-v"]).succeeded().err
        check("std/system:" in everything, everything)


main()
