"""Logical lines as lines on the page.

Inside brackets a line begins one level deeper than the line of the bracket where the bracket ends that line, else below
what follows the bracket.  A line that is too long is broken inside the outermost brackets that allow it, at the loosest
operator, as late as fits; subscripts are never broken.  The parts of a broken line are not broken again, which makes
the result stable.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from netsor.language.format.reading import Comment, Line, Piece
from netsor.language.format.spacing import BINARY

LINE_WIDTH = 100
INDENTATION = 2  # a block or loop
CONTINUATION = 4  # a line that begins inside brackets
OPENING, CLOSING = ("LPAR", "LSQB"), ("RPAR", "RSQB")

# the looser, the sooner a line is broken there: before these tokens, after a comma
RANKS = {"FOR": 1, "IF": 2, "ELSE": 2, "OR": 3, "AND": 4, "COMPARE": 5, "PLUS": 6, "MINUS": 6, "TIMES": 7, "OVER": 7, "AT": 8}
AFTER_COMMA, AFTER_COMMA_OF_BINDERS, AFTER_BRACKET = 0, 9, 10


@dataclass(slots=True)
class PhysicalLine:
    """A line of the formatted text, its comment apart."""

    text: str
    comment: Comment | None = None
    blanks: int = 0


class Bracket(NamedTuple):
    """An open bracket: where lines inside it begin, and where one that begins with the closing bracket does."""

    inside: int
    outside: int
    subscripts: bool


def physical_lines(lines: list[Line]) -> list[PhysicalLine]:
    """The lines of the text."""
    found: list[PhysicalLine] = []
    for line in lines:
        indent = INDENTATION * line.depth
        start = len(found)
        if not line.pieces:
            found.append(PhysicalLine(" " * indent + line.comment.text))
        elif line.pieces[0].token.type == "DOCSTRING":
            found += _docstring(line.pieces[0])
        else:
            found += _Statement(indent).run(line.pieces)
        found[start].blanks = line.blanks
    return found


def _docstring(piece: Piece) -> list[PhysicalLine]:
    """As it stands; trailing spaces are no part of it."""
    *before, last = str(piece.token).split("\n")
    return [PhysicalLine(text.rstrip()) for text in before] + [PhysicalLine(last, piece.comment)]


class _Statement:
    """Lays out one statement; `open` are the brackets that are open where the next line begins."""

    def __init__(self, indent: int):
        self.indent = indent
        self.open: list[Bracket] = []

    def run(self, pieces: list[Piece]) -> Iterator[PhysicalLine]:
        start = 0
        while start < len(pieces):
            end = start + 1
            while end < len(pieces) and not pieces[end].broken:
                end += 1
            inside = " " * (self.open[-1].inside if self.open else self.indent)
            yield from (PhysicalLine(inside + comment) for comment in pieces[start].above)
            yield from self._lines(pieces[start:end])
            start = end

    def _lines(self, pieces: list[Piece]) -> Iterator[PhysicalLine]:
        """One line of the author's, broken where it is too long."""
        start = 0
        while start < len(pieces):
            indent = self._indent_of(pieces[start])
            end = self._end(pieces, start, indent)
            text = "".join(f"{piece.space}{piece.token}" for piece in pieces[start:end])
            yield PhysicalLine(" " * indent + text.lstrip(), pieces[end - 1].comment)
            self._enter(pieces, start, end, indent)
            start = end

    def _indent_of(self, piece: Piece) -> int:
        if not self.open:
            return self.indent
        return self.open[-1].outside if piece.token.type in CLOSING else self.open[-1].inside

    def _enter(self, pieces: list[Piece], start: int, end: int, indent: int) -> None:
        """Note the brackets that a line opens and closes."""
        column = indent
        for k in range(start, end):
            piece = pieces[k]
            column += len(piece.space) * (k > start) + len(piece.token)
            if piece.token.type in OPENING:
                hangs = k == end - 1
                self.open.append(Bracket(indent + CONTINUATION if hangs else column, indent if hangs else column - 1,
                                         _subscripts(pieces, k)))
            elif piece.token.type in CLOSING:
                self.open.pop()

    def _end(self, pieces: list[Piece], start: int, indent: int) -> int:
        """Where the line that begins with a piece ends: behind the last piece, or at the best place to break it."""
        best: tuple[tuple[int, int, int], int] | None = None
        brackets = [(each.subscripts, False) for each in self.open]  # subscripts, and whether binders have begun
        column = indent
        for k in range(start, len(pieces)):
            piece = pieces[k]
            if k > start and brackets and not any(subscripts for subscripts, _ in brackets):
                rank = _rank(pieces[k - 1], piece, brackets[-1][1])
                if rank is not None and column > LINE_WIDTH:
                    return best[1] if best else k  # nothing that fits: the first place there is
                if rank is not None:
                    best = min(best or ((len(brackets), rank, -k), k), ((len(brackets), rank, -k), k))
            column += len(piece.space) * (k > start) + len(piece.token)
            if column > LINE_WIDTH and best:
                return best[1]
            kind = piece.token.type
            if kind in OPENING:
                brackets.append((_subscripts(pieces, k), False))
            elif kind in CLOSING:
                brackets.pop()
            elif kind == "FOR" and brackets:
                brackets[-1] = (brackets[-1][0], True)
        return len(pieces)


def _subscripts(pieces: list[Piece], k: int) -> bool:
    return pieces[k].token.type == "LSQB" and k > 0 and pieces[k - 1].token.type == "NAME"


def _rank(previous: Piece, piece: Piece, binders: bool) -> int | None:
    """How well a line can be broken between two pieces; the lower the better, None not at all."""
    last, kind = previous.token.type, piece.token.type
    if kind in CLOSING:
        return None
    if last in OPENING:
        return AFTER_BRACKET
    if last == "COMMA":
        return AFTER_COMMA_OF_BINDERS if binders else AFTER_COMMA
    if not piece.space or last in RANKS and last not in BINARY and kind in BINARY:  # a sign, or tight
        return None
    return RANKS.get(kind)
