"""Columns that authors align by hand: `=` and `~` of lines that follow each other, and comments at the end of lines."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby, pairwise

from netsor.language.format.reading import Line, column
from netsor.language.format.wrapping import INDENTATION, PhysicalLine
from netsor.language.source import Source

BEFORE_COMMENT = 2  # spaces at least


def align_definitions(lines: list[Line], source: Source) -> None:
    """Align `=` and `~` in every run of lines that the author has aligned.

    A run is of statements of one kind that follow each other without a blank line or a comment between them.  It is
    aligned as a whole if two neighbours in it are aligned by extra spaces: a new line then falls into place.
    """
    for run in _runs(lines):
        signs = [_sign(line) for line in run]
        if not any(_aligned(source, one, other) for one, other in pairwise(zip(run, signs))):
            continue
        widths = [_width(line, sign) for line, sign in zip(run, signs)]
        for line, sign, width in zip(run, signs, widths):
            line.pieces[sign].space = " " * (max(widths) - width + 1)


def _runs(lines: list[Line]) -> Iterator[list[Line]]:
    run: list[Line] = []
    for line in lines:
        if run and not (_key(line) == _key(run[-1]) and not line.blanks):
            yield run
            run = []
        if _key(line):
            run.append(line)
    if run:
        yield run


def _key(line: Line) -> tuple[str, str, int] | None:
    """Lines with equal keys may be aligned with each other."""
    sign = _sign(line)
    if sign is None:
        return None
    return line.pieces[0].token.type, line.pieces[sign].token.type, line.depth


def _sign(line: Line) -> int | None:
    """The number of the piece that may be aligned: the only `=` or `~` outside of brackets, on the statement's first line."""
    found, depth = [], 0
    for k, piece in enumerate(line.pieces):
        kind = piece.token.type
        if piece.broken and not found:
            return None
        if kind in ("LPAR", "LSQB"):
            depth += 1
        elif kind in ("RPAR", "RSQB"):
            depth -= 1
        elif depth == 0 and kind in ("EQUAL", "TILDE"):
            found.append(k)
    return found[0] if len(found) == 1 else None


def _width(line: Line, sign: int) -> int:
    """Columns before the sign, without spaces before it."""
    return INDENTATION * line.depth + sum(len(piece.space) + len(piece.token) for piece in line.pieces[:sign])


def _aligned(source: Source, *lines: tuple[Line, int]) -> bool:
    columns = [column(source, line.pieces[sign].token.start_pos) for line, sign in lines]
    ends = [column(source, line.pieces[sign - 1].token.end_pos) for line, sign in lines]
    return columns[0] == columns[1] and any(own - end > 1 for own, end in zip(columns, ends))


def align_comments(lines: list[PhysicalLine]) -> str:
    """The text, with the comments at the ends of lines.

    Each comment keeps its column where the line leaves room for it; comments of one paragraph that share a column
    move to the right together.
    """
    found: list[str] = []
    for paragraph in _paragraphs(lines):
        columns: dict[int, int] = {}
        for line in paragraph:
            if line.comment:
                own = len(line.text) + BEFORE_COMMENT
                columns[line.comment.column] = max(columns.get(line.comment.column, line.comment.column), own)
        found += [""] * paragraph[0].blanks
        for line in paragraph:
            text = line.text
            if line.comment:
                text = f"{text:<{columns[line.comment.column]}}{line.comment.text}"
            found.append(text.rstrip())
    return "\n".join(found) + "\n"


def _paragraphs(lines: list[PhysicalLine]) -> Iterator[list[PhysicalLine]]:
    numbers, number = [], 0
    for line in lines:
        number += line.blanks > 0
        numbers.append(number)
    for _, group in groupby(zip(numbers, lines), key=lambda pair: pair[0]):
        yield [line for _, line in group]
