#!/usr/bin/env python3
"""Runs tests/cases/*.case against sbxc. README.md beside this file describes the format.

    tests/cases/run.py [--build DIR] [-v] [CASE ...]

The build directory comes from --build, else from SBX_BUILD, else it is the tree's build/.
"""

import argparse
import concurrent.futures
import glob
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
OPERATIONS = {"read", "write", "exec", "connect", "listen", "socket", "env", "service"}
DECISIONS = {"allow", "deny", "depends", "error"}
LEVELS = {"none", "read", "write"}
# Behaviours of other sandboxes on macOS, numbered in the lists that sbx was checked against: each has a case that asks
# a profile. What a row expects and sbx means otherwise stands in docs/comparison.md.
MACOS_ROWS = {"srt": {*range(1, 13), 14, *range(16, 22), *range(23, 28), *range(29, 33), 34, 35, 38, 39, 43, 45, 49, 52,
                      56},
              "codex": {33, 47, 48, 49}}
SEVERITIES = {"error", "warning", "note"}
DIAGNOSTIC = re.compile(rb"^(?:(.+?):(?:(\d+):(\d+):)? )?(error|warning|note)\[(SBX\d+)\]: (.*)$")
CARET = re.compile(rb"^ *\| *(\^~*)")


class Malformed(Exception):
    """The case itself is wrong."""


class Case:
    def __init__(self, path):
        self.name = os.path.basename(path)
        self.options, self.texts, self.managed, replacements = [], {"policy.sbx": b""}, [], []
        self.parameters = []
        with open(path, "rb") as file:
            lines = file.read().split(b"\n")
        if lines[-1] == b"":
            lines.pop()
        if not lines[0].startswith(b"# tests/cases/" + self.name.encode()):
            raise Malformed("the first line must name the file: # tests/cases/" + self.name)
        while lines and lines[0].startswith(b"#"):
            self.directive(lines.pop(0), replacements)
        if b"---" not in lines:
            raise Malformed("no line --- between texts and expectations")
        end = lines.index(b"---")
        self.read_texts(lines[:end], replacements)
        self.expectations = [line.decode() for line in lines[end + 1:]
                             if line.strip() and not line.startswith(b"#")]
        if not self.expectations:
            raise Malformed("nothing is expected")

    def directive(self, line, replacements):
        if not line.startswith(b"#:"):
            return
        words = shlex.split(line[2:].decode())
        if words[0] == "options":
            self.options += words[1:]
        elif words[0] == "parameters":
            self.parameters += words[1:]
        elif words[0] == "bytes":
            replacements.append((words[1].encode(), bytes.fromhex("".join(words[2:]))))
        elif words[0] == "repeat":
            replacements.append((words[1].encode(), words[3].encode() * int(words[2])))
        else:
            raise Malformed("unknown directive " + words[0])

    def read_texts(self, lines, replacements):
        name, texts = "policy.sbx", {"policy.sbx": []}
        for line in lines:
            if line.startswith(b"=== "):
                kind, name = line[4:].decode().split()
                if kind not in ("managed", "file"):
                    raise Malformed("=== managed NAME or === file NAME")
                if kind == "managed":
                    self.managed.append(name)
                texts[name] = []
            else:
                texts[name].append(line)
        for name, held in texts.items():
            text = b"\n".join(held) + b"\n"
            for mark, replacement in replacements:
                text = text.replace(mark, replacement)
            self.texts[name] = text

    def arguments(self):
        result = ["--pure"] + self.options
        for name in self.managed:
            result += ["--managed", name]
        return result


def words_of(line):
    """A line's words; a quoted one may hold \\xHH, \\" and \\\\ and comes out as bytes."""
    result = []
    for quoted, bare in re.findall(r'"((?:[^"\\]|\\.)*)"|(\S+)', line):
        if bare:
            result.append(bare.rstrip(",") if len(bare) > 1 else bare)
        else:
            result.append(unescape(quoted))
    return result


def unescape(text):
    def one(match):
        return bytes.fromhex(match[1].decode()) if match[1] else match[2]
    return re.sub(rb"\\x([0-9a-fA-F]{2})|\\(.)", one, text.encode())


def text(word):
    return word.decode() if isinstance(word, bytes) else word


