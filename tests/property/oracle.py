"""A second, deliberately naive implementation of docs/language.md on paths: levels, denies, layers, sockets,
exec.

It decides on the structures below, never on .sbx text, shares no code with sbxc, and prefers the obvious
loop to the fast one: every question looks at every rule. The property test (run.py) compares the two.
"""

import re
import unicodedata
from dataclasses import dataclass, field

LEVELS = ["none", "read", "write"]
LIST_VARIABLES = {"PATH", "PYTHONPATH", "GOPATH", "NODE_PATH", "PSModulePath", "LD_LIBRARY_PATH"}
NO_GRANT_BELOW = [b"proc", b"sys", b"dev", b"boot", b"run"]


# What the generator makes -----------------------------------------------------------------------------------

@dataclass
class Path:
    """`root` is "/", a drive's letter, or a name: WORK, env.NAME, or that of a `let`. A component is "**"
    or a tuple of pieces: bytes, "*", "?", or ("set", negated, ranges) with ranges such as [("a", "z")]."""
    root: str
    components: list = field(default_factory=list)
    directory: bool = False


@dataclass
class Grant:
    level: str
    automatic: bool
    paths: list


@dataclass
class Deny:
    what: str  # "", "write" or "exec"
    paths: list
    exceptions: list = field(default_factory=list)


@dataclass
class Socket:
    verb: str
    paths: list


@dataclass
class Limit:
    what: str  # "read", "write" or "socket"
    paths: list  # empty: to nothing


@dataclass
class Let:
    name: str
    paths: list


@dataclass
class Use:
    file: str
    exceptions: list = field(default_factory=list)


@dataclass
class When:
    kind: str  # "os" or "command"
    words: list
    body: list


@dataclass
class File:
    name: str
    kind: str  # "policy", "managed" or "preset"
    statements: list


@dataclass
class World:
    """One policy with everything it is decided with. files[0] is the policy; each managed file is a layer."""
    os: str
    command: str  # None: no command
    roots: dict  # NAME to a list of absolute paths (bytes); a root that is not in it is symbolic
    environment: dict  # NAME to bytes
    files: list
    binary: bool = False  # managed layers are given as .bin files


@dataclass
class Question:
    operation: str  # "read", "write", "exec" or "socket"
    root: str  # as in Path, never a let
    components: list  # bytes


# Concrete paths: (base, components), where base is "/", "C:" or the name of a symbolic root -----------

def split(path, windows=False):
    base, rest = ("/", path)
    if windows:
        base, rest = path[:2].decode(), path[2:]
    return base, [part for part in rest.split(b"/") if part not in (b"", b".")]


def literal(parts):
    return [(part,) for part in parts]


