"""std/autorun: what programs outside obey without asking cannot be planted, and the work tree stays as it was."""
import os
import re
import subprocess

from lib import TREE, check, equal, main, test, world

POLICY = 'sbx 1\npolicy "t"\nuse std/dev\ngrant write $WORK\n'
IDENTITY = {"GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.org", "GIT_COMMITTER_NAME": "A",
            "GIT_COMMITTER_EMAIL": "a@example.org"}

# What must be closed whatever the preset's own list says; a name that ends in a slash is a directory.
OBEYED = """
    .envrc .vscode/ .idea/ .devcontainer/ .devcontainer.json .mcp.json .claude/ CLAUDE.md AGENTS.md .codex/ .cursor/
    .cursorrules .gemini/ GEMINI.md .github/copilot-instructions.md .pre-commit-config.yaml .husky/ .cargo/config
    .cargo/config.toml .npmrc .yarnrc .yarnrc.yml .tool-versions .mise.toml mise.toml""".split()
# The same, but only where it exists.
OBEYED_IF_THERE = ".bashrc .zshrc.local".split()
START_FILES = """
    .bashrc .bash_profile .bash_login .profile .zshrc .zshenv .zprofile .zlogin .gitconfig .config/git/config
    .config/fish/config.fish .config/direnv/direnvrc .config/autostart/x.desktop .vscode/argv.json
    .claude/settings.json .codex/config.toml""".split()

# Tries to put text at each path, by every way; prints each path at which a file with that text then stands.
PLANT = r'''
import os, shutil, sys
def attempt(way, *arguments):
    try:
        way(*arguments)
    except OSError:
        pass
def write(path):
    with open(path, "w") as file:
        file.write("planted\n")
def link(path):
    write("spare"); os.link("spare", path)
def move(path):
    write("spare"); os.rename("spare", path)
def move_directory(path):
    os.makedirs("spare-directory", exist_ok=True)
    write("spare-directory/" + os.path.basename(path))
    os.rename("spare-directory", os.path.dirname(path))
for path in sys.argv[1:]:
    attempt(os.makedirs, os.path.dirname(path))
    for way in (write, link, move, move_directory):
        attempt(way, path)
    attempt(os.unlink, path)
    attempt(os.rmdir, path)
    if os.path.dirname(path) != os.getcwd():
        attempt(shutil.rmtree, os.path.dirname(path))
    attempt(os.makedirs, os.path.dirname(path))
    attempt(write, path)
    try:
        with open(path) as file:
            if "planted" in file.read():
                print(path)
    except OSError:
        pass
attempt(os.unlink, "spare")
attempt(shutil.rmtree, "spare-directory")
'''


def git(w, *words):
    return subprocess.run(["git", *words], cwd=w.work, env=w.environment(**IDENTITY), check=True, capture_output=True,
                          text=True).stdout


def repository(w):
    git(w, "init", "-q")
    w.make("work/README", "text\n")
    git(w, "add", "-A")
    git(w, "commit", "-qm", "first")


def places(w):
    return [f"{w.work}/{name}" + ("settings.json" if name.endswith("/") else "") for name in OBEYED]


@test
def what_is_missing_cannot_be_planted_and_leaves_no_trace():
    with world("/var/tmp") as w:
        repository(w)
        before = w.tree()
        result = w.python(w.compile(POLICY), PLANT, *places(w)).succeeded()
        equal(result.out, "", "what could be planted")
        equal(w.tree(), before, "the workspace")
        equal(git(w, "status", "--short", "--ignored"), "")


@test
def what_exists_cannot_be_changed_and_stays_readable():
    with world("/var/tmp") as w:
        for path in places(w):
            w.make(os.path.relpath(path, w.top), "own text\n")
        paths = places(w) + [w.make(f"work/{name}", "own text\n") for name in OBEYED_IF_THERE]
        before = w.tree()
        result = w.python(w.compile(POLICY), PLANT, *paths).succeeded()
        equal(result.out, "", "what could be changed")
        equal(w.tree(), before, "the workspace")
        for path in paths:
            with open(path) as file:
                equal(file.read(), "own text\n", path)
        w.launch(w.compile(POLICY), "grep", "-q", "own text", *paths).succeeded()


@test
def nothing_is_planted_in_a_home_that_may_be_written():
    with world("/var/tmp") as w:
        w.make("home/.bashrc", "own text\n")
        w.make("home/.config/fish/config.fish", "own text\n")
        state = w.make("state/")
        before = w.tree(w.home)
        policy = w.compile(POLICY + "grant write ~, $CONFIG\n")
        paths = [f"{w.home}/{name}" for name in START_FILES]
        result = w.python(policy, PLANT, *paths, env=w.environment(XDG_STATE_HOME=state)).succeeded()
        equal(result.out, "", "what could be planted")
        after = w.tree(w.home)
        equal({path: after.get(path) for path in before}, before, "what was there")


@test
def everyday_git_does_not_see_the_placeholders():
    with world("/var/tmp") as w:
        repository(w)
        result = w.shell(w.compile(POLICY), """
            set -e
            test "$(git status --short)" = ""
            echo new > new; git add -A; git commit -qm second
            echo more >> new; echo other > untracked
            git stash -q -u; git stash pop -q
            git clean -fdq; test ! -e untracked; git checkout -q -- .
            git status --short; git show --stat --format= HEAD""", env=w.environment(**IDENTITY)).succeeded()
        check("new" in result.out and "1 file changed" in result.out, result.out)
        equal(git(w, "status", "--short"), "")
        equal(sorted(os.listdir(w.work)), [".git", "README", "new"])


@test
def copies_of_the_workspace_are_taken_without_complaint():
    with world("/var/tmp") as w:
        repository(w)
        result = w.shell(w.compile(POLICY), """
            set -e
            tar cf /tmp/all.tar .; cp -r . /tmp/copy; rsync -a ./ /tmp/other; find . -name README
            grep -rl text . | head -1""")
        equal(result.succeeded().err, "")


@test
def an_exception_opens_one_name():
    with world("/var/tmp") as w:
        policy = w.compile(POLICY.replace("std/dev", "std/dev except $WORK/AGENTS.md"))
        result = w.shell(policy, "echo text > AGENTS.md; echo text > CLAUDE.md")
        check(result.code != 0, result.err)
        equal(os.listdir(w.work), ["AGENTS.md"])


@test
def every_missing_name_of_the_workspace_is_held_by_a_directory():
    with open(os.path.join(TREE, "compiler/std/autorun.sbx")) as file:
        text = re.sub(r"^#.*$", "", file.read(), flags=re.M)
    names = re.findall(r"\$WORK/[^,\s]+", text)
    check(len(names) > 30, f"the list was not read: {names}")
    equal([name for name in names if not name.endswith(("/", "*"))], [], "files among the placeholders")


main()
