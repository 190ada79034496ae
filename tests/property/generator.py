"""Random policies with their layers, presets and bindings, and questions where they could go wrong."""

import unicodedata

from oracle import Deny, File, Grant, Layer, Let, Limit, Path, Question, Socket, Use, When, World

PLAIN = [b"src", b"build", b"docs", b"node_modules", b"a", b"b", b"lib", b"key", b"Key", b"v1"]
AWKWARD = [b"a b", b" ", b"x,y", b"#tag", b"q\"q", b"it's", b"back\\slash", b"\\x41", b"[x]", b"a]b",
           b"{b}", b"=", b"*", b"?", b"a*", b"**", b"$WORK", b"~", b"a~", b"$", b"-rf", b"--", b"...",
           b".git", b"\t", b"a\x01b", b"\x7f", "é".encode(), "日本".encode(), "ñandú".encode(),
           "e\u0301".encode(), b"\xff", b"\xfea", b"caf\xe9", b"\xf8", "\U0001f512".encode(), b"n" * 250,
           "\u00a0".encode(), "\u202e".encode(), b";", b"a:b", b"!", b"^", b"because", b"except",
           b"nothing", b"deny"]
FOLDED = [b"Src", b"SRC", b"src", b".Git", b".git", b"KEY", b"key", b"Key", b"a", b"A", b"B_1", b"b_1"]
ACCENTED = ["é".encode(), "É".encode(), "e\u0301".encode(), "E\u0301x".encode(), "éx".encode(), b"a", b"A",
            "Ü".encode(), "u\u0308".encode(), "日本".encode()]
ROOTS = ["WORK", "HOME", "TMP", "CONFIG", "CACHE", "DATA", "REPO", "GITDIR"]
OF_THE_ACCOUNT = {"HOME", "CONFIG", "CACHE", "DATA"}
COMMANDS = ["npm", "git", "cargo"]
SYSTEMS = ["linux", "macos", "windows"]
VARIABLES = ["PATH", "GOPATH", "JAVA_HOME", "TOOLS"]


