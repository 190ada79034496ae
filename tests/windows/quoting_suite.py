"""A command's words reach it as they were given, whoever takes the line apart."""
import random

from lib import Suite, contains, equal, specification

SUITE = Suite()
PLAIN = specification()
HOSTILE = ["", " ", "\t", '"', "\\", "\\\\", '\\"', '\\\\"', "a\\", "a b\\", 'a\\\\"b c', '"a" "b"', "*", "?", "*.exe", "%PATH%", "^&|<>",
           "'a b'", "a\nb", "a=b;c,d", "!x!", "\\\\server\\share\\", "C:\\", "ü", "日本", "😀", "-", "--", "/?", "$(x)", "`x`", "~"]


@SUITE.test
def hostile_words_arrive_as_they_are(world):
    result = world.launch(PLAIN, ".\\subject.exe", "words", *HOSTILE)
    equal(result.code, 0, result.err)
    equal(result.answers(), HOSTILE, "words")


@SUITE.test
def random_words_arrive_as_they_are(world):
    source = random.Random(6)
    words = ["".join(source.choice('\\\\\\""  \tab*') for _ in range(source.randrange(9))) for _ in range(300)]
    result = world.launch(PLAIN, ".\\subject.exe", "words", *words)
    equal(result.code, 0, result.err)
    equal(result.answers(), words, "words")


@SUITE.test
def a_batch_file_runs_with_plain_words_and_its_own_code(world):
    world.write("x.cmd", "@echo off\r\necho [%~1][%~2][%3]\r\nexit /b 7\r\n")
    result = world.launch(PLAIN, "x", "run", "--level=1", "a b", options=["--chdir", world.windows()])
    equal(result.code, 127, "a batch file of the current directory, which no PATH names: " + result.err)
    result = world.launch(PLAIN, ".\\x", "run", "--level=1", "a b")
    equal((result.code, result.out), (7, b'[run][--level=1]["a b"]\r\n'), result.err)


@SUITE.test
def a_batch_file_gets_no_word_that_could_be_more(world):
    world.write("x.bat", "@echo ran\r\n")
    for word in ('"&echo more', "%PATH%", "a&b", "a|b", "a>made", "a^b", "!a!", "(a", "a\nb", "ü"):
        for name in (".\\x.bat", ".\\X.BaT", ".\\x", "x.bat. .", world.windows("x.bat")):
            if name.startswith("x"):
                name = ".\\" + name
            result = world.launch(PLAIN, name, "fine", word)
            equal((result.code, result.out), (126, b""), f"{name} {word!r}: {result.err}")
        contains(result.err, "a batch file could take the word")
    equal(world.exists("made"), False)
