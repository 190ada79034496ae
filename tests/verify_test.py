#!/usr/bin/python3
"""verify_test.py - an artifact that says what its policy says is equal; each kind of edit by hand is named by a witness."""
import struct

from verify_lib import GIVEN, run

POLICY = """sbx 1
policy "verified"
grant read /usr, /opt/data
grant write $WORK
deny $WORK/.env, $WORK/secrets/
deny $WORK/**/*.pem except $WORK/tests/fixtures
deny write $WORK/.github/workflows
deny exec $WORK/vendor
grant network host packages.example.org port 443
grant network loopback port 3000-3010
deny network lan
grant env CI, NODE_*
deny env *_TOKEN
set env NODE_ENV = "development"
grant socket /run/agent.sock
grant syscall ptrace
deny syscall kill
limit processes to 512
"""
ACCEPTED = ["fs.deny.pattern", "fs.deny.missing", "net.host", "net.loopback", "net.address", "limit.processes",
            "socket.path", "exec.deny", "ipc.abstract"]


def words_of(data):
    return data.split(b"\0")[:-1]


def joined(words):
    return b"".join(word + b"\0" for word in words)


def place_of(words, option, path):
    """Where an option with this last value starts."""
    for at, word in enumerate(words):
        if word == option and path in words[at + 1:at + 3]:
            return at
    raise ValueError(f"{option} {path}")


def check_arguments(suite):
    suite.make("p.args")
    suite.equal("arguments as made are equal", "p.args")
    words = words_of(suite.read("p.args"))

    def edited(name, change, question, policy, found):
        copy = list(words)
        change(copy)
        suite.write("edited.args", joined(copy))
        suite.different(name, "edited.args", question, policy, found)

    def grant(copy):
        at = place_of(copy, b"--bind-try", b"/w/app")
        copy[at:at] = [b"--ro-bind-try", b"/root/keys", b"/root/keys"]

    def unmask(copy):
        at = place_of(copy, b"--ro-bind-data", b"/w/app/.env")
        del copy[at - 2:at + 3]

    def open_mode(copy):
        copy[place_of(copy, b"--tmpfs", b"/w/app/secrets") - 1] = b"0777"

    def make_writable(copy):
        copy[place_of(copy, b"--ro-bind-try", b"/usr")] = b"--bind-try"

    def reorder(copy):
        at = place_of(copy, b"--bind-try", b"/w/app")
        copy.extend(copy[at:at + 3])
        del copy[at:at + 3]

    def elsewhere(copy):
        copy[place_of(copy, b"--ro-bind-try", b"/usr") + 1] = b"/etc"

    edited("an added bind", grant, "read /root/keys", "deny", "allow")
    edited("a mask that is gone", unmask, "read /w/app/.env", "deny", "allow")
    edited("a mask that became writable", open_mode, "write /w/app/secrets/below", "deny",
           "an empty directory that can be written")
    edited("a read-only bind that became writable", make_writable, "write /usr/below", "deny", "allow")
    edited("binds in another order", reorder, "read /w/app/.env", "deny", "allow")
    edited("a bind of another place", elsewhere, "read /usr", "allow", "another place of the host")
    edited("a deny for writing that is gone",
           lambda copy: copy.__setitem__(place_of(copy, b"--ro-bind-try", b"/w/app/.github/workflows"), b"--bind-try"),
           "write /w/app/.github/workflows/below", "deny", "allow")
    edited("a directory that can be moved again",
           lambda copy: copy.__delitem__(slice(place_of(copy, b"--bind-try", b"/w/app/.github"),
                                               place_of(copy, b"--bind-try", b"/w/app/.github") + 3)),
           "rename /w/app/.github", "deny", "allow")
    edited("the host's network", lambda copy: copy.remove(b"--unshare-net"), "--unshare-net", "given", "not given")
    edited("capabilities", lambda copy: copy.__setitem__(slice(copy.index(b"--cap-drop"), copy.index(b"--cap-drop") + 2),
                                                         [b"--cap-add", b"CAP_SYS_ADMIN"]),
           "--cap-add CAP_SYS_ADMIN", "not given", "given")
    edited("another value", lambda copy: copy.__setitem__(copy.index(b"development"), b"production"),
           "variable NODE_ENV", '"development"', '"production"')
    edited("one more variable", lambda copy: copy.extend([b"--setenv", b"LD_PRELOAD", b"/x.so"]),
           "variable LD_PRELOAD", "not set", '"/x.so"')
    suite.write("edited.args", joined(words + [b"--what"]))
    suite.unreadable("an unknown option", "edited.args", "--what")
    suite.write("edited.args", joined(words)[:-1])
    suite.unreadable("a word without its end", "edited.args", "zero byte")


