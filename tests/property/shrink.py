"""Makes a failing World smaller for as long as it still fails."""

import copy
import itertools

from generator import names_of, paths_of
from oracle import Let, Use, When


def shrink(world, question, fails):
    """The smallest (world, question) found by dropping one thing at a time. `fails` takes both."""
    progress = True
    while progress:
        progress = False
        steps = itertools.chain(smaller_worlds(world, question), simpler_names(world, question))
        for smaller, asked in steps:
            if is_sound(smaller) and fails(smaller, asked):
                world, question, progress = smaller, asked, True
                break
    return world, question


def smaller_worlds(world, question):
    for number in range(1, len(world.files)):
        yield changed(world, question, lambda w, q, n=number: w.files.pop(n))
    for mapping in ("roots", "environment"):
        for key in getattr(world, mapping):
            yield changed(world, question, lambda w, q, m=mapping, k=key: getattr(w, m).pop(k))
    for number in range(len(world.files)):
        for count in range(count_edits(world.files[number].statements)):
            yield changed(world, question, lambda w, q, n=number, c=count: edit(w.files[n].statements, c))
    if world.binary:
        yield changed(world, question, lambda w, q: setattr(w, "binary", False))
    if world.command:
        yield changed(world, question, lambda w, q: setattr(w, "command", None))
    for at in range(len(question.components)):
        yield changed(world, question, lambda w, q, a=at: q.components.pop(a))


def changed(world, question, change):
    world, question = copy.deepcopy((world, question))
    change(world, question)
    return world, question


def lists_of(statements):
    """Every list in which something can be dropped, with the length that it must keep."""
    yield statements, 0
    for statement in statements:
        if isinstance(statement, When):
            yield from lists_of(statement.body)
            continue
        for name, least in (("paths", 0 if type(statement).__name__ == "Limit" else 1), ("exceptions", 0)):
            held = getattr(statement, name, None)
            if held is None:
                continue
            yield held, least
            for path in held:
                yield path.components, 0 if len(path.root) > 1 else 1


def edits_of(statements):
    for held, least in lists_of(statements):
        if len(held) > least:
            for at in range(len(held)):
                yield held, at


def count_edits(statements):
    return sum(1 for _ in edits_of(statements))


def edit(statements, count):
    held, at = next(itertools.islice(edits_of(statements), count, None))
    if isinstance(held[at], When):
        held[at:at + 1] = held[at].body
    else:
        del held[at]


def is_sound(world):
    """Whether every file and name that is used is there, so that a refusal would not be about that."""
    files = {file.name for file in world.files}
    lets = set()
    for file in world.files:
        for statement in walk(file.statements):
            if isinstance(statement, Use) and statement.file not in files:
                return False
    for file in world.files:
        lets |= set(names_of(file, world.files))
    roots = {path.root for file in world.files for path in paths_of(file.statements)}
    return all(root in lets for root in roots if root[:1] in "LPMQ" and root[1:2].isdigit())


def walk(statements):
    for statement in statements:
        yield statement
        if isinstance(statement, When):
            yield from walk(statement.body)


def simpler_names(world, question):
    """One name at a time becomes a letter, everywhere."""
    names = list(dict.fromkeys(question.components + [
        piece for file in world.files for path in paths_of(file.statements) for component in path.components
        if component != "**" for piece in component if isinstance(piece, bytes)]))
    for letter in (b"a", b"b", b"c", b"d", b"e", b"f"):
        if letter in names:
            continue
        for name in names:
            if len(name) > 1 or not name.isalpha():
                yield changed(world, question, lambda w, q, n=name, l=letter: rename(w, q, n, l))
        return


def rename(world, question, name, letter):
    question.components[:] = [letter if part == name else part for part in question.components]
    for file in world.files:
        for path in paths_of(file.statements):
            path.components[:] = [component if component == "**" else
                                  tuple(letter if piece == name else piece for piece in component)
                                  for component in path.components]
    for root, values in world.roots.items():
        world.roots[root] = [b"/".join(letter if part == name else part for part in value.split(b"/"))
                             for value in values]
