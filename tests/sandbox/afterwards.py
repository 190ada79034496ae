#!/usr/bin/python3
"""After a run the lease lists the Git directories, hooks, settings and autorun files that appeared or
changed (docs/launch.md)."""
import os
import re
import subprocess
import time

from lib import TREE, check, check_schema, equal, main, test, world

IDENTITY = {"GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.org", "GIT_COMMITTER_NAME": "A",
            "GIT_COMMITTER_EMAIL": "a@example.org"}


def told(w, script, text="", **more):
    """(kind, path below $WORK or as it is) of each event after `script` has run."""
    policy = w.policy("grant env GIT_*\n" + text)
    _, lease = w.lease(policy, "sh", "-c", script, env=w.environment(**IDENTITY), **more)
    check_schema(lease, "sbx-lease.schema.json")
    equal(lease["exit"], {"code": 0})
    return sorted((event["kind"], event["arg"].removeprefix(w.work + "/")) for event in lease["events"])


def repository(w, *path):
    place = os.path.join(w.work, *path)
    os.makedirs(place, exist_ok=True)
    for words in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "s"]):
        subprocess.run(["git", *words], cwd=place, check=True, env=w.environment(**IDENTITY))
    time.sleep(0.05)


@test
def a_new_repository_is_listed():
    for place in (".", "sub", "a/b"):
        with world("/var/tmp") as w:
            found = told(w, f"mkdir -p {place}; git init -q {place}")
            git = os.path.normpath(place + "/.git")
            equal(found, [("git.created", git), ("git.settings", git + "/config")])


@test
def a_bare_repository_and_a_file_that_leads_to_one_are_listed():
    with world("/var/tmp") as w:
        found = told(w, "git init -q --bare bare; mkdir s; echo 'gitdir: ../bare' > s/.git")
        equal(found, [("git.created", "bare"), ("git.created", "s/.git"), ("git.settings", "bare/config")])


@test
def hooks_and_settings_that_change_are_listed():
    with world("/var/tmp") as w:
        repository(w)
        repository(w, "nested")
        w.make("work/.git/hooks/old", "")
        w.make("work/.git/hooks/touched", "")
        time.sleep(0.05)
        found = told(w, """
            echo evil > .git/hooks/pre-commit; chmod +x .git/hooks/touched; git -C nested config user.name x
            mkdir -p nested/.git/info; echo x > nested/.git/info/attributes; ln -s /x nested/.git/hooks/post-merge""")
        equal(found, [("git.hook", ".git/hooks/pre-commit"), ("git.hook", ".git/hooks/touched"),
                      ("git.hook", "nested/.git/hooks/post-merge"), ("git.settings", "nested/.git/config"),
                      ("git.settings", "nested/.git/info/attributes")])


@test
def hooks_that_become_a_link_are_listed():
    with world("/var/tmp") as w:
        repository(w)
        found = told(w, "mv .git/hooks h 2>/dev/null; ln -s ../h .git/hooks")
        equal(found, [("git.hook", ".git/hooks")])


REBASE = """
    echo x > f; git add f; git commit -qm x
    GIT_SEQUENCE_EDITOR='sh -c "(echo break; echo exec echo OUTSIDE) > \\$0"' git rebase -q -i HEAD^ 2>&1; true"""


@test
def what_git_would_go_on_with_is_listed():
    with world("/var/tmp") as w:
        repository(w)
        equal(told(w, REBASE, "use std/git\n"), [("git.pending", ".git/rebase-merge")])
        out = subprocess.run(["git", "rebase", "--continue"], cwd=w.work, env=w.environment(**IDENTITY), capture_output=True, text=True)
        check("OUTSIDE" in out.stdout, f"the host's Git ran nothing, so this shows nothing: {out}")
        time.sleep(0.05)
        equal(told(w, REBASE.replace("echo break; ", "") + "; git status"), [], "a rebase that ended")
    for place in ("rebase-merge/git-rebase-todo", "rebase-apply/patch", "sequencer/todo", "worktrees/w/rebase-merge/x",
                  "modules/m/sequencer/todo"):
        with world("/var/tmp") as w:
            repository(w)
            old = w.make(f"work/.git/{place}", "pick x\n")
            time.sleep(0.05)
            equal(told(w, "true"), [], f"{place}: untouched")
            equal(told(w, f"echo exec evil >> {old}"), [("git.pending", os.path.dirname(".git/" + place))])
    with world("/var/tmp") as w:
        repository(w)
        equal(told(w, "git bisect start -q 2>&1"), [("git.pending", ".git/BISECT_START")])


