"""The same number of rules in other tools that compile rules, and a static command under other launchers.

A tool that is not installed, or cannot do it here, is left out with a line that says so.
"""
import os
import pwd
import shutil
import signal
import subprocess

import inputs
from cold import cold
from launching import World
from table import exponent

COUNTS = (100, 1_000, 10_000, 100_000)
PATTERNS = (4, 5, 6, 10)
SECONDS = 60
ROUNDS = {10_000: 5, 100_000: 3}
LAUNCHES = 31


def nft_set(place, count):
    elements = ",\n".join(f"10.{i >> 16 & 255}.{i >> 8 & 255}.{i & 255}" for i in range(count))
    text = "table inet t {\n set s {\n type ipv4_addr\n elements = {\n" + elements + "\n}\n}\n}"
    path = inputs.write(os.path.join(place, f"set-{count}.nft"), [text])
    return ["nft", "-c", "-f", path]


def secilc_rules(place, count):
    lines = ["(class file (read write))", "(classorder (file))", "(sid kernel)", "(sidorder (kernel))",
             "(user u)", "(role r)", "(type t)", "(roletype r t)", "(userrole u r)", "(category c0)",
             "(categoryorder (c0))", "(sensitivity s0)", "(sensitivityorder (s0))",
             "(sensitivitycategory s0 (c0))",
             "(level low (s0))", "(levelrange range (low low))", "(userlevel u low)", "(userrange u range)",
             "(sidcontext kernel (u r t range))"]
    types = count // 10
    lines += [f"(type t{i})\n(roletype r t{i})" for i in range(types)]
    # Each pair of types once: rules that say the same are merged.
    lines += [f"(allow t{i % types} t{(i + i // types) % types} (file (read)))" for i in range(count)]
    path = inputs.write(os.path.join(place, f"rules-{count}.cil"), lines)
    return ["secilc", "-o", os.path.join(place, "cil.out"), "-f", os.path.join(place, "cil.contexts"), path]


def apparmor_call(place, name, paths):
    lines = ["profile bench {"] + [f"  {path} r," for path in paths] + ["}"]
    return ["apparmor_parser", "-Q", "-K", "-S", inputs.write(os.path.join(place, name), lines)]


def apparmor_paths(place, count):
    paths = (f"/home/user/p{i % 1000}/a/b/f{i}" for i in range(count))
    return apparmor_call(place, f"profile-{count}", paths)


def apparmor_patterns(place, count):
    paths = (f"/srv/**/a{i % 97}/**/b{i}/**/c{i % 13}" for i in range(count))
    return apparmor_call(place, f"patterns-{count}", paths)


def sbxc(build, policy, place):
    return [os.path.join(build, "sbxc"), policy, "-o", os.path.join(place, "out.bin")]


def failure(command, **how):
    """Why `command` cannot be measured here; None where it can. It runs once for that."""
    tried = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE, start_new_session=True, **how)
    try:
        errors = tried.communicate(timeout=SECONDS)[1]
    except subprocess.TimeoutExpired:
        os.killpg(tried.pid, signal.SIGKILL)  # apparmor_parser works in children
        tried.communicate()
        return f"not done within {SECONDS} s"
    if tried.returncode == 0:
        return None
    lines = [line for line in errors.decode(errors="replace").splitlines() if "rror" in line]
    return ": ".join([f"exit {tried.returncode}"] + lines[:1])


def compare(table, build, place, tool, what, make, own, counts):
    """`tool` and sbxc in turn with as many rules, and how the cost of each grows up to the largest count that
    the tool can do."""
    if shutil.which(tool) is None:
        table.skip(f"skipped: {tool} is not installed")
        return
    costs = []
    for count in counts:
        call, ours = make(place, count), sbxc(build, own(place, count), place)
        why = failure(call)
        if why is not None:
            table.skip(f"{tool}, {count:,} {what}: {why}")
            continue
        other, mine = cold(build, ROUNDS.get(count, 15), call, ours)
        table.say(f"{tool}, {count:,} {what}, CPU", other.cpu, "ms")
        table.say("  sbxc with as many, CPU", mine.cpu, "ms")
        table.say(f"  {tool} / sbxc", other.cpu / mine.cpu, "x")
        table.say(f"  {tool}, resident", other.resident, "MB")
        table.say("  sbxc, resident", mine.resident, "MB")
        costs.append((count, other, mine))
    if len(costs) > 1 and costs[-1][0] >= 10 * costs[-2][0]:
        (few, *small), (many, *large) = costs[-2:]
        for name, before, after in zip((tool, "sbxc"), small, large):
            growth = exponent(before.cpu, after.cpu, many / few)
            table.say(f"  {name}: growth exponent, CPU, {few:,} to {many:,}", growth, "")


def ordinary_account():
    """Who starts programs under the launchers: the caller; for root the first account of a person."""
    if os.geteuid() != 0:
        return pwd.getpwuid(os.geteuid())
    people = (account for account in pwd.getpwall() if 1000 <= account.pw_uid < 60000)
    return next((account for account in people if os.path.isdir(account.pw_dir)), None)


def launchers(table, build, place):
    table.title("A static program that does nothing, under other launchers, as an ordinary user")
    account = ordinary_account()
    if account is None:
        table.skip("launchers skipped: this machine has no ordinary account")
        return
    world = World(build, place, account)
    os.chmod(place, 0o755)
    how = world.how()
    command = os.path.join(world.programs, "bench/empty")
    calls = {
        "the program itself": [command],
        "sbx-launch, `grant write $WORK`": [world.launcher, "-q", world.policy(0), "--", command],
        "sbx-launch, `use std/dev`": [world.launcher, "-q", world.policy(0, "use std/dev"), "--", command],
        "bwrap, the call that sbx-launch makes": ["bwrap", *world.words(world.policy(0), command), "--", command],
        "firejail": ["firejail", "--quiet", command],
        "firejail --noprofile": ["firejail", "--quiet", "--noprofile", command],
        "srt": ["srt", command],
        "codex sandbox": ["codex", "sandbox", "--", command],
    }
    able = {}
    for name, call in calls.items():
        if shutil.which(call[0]) is None:
            table.skip(f"skipped: {name}: {call[0]} is not installed")
            continue
        why = failure(world.become + call, **how)
        if why is None:
            able[name] = call
        else:
            table.skip(f"skipped: {name}: {why}")
    costs = cold(world.programs, LAUNCHES, *able.values(), become=world.become, **how)
    for name, cost in zip(able, costs):
        table.say(f"{name}, wall", cost.wall, "ms")
        table.say("  CPU", cost.cpu, "ms")


def compilers(table, build, place):
    table.title("Other compilers of rules, with the same number of rules")
    compare(table, build, place, "nft", "addresses in a set", nft_set, inputs.plain, COUNTS)
    compare(table, build, place, "secilc", "allow rules", secilc_rules, inputs.plain, COUNTS)
    compare(table, build, place, "apparmor_parser", "paths", apparmor_paths, inputs.plain, COUNTS)
    compare(table, build, place, "apparmor_parser", "patterns with three **", apparmor_patterns, inputs.nested,
            PATTERNS)
