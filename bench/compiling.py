"""Compiling, small and large, and asking a compiled policy."""
import os
import subprocess

import inputs
from cold import cold
from table import exponent

THOUSAND, TEN_THOUSAND, HUNDRED_THOUSAND, MILLION = 1_000, 10_000, 100_000, 1_000_000


def compile_command(build, policy):
    """To standard output, for with -o FILE sbxc waits for the disk, which is not compiling."""
    return [os.path.join(build, "sbxc"), policy, "-t", "bin", "-o", "-"]


def counts(build, policy):
    """Of the program `stages`: {"rules": N, ...} and {stage: (CPU ms, arena bytes, resident kB)}."""
    command = [os.path.join(build, "bench/stages"), policy]
    made, stages = {}, {}
    for line in subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.decode().splitlines():
        name, *figures = line.split()
        if len(figures) == 1:
            made[name] = int(figures[0])
        else:
            stages[name] = (float(figures[0]), int(figures[1]), int(figures[2]))
    return made, stages


def small(table, build, place):
    table.title("A policy of 30 lines with `use std/dev`")
    policy = inputs.project(place)
    empty = [os.path.join(build, "bench/empty")]
    to_file = [os.path.join(build, "sbxc"), policy, "-o", os.path.join(place, "out.bin")]
    empty, compiled, synced = cold(build, 301, empty, compile_command(build, policy), to_file)
    made, stages = counts(build, policy)
    table.say("static empty program, wall", empty.wall, "ms")
    table.say("sbxc -o -, wall", compiled.wall, "ms", most=5)
    table.say("sbxc -o -, CPU", compiled.cpu, "ms")
    table.say("sbxc -o FILE, which waits for the disk, wall", synced.wall, "ms")
    table.say("sbxc -o - / static empty program, CPU", compiled.cpu / empty.cpu, "x", most=2.5)
    table.say("rules", made["rules"], "")
    table.say("arena bytes", sum(stage[1] for stage in stages.values()), "B")


def say_counts(table, name, made, stages):
    arena = sum(stage[1] for stage in stages.values())
    table.say(f"{name}: nodes a rule", made["nodes"] / made["rules"], "")
    table.say(f"{name}: bytes of .bin a rule", made["bytes"] / made["rules"], "B")
    table.say(f"{name}: arena bytes a rule", arena / made["rules"], "B")


def grow(table, build, name, make):
    """From 10,000 rules to a million. Returns the cost of a million."""
    few, many = make(TEN_THOUSAND), make(MILLION)
    small_cost, = cold(build, 11, compile_command(build, few))
    large_cost, = cold(build, 3, compile_command(build, many))
    factor = MILLION / TEN_THOUSAND
    table.say(f"{name}: 10,000 rules, CPU", small_cost.cpu, "ms")
    table.say(f"{name}: 1,000,000 rules, CPU", large_cost.cpu, "ms")
    table.say(f"{name}: 1,000,000 rules, resident", large_cost.resident, "MB")
    table.say(f"{name}: growth exponent, CPU", exponent(small_cost.cpu, large_cost.cpu, factor), "", most=1.1)
    table.say(f"{name}: growth exponent, resident",
              exponent(small_cost.resident, large_cost.resident, factor), "", most=1.1)
    return large_cost


def scale(table, build, place):
    table.title("Compiling many rules")
    policy = inputs.plain(place, HUNDRED_THOUSAND)
    cost, = cold(build, 7, compile_command(build, policy))
    table.say("100,000 plain paths, wall", cost.wall, "ms", most=250)
    table.say("100,000 plain paths, CPU", cost.cpu, "ms")
    table.say("100,000 plain paths, resident", cost.resident, "MB", most=60)
    made, stages = counts(build, policy)
    for name, (cpu, _, _) in stages.items():
        table.say(f"  of that {name}, CPU", cpu, "ms")
    say_counts(table, "100,000 plain paths", made, stages)
    large = grow(table, build, "16 used files", lambda count: inputs.spread(place, count, 16))
    table.say("16 used files: 1,000,000 rules, wall", large.wall, "ms", most=3000)
    grow(table, build, "three nested ** a rule", lambda count: inputs.nested(place, count))
    say_counts(table, "three nested ** a rule", *counts(build, inputs.nested(place, TEN_THOUSAND)))


def profile(table, build, name, make):
    """One sort of rules, 1,000 and 10,000 of them, as a profile that is written and read back."""
    options = ["--os", "macos", "--root", "WORK=/Users/u/w", "--pure", "-q"]
    figures = []
    for count in (THOUSAND, TEN_THOUSAND):
        policy = make(count)
        artifact = policy.replace(".sbx", ".sb")
        sbxc = os.path.join(build, "sbxc")
        subprocess.run([sbxc, policy, "-o", artifact, *options], check=True)
        written, verified = cold(build, 7, [sbxc, policy, "-t", "seatbelt", "-o", "-", *options],
                                 [sbxc, "verify", artifact, policy, *options])
        figures.append((written.cpu, verified.cpu, os.path.getsize(artifact)))
        table.say(f"{name}: {count:,} rules, written, CPU", written.cpu, "ms")
        table.say(f"{name}: {count:,} rules, verified, CPU", verified.cpu, "ms")
    factor = TEN_THOUSAND / THOUSAND
    table.say(f"{name}: 10,000 rules, both", figures[1][0] + figures[1][1], "ms", most=1000)
    for place, what in enumerate(("writing", "verifying", "bytes")):
        table.say(f"{name}: growth exponent, {what}", exponent(figures[0][place], figures[1][place], factor), "",
                  most=1.1)


def seatbelt(table, build, place):
    table.title("Seatbelt profiles of many rules")
    profile(table, build, "denies and grants", lambda count: inputs.levels(place, count))
    profile(table, build, "literal denies", lambda count: inputs.literals(place, count))


def check(table, build, place):
    table.title("sbx_check, 1,000 rules, 60-byte paths")
    for patterns, most in ((0, 200), (50, 2000)):
        policy, paths = inputs.checked(place, 1000, patterns)
        compiled = policy.replace(".sbx", ".bin")
        subprocess.run([os.path.join(build, "sbxc"), policy, "-o", compiled], check=True)
        command = [os.path.join(build, "bench/check"), compiled, paths]
        output = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.decode().split()
        name = f"{patterns} patterns" if patterns else "without patterns"
        table.say(name, float(output[0]), "ns", most=most)