class Run:
    """One case, in a directory of its own."""

    def __init__(self, case, build, directory):
        self.case, self.directory, self.failures = case, directory, []
        self.asker = os.path.join(build, "tests/cases/ask")
        self.environment = dict(os.environ, PATH=build + os.pathsep + os.environ["PATH"],
                                OPTIONS=shlex.join(case.arguments()), LC_ALL="C.UTF-8")
        self.last = None  # the last `run`
        for name, content in case.texts.items():
            place = os.path.join(directory, name)
            os.makedirs(os.path.dirname(place), exist_ok=True)
            with open(place, "wb") as file:
                file.write(content)

    def fail(self, line, actual):
        self.failures.append("%s\n      actual: %s" % (line.strip(), actual))

    def sbxc(self, *arguments, stdin=b""):
        return subprocess.run(["sbxc", *arguments], input=stdin, cwd=self.directory, env=self.environment,
                              capture_output=True, timeout=60)

    def all(self):
        questions, diagnostics, asked_of_profile = [], [], []
        for line in self.case.expectations:
            words = words_of(line)
            if words[0] in OPERATIONS:
                questions.append((line, words))
            elif words[0] in SEVERITIES or words[0] in ("ok", "exit"):
                diagnostics.append((line, words))
            elif words[0] == "profile":
                asked_of_profile.append((line, words))
            elif words[0] == "run":
                self.run(line)
            elif words[0] in ("prints", "says"):
                self.output(line, words)
            elif words[0] == "json":
                self.json(line, words)
            else:
                raise Malformed("unknown expectation: " + line)
        if questions:
            self.ask(questions)
        if diagnostics:
            self.compile(diagnostics)
        if asked_of_profile:
            self.ask_profile(asked_of_profile)
        return self.failures

    # Questions ----------------------------------------------------------------------------------------------

    def ask(self, questions):
        lines = b"".join(b"%s\t%s\n" % (words[0].encode(), words[1] if isinstance(words[1], bytes)
                                        else words[1].encode()) for _, words in questions)
        done = self.sbxc("why", "policy.sbx", "--batch", *self.case.arguments(), stdin=lines)
        answers = [json.loads(line) for line in done.stdout.splitlines()] if done.returncode == 0 else []
        if len(answers) != len(questions):
            self.fail("why --batch", "exit %d, %d answers to %d questions: %s" % (
                done.returncode, len(answers), len(questions), done.stderr.decode(errors="replace")))
            return
        for (line, words), answer in zip(questions, answers):
            self.check_answer(line, words, answer)

    def check_answer(self, line, words, answer):
        if words[2] not in DECISIONS:
            raise Malformed("allow, deny, depends or error: " + line)
        decision = "error" if "error" in answer else answer["decision"]
        level, rest = None, words[3:]
        if rest and rest[0] in LEVELS:
            level, rest = rest[0], rest[1:]
        shown = json.dumps(answer, ensure_ascii=False)
        if decision != words[2] or (level is not None and answer.get("level") != level):
            self.fail(line, shown)
        elif rest and not self.because(rest, answer["because"]):
            self.fail(line, shown)

    def because(self, words, reasons):
        """because REASON [and REASON ...]; the first is the deciding one, the others stand in any order."""
        if words[0] != "because":
            raise Malformed("because: " + " ".join(map(text, words)))
        wanted, group = [], []
        for word in words[1:] + ["and"]:
            if word == "and":
                wanted.append(group)
                group = []
            else:
                group.append(word)
        return self.is_reason(wanted[0], reasons[0]) and \
            all(any(self.is_reason(each, reason) for reason in reasons) for each in wanted[1:])

    @staticmethod
    def is_reason(words, reason):
        if words == ["closed"]:
            return reason["effect"] == "closed by default"
        if isinstance(words[0], bytes):
            return reason.get("rule") == words[0].decode()
        if words[0] == "line":
            file, line = "policy.sbx", words[1]
        else:
            file, _, line = words[0].rpartition(":")
        return reason.get("line") == int(line) and (reason.get("file") or "").endswith(file)

    # Questions to a Seatbelt profile ------------------------------------------------------------------------

    def ask_profile(self, questions):
        """profile OPERATION WHAT allow|deny: of the policy's profile, read back."""
        made = self.sbxc("compile", "policy.sbx", "-t", "seatbelt", "-o", "policy.sb", *self.case.arguments())
        if made.returncode != 0:
            self.fail("-t seatbelt", "exit %d: %s" % (made.returncode, made.stderr.decode(errors="replace")))
            return
        asked = b"".join((word if isinstance(word, bytes) else word.encode()) + b"\0"
                         for _, words in questions for word in words[1:3])
        done = subprocess.run([self.asker, "policy.sb", *self.case.parameters], input=asked, cwd=self.directory,
                              capture_output=True, timeout=60)
        answers = done.stdout.decode().splitlines()
        if len(answers) != len(questions):
            self.fail("profile", "%d answers: %s" % (len(answers), done.stderr.decode(errors="replace")))
            return
        for (line, words), answer in zip(questions, answers):
            if words[3] not in ("allow", "deny"):
                raise Malformed("allow or deny: " + line)
            if answer.split()[0] != words[3]:
                self.fail(line, answer)

    # Diagnostics --------------------------------------------------------------------------------------------

    def compile(self, expected):
        done = self.sbxc("compile", "policy.sbx", "-t", "json", "-o", "compiled.json", *self.case.arguments())
        found = diagnostics_of(done.stderr)
        shown = "exit %d\n%s" % (done.returncode, done.stderr.decode(errors="replace"))
        errors = [each for each in found if each["severity"] == "error"]
        wanted = [words for _, words in expected if words[0] == "error"]
        exits = [int(words[1]) for _, words in expected if words[0] == "exit"] or [2 if wanted else 0]
        if done.returncode != exits[0]:
            self.fail("exit %d" % exits[0], shown)
        elif wanted and len(errors) != len(wanted):
            self.fail("%d errors" % len(wanted), shown)
        else:
            for line, words in expected:
                if words[0] in SEVERITIES and not any(is_diagnostic(words, each) for each in found):
                    self.fail(line, shown)

    # Commands -----------------------------------------------------------------------------------------------

    def run(self, line):
        _, status, command = line.split(None, 2)
        self.last = subprocess.run(["sh", "-c", command], cwd=self.directory, env=self.environment,
                                   stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
        if self.last.returncode != int(status):
            self.fail(line, "exit %d\n%s" % (self.last.returncode, self.last.stderr.decode(errors="replace")))

    def output(self, line, words):
        stream = self.last.stdout if words[0] == "prints" else self.last.stderr
        if words[1] == "nothing":
            good = stream == b""
        elif words[1] == "no":
            good = words[2] not in stream
        else:
            good = words[1] in stream
        if not good:
            self.fail(line, stream.decode(errors="replace"))

    def json(self, line, words):
        """json FILE MEMBER VALUE, where MEMBER is as in paths[0].level and # is a list's length."""
        with open(os.path.join(self.directory, text(words[1])), "rb") as file:
            value = json.load(file)
        expected = json.loads(line.split(None, 3)[3])
        try:
            for name, index in re.findall(r"([^.\[\]#]+)|\[(\d+)\]", text(words[2])):
                value = value[name] if name else value[int(index)]
            if text(words[2]).endswith("#"):
                value = len(value)
        except (KeyError, IndexError, TypeError) as error:
            value = repr(error)
        if value != expected:
            self.fail(line, json.dumps(value))


def diagnostics_of(output):
    found = []
    for line in output.split(b"\n"):
        match = DIAGNOSTIC.match(line)
        caret = CARET.match(line)
        if match:
            file, row, column, severity, code, message = match.groups()
            found.append({"file": (file or b"").decode(), "line": int(row or 0), "start": int(column or 0),
                          "end": 0, "severity": severity.decode(), "code": code.decode(), "text": message})
        elif caret and found and found[-1]["end"] == 0:
            found[-1]["end"] = found[-1]["start"] + len(caret[1])
        elif found:
            found[-1]["text"] += b"\n" + line
    return found


def is_diagnostic(words, found):
    """SEVERITY CODE [at [FILE:]LINE:START-END] [says "TEXT"]"""
    if words[0] != found["severity"] or words[1] != found["code"]:
        return False
    rest = words[2:]
    if rest and rest[0] == "at":
        match = re.fullmatch(r"(?:(.+):)?(\d+):(\d+)-(\d+)", rest[1])
        if not match:
            raise Malformed("at LINE:START-END: " + rest[1])
        file, place = match[1] or "policy.sbx", tuple(int(each) for each in match.groups()[1:])
        if not found["file"].endswith(file) or (found["line"], found["start"], found["end"]) != place:
            return False
        rest = rest[2:]
    if rest and rest[0] == "says":
        return rest[1] in found["text"]
    return True


def run_case(job):
    path, build = job
    try:
        with tempfile.TemporaryDirectory(prefix="sbx-case-") as directory:
            return Run(Case(path), build, directory).all()
    except (Malformed, OSError, ValueError, IndexError, KeyError, subprocess.TimeoutExpired) as error:
        return ["%s: %s" % (type(error).__name__, error)]


def missing_rows(paths):
    """The rows of macOS for which none of the cases asks a profile."""
    missing = {(peer, row) for peer, rows in MACOS_ROWS.items() for row in rows}
    for path in paths:
        with open(path, "rb") as file:
            first, _, rest = file.read().decode(errors="replace").partition("\n")
        if "\nprofile " in rest or " -t seatbelt " in rest:
            missing -= {(peer, int(row)) for peer, row in re.findall(r"\b(srt|codex) (\d+)\b", first)}
    return sorted("%s %d" % row for row in missing)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.environ.get("SBX_BUILD", os.path.join(HERE, "../../build")))
    parser.add_argument("-v", action="store_true", help="name the cases that pass, too")
    parser.add_argument("cases", nargs="*", metavar="CASE")
    options = parser.parse_args()
    build = os.path.abspath(options.build)
    if not os.access(os.path.join(build, "sbxc"), os.X_OK):
        print("there is no sbxc in %s\n0 passed, 1 failed" % build)
        return 1
    cases = options.cases or sorted(glob.glob(os.path.join(HERE, "*.case")))
    passed = failed = 0
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        for case, failures in zip(cases, pool.map(run_case, [(case, build) for case in cases], chunksize=4)):
            if failures:
                failed += 1
                print("FAIL %s" % os.path.relpath(case))
                for failure in failures:
                    print("    " + failure.replace("\n", "\n      "))
            else:
                passed += 1
                if options.v:
                    print("ok   %s" % os.path.relpath(case))
    for row in [] if options.cases else missing_rows(cases):
        failed += 1
        print("FAIL no case asks a profile about " + row)
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
