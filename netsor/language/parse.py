"""Text to tree."""

from __future__ import annotations

from pathlib import Path


from netsor.language import mistakes, syntax
from netsor.language.build import Builder
from netsor.language.diagnostics import Diagnostic, NetsorError
from netsor.language.driver import Driver
from netsor.language.grammar import parser
from netsor.language.layout import ERROR_LIMIT, NESTING_LIMIT, Layout, TooManyErrors
from netsor.language.source import SIZE_LIMIT, Source


def parse(source: Source | str) -> syntax.Program:
    """The syntax tree of a program.

    Raises NetsorError with one diagnostic for each independent mistake (codes N1xx, and N501 for numbers that are
    out of range).
    """
    if isinstance(source, str):
        source = Source(source)
    _check_text(source)
    layout = Layout(list(parser().lex(source.text)), source)
    builder = Builder(source)
    found: list[Diagnostic] = []

    def on_error(driver: Driver, position: int) -> None:
        found.append(mistakes.explain(driver, position))
        if len(found) >= ERROR_LIMIT:
            raise TooManyErrors

    program = None
    try:
        program = Driver(layout.run(), builder, on_error).run()
    except TooManyErrors:
        pass
    problems = layout.diagnostics + found + builder.diagnostics
    if problems:
        raise NetsorError(problems[:ERROR_LIMIT])
    _check_tree(program)
    return program


def read(path: Path | str) -> Source:
    """The source in a file; raises NetsorError if it cannot be read as text."""
    path = Path(path)
    try:
        content = path.read_bytes()
    except OSError as error:
        reason = "there is no such file" if isinstance(error, FileNotFoundError) else error.strerror or str(error)
        raise NetsorError(Diagnostic("N119", f"cannot read {path}: {reason}")) from None
    try:
        return Source(content.decode("utf-8"), str(path), path)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise NetsorError(Diagnostic(
            "N115", f"{path} is not a text file in UTF-8: byte {error.start + 1}, in line {line}, is "
            f"0x{content[error.start]:02x}")) from None


def _check_text(source: Source) -> None:
    if len(source.text) > SIZE_LIMIT:
        raise NetsorError(Diagnostic(
            "N114", f"{source.name} has {len(source.text):,} characters; a program may have {SIZE_LIMIT:,}",
            hint="tables of numbers belong in a file that `data` names"))
    if invisible := source.invisible_character():
        character = invisible.text
        raise NetsorError(Diagnostic(
            "N116", f"invisible character U+{ord(character):04X} in the text", invisible,
            "it could make the program read differently from what it computes"))
    if unnormalised := source.unnormalised():
        raise NetsorError(Diagnostic(
            "N117", "this text is not in Unicode normal form C, so that equal names could differ", unnormalised,
            "written with a combining or a compatibility character"))


def _check_tree(program: syntax.Program) -> None:
    if not program.statements:
        raise NetsorError(Diagnostic("N118", "this program has no statements", program.source.span(0, 0)))
    problems: list[Diagnostic] = []
    level: list[tuple[syntax.Node, bool]] = [(program, False)]
    for _ in range(NESTING_LIMIT):  # level by level: a deep tree must not meet Python's own limit
        below: list[tuple[syntax.Node, bool]] = []
        for node, in_block in level:
            if isinstance(node, syntax.Return) and not in_block:
                problems.append(Diagnostic("N124", "`return` stands outside a block", node.span))
            in_block = in_block or isinstance(node, syntax.Block)
            below += [(child, in_block) for child in node.children()]
        level = below
    if level:
        start = level[0][0].span.start
        problems.append(Diagnostic("N113", f"this is nested more than {NESTING_LIMIT} deep",
                                   program.source.span(start, start + 1)))
    if problems:
        raise NetsorError(problems)
