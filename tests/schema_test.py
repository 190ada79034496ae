#!/usr/bin/python3
"""schema_test.py - what sbxc prints as JSON is valid against schema/: every example, every kind of rule."""
import glob
import json
import os
import subprocess
import sys
import tempfile

import jsonschema

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SBXC = os.path.join(os.environ["SBX_BUILD"], "sbxc")

EVERYTHING = r"""sbx 1
policy "everything"
use std/dev
grant write $WORK
deny $WORK/**/*.pem except $WORK/tests/*, $WORK/ok
deny "$WORK/a\xff\\b"
deny write $WORK/.github/
deny exec /usr/bin/sudo
grant network host *.example.com, host example.org
grant network address 10.0.0.0/8 port 80-90, 443 tcp
grant network address fd00::/8
deny network lan
grant listen loopback port 3000
grant socket /run/x.sock
deny socket /run/*.sock
grant env CI, NODE_*
deny env *_TOKEN
set env A = "1"
deny service docker
deny syscall chmod
grant syscall ptrace
limit processes to 5
limit memory to 4GiB
accept net.host on bwrap because "a firewall of its own"
expect deny read $WORK/a.pem
"""
MANAGED = """sbx 1
managed "corp"
limit write to $WORK
limit network to nothing
limit env to PATH, HOME
limit service to nothing
limit time to 5m
deny ~/.ssh
"""
QUESTIONS = """read\t$WORK/x
write\t/etc/passwd
exec\t/usr/bin/sudo
connect\texample.com:443
connect\tother.example:443
connect\t10.0.0.1:80
connect\t[fd00::1]:53/udp
listen\t127.0.0.1:3000
socket\t/run/x.sock
env\tPATH
service\tdocker
service\tno-such-service
read\trelative
nothing\tx
"""


def validator(name):
    with open(os.path.join(ROOT, "schema", name + ".schema.json")) as file:
        schema = json.load(file)
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def run(arguments, questions=None):
    return subprocess.run([SBXC, *arguments], input=questions, capture_output=True, text=True)


class Totals:
    def __init__(self):
        self.passed = self.failed = 0

    def judge(self, what, problems):
        if not problems:
            self.passed += 1
            return
        self.failed += 1
        print(f"FAIL {what}: " + "; ".join(problems))

    def document(self, what, schema, result):
        if result.returncode != 0:
            self.judge(what, [result.stderr.strip() or f"exit {result.returncode}"])
            return
        errors = schema.iter_errors(json.loads(result.stdout))
        self.judge(what, [f"{error.json_path}: {error.message[:200]}" for error in errors])


def main():
    policy, show, why = (validator(f"sbx-{name}") for name in ("policy", "show", "why"))
    totals = Totals()
    with tempfile.TemporaryDirectory() as folder:
        everything, managed = os.path.join(folder, "everything.sbx"), os.path.join(folder, "managed.sbx")
        for path, text in ((everything, EVERYTHING), (managed, MANAGED)):
            with open(path, "w") as file:
                file.write(text)
        files = [(everything, ()), (everything, ("--managed", managed))]
        files += [(path, ()) for path in sorted(glob.glob(os.path.join(ROOT, "examples/*/project.sbx")))]
        for path, options in files:
            for system in ("linux", "macos", "windows"):
                where = ("--pure", "--os", system, *options)
                name = f"{os.path.basename(path)} {' '.join(where[2:3] + options[:1])}"
                totals.document(f"json of {name}", policy, run([path, "-t", "json", "-o", "-", *where]))
                totals.document(f"show of {name}", show, run(["show", path, "--json", *where]))
        verify, artifact = validator("sbx-verify"), os.path.join(folder, "everything.json")
        run([everything, "-t", "json", "-o", artifact, "--pure", "--managed", managed])
        equal = run(["verify", artifact, everything, "--json", "--pure", "--managed", managed])
        totals.document("verify of equal ones", verify, equal)
        different = json.loads(run(["verify", artifact, everything, "--json", "--pure"]).stdout)
        problems = [error.message[:200] for error in verify.iter_errors(different)]
        totals.judge("verify of different ones", problems or ([] if not different["equal"] else ["they are equal"]))
        answers = run(["why", everything, "--batch", "--pure"], QUESTIONS).stdout.splitlines()
        totals.judge("as many answers as questions", [] if len(answers) == QUESTIONS.count("\n") else answers)
        for line in answers:
            totals.judge(f"why: {line}", [error.message[:200] for error in why.iter_errors(json.loads(line))])
        wrong = json.loads(run([everything, "-t", "json", "-o", "-", "--pure"]).stdout)
        wrong["unexpected"] = 1
        totals.judge("an unknown member is an error", [] if list(policy.iter_errors(wrong)) else ["it is not"])
    print(f"{totals.passed} passed, {totals.failed} failed")
    sys.exit(1 if totals.failed else 0)


main()
