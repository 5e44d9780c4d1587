"""Programs changed at random: the accidents of editing, and numbers and names put where they do not belong."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

TOKEN = re.compile(r"\s+|[^\W\d]\w*|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|\.\.|\*\*|[<>=!]=|.", re.DOTALL)
NUMBER = re.compile(r"\d")
NUMBERS = ["0", "-1", "1", "1", "2", "2", "3", "5", "40", "1e9", "1e400", "1e-300", "1e30", "0.5", "-0.3", "inf", "1/3", "4000"]
PIECES = [
    "inf", "n", "softmax", "avg", "dot", "mean", "max", "sum", "prod", "exp", "log", "sqrt", "relu", "erf", "abs", "sign", "clip", "where",
    "for", "if", "else", "not", "and", ".T", "@", "^", "..", '"', '"""', "\n", "  ", "#", "[", "]", "(", ")", "==", "=", "~", ",", "/",
    "*", "-", "π", "σ", "pi", "λ", "1", "0",
    "block", "return", "import", "like", "\nblock f(x):\n  return ", "def",
]

Mutation = Callable[[list[str], list[str], random.Random], list[str]]


def mutated(text: str, donors: list[list[str]], noise: random.Random) -> str:
    """A program changed in one to four places; ``donors`` are the tokens of other programs."""
    if noise.random() < 0.03:
        return _bytes(text, noise)
    tokens = TOKEN.findall(text)
    changes = CHANGES if noise.random() < 0.4 else MEANINGFUL
    for _ in range(noise.choice((1, 1, 1, 2, 2, 3, 4))):
        change = noise.choices(list(changes), list(changes.values()))[0]
        tokens = change(tokens or ["\n"], noise.choice(donors), noise)
    return "".join(tokens)


def tokens_of(text: str) -> list[str]:
    return TOKEN.findall(text)


def _bytes(text: str, noise: random.Random) -> str:
    """A few bytes changed, deleted or repeated; what is no UTF-8 any more is read as Latin-1."""
    content = bytearray(text.encode())
    for _ in range(noise.randint(1, 6)):
        k = noise.randrange(len(content))
        choice = noise.randrange(4)
        if choice == 0:
            content[k] = noise.randrange(256)
        elif choice == 1:
            del content[k]
        elif choice == 2:
            content[k:k] = content[k:k + 1]
        else:
            content[k] ^= 1 << noise.randrange(8)
        content = content or bytearray(b"x")
    try:
        return content.decode()
    except UnicodeDecodeError:
        return content.decode("latin-1")


def _delete(tokens, donor, noise):
    k = noise.randrange(len(tokens))
    return tokens[:k] + tokens[k + noise.choice((1, 1, 1, 2, 3)):]


def _duplicate(tokens, donor, noise):
    k = noise.randrange(len(tokens))
    length = noise.choice((1, 1, 2, 4, 8))
    return tokens[:k + length] + tokens[k:]


def _swap(tokens, donor, noise):
    tokens = list(tokens)
    j, k = noise.randrange(len(tokens)), noise.randrange(len(tokens))
    tokens[j], tokens[k] = tokens[k], tokens[j]
    return tokens


def _replace(tokens, donor, noise):
    tokens = list(tokens)
    tokens[noise.randrange(len(tokens))] = noise.choice(donor)
    return tokens


def _insert(tokens, donor, noise):
    k = noise.randrange(len(tokens))
    return tokens[:k] + [noise.choice(PIECES)] + tokens[k:]


def _number(tokens, donor, noise):
    places = [k for k, token in enumerate(tokens) if NUMBER.match(token)]
    return _at(tokens, places, noise, lambda old: noise.choice(NUMBERS))


def _name(tokens, donor, noise):
    """A name replaced by another one of the program: often still a program, and a different one."""
    places = [k for k, token in enumerate(tokens) if token.isidentifier()]
    names = sorted({tokens[k] for k in places})
    return _at(tokens, places, noise, lambda old: noise.choice(names))


def _function(tokens, donor, noise):
    """A name before a bracket replaced by a built-in function."""
    places = [k for k, token in enumerate(tokens[:-1]) if token.isidentifier() and tokens[k + 1] == "("]
    return _at(tokens, places, noise, lambda old: noise.choice(PIECES[3:19]))


def _operator(tokens, donor, noise):
    places = [k for k, token in enumerate(tokens) if token in "+-*/@^<>" or token in ("<=", ">=", "==")]
    return _at(tokens, places, noise, lambda old: noise.choice(["+", "-", "*", "/", "@", "^", "<=", "==", "<"]))


def _wrap(tokens, donor, noise):
    """A function around a bracket, a subscripted name or a number."""
    places = [k for k, token in enumerate(tokens) if token.isidentifier() or NUMBER.match(token)]
    return _at(tokens, places, noise, lambda old: f"{noise.choice(PIECES[3:19])}({old})")


def _lines(tokens, donor, noise):
    """A line deleted, repeated, moved, or taken from another program."""
    lines = "".join(tokens).splitlines(keepends=True) or ["\n"]
    k = noise.randrange(len(lines))
    choice = noise.randrange(4)
    if choice == 0:
        del lines[k]
    elif choice == 1:
        lines.insert(noise.randrange(len(lines)), lines[k])
    elif choice == 2:
        lines.insert(noise.randrange(len(lines)), lines.pop(k))
    else:
        lines.insert(k, noise.choice("".join(donor).splitlines(keepends=True)))
    return tokens_of("".join(lines))


def _truncate(tokens, donor, noise):
    return tokens[:noise.randrange(len(tokens))]


def _at(tokens, places, noise, new):
    if not places:
        return tokens
    tokens = list(tokens)
    k = noise.choice(places)
    tokens[k] = new(tokens[k])
    return tokens


# changes after which a program often still means something, which then goes through the whole of netsor; and all of them
MEANINGFUL: dict[Mutation, float] = {_number: 3, _name: 3, _function: 3, _operator: 2, _wrap: 4}
CHANGES = MEANINGFUL | {_delete: 4, _duplicate: 4, _swap: 2, _replace: 4, _insert: 4, _lines: 6, _truncate: 2}
