r"""Formulas in LaTeX taken apart: what may be broken over lines, and how wide it is.

Widths are estimates in points for Computer Modern at 10 points, in display style; they err on the wide side by some per cent.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from netsor.derive.printing.tex_widths import (
    BIG, BINARY, COMMA, CLOSE, FUNCTIONS, RELATION, RELATIONS, SCRIPT, SIGN, SPACES, WITH_ARGUMENT, character, command)

TOKEN = re.compile(r"\\[A-Za-z]+|\\.|\s+|.", re.DOTALL)


@dataclass
class Node:
    """A symbol, or a construction with ``inner`` sequences of nodes: what stands between delimiters, over and under a bar, under a root.

    ``kind`` is one of atom, function (its argument must stay beside it), sign (between terms), comma, semicolon, relation, middle, bar,
    group, fraction, root.  ``tail`` are subscripts and exponents, ``tall`` how high it is: 0, 1 or 2 (fractions, sums)."""

    kind: str
    tex: str
    width: float
    inner: tuple[list["Node"], ...] = ()
    opening: str = ""
    closing: str = ""
    tail: str = ""
    tail_width: float = 0.0
    tall: int = 0
    gap: str = ""
    scripts: dict = field(default_factory=dict)

    @property
    def full_width(self) -> float:
        return self.width + self.tail_width

    def attach(self, mark: str, tex: str, width: float) -> None:
        """Add a subscript, an exponent or a prime."""
        self.tail += mark + tex
        if self.tex in BIG:  # limits stand below and above
            self.width = max(self.width, SCRIPT * width)
            return
        self.scripts[mark] = self.scripts.get(mark, 0.0) + SCRIPT * width
        self.tail_width = max(self.scripts.values())


def width(nodes: list[Node]) -> float:
    """The width of a sequence in points."""
    return sum(node.full_width for node in nodes)


def render(nodes: list[Node]) -> str:
    """The LaTeX that a sequence was made from."""
    return "".join(node.gap + node.tex + node.tail for node in nodes).strip()


def tall(nodes: list[Node]) -> int:
    """The height of the highest node."""
    return max((node.tall for node in nodes), default=0)


def parse(tex: str) -> list[Node]:
    """A formula as a sequence of nodes.

    :raises ValueError: if brackets or braces are not balanced."""
    reader = _Reader(TOKEN.findall(tex))
    nodes = reader.sequence(())
    if reader.position < len(reader.tokens):
        raise ValueError(f"brackets of {tex!r} are not balanced")
    return nodes


class _Reader:
    """A recursive-descent reader of the LaTeX that netsor and SymPy write."""

    def __init__(self, tokens: list[str]):
        self.tokens, self.position = tokens, 0

    def take(self) -> str:
        if self.position >= len(self.tokens):
            raise ValueError("a formula ends inside brackets")
        self.position += 1
        return self.tokens[self.position - 1]

    def peek(self) -> str:
        return self.tokens[self.position] if self.position < len(self.tokens) else ""

    def skip_space(self) -> None:
        while self.peek().isspace():
            self.position += 1

    def sequence(self, stops: tuple[str, ...]) -> list[Node]:
        """Nodes up to a stop, which is not taken."""
        nodes: list[Node] = []
        gap = ""
        while self.peek() and self.peek() not in stops and self.peek() not in ("}", r"\right", r"\end"):
            token = self.take()
            if token.isspace():
                gap = " "
            elif token in "_^'" and nodes:
                inner = self.argument() if token != "'" else ""
                nodes[-1].attach(token, inner, width(parse(inner)) if inner else SCRIPT * COMMA)
            else:
                node = self.node(token, nodes)
                node.gap, gap = gap, ""
                nodes.append(node)
        return nodes

    def argument(self) -> str:
        """The LaTeX of the argument that follows, with its braces."""
        self.skip_space()
        token = self.take()
        if token != "{":
            return token
        depth, found = 1, "{"
        while depth:
            token = self.take()
            depth += {"{": 1, "}": -1}.get(token, 0)
            found += token
        return found

    def node(self, token: str, before: list[Node]) -> Node:
        if token == "{":
            self.position -= 1
            tex = self.argument()
            nodes = parse(tex[1:-1])
            return Node("atom", tex, width(nodes), tall=tall(nodes))
        if token == r"\left":
            return self.group()
        if token == r"\begin":
            return self.environment()
        if token == r"\middle":
            return Node("middle", token + self.take(), CLOSE[0])
        if token == r"\big":  # behind what it belongs to
            return Node("bar", token + self.take(), CLOSE[0])
        if token == r"\frac":
            over, under = self.argument(), self.argument()
            inner = tuple(parse(part.removeprefix("{").removesuffix("}")) for part in (over, under))
            return Node("fraction", rf"\frac{over}{under}", max(map(width, inner)) + 2.4, inner, tall=2)
        if token == r"\sqrt" and self.peek() == "{":
            tex = self.argument()
            nodes = parse(tex[1:-1])
            return Node("root", rf"\sqrt{tex}", width(nodes) + 10, (nodes,), tall=max(1, tall(nodes)))
        if token in WITH_ARGUMENT:
            tex = self.argument()
            return Node("function" if token in FUNCTIONS else "atom", token + tex, WITH_ARGUMENT[token] * _letters(tex))
        return self.symbol(token, before)

    def symbol(self, token: str, before: list[Node]) -> Node:
        if token in SIGN:
            last = before[-1].kind if before else "sign"
            between = last not in ("sign", "relation", "comma", "semicolon")
            return Node("sign" if between else "atom", token, BINARY if between else BINARY - 4)
        if token in RELATIONS:
            return Node("relation", token, RELATION)
        if token in ",;":
            return Node("comma" if token == "," else "semicolon", token, COMMA)
        if token in BIG:
            return Node("function", token, BIG[token], tall=2)
        if token in SPACES:
            return Node("atom", token, SPACES[token])
        if token in FUNCTIONS:
            return Node("function", token, 5.0 * (len(token) - 1) + 1.7)
        return Node("atom", token, command(token) if token.startswith("\\") else character(token))

    def group(self) -> Node:
        opening = self.take()
        inner = self.sequence(())
        if self.take() != r"\right":
            raise ValueError("brackets are not balanced")
        closing, high = self.take(), tall(inner)
        tex = rf"\left{opening}{_source(inner)}\right{closing}"
        return Node("group", tex, width(inner) + 2 * CLOSE[high], (inner,), opening, closing, tall=max(1, high))

    def environment(self) -> Node:
        name = self.argument()
        rows: list[list[float]] = [[]]
        tex = rf"\begin{name}"
        while True:
            cell = self.sequence(("&", r"\\"))
            rows[-1].append(width(cell))
            tex += _source(cell)
            token = self.take()
            if token == r"\end":
                break
            tex += token + (" " if token == r"\\" else "")
            if token == r"\\":
                rows.append([])
        columns = max(map(len, rows))
        wide = sum(max(row[k] if k < len(row) else 0 for row in rows) for k in range(columns))
        return Node("atom", tex + rf"\end{self.argument()}", wide + 10 * (columns - 1) + 15, tall=2)


def _source(nodes: list[Node]) -> str:
    return "".join(node.gap + node.tex + node.tail for node in nodes)


def _letters(tex: str) -> int:
    """How many letters the argument of a command prints."""
    return len(re.sub(r"\\[A-Za-z]+|[{}\\]", "", tex))
