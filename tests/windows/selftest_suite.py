"""The self-test claims nothing under Wine, and leaves nothing behind."""
import os

from lib import Suite, contains, equal

SUITE = Suite()


def selftest(world, *words, program="sbx-selftest.exe"):
    return world.run(os.path.join(world.build, "windows", program), *words)


@SUITE.test
def under_wine_nothing_is_measured(world):
    before = sorted(os.listdir(world.temporary))
    result = selftest(world)
    equal(result.code, 0, result.err)
    contains(result.out.decode(), "This is Wine, which enforces none of it: nothing was measured.")
    equal(result.out.count(b"measured  "), 0, result.out.decode())
    equal(sorted(os.listdir(world.temporary)), before)


@SUITE.test
def what_is_made_to_measure_is_removed(world):
    """The build for tests goes on where nothing is enforced, and what it says means nothing."""
    before = sorted(os.listdir(world.temporary))
    result = selftest(world, program="sbx-selftest-test.exe")
    equal(result.code, 0, result.err)
    text = result.out.decode()
    for line in ("measured      restricted     creating without a grant: allowed", 'restricted-low starting cmd: it says "started"',
                 "not available restricted     connecting to another machine: name one with --network ADDRESS:PORT"):
        contains(text, line)
    equal(sorted(os.listdir(world.temporary)), before)


@SUITE.test
def a_wrong_call_is_answered_with_the_usage(world):
    result = selftest(world, "--all")
    equal(result.code, 2)
    contains(result.err, "sbx-selftest [--network ADDRESS:PORT]")
