"""Links on the host: what they lead to is granted or denied by where the link itself lies (language.md 7)."""
import os

from lib import BASE, check, equal, main, test, world

MARKER = "marker-93aa"


def link(w, path, text):
    """Makes a symbolic link below the top."""
    full = os.path.join(w.top, path)
    os.symlink(text, full)
    return full


@test
def a_grant_through_a_link_shows_both_spellings():
    with world() as w:
        w.make("outside/real/file", MARKER)
        spelled = link(w, "outside/link", "real")
        policy = f"grant read {spelled}\n"
        equal(w.shell(policy, f"cat {spelled}/file {w.outside}/real/file").succeeded().out, MARKER * 2)
        equal(w.shell(policy, f"readlink {spelled}").succeeded().out, "real\n")


@test
def a_link_that_the_command_could_have_placed_grants_nothing():
    with world() as w:
        w.make("outside/secret", MARKER)
        link(w, "work/data", w.outside)
        result = w.shell("grant read $WORK/data/secret\n", "cat data/secret", options=["-v"])
        check(result.code != 0 and MARKER not in result.out, "the target was granted")
        result = w.shell("grant write $WORK/data\n", f"touch data/new; cat data/secret {w.outside}/secret")
        check(MARKER not in result.out, "the target was granted")
        equal(os.listdir(w.outside), ["secret"])


@test
def two_runs_cannot_plant_a_grant():
    """The first run replaces a directory that the policy grants by a link to what it does not grant."""
    with world() as w:
        w.make("outside/secret", MARKER)
        w.make("work/tools/tool", "")
        policy = w.compile(BASE + "grant write $WORK\nauto grant read $env.PATH\n")
        environment = w.environment(PATH=f"/usr/bin:/bin:{w.work}/tools")
        w.shell(policy, f"mv tools gone; ln -s {w.outside} tools", env=environment).succeeded()
        result = w.shell(policy, f"cat tools/secret; cat {w.outside}/secret", env=environment)
        check(MARKER not in result.out, "the planted link was followed")


@test
def a_link_inside_a_granted_directory_grants_nothing_outside_it():
    with world() as w:
        w.make("outside/secret", MARKER)
        link(w, "work/l", "../outside/secret")
        check(w.shell("", "cat l").code != 0, "the link led out")


@test
def a_deny_holds_where_its_link_leads():
    with world() as w:
        w.make("work/real/secret", MARKER)
        link(w, "home/.secret", "../work/real/secret")
        policy = "deny ~/.secret\n"
        check(MARKER not in w.shell(policy, "cat real/secret").out, "the target was read")
        for script in ("mv real/secret x", "rm -f real/secret", "mv real x", "ln real/secret x", "echo > real/secret"):
            check(w.shell(policy, script).code != 0, script)
        with open(f"{w.work}/real/secret") as file:
            equal(file.read(), MARKER)


@test
def a_deny_through_a_link_that_can_be_replaced_is_refused():
    with world() as w:
        w.make("outside/key", MARKER)
        link(w, "work/.env", "../outside/key")
        w.shell("deny $WORK/.env\n", "true").refused(".env", "link")
        w.make("work/conf/")
        link(w, "work/conf/key", "../../outside/key")
        w.shell("deny $WORK/conf/key\n", "true").refused("conf/key")
        policy = "deny write $WORK/conf\ndeny $WORK/conf/key\n"
        check(w.shell(policy, "rm conf/key").code != 0, "the link was replaced")
        check(w.shell(policy, "mv conf c").code != 0, "its directory was renamed")


@test
def an_except_does_not_follow_a_planted_link():
    with world() as w:
        w.make("outside/secret", MARKER)
        link(w, "work/ok", w.outside)
        result = w.shell(f"grant read {w.outside}\ndeny {w.outside} except $WORK/ok\n", f"cat {w.outside}/secret")
        check(MARKER not in result.out, "the exception was followed")


@test
def a_deny_through_a_link_holds_where_nothing_is_yet():
    with world() as w:
        link(w, "home/.secret", "../work/real/secret")
        for script in ("mkdir -p real && echo x > real/secret", "mkdir o && echo x > o/secret && mv -T o real && cat real/secret"):
            check(w.shell("deny ~/.secret\n", script).code not in (0, 125), script)
            check(not os.path.exists(f"{w.work}/real/secret"), script)


