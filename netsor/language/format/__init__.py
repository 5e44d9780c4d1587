"""Programs in one style: the same tokens and comments, spaced and broken into lines by rule.

What is written is never changed, only how it stands on the page: numbers, names, brackets and the two spellings of `^`
stay as they are.  Line breaks inside brackets stay where the author put them, and a line that is longer than
wrapping.LINE_WIDTH is broken at the loosest place inside brackets.  `=` and `~` of lines that follow each other stay
aligned where the author has aligned them, and comments at the end of a line keep their column (alignment.py).
"""

from __future__ import annotations

from netsor.language import syntax
from netsor.language.format.alignment import align_comments, align_definitions
from netsor.language.format.reading import comments_of, read_lines
from netsor.language.format.wrapping import physical_lines
from netsor.language.parse import parse
from netsor.language.source import Source


def format_source(source: Source) -> str:
    """The program's text in the style of netsor.

    Formatting twice is formatting once; the syntax tree and the comments are those of the source.

    :raises NetsorError: if the program has syntax errors.
    :raises RuntimeError: if the result would mean something else (a bug, reported rather than written).
    """
    program = parse(source)
    lines = read_lines(program)
    align_definitions(lines, source)
    text = align_comments(physical_lines(lines))
    _verify(program, text)
    return text


def _verify(program: syntax.Program, text: str) -> None:
    formatted = Source(text, program.source.name)
    if not same_tree(program, parse(formatted)):
        raise RuntimeError("formatting would change the meaning of the program")
    if comments_of(program.source) != comments_of(formatted):
        raise RuntimeError("formatting would change the comments of the program")


def same_tree(one: syntax.Node, other: syntax.Node) -> bool:
    """Whether two syntax trees say the same, wherever they stand in their texts."""
    stack: list[tuple[object, object]] = [(one, other)]
    while stack:
        left, right = stack.pop()
        if type(left) is not type(right):
            return False
        if isinstance(left, tuple) and isinstance(right, tuple):
            if len(left) != len(right):
                return False
            stack += zip(left, right)
        elif isinstance(left, syntax.Node):
            stack += [(getattr(left, field), getattr(right, field)) for field in left.__slots__ if field != "source"]
        elif left != right:
            return False
    return True