class Layer:
    """The rules of one file and all that it uses, conditions and names already resolved."""

    def __init__(self, world, file, managed):
        self.world, self.managed = world, managed
        self.windows = world.os == "windows"
        self.folds = world.os != "linux"
        self.grants = []  # (base, components, level, automatic)
        self.denies = []  # (what, base, components, exceptions)
        self.socket_grants = []
        self.limits = {}  # what to a list of paths
        self.collect(file, {}, [])

    def collect(self, file, names, lifted):
        """Takes in `file`; `names` gains what it defines; `lifted` comes from `use ... except`."""
        self.collect_statements(file.statements, names, lifted, nested=False)

    def collect_statements(self, statements, names, lifted, nested):
        for statement in statements:
            if isinstance(statement, Let):
                names[statement.name] = [path for item in statement.paths
                                         for path in self.expand(item, names)]
            elif isinstance(statement, Use):
                more = self.resolve_all(statement.exceptions, names, "except")
                used = next(file for file in self.world.files if file.name == statement.file)
                its_names = {}
                self.collect(used, its_names, lifted + more)
                if not nested:
                    names.update(its_names)
            elif isinstance(statement, When):
                if self.holds(statement):
                    self.collect_statements(statement.body, names, lifted, nested=True)
            elif isinstance(statement, Grant):
                purpose = "auto" if statement.automatic else "grant"
                for base, components in self.resolve_all(statement.paths, names, purpose):
                    self.grants.append((base, components, statement.level, statement.automatic))
            elif isinstance(statement, Deny):
                exceptions = self.resolve_all(statement.exceptions, names, "except")
                for base, components in self.resolve_all(statement.paths, names, "deny"):
                    self.denies.append((statement.what, base, components, exceptions + lifted))
            elif isinstance(statement, Socket):
                if statement.verb == "grant":
                    self.socket_grants.extend(self.resolve_all(statement.paths, names, "socket"))
                    continue
                for base, components in self.resolve_all(statement.paths, names, "deny"):
                    self.denies.append(("socket", base, components, list(lifted)))
            elif isinstance(statement, Limit):
                held = self.limits.setdefault(statement.what, [])
                held.extend(self.resolve_all(statement.paths, names, "limit"))

    def holds(self, when):
        if when.kind == "os":
            return self.world.os in when.words
        command = self.world.command
        if command is not None and self.windows:
            command = re.sub(r"\.(exe|cmd|bat)$", "", command.lower())
        return command in when.words

    def expand(self, path, names):
        """A path with its let names replaced."""
        if path.root not in names:
            return [path]
        return [Path(outer.root, outer.components + path.components, path.directory)
                for outer in names[path.root]]

    def resolve_all(self, paths, names, purpose):
        """The concrete paths of a list; its purpose decides what of an $env list is dropped."""
        return [concrete for path in paths for item in self.expand(path, names)
                for concrete in self.bind(item, purpose)]

    def bind(self, path, purpose):
        root, rest = path.root, path.components
        if root == "/":
            return [] if self.windows else [("/", rest)]
        if len(root) == 1:
            return [(root + ":", rest)] if self.windows else []
        if root.startswith("env."):
            name = root[4:]
            if name not in self.world.environment:
                return [(root, rest)]
            items = self.environment_items(name, rest, purpose)
            return [(base, literal(parts) + rest) for base, parts in items]
        if root not in self.world.roots:
            return [(root, rest)]
        bound = [split(value, self.windows) for value in self.world.roots[root]]
        if not rest and purpose == "auto" and root in ("WORK", "TMP", "CONFIG", "CACHE", "DATA"):
            bound = [place for place in bound if not self.too_wide(place)]
        return [(base, literal(parts) + rest) for base, parts in bound]

    def environment_items(self, name, rest, purpose):
        value = self.world.environment[name]
        separator = b";" if self.windows else b":"
        items = value.split(separator) if name in LIST_VARIABLES else [value]
        granting = purpose in ("auto", "grant", "socket")
        opening = granting or purpose == "except"
        result = []
        for item in items:
            absolute = item[1:3] == b":/" if self.windows else item.startswith(b"/")
            if item == b"":
                continue
            if absolute:
                place = split(item, self.windows)
            elif purpose == "deny":
                place = self.below_work(item)
            else:
                continue
            if granting and not self.windows and place[1][:1] and place[1][0] in NO_GRANT_BELOW:
                continue
            if opening and not rest and self.too_wide(place):
                continue
            if place not in result:
                result.append(place)
        return result

    def below_work(self, item):
        parts = [part for part in item.split(b"/") if part not in (b"", b".")]
        if "WORK" not in self.world.roots:
            return ("WORK", parts)
        base, above = split(self.world.roots["WORK"][0], self.windows)
        return (base, above + parts)

    def too_wide(self, place):
        base, parts = place
        if not parts:
            return True
        for home in self.world.roots.get("HOME", []):
            home_base, home_parts = split(home, self.windows)
            if base == home_base and home_parts[:len(parts)] == parts:
                return True
        return False

    def every_path(self):
        yield from (grant[:2] for grant in self.grants)
        for _, base, components, exceptions in self.denies:
            yield base, components
            yield from exceptions
        yield from self.socket_grants
        for paths in self.limits.values():
            yield from paths

    # Decisions ----------------------------------------------------------------------------------------------

    def hits(self, deny_path, exceptions, place):
        if not covers(deny_path, place, self.folds):
            return False
        return not any(covers(exception, place, False) for exception in exceptions)

    def cap(self, place):
        lowest = 2
        for what, base, components, exceptions in self.denies:
            if what in ("", "write") and self.hits((base, components), exceptions, place):
                lowest = min(lowest, 1 if what == "write" else 0)
        return lowest

    def granted(self, place):
        best_length, best_level = -1, 0
        for base, components, level, automatic in self.grants:
            if automatic or not covers((base, components), place, False):
                continue
            rank = LEVELS.index(level)
            if len(components) > best_length:
                best_length, best_level = len(components), rank
            elif len(components) == best_length:
                best_level = min(best_level, rank)
        if best_length >= 0:
            return best_level
        ranks = [LEVELS.index(level) for base, components, level, automatic in self.grants
                 if automatic and covers((base, components), place, False)]
        return max(ranks, default=0)

    def inside(self, what, place):
        return any(covers(path, place, False) for path in self.limits[what])

    def level(self, place):
        if not self.managed:
            return min(self.granted(place), self.cap(place))
        level = self.cap(place)
        if "write" in self.limits and not self.inside("write", place):
            level = min(level, 1)
        if "read" in self.limits and not self.inside("read", place):
            if "write" not in self.limits or not self.inside("write", place):
                level = 0
        return level

    def is_denied(self, kind, place):
        return any(what == kind and self.hits((base, components), exceptions, place)
                   for what, base, components, exceptions in self.denies)

    def socket(self, place):
        if self.cap(place) < 2 or self.is_denied("socket", place):
            return False
        if self.managed:
            return all(self.inside(what, place) for what in ("write", "socket") if what in self.limits)
        return any(covers(path, place, False) for path in self.socket_grants)


