"""Writes a World of oracle.py as .sbx text, each word in one of the many spellings that mean it."""

import string

from oracle import Deny, Grant, Let, Limit, Path, Socket, Use, When

PUNCTUATION = set(string.punctuation.encode())
SIGNS = set(b'*?[\\$"#{}, ')
QUOTED_SIGNS = set(b'*?[\\$"')
DRIVES = set(string.ascii_uppercase)


class Writer:
    def __init__(self, random, plain=False):
        self.random, self.plain = random, plain

    def chance(self, probability):
        return not self.plain and self.random.random() < probability

    def file(self, file):
        end = b"\r\n" if self.chance(0.05) else b"\n"
        lines = [b"sbx 1", file.kind.encode() + b' "t"']
        self.statements(file.statements, b"", lines)
        text = end.join(lines)
        if self.chance(0.05):
            text = b"\xef\xbb\xbf" + text
        return text if self.chance(0.1) else text + end

    def statements(self, statements, indent, lines):
        for statement in statements:
            if self.chance(0.05):
                lines.append(self.random.choice([b"", b"# a comment", b"   "]))
            if isinstance(statement, When):
                words = b", ".join(word.encode() for word in statement.words)
                lines.append(indent + b"when %s %s {" % (statement.kind.encode(), words))
                self.statements(statement.body, indent + b"    ", lines)
                lines.append(indent + b"}")
                continue
            line = indent + self.statement(statement)
            if self.chance(0.05):
                line += b"   # grant write /"
            lines.extend(line.split(b"\n"))

    def statement(self, statement):
        if isinstance(statement, Grant):
            auto = b"auto " if statement.automatic else b""
            return auto + b"grant " + statement.level.encode() + b" " + self.paths(statement.paths)
        if isinstance(statement, Deny):
            words = b"deny " + (statement.what.encode() + b" " if statement.what else b"")
            return words + self.paths(statement.paths) + self.exceptions(statement)
        if isinstance(statement, Socket):
            return statement.verb.encode() + b" socket " + self.paths(statement.paths)
        if isinstance(statement, Limit):
            return b"limit %s to " % statement.what.encode() + (self.paths(statement.paths) or b"nothing")
        if isinstance(statement, Let):
            return b"let %s = " % statement.name.encode() + self.paths(statement.paths)
        if isinstance(statement, Use):
            return b'use "%s"' % statement.file.encode() + self.exceptions(statement)
        raise TypeError(statement)

    def exceptions(self, statement):
        return b" except " + self.paths(statement.exceptions) if statement.exceptions else b""

    def paths(self, paths):
        words = [self.path(path) for path in paths]
        text = words[0] if words else b""
        for word in words[1:]:
            text += self.random.choice([b", ", b",", b" , ", b",\n        ", b",\n\n  # more\n\t"]) \
                if not self.plain else b", "
            text += word
        return text

    def path(self, path):
        quoted = self.chance(0.25)
        text = self.root(path)
        for component in path.components:
            text += self.separator() + self.component(component, quoted)
        if not path.components and (path.root == "/" or path.root in DRIVES):
            text += b"/"
        elif path.directory:
            text += b"/"
        return b'"' + text + b'"' if quoted else text

    def root(self, path):
        if path.root == "/":
            return b""
        if path.root in DRIVES:
            return path.root.encode() + b":"
        if path.root == "HOME" and self.random.random() < 0.5:
            return b"~"
        return b"$" + path.root.encode()

    def separator(self):
        if self.chance(0.06):
            return self.random.choice([b"//", b"/./", b"\\/"])
        return b"/"

    def component(self, component, quoted):
        if component == "**":
            return b"**"
        return b"".join(self.piece(piece, quoted) for piece in component)

    def piece(self, piece, quoted):
        if isinstance(piece, bytes):
            return self.literal(piece, quoted)
        if isinstance(piece, str):
            return piece.encode()
        _, negated, ranges = piece
        text = b"[" + (b"!" if negated else b"")
        for low, high in ranges:
            text += self.in_brackets(low) + (b"-" + self.in_brackets(high) if low != high else b"")
        return text + b"]"

    @staticmethod
    def in_brackets(character):
        return b"\\" + character.encode() if character in "]\\-!^[\" ,#{}" else character.encode()

    def literal(self, name, quoted):
        signs = QUOTED_SIGNS if quoted else SIGNS
        text, at = b"", 0
        while at < len(name):
            byte = name[at]
            length = character_length(name[at:])
            if byte < 0x20 or byte == 0x7f or length == 0 or name[at:at + 2] in CONTROLS:
                text += b"\\x%02x" % byte
                at += 1
            elif self.chance(0.03):
                text += b"\\x%02X" % byte
                at += 1
            elif byte in signs or (byte in PUNCTUATION and self.chance(0.1)):
                text += b"\\" + bytes([byte]) if self.chance(0.8) or self.plain else b"\\x%02x" % byte
                at += 1
            else:
                text += name[at:at + length]
                at += length
        return text


CONTROLS = {b"\xc2" + bytes([byte]) for byte in range(0x80, 0xa0)}


def character_length(name):
    """Bytes of the UTF-8 character at the start of `name`, 0 if there is none."""
    for length in (1, 2, 3, 4):
        try:
            return length if len(name[:length].decode("utf-8")) == 1 else 0
        except UnicodeDecodeError:
            continue
    return 0


def argument(question):
    """A question's path as `sbxc why` takes it: raw bytes, a root by its name."""
    if question.root == "/":
        head = b"" if question.components else b"/"
    elif question.root in DRIVES:
        head = question.root.encode() + (b":" if question.components else b":/")
    else:
        head = b"$" + question.root.encode()
    return head + b"".join(b"/" + part for part in question.components)


def binding_words(world):
    """The words that give sbxc the world's roots, variables and command."""
    words = []
    for name, values in world.roots.items():
        for value in values:
            words += ["--root", name.encode() + b"=" + value]
    for name, value in world.environment.items():
        words += ["--env", name.encode() + b"=" + value]
    if world.command:
        words += ["--command", world.command]
    return words
