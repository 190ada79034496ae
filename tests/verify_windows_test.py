#!/usr/bin/python3
"""verify_windows_test.py - a specification for Windows that says what its policy says is equal; each kind of edit by hand is
named by a witness."""
from verify_lib import run

WINDOWS = """sbx 1
policy "windows"
grant read ~/tools, D:/data
grant write $WORK
grant read $WORK/vendor
grant write $WORK/vendor/patches
auto grant write $CACHE/tool
deny $WORK/.env, $WORK/secrets/, $WORK/deep/er/key, D:/data/hidden
deny $WORK/**/*.pem except $WORK/tests/fixtures
deny $WORK/café
deny write $WORK/.github/workflows
deny exec $WORK/bin/tool.exe
grant network internet
grant env CI, NODE_*
deny env *_TOKEN
set env NODE_ENV = "development"
grant scratch
limit processes to 512
limit memory to 1GiB
limit time to 5m
"""
# With the accepts, Windows' weaker tiers: the first has a label for what is denied.
LOW = """sbx 1
policy "low"
grant write $WORK
deny ~/.ssh, ~/**/*.key
deny write C:/projects/shared
grant env CI
accept fs.closed on windows because "a test"
accept net.closed on windows because "a test"
"""
RESTRICTED = LOW.replace("deny ~/.ssh, ~/**/*.key\ndeny write C:/projects/shared\n", "") + """\
accept fs.write on windows because "a test"
accept process.tree on windows because "a test"
accept ipc.signal on windows because "a test"
"""


class Specification:
    """An artifact for Windows as made, and what verify says of it once it is edited."""

    def __init__(self, suite, name, policy):
        self.suite, self.name = suite, name
        suite.write(f"{name}.sbx", policy)
        suite.make(f"{name}.xml", f"{name}.sbx", "--pure")
        suite.equal(f"a specification ({name}) as made is equal", f"{name}.xml", f"{name}.sbx", "--pure")
        self.text = suite.read(f"{name}.xml").decode()

    def change(self, name, old, new):
        self.suite.expect(f"{name}: what is edited stands there once", self.text.count(old) == 1, self.text.count(old))
        self.suite.write("edited.xml", self.text.replace(old, new))

    def edited(self, name, old, new, question, policy="deny", found="allow", line=None):
        self.change(name, old, new)
        hit = self.suite.different(name, "edited.xml", question, policy, found, f"{self.name}.sbx", "--pure")
        if hit is not None and line is not None:
            text = self.suite.read("edited.xml").decode().splitlines()[hit["line"] - 1]
            self.suite.expect(f"{name}: the line", line in text, text)

    def unreadable(self, name, old, new, words):
        self.change(name, old, new)
        result, _ = self.suite.verify("edited.xml", f"{self.name}.sbx", "--pure")
        self.suite.expect(f"{name} is not read", result.returncode == 2 and words in result.stderr.decode(),
                          result.stderr.decode())

    def objects(self, path):
        """An object whole, its first line, and its entries."""
        start = self.text.index(f'    <object path="{path}"')
        end = self.text.index("</object>\n", start) + len("</object>\n")
        whole = self.text[start:end]
        first, rest = whole.split("\n", 1)
        return whole, first + "\n", rest