@test
def ordinary_work_with_git_is_not_listed():
    with world("/var/tmp") as w:
        repository(w)
        equal(told(w, "echo x > f; git add -A; git commit -qm x; git checkout -qb b; git stash -q -u; git gc -q; git status"), [])


@test
def autorun_files_are_listed():
    with world("/var/tmp") as w:
        w.make("work/.vscode/tasks.json", "{}")
        w.make("work/.vscode/settings.json", "{}")
        w.make("work/.envrc", "")
        time.sleep(0.05)
        found = told(w, "echo x >> .vscode/tasks.json; echo x > AGENTS.md; mkdir -p .github/prompts; echo x > .github/prompts/p; echo x > plain")
        equal(found, [("autorun.changed", path) for path in (".github/prompts", ".github/prompts/p", ".vscode/tasks.json", "AGENTS.md")])


@test
def a_home_that_may_be_written_is_looked_at_too():
    with world("/var/tmp") as w:
        found = told(w, "echo x > ~/.bashrc; mkdir -p ~/.config/fish; echo x > ~/.config/fish/config.fish", "grant write ~\n")
        equal(found, [("autorun.changed", f"{w.home}/{name}") for name in (".bashrc", ".config/fish", ".config/fish/config.fish")])


@test
def what_holds_a_missing_path_is_not_listed():
    with world("/var/tmp") as w:
        repository(w)
        equal(told(w, "true", "use std/dev\n"), [])
        equal(told(w, "true", "deny write $WORK/.envrc, $WORK/.git/hooks/pre-push, $WORK/x/.git/\n"), [])


@test
def a_date_in_the_past_hides_nothing():
    with world("/var/tmp") as w:
        repository(w)
        found = told(w, "echo x > .envrc; touch -d 2001-01-01 .envrc; echo y > .git/hooks/p; touch -d 2001-01-01 .git/hooks/p .git/hooks .git")
        equal(found, [("autorun.changed", ".envrc"), ("git.hook", ".git/hooks/p")])


@test
def the_look_is_bounded_and_says_so():
    with world("/var/tmp") as w:
        script = "mkdir $(seq 400); for i in $(seq 400); do mkdir $i/d; done"
        equal(told(w, script), [("afterwards.bounded", w.work)])
    with world("/var/tmp") as w:
        found = told(w, "git init -q; cd .git/hooks; rm -f *; for i in $(seq 300); do : > h$i; done")
        equal(len(found), 201)
        check(("afterwards.bounded", w.work) in found, str(found[:3]))


@test
def no_link_is_followed():
    with world("/var/tmp") as w:
        w.make("outside/.git/hooks/")
        before = told(w, f"ln -s {w.outside} sub; ln -s {w.outside}/.git .git; ln -s / .vscode")
        equal(before, [("autorun.changed", ".vscode"), ("git.created", ".git")])


@test
def the_names_are_those_of_the_preset():
    with open(os.path.join(TREE, "compiler/std/autorun.sbx")) as file:
        text = "\n".join(line for line in file.read().splitlines() if not line.strip().startswith("#"))
    text = re.sub(r"^when os windows \{.*?^\}", "", text, flags=re.MULTILINE | re.DOTALL)
    wanted = {(".config/" if root == "$CONFIG" else "") + name.rstrip("/").rstrip("*")
              for root, name in re.findall(r"(\$WORK|~|\$CONFIG)/([^\s,]+)", text)}
    with open(os.path.join(TREE, "runtime/autorun.def")) as file:
        listed = set(re.findall(r'AUTORUN\("([^"]+)"\)', file.read()))
    elsewhere = {name for name in wanted if name.startswith("Library/")}  # of macOS
    equal(wanted - listed - elsewhere, set(), "what is missing in autorun.def")


if __name__ == "__main__":
    main()