class Generator:
    def __init__(self, random):
        self.random = random
        self.os = random.choices(SYSTEMS, [6, 3, 1])[0]
        self.windows = self.os == "windows"
        self.folds = self.os != "linux"
        self.accented = self.folds and random.random() < 0.4
        self.names = self.make_names()
        self.files = []

    def chance(self, probability):
        return self.random.random() < probability

    def make_names(self):
        """A handful of names, so that rules meet; some are prefixes of others."""
        choice = self.random.choice
        if self.folds:
            pool = ACCENTED if self.accented else FOLDED
            names = [choice(pool) for _ in range(4)]
        else:
            names = [choice(PLAIN) for _ in range(3)] + [choice(AWKWARD) for _ in range(3)]
        longer = choice(names) + choice([b"x", b"-", b".bak", b"0"])
        names += [longer, b"." + choice(names).lstrip(b".")]
        return [name for name in dict.fromkeys(names) if name not in (b".", b"..")]

    def world(self):
        policy = File("policy.sbx", "policy", [])
        self.files = [policy]
        self.roots, self.environment = {}, {}
        self.command = self.random.choice([None] + COMMANDS)
        if self.windows and self.command:
            self.command = self.random.choice([self.command, self.command.upper()])
            self.command += self.random.choice(["", ".exe", ".Cmd", ".bat", ".com"])
        self.bind()
        result = World(self.os, self.command, self.roots, self.environment, self.files, self.chance(0.1))
        presets = self.presets = []
        for number in range(self.random.choice([0, 0, 1, 2])):
            presets.append(File(f"preset{number}.sbx", "preset", []))
            presets[-1].statements = self.statements(presets[-1], presets[:-1], f"P{number}_")
        self.files.extend(presets)
        policy.statements = self.statements(policy, presets, "L")
        for number in range(self.random.choice([0, 0, 1, 1, 2, 3])):
            used = []
            if self.chance(0.2):
                used = [File(f"limits{number}.sbx", "preset", [])]
                self.presets = used
                used[0].statements = self.statements(used[0], [], f"Q{number}_", managed=True)
            managed = File(f"managed{number}.sbx", "managed", [])
            managed.statements = self.statements(managed, used, f"M{number}_", managed=True)
            self.files.extend(used + [managed])
        return result

    def bind(self):
        for root in ROOTS:
            if self.chance(0.5):
                count = 2 if root == "GITDIR" and self.chance(0.7) else 1
                self.roots[root] = [self.absolute() for _ in range(count)]
        if any(self.covers_home(value) for value in self.roots.get("REPO", [])):
            del self.roots["REPO"]
        for name in VARIABLES:
            if self.chance(0.4):
                self.environment[name] = self.variable(name)

    def covers_home(self, value):
        return any((home + b"/").startswith(value + b"/") for home in self.roots.get("HOME", []))

    def absolute(self):
        parts = [self.name() for _ in range(self.random.choice([1, 2, 2, 3]))]
        return (b"C:" if self.windows else b"") + b"".join(b"/" + part for part in parts)

    def variable(self, name):
        separator = b";" if self.windows else b":"
        items = []
        for _ in range(self.random.choice([1, 1, 2, 3])):
            item = self.random.choices([self.absolute(), b"", b"rel/" + self.plain_name(),
                                        b"C:/" if self.windows else b"/", b"/proc/x", b"/runx"],
                                       [8, 1, 1, 1, 1, 1])[0]
            items.append(item if self.windows or separator not in item else b"/" + self.plain_name())
        return separator.join(items) if name in ("PATH", "GOPATH") else items[0]

    def plain_name(self):
        return self.random.choice([b"a", b"b", b"src", b"lib"])

    def name(self):
        return self.random.choice(self.names)

    # Statements ---------------------------------------------------------------------------------------------

    def statements(self, file, presets, prefix, managed=False):
        self.managed, self.defined = managed, {}
        result = [] if managed or file.kind == "preset" else self.opening()
        for preset in presets:
            if self.chance(0.8):
                result.append(self.use(preset, file))
                result.extend(self.statement() for _ in range(self.random.randint(0, 2)))
                if self.chance(0.15):
                    result.append(self.use(preset, file))
        for number in range(self.random.choice([1, 2, 3, 4, 6, 8])):
            if self.chance(0.12):
                result.append(self.let(f"{prefix}{number}"))
            elif self.chance(0.12):
                result.append(self.when(presets, file))
            else:
                result.append(self.statement())
        return result

    def opening(self):
        """Something is granted near the top in most policies, or nearly every answer would be none."""
        grants = []
        for _ in range(self.random.choice([0, 1, 2, 2])):
            path = self.path(purpose="grant")
            path.components = path.components[:0 if len(path.root) > 1 and self.chance(0.5) else 1]
            if self.comes_out_too_wide(path.root) or path.root in ("/", "C", "D"):
                path.components = path.components or [(self.name(),)]
            grants.append(Grant("write" if self.chance(0.7) else "read", False, [path]))
            if self.chance(0.3):
                grants.append(Socket("grant", [path]))
        return grants

    def let(self, name):
        let = Let(name, [self.path(purpose="let") for _ in range(self.random.randint(1, 3))])
        self.defined[name] = let.paths
        return let

    def use(self, preset, file):
        exceptions = []
        if not self.managed and self.chance(0.35):
            exceptions = [self.path(purpose="deny") for _ in range(self.random.randint(1, 2))]
        self.defined.update(names_of(preset, self.files + self.presets))
        return Use(preset.name, exceptions)

    def when(self, presets, file, kinds=("os", "command")):
        kind = self.random.choice([kind for kind in kinds if kind == "os" or not self.managed] or ["os"])
        words = self.random.sample(SYSTEMS if kind == "os" else COMMANDS, self.random.randint(1, 2))
        if kind == "os" and self.os not in words and self.chance(0.5):
            words.append(self.os)
        body = [self.statement() for _ in range(self.random.randint(1, 3))]
        if presets and self.chance(0.3):
            before = dict(self.defined)
            body.append(self.use(self.random.choice(presets), file))
            self.defined = before
        others = tuple(other for other in kinds if other != kind and not self.managed)
        if others and self.chance(0.25):
            body.append(self.when([], file, others))
        return When(kind, words, body)

    def statement(self):
        if self.managed:
            make = self.random.choices([self.deny, self.limit, self.deny_socket], [5, 5, 1])[0]
        else:
            make = self.random.choices([self.grant, self.deny, self.grant_socket, self.deny_socket],
                                       [6, 5, 1, 1])[0]
        return make()

    def count(self):
        return self.random.choice([1, 1, 1, 2, 3])

    def grant(self):
        automatic = self.chance(0.3)
        paths = [self.path(purpose="auto" if automatic else "grant") for _ in range(self.count())]
        return Grant(self.random.choice(["read", "write"]), automatic, paths)

    def deny(self):
        exceptions = []
        if self.chance(0.35):
            exceptions = [self.path(purpose="deny") for _ in range(self.random.randint(1, 2))]
        return Deny(self.random.choice(["", "", "write", "exec"]),
                    [self.path(purpose="deny") for _ in range(self.count())], exceptions)

    def grant_socket(self):
        return Socket("grant", [self.path(purpose="grant") for _ in range(self.count())])

    def deny_socket(self):
        return Socket("deny", [self.path(purpose="deny") for _ in range(self.count())])

    def limit(self):
        paths = [self.path(purpose="limit") for _ in range(self.random.choice([0, 2, 3, 4, 5]))]
        for path in paths:
            if self.chance(0.6) and not self.comes_out_too_wide(path.root):
                path.components = path.components[:0 if len(path.root) > 1 else 1]
        return Limit(self.random.choice(["read", "write", "write", "socket"]), paths)

    # Paths --------------------------------------------------------------------------------------------------

    def path(self, purpose):
        root = self.root(purpose)
        components = [(self.name(),) for _ in range(self.random.choice([0, 1, 1, 2, 2, 3, 4]))]
        if root == "/" or len(root) == 1:
            if purpose != "deny" or not self.chance(0.05):
                components = components or [(self.name(),)]
        path = Path(root, components, self.chance(0.1))
        if purpose == "deny" and self.chance(0.35):
            self.add_pattern(path)
        if purpose in ("grant", "limit") and not path.components and self.comes_out_too_wide(root):
            path.components = [(self.name(),)]
        return path

    def comes_out_too_wide(self, root):
        """Whether binding would refuse a grant or limit on this root, or on what this let name stands for."""
        if root in self.defined:
            return any(not path.components and self.comes_out_too_wide(path.root)
                       for path in self.defined[root])
        if root == "HOME" or root.startswith("env."):
            return True
        return any(self.covers_home(value) for value in self.roots.get(root, []))

    def root(self, purpose):
        drive, slash = self.random.choice("CD"), "/"
        native, foreign = (drive, slash) if self.windows else (slash, drive)
        choices = [(native, 8), (foreign, 0.3), ("WORK", 4)]
        choices += [(root, 1) for root in ROOTS[1:]
                    if not (self.managed and root in OF_THE_ACCOUNT and root in self.roots)]
        if not self.managed:
            choices += [("env." + name, 0.6) for name in VARIABLES]
        choices += [(name, 2) for name in self.defined]
        return self.random.choices([root for root, _ in choices], [weight for _, weight in choices])[0]

    def add_pattern(self, path):
        """Turns a component into a pattern or puts ** in; what comes first after / or a drive stays fixed."""
        first = 1 if path.root == "/" or len(path.root) == 1 else 0
        while len(path.components) <= first:
            path.components.append((self.name(),))
        at = self.random.randint(first, len(path.components) - 1)
        if self.chance(0.3):
            path.components.insert(at if self.chance(0.6) else len(path.components), "**")
        else:
            path.components[at] = self.pattern(self.random.choice(self.names))
        if self.chance(0.3):
            self.add_pattern(path)

    def pattern(self, name):
        head, tail = self.cut(name)
        signs = ["*"] if self.accented else ["*", "*", "?", "set"]
        sign = self.random.choice(signs)
        if sign == "set":
            sign = ("set", self.chance(0.3), self.random.choice(
                [[("a", "z")], [("a", "a"), ("k", "s")], [("A", "Z"), ("0", "9")], [("]", "]"), (" ", " ")],
                 [("!", "/")], [("^", "^"), ("-", "-")], [("x", "x"), ("*", "*"), ("?", "?"), ("[", "\\")]]))
            if any(low <= "/" <= high for low, high in sign[2]):
                sign = ("set", sign[1], [("!", ".")])
        pieces = [head] if head else []
        pieces.append(sign)
        if self.chance(0.5) and tail:
            skip = self.chance(0.5) and not self.accented and tail[:1].isascii() and len(tail) > 1
            pieces.append(tail[1:] if skip else tail)
        if self.chance(0.15):
            pieces.append("*")
        return tuple(piece for at, piece in enumerate(pieces) if piece != "*" or pieces[at - 1:at] != ["*"])

    def cut(self, name):
        """Cuts a name in two, never within a character, nor between a letter and its accent."""
        try:
            text = name.decode()
            at = self.random.choice([0, len(text)]) if self.accented else self.random.randint(0, len(text))
            return text[:at].encode(), text[at:].encode()
        except UnicodeDecodeError:
            return name, b""

    # Questions ----------------------------------------------------------------------------------------------

    def questions(self, world, count):
        layers = [Layer(world, file, file.kind == "managed") for file in world.files if file.kind != "preset"]
        written = [(path.root, path.components) for file in world.files for path in paths_of(file.statements)]
        bound = [path for layer in layers for path in layer.every_path()]
        granted = [grant[:2] for grant in layers[0].grants] + layers[0].socket_grants
        pools = [self.askable(world, pool) for pool in (written, bound, granted, granted)]
        pools = [pool for pool in pools if pool] or [[("C" if self.windows else "/", [])]]
        return [self.question(self.random.choice(self.random.choice(pools))) for _ in range(count)]

    def askable(self, world, places):
        """Those of `places` that a question can name, drives as letters."""
        places = [(root[0] if root[1:] == ":" else root, components) for root, components in places]
        return [(root, components) for root, components in places
                if (root == "/" and not self.windows) or (len(root) == 1 and root != "/" and self.windows)
                or (root in ROOTS and not (root == "GITDIR" and root in world.roots))]

    def question(self, place):
        root, components = place
        parts = []
        for component in components:
            parts.extend(self.instance(component))
        turn = self.random.random()
        if turn < 0.35:
            parts.append(self.name())
        elif turn < 0.45 and parts:
            parts.pop()
        elif turn < 0.6 and parts:
            parts[self.random.randrange(len(parts))] = self.name()
        elif turn < 0.68 and parts:
            parts[-1] += self.random.choice([b"x", b"-", b"."])
        elif turn < 0.72 and len(parts) > 1:
            parts[-1:] = [self.name(), self.name(), parts[-1]]
        elif self.folds and turn < 0.85:
            parts = [self.respelled(part) for part in parts]
        parts = [part for part in parts if part not in (b"", b".", b"..") and b"\n" not in part]
        operation = self.random.choices(["read", "write", "exec", "socket"], [4, 4, 1, 1])[0]
        return Question(operation, root, parts)

    def instance(self, component):
        """Names that the component may match, or nearly."""
        if component == "**":
            return [self.name() for _ in range(self.random.choice([0, 1, 1, 2]))]
        text = b""
        for piece in component:
            if isinstance(piece, bytes):
                text += piece
            elif piece == "*":
                text += self.random.choice([b"", b"x", self.name(), b".a"])
            elif piece == "?":
                text += self.random.choice([b"x", b"Q"] if self.folds else
                                           [b"x", b"", b"z", "é".encode(), b"\xff"])
            else:
                low, high = self.random.choice(piece[2])
                text += self.random.choice([low, high, "q", "Q", "~"]).encode()
        return [text]

    def respelled(self, part):
        try:
            text = part.decode()
        except UnicodeDecodeError:
            return part
        text = self.random.choice([text.upper(), text.lower(), text.swapcase(), text])
        if self.accented:
            text = unicodedata.normalize(self.random.choice(["NFC", "NFD"]), text)
        return text.encode()


def names_of(file, files):
    """The lets that a file defines or that come to it by its uses."""
    names = {}
    for statement in file.statements:
        if isinstance(statement, Let):
            names[statement.name] = statement.paths
        elif isinstance(statement, Use):
            names.update(names_of(next(used for used in files if used.name == statement.file), files))
    return names


def paths_of(statements):
    for statement in statements:
        if isinstance(statement, When):
            yield from paths_of(statement.body)
        else:
            yield from getattr(statement, "paths", [])
            yield from getattr(statement, "exceptions", [])
