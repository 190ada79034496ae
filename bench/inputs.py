"""Policies to measure with, made on the spot and always the same."""
import os

# Thirty lines as a project would write them.
PROJECT = """sbx 1
policy "project"
use std/dev
grant write $WORK
deny $WORK/.env, $WORK/secrets
deny $WORK/**/*.pem except $WORK/tests/fixtures
deny $WORK/**/*.key
deny write $WORK/vendor
deny write $WORK/.github/workflows
grant read /opt/toolchain
grant read /srv/data/a
grant read /srv/data/b
grant write /srv/out
deny /srv/data/a/private
deny /srv/data/b/private
deny write /srv/out/locked
auto grant read /opt/extra
grant read /opt/one, /opt/two, /opt/three
deny /opt/three/inner
deny /srv/out/keys
grant env CI, NODE_*
deny env *_TOKEN
set env NODE_ENV = "development"
expect deny read $WORK/.env
expect deny write $WORK/vendor/a.c
expect allow write $WORK/src/index.js
expect allow read $WORK/tests/fixtures/localhost.pem
when os macos {
    grant read /opt/homebrew
}
"""


def write(path, lines):
    with open(path, "w") as file:
        file.write("\n".join(lines) + "\n")
    return path


def project(place):
    path = os.path.join(place, "project.sbx")
    with open(path, "w") as file:
        file.write(PROJECT)
    return path


def grant(i):
    return f'grant {"write" if i % 3 else "read"} /home/user/p{i % 1000}/a/b/f{i}'


def plain(place, count):
    """One path a rule, no patterns."""
    lines = ["sbx 1", 'policy "plain"'] + [grant(i) for i in range(count)]
    return write(os.path.join(place, f"plain-{count}.sbx"), lines)


def spread(place, count, files):
    """The same rules over several used files."""
    uses = []
    for number in range(files):
        name = f"part-{count}-{number}.sbx"
        rules = [grant(i) for i in range(number, count, files)]
        write(os.path.join(place, name), ["sbx 1", f'preset "part{number}"'] + rules)
        uses.append(f'use "{name}"')
    return write(os.path.join(place, f"spread-{count}.sbx"), ["sbx 1", 'policy "spread"'] + uses)


def nested(place, count):
    """Three nested `**` in every rule: what makes one automaton of all rules explode."""
    lines = ["sbx 1", 'policy "nested"', "grant write /srv"]
    lines += [f"deny /srv/**/a{i % 97}/**/b{i}/**/c{i % 13}" for i in range(count - 1)]
    return write(os.path.join(place, f"nested-{count}.sbx"), lines)


def levels(place, count):
    """Denies and grants of every level, one path each, as a profile of macOS would be made of."""
    words = ("deny", "grant read", "grant write", "deny exec")
    lines = ["sbx 1", 'policy "levels"', "grant write $WORK"]
    lines += [f"{words[i % 4]} $WORK/p{i % 100}/f{i}" for i in range(count)]
    return write(os.path.join(place, f"levels-{count}.sbx"), lines)


def literals(place, count):
    """Denies alone, one path each."""
    lines = ["sbx 1", 'policy "literals"', "grant write $WORK"]
    lines += [f"deny $WORK/p{i % 100}/a/b/secret-{i}" for i in range(count)]
    return write(os.path.join(place, f"literals-{count}.sbx"), lines)


def checked(place, rules, patterns):
    """A policy for sbx_check, and 60-byte paths to ask it about: at, below and beside what its rules name."""
    def directory(i):
        return f"/home/user/project-{i % 40:02}/source/part-{i:04}"

    lines = ["sbx 1", 'policy "checked"', "grant read /home/user"]
    verbs = ["deny"] + ["grant write"] * 4
    lines += [f"{verbs[i % 5]} {directory(i)}" for i in range(rules - patterns - 1)]
    lines += [f"deny /home/user/**/secret-{i}-*.key" for i in range(patterns)]
    policy = write(os.path.join(place, f"checked-{rules}-{patterns}.sbx"), lines)
    paths = []
    for i in range(0, rules, 2):
        for tail in ("/include/file", "-beside/file"):
            paths.append((directory(i) + tail + "_" * 60)[:60])
    return policy, write(os.path.join(place, f"checked-{rules}-{patterns}.paths"), paths)
