"""examples/acme-web as its readers would use it: the demo, and each statement of its policy in a launch."""
import os
import shutil
import subprocess

from lib import BUILD, SECRET, check, equal, main, test, world

TREE = os.environ.get("SBX_TREE") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
EXAMPLE = os.path.join(TREE, "examples", "acme-web")


def project(w):
    """A checkout of the example in $WORK with what its policy speaks of; its policy, compiled."""
    shutil.copytree(EXAMPLE, w.work, dirs_exist_ok=True)
    for path in (".env", "secrets/database.key", "server.pem", "lib/deep/client.pem"):
        w.make("work/" + path, SECRET)
    w.make("work/tests/fixtures/localhost.pem", "for tests")
    w.make("work/.github/workflows/release.yml", "on: push")
    w.make("work/src/index.js", "start()")
    result = subprocess.run([os.path.join(BUILD, "sbxc"), "project.sbx", "-o", "policy.bin"], cwd=w.work,
                            env=w.environment(), capture_output=True)
    check(result.returncode == 0, result.stderr.decode(errors="replace"))
    return os.path.join(w.work, "policy.bin")


@test
def the_demo_shows_what_it_says():
    with world("/var/tmp") as w:
        demo = os.path.join(TREE, "examples/demo.sh")
        result = subprocess.run([demo, BUILD], cwd=w.outside, env=w.environment(TMPDIR=w.outside),
                                stdin=subprocess.DEVNULL, capture_output=True)
        text = result.stdout.decode() + result.stderr.decode()
        check(result.returncode == 0, text)
        for line in ("a write in the workspace: yes", "a write outside of it: no",
                     "reading the secret .env: no", "every answer above is what the policy says"):
            check(line in text, f"{line!r} is not in: {text}")
        check("hunter2" not in text, text)
        equal(os.listdir(w.outside), [], "left behind")


@test
def the_workspace_is_written_and_its_secrets_stay_closed():
    with world("/var/tmp") as w:
        policy = project(w)
        before = w.tree()
        result = w.shell(policy, """
            exec 2>&-
            echo changed > src/index.js; cat tests/fixtures/localhost.pem; echo
            for path in .env secrets/database.key server.pem lib/deep/client.pem; do
                cat $path; cp $path copy; ln $path linked; mv $path moved; echo evil > $path; rm -rf $path
            done
            mv secrets away; mv lib/deep lib/d; mv lib l
            ls -A secrets; true""")
        equal(result.succeeded().out, "for tests\n")
        equal(set(w.tree()) - set(before), {w.work + "/copy"} & set(w.tree()), "new files")
        for path in (".env", "secrets/database.key", "server.pem", "lib/deep/client.pem"):
            with open(f"{w.work}/{path}") as file:
                equal(file.read(), SECRET, path)
        with open(f"{w.work}/src/index.js") as file:
            equal(file.read(), "changed\n")


@test
def workflows_are_read_and_never_changed_or_planted():
    with world("/var/tmp") as w:
        policy = project(w)
        script = """
            exec 2>&-
            cat .github/workflows/release.yml
            echo evil > .github/workflows/new.yml; echo evil >> .github/workflows/release.yml
            mv .github/workflows moved; mv .github g; rm -rf .github; true"""
        equal(w.shell(policy, script).succeeded().out, "on: push")
        equal(os.listdir(f"{w.work}/.github/workflows"), ["release.yml"])
        shutil.rmtree(f"{w.work}/.github")
        w.shell(policy, "mkdir -p .github/workflows; echo evil > .github/workflows/new.yml").exited(2)
        equal(os.path.exists(f"{w.work}/.github"), False, "a placeholder that stayed")


@test
def the_policy_cannot_be_changed_by_what_runs_under_it():
    with world("/var/tmp") as w:
        policy = project(w)
        before = w.tree(w.work)
        script = "exec 2>&-; echo > policy.bin; rm policy.bin; mv policy.bin p; cp /dev/null policy.bin; true"
        w.shell(policy, script)
        equal(w.tree(w.work), before, "the project")


@test
def variables_pass_as_the_policy_says():
    with world("/var/tmp") as w:
        policy = project(w)
        env = w.environment(CI="true", NODE_OPTIONS="--no-warnings", NODE_ENV="production",
                            GITHUB_TOKEN=SECRET, NODE_AUTH_TOKEN=SECRET, AWS_SECRET_ACCESS_KEY=SECRET)
        script = 'echo "$CI $NODE_OPTIONS $NODE_ENV $GITHUB_TOKEN$NODE_AUTH_TOKEN"; env'
        result = w.shell(policy, script, env=env)
        check(result.succeeded().out.startswith("true --no-warnings development \n"), result.out)
        check(SECRET not in result.out, result.out)


@test
def the_network_is_closed():
    with world("/var/tmp") as w:
        script = r"""
import socket
for family, kind, address in ((socket.AF_INET, socket.SOCK_STREAM, ("192.0.2.1", 80)),
                              (socket.AF_INET, socket.SOCK_DGRAM, ("192.0.2.1", 53)),
                              (socket.AF_INET6, socket.SOCK_DGRAM, ("2001:db8::1", 53))):
    try:
        socket.socket(family, kind).connect(address)
        print("connected", address)
    except OSError:
        pass
print(socket.if_nameindex())
"""
        result = w.python(project(w), script).succeeded()
        equal(result.out, "[(1, 'lo')]\n")


@test
def the_policy_runs_as_text_too():
    with world("/var/tmp") as w:
        project(w)
        result = w.launch(os.path.join(w.work, "project.sbx"), "sh", "-c", "cat .env 2>&- || echo closed")
        equal(result.succeeded().out, "closed\n")


main()
