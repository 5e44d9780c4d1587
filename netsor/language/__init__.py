"""From the text of a program to a checked program."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from netsor.ir.program import Program
    from netsor.language.source import Source


def load_program(
    program: Path | str | Source, *, settings: Mapping[str, Any] = {}, data: Mapping[str, Any] = {},
    rules: Mapping[str, Any] = {}, free: bool = False
) -> Program:
    """The program in a file (or a Source), ready to be read.

    `settings` are values of parameters, numbers or constant expressions as text; `data` are arrays or files for `data`
    statements; `rules` are plug-in rules by name; with `free`, parameters that are not set stay symbols. Raises NetsorError with everything that is wrong with it.
    """
    from netsor.language.elaborate import elaborate
    from netsor.language.parse import parse, read
    from netsor.language.source import Source

    source = program if isinstance(program, Source) else read(program)
    tree = parse(source)
    directory = source.path.parent if source.path is not None else None
    name = source.path.stem if source.path is not None else "program"
    if free:
        from netsor.language.free import elaborate_free as elaborate
    return elaborate(tree, settings=settings, data=data, name=name, directory=directory, rules=rules)
