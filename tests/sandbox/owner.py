"""Root in another user's directory: refused, or done as that user."""
import os

from lib import IS_ROOT, check, equal, main, test, world

NOBODY = 65534


@test
def root_is_refused_where_the_work_is_anothers():
    with world() as w:
        if not IS_ROOT:
            # For everybody else whose the directory is makes no difference.
            w.launch("", "true", options=["--as-owner"]).succeeded()
            return
        os.chmod(w.top, 0o755)
        os.chown(w.work, NOBODY, NOBODY)
        w.launch("", "touch", "ran").refused("SBX407", "--as-owner")
        check(not os.path.exists(f"{w.work}/ran"), "something ran")


@test
def as_owner_runs_as_the_owner():
    if not IS_ROOT:
        return
    with world() as w:
        os.chmod(w.top, 0o755)
        os.chown(w.work, NOBODY, NOBODY)
        policy = w.policy("grant env USER\n")
        os.chmod(os.path.dirname(policy), 0o755)
        result = w.shell(
            policy,
            "id -u; id -g; id -G; echo $USER; touch made; grep Cap /proc/self/status | grep -c "
            "0000000000000000",
            options=["--as-owner"],
            env=w.environment(XDG_CONFIG_HOME="/root/.config", SUDO_USER="x"),
        )
        equal(result.succeeded().out.split("\n"), [str(NOBODY), str(NOBODY), str(NOBODY), "nobody", "5", ""])
        equal(os.stat(f"{w.work}/made").st_uid, NOBODY)


@test
def as_owner_cannot_read_what_only_root_may():
    if not IS_ROOT:
        return
    with world() as w:
        os.chmod(w.top, 0o755)
        os.chown(w.work, NOBODY, NOBODY)
        os.chmod(w.make("outside/root-only", "x"), 0o600)
        policy = w.policy(f"grant read {w.outside}\n")
        check(
            w.launch(policy, "cat", f"{w.outside}/root-only", options=["--as-owner"]).code != 0,
            "read as root",
        )
        w.launch(policy, "true", options=["--as-owner", "--lease", f"{w.outside}/l"]).refused("SBX411")


@test
def as_owner_needs_an_account():
    if not IS_ROOT:
        return
    with world() as w:
        os.chown(w.work, 4242424, 4242424)
        w.launch("", "true", options=["--as-owner"]).refused("SBX408", "4242424")


main()