@test
def a_deny_holds_for_every_spelling_on_the_way():
    with world() as w:
        w.make("work/real/secret", MARKER)
        link(w, "outside/one", "two")
        link(w, "outside/two", f"{w.work}/real")
        policy = w.policy(f"grant read {w.outside}\ndeny {w.outside}/one/secret\n")
        for name in (f"{w.outside}/one/secret", f"{w.outside}/two/secret", "real/secret"):
            result = w.shell(policy, f"cat {name}")
            check(result.code not in (0, 125) and MARKER not in result.out, name)
        check(w.shell(policy, "mv real r").code not in (0, 125), "the directory above was renamed")


@test
def a_grant_left_out_for_its_link_names_the_target_and_lowers_all_the_same():
    with world() as w:
        w.make("outside/secret", MARKER)
        link(w, "work/data", w.outside)
        result = w.shell("grant write $WORK/data/secret\n", "cat data/secret", options=["-v"])
        check("SBX451" in result.err and f"leads to {w.outside}/secret" in result.err, result.err)
        # A read-only place inside a writable one: left out, it would let the command write there.
        w.shell("grant read $WORK/data\n", "touch ran").refused("SBX452", "data")
        equal(os.listdir(w.work), ["data"])


@test
def a_limit_does_not_follow_a_planted_link():
    def limited(w, place):
        corp = w.make("policies/corp.sbx", f'sbx 1\nmanaged "corp"\nlimit write to $WORK, {place}\n')
        text = BASE + f"grant write $WORK\ngrant write {w.outside}\n"
        w.shell(w.compile(text, "--managed", corp), f"touch {w.outside}/new; touch new").succeeded()
        return os.listdir(w.outside)

    with world() as w:
        link(w, "work/ok", w.outside)
        equal(limited(w, "$WORK/ok"), [])
        link(w, "home/ok", w.outside)
        equal(limited(w, f"{w.home}/ok"), ["new"], "what lies behind a link that nobody planted")


@test
def link_farms_loops_and_the_root_are_survived():
    with world() as w:
        for i in range(1, 60):
            link(w, f"work/n{i}", f"n{i - 1}" if i > 1 else "/etc")
        link(w, "work/loop", "loop")
        link(w, "work/root", "/")
        link(w, "work/\x1b[2Jname", "/")
        policy = "".join(f"grant read $WORK/{name}\n" for name in ("n30", "n59", "loop", "root", "root/root"))
        result = w.shell(policy, "ls / | sort | tr '\\n' ' '; cat root/etc/shadow")
        check(result.code in (0, 1, 125), f"exit {result.code}")
        check("\x1b" not in result.err, "an escape reached the terminal")
        check("root:" not in result.out, "a link to the root was followed")


@test
# Reported as bubblewrap's CVE-2026-87766 (Flatcar#2417).
def no_place_of_a_mount_is_reached_through_a_link():
    """Builds of bubblewrap that refuse links must be able to carry every plan out, and older ones must not follow any."""
    with world() as w:
        w.make("outside/real/file", "x")
        w.make("outside/real/shut/file", "x")
        os.symlink("real", f"{w.outside}/link")
        os.symlink(f"{w.outside}/link/shut", f"{w.outside}/far")
        policy = w.policy(
            "use std/dev\n"
            "grant read /var/run, /var/lock, /bin, /lib64, /etc/mtab\n"
            f"grant read {w.outside}/link\ngrant write {w.outside}/far\n"
            f"deny {w.outside}/link/shut/file, {w.outside}/link/missing\n"
        )
        shown = w.launch(policy, "true", options=["--dry-run", "--engine", "bwrap"]).succeeded().out
        call = [line.split() for line in shown.split("# call", 1)[1].splitlines()[2:]]
        targets = [
            words[-1]
            for words in call
            if words and words[0] in ("--bind", "--ro-bind", "--dev-bind", "--tmpfs", "--ro-bind-data", "--dir")
        ]
        check(len(targets) > 20 and f"{w.outside}/real" in targets, shown)
        passing = [path for path in targets if os.path.realpath(path) != path]
        equal(passing, [], "places behind links")


main()