def check_filter(suite):
    for architecture in ("x86_64", "aarch64"):
        options = GIVEN + ["--arch", architecture]
        suite.make("p.bpf", "p.sbx", *options)
        suite.equal(f"a filter for {architecture} as made is equal", "p.bpf", "p.sbx", *options)
    suite.make("p.bpf")
    program = suite.read("p.bpf")
    records = [list(struct.unpack_from("<HBBI", program, at)) for at in range(0, len(program), 8)]

    def edited(name, change, question, policy, found):
        copy = [list(record) for record in records]
        change(copy)
        suite.write("edited.bpf", b"".join(struct.pack("<HBBI", *record) for record in copy))
        suite.different(name, "edited.bpf", question, policy, found)

    def refusal_of(copy, number):
        """The return behind the comparison with a call's number."""
        for at, (code, _, _, value) in enumerate(copy):
            if code == 0x15 and value == number and copy[at + 1][0] == 0x06:
                return at + 1
        raise ValueError(number)

    allow, refuse = 0x7fff0000, 0x00050001
    edited("a call that is open", lambda copy: copy[refusal_of(copy, 165)].__setitem__(3, allow), "syscall mount", "deny",
           "allow")
    edited("a deny of the policy that is gone", lambda copy: copy[refusal_of(copy, 62)].__setitem__(3, allow),
           "syscall kill", "deny", "allow")
    edited("a call of another number", lambda copy: copy[refusal_of(copy, 165) - 1].__setitem__(3, 166),
           "syscall mount", "deny", "allow")
    edited("another architecture", lambda copy: copy[2].__setitem__(3, allow),
           "syscall (a call of another architecture)", "deny", "allow")
    edited("everything is refused", lambda copy: copy[-1].__setitem__(3, refuse), "syscall read", "allow", "deny")
    edited("a grant that is lost",
           lambda copy: copy.__setitem__(slice(-1, None), [[0x15, 0, 1, 101], [6, 0, 0, refuse], [6, 0, 0, allow]]),
           "syscall ptrace", "allow", "deny")
    namespaces = next(at for at, record in enumerate(records) if record[0] == 0x45 and record[3] == 0x7e020000)
    edited("one namespace", lambda copy: copy[namespaces].__setitem__(3, 0x6e020000),
           "syscall clone(0x10000000, 0x0, 0x0, 0x0, 0x0, 0x0)", "deny", "allow")
    suite.write("edited.bpf", program[:-3])
    suite.unreadable("a broken instruction", "edited.bpf", "BPF")
    suite.write("edited.bpf", program[:-8])
    result, report = suite.verify("edited.bpf")
    suite.expect("a program without an end is not loaded",
                 result.returncode == 1 and report["differences"][0]["artifact"] == "not loaded", report)