# Matching ---------------------------------------------------------------------------------------------------

def covers(path, place, fold):
    """Whether `path` (plain or a pattern) matches `place` or a directory above it."""
    if path[0] != place[0]:
        return False
    return any(matches(path[1], place[1][:length], fold) for length in range(len(place[1]) + 1))


def matches(components, parts, fold):
    if not components:
        return not parts
    first, rest = components[0], components[1:]
    if first == "**":
        while rest and rest[0] == "**":
            rest = rest[1:]
        if not rest:
            return len(parts) >= 1
        return any(matches(rest, parts[skip:], fold) for skip in range(len(parts) + 1))
    if not parts:
        return False
    return component_matches(first, parts[0], fold) and matches(rest, parts[1:], fold)


def component_matches(pieces, name, fold):
    pattern = []
    for piece in pieces:
        if isinstance(piece, bytes):
            pattern.extend(("is", character) for character in characters(piece, fold))
        else:
            pattern.append(piece)
    return pieces_match(pattern, characters(name, fold))


def pieces_match(pattern, name):
    if not pattern:
        return not name
    first, rest = pattern[0], pattern[1:]
    if first == "*":
        return any(pieces_match(rest, name[skip:]) for skip in range(len(name) + 1))
    if not name:
        return False
    return piece_matches(first, name[0]) and pieces_match(rest, name[1:])


def piece_matches(piece, character):
    if piece == "?":
        return True
    if piece[0] == "is":
        return piece[1] == character
    _, negated, ranges = piece
    return any(any(low <= each <= high for low, high in ranges) != negated for each in spellings(character))


def spellings(character):
    """Of a folded character (see `characters`) each spelling: a deny matches if one of them would."""
    if isinstance(character, tuple):
        return {character[0], character[0].upper()}
    return {character} if isinstance(character, str) else {"\uffff"}


def characters(name, fold):
    """The UTF-8 characters of a name as strings; a byte that belongs to none is an int. With `fold` a
    character is a tuple of its composed lower-case form: names that differ in case or normal form come out
    equal."""
    result, at = [], 0
    while at < len(name):
        for length in (1, 2, 3, 4):
            try:
                character = name[at:at + length].decode("utf-8")
            except UnicodeDecodeError:
                continue
            if len(character) == 1:
                break
        else:
            result.append(name[at])
            at += 1
            continue
        result.append(character)
        at += length
    if not fold:
        return result
    folded = []
    run = ""
    for each in result + [None]:
        if isinstance(each, str):
            run += each
            continue
        folded.extend((character,) for character in unicodedata.normalize("NFC", run.lower()))
        run = ""
        if each is not None:
            folded.append(each)
    return folded


# The answer -------------------------------------------------------------------------------------------------

class Oracle:
    def __init__(self, world):
        self.world = world
        self.windows = world.os == "windows"
        self.layers = [Layer(world, world.files[0], managed=False)]
        self.layers += [Layer(world, file, managed=True) for file in world.files if file.kind == "managed"]

    def place(self, question):
        root = question.root
        if root == "/":
            return ("/", question.components)
        if len(root) == 1:
            return (root + ":", question.components)
        if root not in self.world.roots:
            return (root, question.components)
        base, parts = split(self.world.roots[root][0], self.windows)
        return (base, parts + question.components)

    def answer(self, question):
        """(decision, level), the level None for a socket."""
        place = self.place(question)
        if question.operation == "socket":
            return ("allow" if all(layer.socket(place) for layer in self.layers) else "deny", None)
        level = min(layer.level(place) for layer in self.layers)
        if question.operation == "write":
            allowed = level == 2
        else:
            allowed = level >= 1
        if question.operation == "exec":
            allowed = allowed and not any(layer.is_denied("exec", place) for layer in self.layers)
        return ("allow" if allowed else "deny", LEVELS[level])
