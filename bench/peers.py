"""The same number of rules in other tools that compile rules; a static command in other launchers. A tool that
is not installed is left out with a line that says so.
"""
import os
import shutil

import inputs
from cold import cold

RULES = 10_000


def nft_set(place):
    elements = ",\n".join(f"10.{i >> 16 & 255}.{i >> 8 & 255}.{i & 255}" for i in range(RULES))
    text = "table inet t {\n set s {\n type ipv4_addr\n elements = {\n" + elements + "\n}\n}\n}"
    path = inputs.write(os.path.join(place, "set.nft"), [text])
    return ["nft", "-c", "-f", path]


def secilc_rules(place):
    lines = ["(class file (read write))", "(classorder (file))", "(sid kernel)", "(sidorder (kernel))",
             "(user u)", "(role r)", "(type t)", "(roletype r t)", "(userrole u r)", "(category c0)",
             "(categoryorder (c0))", "(sensitivity s0)", "(sensitivityorder (s0))",
             "(sensitivitycategory s0 (c0))",
             "(level low (s0))", "(levelrange range (low low))", "(userlevel u low)", "(userrange u range)",
             "(sidcontext kernel (u r t range))"]
    types = RULES // 10
    lines += [f"(type t{i})\n(roletype r t{i})" for i in range(types)]
    lines += [f"(allow t{i % types} t{i * 7 % types} (file (read)))" for i in range(RULES)]
    path = inputs.write(os.path.join(place, "rules.cil"), lines)
    return ["secilc", "-o", os.path.join(place, "cil.out"), "-f", os.path.join(place, "cil.contexts"), path]


def apparmor_profile(place):
    lines = ["profile bench {"] + [f"  /home/user/p{i % 1000}/a/b/f{i} r," for i in range(1000)] + ["}"]
    path = inputs.write(os.path.join(place, "profile"), lines)
    return ["apparmor_parser", "-Q", "-K", "-S", path]


def peers(table, build, place):
    table.title("Other tools")
    sbxc = [os.path.join(build, "sbxc"), inputs.plain(place, RULES), "-o", os.path.join(place, "out.bin")]
    few = [os.path.join(build, "sbxc"), inputs.plain(place, 1000), "-o", os.path.join(place, "few.bin")]
    empty = os.path.join(build, "bench/empty")
    pairs = (
        ("nft", "10,000 addresses in a set", nft_set, sbxc),
        ("secilc", "10,000 allow rules", secilc_rules, sbxc),
        ("apparmor_parser", "1,000 paths", apparmor_profile, few),
    )
    for tool, what, make, own in pairs:
        if shutil.which(tool) is None:
            table.skip(f"skipped: {tool} is not installed")
            continue
        other, ours = cold(build, 7, make(place), own)
        table.say(f"{tool}, {what}, CPU", other.cpu, "ms")
        table.say("sbxc with as many paths, CPU", ours.cpu, "ms")
    if shutil.which("firejail") is None:
        table.skip("skipped: firejail is not installed")
    else:
        other, = cold(build, 15, ["firejail", "--quiet", "--noprofile", empty])
        table.say("firejail --noprofile, a static program, wall", other.wall, "ms")