def check_binary(suite):
    suite.make("p.bin")
    suite.equal("a .bin as made is equal", "p.bin")
    for name, old, new, question, policy, found in (
            ("a deny that is gone", "deny $WORK/.env, ", "deny ", "read /w/app/.env", "deny", "allow"),
            ("a pattern that is narrower", "*.pem", "*.pemx", "read /w/app/a/run.pem", "deny", "allow"),
            ("an exception that is wider", "$WORK/tests/fixtures", "$WORK/tests", "read /w/app/tests/run.pem", "deny", "allow"),
            ("one more grant", "/opt/data", "/opt", "read /opt", "deny", "allow"),
            ("another level", "deny write $WORK/.github", "deny $WORK/.github", "read /w/app/.github/workflows", "allow",
             "deny"),
            ("one more port", "3000-3010", "3000-3011", "connect 127.0.0.1:3011", "deny", "allow"),
            ("another host", "host packages.example.org", "host *.example.org", "connect sub.example.org:443", "deny", None),
            ("a deny of a class of addresses", "deny network lan", "grant network lan", "connect 10.0.0.1:443", "deny",
             "allow"),
            ("a variable", "deny env *_TOKEN\n", "grant env *_TOKEN\n", "env _TOKEN", "deny", "allow"),
            ("another value", '"development"', '"production"', "set env NODE_ENV", '"development"', '"production"'),
            ("a limit", "limit processes to 512", "limit processes to 513", "limit processes", "512", "513"),
            ("a socket", "grant socket /run/agent.sock", "grant socket /run", "socket /run", "deny", "allow"),
            ("execution", "deny exec $WORK/vendor\n", "", "exec /w/app/vendor", "deny", "allow"),
            ("scratch", "limit processes", "grant scratch\nlimit processes", "scratch", "deny", "allow")):
        other = suite.policy.replace(old, new)
        suite.expect(f"{name}: the policy is another one", other != suite.policy)
        suite.write("other.sbx", other)
        suite.make("other.bin", "other.sbx")
        if found is None:
            result, report = suite.verify("other.bin")
            suite.expect(name, result.returncode == 1 and report["equal"] is False, report)
        else:
            result, report = suite.verify("other.bin", "p.sbx", *GIVEN, "--os", "linux")
            suite.different(name, "other.bin", question, policy, found, "p.sbx", *GIVEN, "--os", "linux")
    data = bytearray(suite.read("p.bin"))
    data[len(data) // 2] ^= 1
    suite.write("edited.bin", bytes(data))
    suite.unreadable("a damaged .bin", "edited.bin", "cannot be read")


def check_document(suite):
    for system in ("linux", "macos", "windows"):
        suite.make("p.json", "p.sbx", *GIVEN, "--os", system)
        suite.equal(f"a document for {system} as made is equal", "p.json", "p.sbx", *GIVEN, "--os", system)
    suite.make("p.json", "p.sbx", *GIVEN)
    lines = suite.read("p.json").decode().splitlines(keepends=True)

    def edited(name, words, change, question, policy, found):
        """Edits the line that has all of the words; what a rule grants is named with its line."""
        at = next(at for at, line in enumerate(lines) if all(word in line for word in words))
        copy = lines[:at] + change(lines[at]) + lines[at + 1:]
        suite.write("edited.json", "".join(copy))
        hit = suite.different(name, "edited.json", question, policy, found)
        if hit is not None and change(lines[at]) and '"effect":"grant"' in copy[at]:
            suite.expect(f"{name}: the line", hit["line"] == at + 1, hit)

    def swap(old, new):
        return lambda line: [line.replace(old, new)]

    edited("a grant of more", ['"effect":"grant"', '"path":"/opt/data"'], swap("/opt/data", "/opt"),
           "read /opt", "deny", "allow")
    edited("a deny that is gone", ['"effect":"deny"', '"path":"/w/app/.env"'], lambda line: [], "read /w/app/.env", "deny",
           "allow")
    edited("another level", ['"effect":"grant"', '"path":"/usr"'], swap('"level":"read"', '"level":"write"'), "write /usr",
           "deny", "allow")
    edited("a cap that is higher", ['"effect":"deny"', "workflows"], swap('"level":"read"', '"level":"write"'),
           "write /w/app/.github/workflows", "deny", "allow")
    edited("a wider exception", ['"effect":"deny"', "*.pem"], swap("/w/app/tests/fixtures\"}", "/w/app/tests\"}"),
           "read /w/app/tests/run.pem", "deny", "allow")
    edited("another pattern", ['"effect":"deny"', "*.pem"], swap("*.pem", "*.pe"), "read /w/app/run.pem", "deny", "allow")
    edited("a listed level", ['"path":"/opt/data"', '"level":"read"'], swap('"read"', '"write"'), "region /opt/data", "read",
           "write")
    edited("another port", ['"effect":"grant"', "[[3000,3010]]"], swap("3010]]", "3011]]"), "connect 127.0.0.1:3011", "deny",
           "allow")
    edited("another host", ['"effect":"grant"', '"host":"packages'], swap("packages.example.org", "*.example.org"),
           "connect sub.packages.example.org:443", "deny", "allow")
    edited("a class of addresses", ['"effect":"deny"', '"target":"lan"'], swap('"deny"', '"grant"'), "connect 10.0.0.1:443",
           "deny", "allow")
    edited("a variable", ['"effect":"deny"', "*_TOKEN"], swap('"deny"', '"grant"'), "env _TOKEN", "deny", "allow")
    edited("a value", ['"set":{'], swap("development", "production"), "set env NODE_ENV", '"development"', '"production"')
    edited("a limit", ['"limits":{'], swap("512", "513"), "limit processes", "512", "513")
    edited("a socket", ['"effect":"grant"', '"class":"socket"'], swap("/run/agent.sock", "/run"), "socket /run", "deny",
           "allow")
    edited("execution", ['"effect":"deny"', '"class":"exec"'], lambda line: [], "exec /w/app/vendor", "deny", "allow")
    edited("scratch", ['"scratch":'], swap("false", "true"), "scratch", "deny", "allow")
    suite.write("edited.json", "".join(lines)[:-10])
    suite.unreadable("a document that is cut off", "edited.json", "cannot be read")
    suite.write("edited.json", '{"sbx":1}')
    suite.unreadable("another document", "edited.json", "no lists")


PROFILE = """sbx 1
policy "profile"
grant read /usr, /opt/data, /var/data
grant write $WORK
grant read $WORK/vendor/fixed
deny $WORK/.env, $WORK/secrets/, $WORK/deep/er/key
deny /etc/private, /var/data/hidden
deny $WORK/**/*.pem except $WORK/tests/fixtures
deny $WORK/café, $WORK/é/ü
deny write $WORK/.github/workflows
deny exec $WORK/bin
grant network loopback port 3000-3001
grant listen loopback port 8080
grant socket $WORK/agent.sock
accept listen on seatbelt because "a test"
"""


def check_profile(suite):
    suite.write("s.sbx", PROFILE)
    given = ["--root", "WORK=/Users/u/app"]
    for name, options in (("with parameters", ["--pure"]), ("with a root that is given", ["--pure"] + given)):
        suite.make("s.sb", "s.sbx", *options)
        suite.equal(f"a profile {name} as made is equal", "s.sb", "s.sbx", *options)
    text = suite.read("s.sb").decode()
    work = "/Users/u/app"

    def edited(name, change, question, found, policy="deny"):
        copy = change(text)
        suite.expect(f"{name}: something is edited", copy != text)
        suite.write("edited.sb", copy)
        suite.different(name, "edited.sb", question, policy, found, "s.sbx", "--pure", *given)

    def without(*words):
        """Without each line that has all of the words, rules of one filter with their end."""
        return lambda copy: "".join(line for line in copy.splitlines(keepends=True)
                                    if not all(word in line for word in words))

    def swap(old, new):
        return lambda copy: copy.replace(old, new)

    def append(rule):
        return lambda copy: copy + rule + "\n"

    edited("one more grant", append('(allow file-read* (subpath "/private/key"))'), "read /private/key",
           "allow file-read-data")
    edited("one more grant by a pattern", append('(allow file-read* (regex #"^/Users/other/.*"))'), "read /Users/other/below",
           "allow file-read-data")
    edited("a deny that is gone", without("; deny $WORK/.env"), f"read {work}/.env", "allow file-read-data")
    edited("a deny of the wildcard alone", swap("(deny file-read* file-read-data file-read-metadata file-read-xattr ",
                                                "(deny file-read* "), f"read {work}/.env", "allow file-read-data")
    edited("links that are open", without("(deny file-link)"), "write /beside", "allow file-link")
    edited("clones that are open", without("(deny file-clone)"), "write /beside", "allow file-clone")
    edited("a level that is higher", without("; grant read $WORK/vendor/fixed"), f"write {work}/vendor/fixed",
           "allow file-write-data")
    edited("directories that can be moved", swap("(deny file-write-unlink file-write-create", "(deny file-write-acl"),
           f"rename {work}/deep", "allow file-write-unlink")
    edited("one that can be moved", without(f'(literal "{work}/deep/er")'), f"rename {work}/deep/er",
           "allow file-write-unlink")
    edited("a spelling that matches nothing", swap('"/private/var/data/hidden"', '"/var/data/hidden"'),
           "read /var/data/hidden", "allow file-read-data")
    edited("one case alone", swap("[Pp][Ee][Mm]", "pem"), f"read {work}/RUN.PEM", "allow file-read-data")
    composed = f'  (literal "{work}/caf\u00e9") (subpath "{work}/caf\u00e9") '
    edited("one form of Unicode alone",
           lambda copy: "".join(composed + line[line.index("; deny"):] if "; deny $WORK/caf" in line else line
                                for line in copy.splitlines(keepends=True)),
           f"read {work}/cafe\u0301", "allow file-read-data where case is ignored")
    edited("a wider exception", swap("/tests/fixtures", "/tests"), f"read {work}/tests/run.pem", "allow file-read-data")
    edited("execution", without("; deny exec"), f"exec {work}/bin", "allow process-exec*")
    edited("every host", swap('"localhost:3000"', '"*:3000"'), "connect 8.8.8.8:3000", "allow network-outbound")
    edited("every host by a local address", append('(allow network-outbound (local ip "localhost:*"))'),
           "connect 8.8.8.8:443", "allow network-outbound")
    edited("one more port", swap('"localhost:3001"', '"localhost:3002"'), "connect 127.0.0.1:3002", "allow network-outbound")
    edited("a port to listen on", swap('"localhost:8080"', '"localhost:8081"'), "listen 127.0.0.1:8081",
           "allow network-bind")
    edited("one more socket", swap("/agent.sock", ""), f"socket {work}/below", "allow network-outbound")
    edited("other processes", append("(allow process-info* (target others))"), "arguments of other processes",
           "allow process-info-pidinfo")
    edited("a Mach service", append('(allow mach-lookup (global-name "com.apple.securityd.xpc"))'), "the keychain's service",
           "allow mach-lookup")
    edited("another Mach service", append('(allow mach-lookup (global-name "com.example.agent"))'),
           "Mach service com.example.agent", "allow mach-lookup")
    edited("everything", swap("(deny default)", "(allow default)"), "read /beside", "allow file-read-data")
    edited("set-id bits", append("(allow file-write-setugid)"), f"write {work}", "allow file-write-setugid")
    edited("a grant that is gone", without('"/opt/data")'), "read /opt/data", "deny file-read-data", "allow")
    for name, rule, words in (("an import", '(import "system.sb")', "system.sb"),
                              ("an address", '(allow network-outbound (remote ip "10.0.0.1:80"))', "host must be"),
                              ("an open parenthesis", "(allow", "expecting")):
        suite.write("edited.sb", text + rule + "\n")
        result, _ = suite.verify("edited.sb", "s.sbx", "--pure", *given)
        suite.expect(f"{name} is not read", result.returncode == 2 and words in result.stderr.decode(),
                     result.stderr.decode())


def check_managed(suite):
    suite.write("m.sbx", 'sbx 1\nmanaged "m"\ndeny $WORK/private\nlimit write to $WORK/build\n')
    layered = GIVEN + ["--managed", "m.sbx"]
    suite.make("m.bin", "p.sbx", *layered)
    suite.equal("a .bin with its managed layer is equal", "m.bin", "p.sbx", *layered)
    suite.make("p.bin")
    suite.different("a managed deny that the artifact lacks", "p.bin", "read /w/app/private", "deny", "allow", "p.sbx",
                    *layered, "--os", "linux")
    suite.different("a managed limit that the artifact lacks", "p.bin", "write /w/app/build-longer", "deny", "allow",
                    "p.sbx", *layered, "--os", "linux")


def check_text(suite):
    for artifact in ("p.sh",):
        suite.make(artifact)
        suite.equal(f"{artifact} as made is equal", artifact)
        lines = suite.read(artifact).decode().splitlines(keepends=True)
        number = next(at for at, line in enumerate(lines) if ".github/workflows" in line)
        edited = lines[:number] + [lines[number].replace("workflows", "nothing")] + lines[number + 1:]
        suite.write("edited.sh", "".join(edited))
        suite.different("a line of a script", "edited.sh", f"line {number + 1}", lines[number].rstrip(),
                        edited[number].rstrip())
        suite.write("edited.sh", "".join(lines[:number] + lines[number + 1:]))
        suite.different("a line that is gone", "edited.sh", f"line {number + 1}", lines[number].rstrip(),
                        "(no such line)")
        suite.write("edited.sh", "".join(lines[:number] + ["id\n"] + lines[number:]))
        suite.different("one more line", "edited.sh", f"line {number + 1}", "(no such line)", "id")


def check_calls(suite):
    suite.make("p.args")
    for name, arguments in {"no artifact": ["verify", "none.args", "p.sbx"],
                            "no policy": ["verify", "p.args", "none.sbx"],
                            "no target": ["verify", "p.sbx", "p.sbx"],
                            "another system": ["verify", "p.args", "p.sbx", "--os", "macos"]}.items():
        result = suite.sbxc(*arguments)
        suite.expect(f"{name} is exit 2", result.returncode == 2 and result.stderr, result.returncode)
    words = words_of(suite.read("p.args"))
    words[place_of(words, b"--ro-bind-try", b"/usr")] = b"--bind-try"
    suite.write("edited.args", joined(words))
    result = suite.sbxc("verify", "edited.args", "p.sbx", "-q", *GIVEN)
    text = result.stdout.decode()
    suite.expect("text names question, both answers and the word", result.returncode == 1 and
                 "write /usr\n  the policy:   deny\n  the artifact: allow\n  by word " in text, text)


def check_size(suite):
    rules = "".join(f"deny $WORK/d{i % 100}/f{i}\n" for i in range(10000))
    suite.write("big.sbx", 'sbx 1\npolicy "big"\ngrant write $WORK\n' + rules)
    suite.make("big.bin", "big.sbx", "--os", "linux")
    suite.equal("10,000 rules are equal", "big.bin", "big.sbx", "--os", "linux")


def write_policy(suite):
    suite.policy = POLICY + "".join(f'accept {control} on bwrap because "a test"\n' for control in ACCEPTED)
    suite.write("p.sbx", suite.policy)


run(write_policy, check_arguments, check_filter, check_binary, check_document, check_profile, check_managed, check_text,
    check_calls, check_size)
