"""The access check and the texts of descriptors by which specifications are judged are those of Wine, where Wine's are those of
Windows (oracle.c)."""
import os

from lib import Suite, contains, equal

SUITE = Suite()
DESCRIPTORS, SEED = 50000, 20261130


@SUITE.test
def random_descriptors_open_what_they_open_in_wine_and_have_its_text(world):
    result = world.run(os.path.join(world.build, "windows", "oracle.exe"), str(DESCRIPTORS), str(SEED))
    equal(result.code, 0, result.out.decode())
    contains(result.out.decode(), "0 failed")
