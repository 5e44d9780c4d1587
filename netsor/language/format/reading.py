"""A program as logical lines: statements as tokens with their spaces, and the comments and blank lines between them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from lark import Token

from netsor.language import syntax
from netsor.language.format.spacing import Spacing, tight_operators
from netsor.language.grammar import parser, reserved_words
from netsor.language.layout import Layout
from netsor.language.source import Source

TAB = 8  # columns, where a text has tabs


class Comment(NamedTuple):
    """A comment with its `#`; `column` (from 0) is where it begins in the source."""

    text: str
    column: int


@dataclass(slots=True)
class Piece:
    """A token, the spaces before it, and what of the layout inside brackets is the author's."""

    token: Token
    space: str
    broken: bool = False  # it begins a line
    above: list[str] = field(default_factory=list)  # comments on lines of their own before it
    comment: Comment | None = None  # at the end of the line that it ends


@dataclass(slots=True)
class Line:
    """A statement, or a comment on a line of its own if there are no pieces."""

    depth: int
    blanks: int  # blank lines before it
    pieces: list[Piece] = field(default_factory=list)
    comment: Comment | None = None

    @property
    def opens(self) -> bool:
        """Whether lines that are deeper follow."""
        return bool(self.pieces) and self.pieces[-1].token.type == "COLON"


class Gap(NamedTuple):
    """What a token of line breaks holds: a comment at the end of the line, then comments of their own with the number
    of blank lines before each, then blank lines."""

    trailing: Comment | None
    own: list[tuple[Comment, int]]
    blanks: int


def read_lines(program: syntax.Program) -> list[Line]:
    """The logical lines of a program, in order."""
    return _Reader(program).run()


def comments_of(source: Source) -> list[str]:
    """All comments, in order."""
    found: list[str] = []
    for token in parser().lex(source.text):
        if token.type == "_NL":
            gap = _gap(source, token)
            found += [gap.trailing.text] if gap.trailing else []
            found += [comment.text for comment, _ in gap.own]
    return found


class _Reader:
    def __init__(self, program: syntax.Program):
        self.source = program.source
        self.tokens = list(parser().lex(self.source.text))
        self.depths = dict(_depths(Layout(self.tokens, self.source).run()))
        self.spacing = Spacing(tight_operators(program), frozenset(reserved_words().values()))
        self.lines: list[Line] = []
        self.columns = [0]  # where the lines of each depth begin in the source

    def run(self) -> list[Line]:
        blanks, position = 0, 0
        while position < len(self.tokens):
            token = self.tokens[position]
            if token.type == "_NL":
                following = self.tokens[position + 1] if position + 1 < len(self.tokens) else None
                blanks = self._between_lines(_gap(self.source, token), following)
                position += 1
            else:
                position = self._statement(position, blanks)
        return self.lines

    def _statement(self, position: int, blanks: int) -> int:
        first = self.tokens[position]
        depth = self.depths[first.start_pos]
        self.columns[depth:] = [column(self.source, first.start_pos)]
        line = Line(depth, self._allowed(blanks, depth))
        self.spacing.start()
        broken, above = False, []
        while position < len(self.tokens):
            token = self.tokens[position]
            if token.type == "_NL":
                if not self.spacing.brackets:
                    break
                gap = _gap(self.source, token)
                line.pieces[-1].comment = gap.trailing
                broken, above = True, [comment.text for comment, _ in gap.own]
            else:
                space = self.spacing.before(token)
                line.pieces.append(Piece(token, space, broken, above))
                broken, above = False, []
            position += 1
        self.lines.append(line)
        return position

    def _between_lines(self, gap: Gap, following: Token | None) -> int:
        """Add the comments after a line; the number of blank lines before the next."""
        if gap.trailing and self.lines and self.lines[-1].pieces:
            self.lines[-1].pieces[-1].comment = gap.trailing
        elif gap.trailing:  # the file begins with it
            self.lines.append(Line(0, 0, comment=gap.trailing))
        least = self.depths[following.start_pos] if following is not None else 0
        for comment, blanks in gap.own:
            depth = self._depth_of(comment, least)
            self.lines.append(Line(depth, self._allowed(blanks, depth), comment=comment))
        return gap.blanks

    def _depth_of(self, comment: Comment, least: int) -> int:
        """A comment belongs to the next line, or to a deeper one before it that it lines up with."""
        deepest = next((depth for depth in range(len(self.columns) - 1, least, -1)
                        if self.columns[depth] <= comment.column), least)
        return max(least, deepest)

    def _allowed(self, blanks: int, depth: int) -> int:
        if not self.lines or self.lines[-1].opens:
            return 0
        return min(blanks, 1 if depth else 2)


def _depths(tokens: list[Token]) -> Iterator[tuple[int, int]]:
    """The depth of the block or loop in which each token stands, by its place."""
    depth = 0
    for token in tokens:
        if token.type in ("_INDENT", "_DEDENT"):
            depth += 1 if token.type == "_INDENT" else -1
        elif token.type not in ("_NL", "$END"):
            yield token.start_pos, depth


def column(source: Source, offset: int) -> int:
    """Columns before a character of a source, from 0."""
    start = source.text.rfind("\n", 0, offset) + 1
    return len(source.text[start:offset].expandtabs(TAB))


def _gap(source: Source, token: Token) -> Gap:
    first, *others = str(token).split("\n")
    trailing = Comment(first.rstrip(), column(source, token.start_pos)) if first.startswith("#") else None
    own, blanks = [], 0
    for k, line in enumerate(others):
        text = line.strip()
        if text:
            own.append((Comment(text, len(line[: line.index("#")].expandtabs(TAB))), blanks))
            blanks = 0
        elif k < len(others) - 1:  # the last part is the indentation of what follows
            blanks += 1
    return Gap(trailing, own, blanks)