def check_specification(suite):
    made = Specification(suite, "windows", WINDOWS)
    allow = '      <ace type="allow" sid="package" mask="0x%s" inherit="true"/>\n'
    deny = '      <ace type="deny" sid="package" mask="0x%s" inherit="true"/>\n'
    pin = '      <ace type="deny" sid="package" mask="0x10000"/>\n'

    def drop(path):
        return made.objects(path)[0], ""

    def within(path, old, new):
        whole, first, rest = made.objects(path)
        return whole, first + rest.replace(old, new)

    tools, data, work = "$HOME\\tools", "D:\\data", "$WORK"
    made.edited("a wider mask", *within(tools, deny % "d0156" + allow % "1200a9", allow % "1301bf"),
                "write $HOME/tools/below", line=tools)
    made.edited("a narrower mask", *within(work, "1301bf", "1200a9"), "write $WORK/below", "allow", "deny")
    made.edited("a grant that is gone", *drop(data), "read D:/data", "allow", "deny")
    made.edited("a grant of a place above", f'path="{tools}"', 'path="$HOME\\all"', "read $HOME/all", line="all")
    made.edited("a deny that is gone", *drop("$WORK\\.env"), "read $WORK/.env", line='path="$WORK"')
    made.edited("a deny that leaves reading", *within("$WORK\\secrets", deny % "1f01ff", deny % "d0156"),
                "read $WORK/secrets/below", line='path="$WORK"')
    made.edited("a deny of a grant's part", *drop("D:\\data\\hidden"), "read D:/data/hidden", line=data)
    made.edited("a deny of another place", 'path="$WORK\\.env"', 'path="$WORK\\.enw"', "read $WORK/.env")
    made.edited("a deny for writing that is gone", *drop("$WORK\\.github\\workflows"), "write $WORK/.github/workflows/below")
    made.edited("one form of Unicode alone", *drop("$WORK\\cafe\u0301"), "read $WORK/cafe\u0301")
    made.edited("a pin that is gone", *drop("$WORK\\deep"), "rename $WORK/deep")
    made.edited("another pin that is gone", *drop("$WORK\\deep\\er"), "rename $WORK/deep/er")
    made.edited("the pin of a root", *within("$WORK\\vendor\\patches", pin, ""), "rename $WORK/vendor/patches")
    made.edited("a level that is higher", *within("$WORK\\vendor", deny % "d0156", ""), "write $WORK/vendor/below")
    made.edited("execution", *drop("$WORK\\bin\\tool.exe"), "exec $WORK/bin/tool.exe")
    made.edited("another pattern", "*.pem\"", "*.pen\"", "read $WORK/run.pem")
    made.edited("a wider exception", "$WORK\\tests\\fixtures", "$WORK\\tests", "read $WORK/tests/run.pem")
    made.edited("one more capability", '"internetClient"/>', '"internetClient"/><capability name="privateNetworkClientServer"/>',
                "connect 10.0.0.1:443")
    made.edited("a capability of servers", '"internetClient"/>', '"internetClient"/><capability name="internetClientServer"/>',
                "listen 8.8.8.8:443")
    made.edited("no capability", '    <capability name="internetClient"/>\n', "", "connect 8.8.8.8:443", "allow", "deny")
    made.edited("one more variable", '<keep name="CI"/>', '<keep name="CI"/><keep name="CIRCLE"/>', "env CIRCLE")
    made.edited("a variable that passes again", '<drop name="*_TOKEN"/>', '<drop name="X_TOKEN"/>', "env NODE_RUN_TOKEN")
    made.edited("another value", '"development"', '"production"', "set env NODE_ENV", '"development"', '"production"')
    made.edited("one more process", '"512"', '"513"', "limit processes", "512", "513")
    made.edited("no limit of memory", ' memory="1073741824"', "", "limit memory", "1073741824", "none")
    made.edited("more time", '"300000"', '"600000"', "limit time", "300", "600")
    made.edited("no scratch directory", "  <scratch/>\n", "", "scratch", "allow", "deny")
    require = '    <require path="$CACHE\\tool" not-below="$HOME\\tools"/>\n'
    made.edited("a condition that is gone", require, "", "conditions on how roots lie in each other", "complete",
                "nothing keeps $CACHE\\\\tool out of $HOME\\\\tools")
    made.unreadable("a mask that nobody writes", *within(data, "0x1200a9", "0x1f01ff"), "mask")
    made.unreadable("another principal", *within(data, allow % "1200a9", allow.replace("package", "everyone") % "1200a9"), "sid")
    made.unreadable("another tier", 'tier="appcontainer" ', 'tier="restricted" ', "line ")
    made.unreadable("a job that can be left", 'breakaway="false"', 'breakaway="true"', "breakaway")
    made.unreadable("a grant of a profile", f'path="{tools}"', 'path="$HOME"', "$HOME")
    made.unreadable("an entity", "<sbx-windows", "<!DOCTYPE x><sbx-windows", "document type")


def check_tiers(suite):
    low = Specification(suite, "low", LOW)
    label, secret = '      <label level="medium" policy="nw nr nx"/>\n', "$HOME\\.ssh"
    whole, first, rest = low.objects(secret)
    low.edited("a secret without its label", whole, first + rest.replace(label, ""), "read $HOME/.ssh/below")
    low.edited("a label that leaves reading", whole, first + rest.replace("nw nr nx", "nw"), "read $HOME/.ssh")
    low.edited("a secret of another name", first, first.replace(secret, "$HOME\\.ssi"), "read $HOME/.ssh")
    low.edited("a label of low integrity", whole, first + rest.replace(label, '      <label level="low" policy="nw"/>\n'),
               "read $HOME/.ssh")
    low.edited("other matches", '<match pattern="$HOME\\**\\*.key"', '<match pattern="$HOME\\**\\*.kez"', "read $HOME/run.key")
    work, first, rest = low.objects("$WORK")
    low.edited("a grant without its label", work, first + rest.replace('      <label level="low" policy="nw"/>\n', ""),
               "write $WORK/below", "allow", "deny")
    low.edited("another reason", '<accepted name="fs.closed">a test<', '<accepted name="fs.closed">no test<', "exception fs.closed",
               "a test", "no test")
    low.edited("one more exception", '<accepted name="fs.closed">', '<accepted name="fs.write">', "exception fs.write",
               "not accepted", "a test")
    plain = Specification(suite, "restricted", RESTRICTED)
    whole, first, rest = plain.objects("$WORK")
    plain.edited("a grant elsewhere", first, first.replace("$WORK", "$HOME\\src", 1), "write $HOME/src/below")


run(check_specification, check_tiers)
