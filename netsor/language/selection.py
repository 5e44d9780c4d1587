"""Which outputs are wanted: those that are named, which must exist."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from netsor.ir.program import Program


def selected(program: Program, names: Iterable[str]) -> list[str]:
    """The outputs of these names, all if none is named.

    :raises NetsorError: for a name that is no output (N220)."""
    from difflib import get_close_matches

    from netsor.language.diagnostics import Diagnostic, NetsorError

    names, outputs, problems = list(names), [output.name for output in program.outputs], []
    for name in names:
        if name in outputs:
            continue
        near = get_close_matches(name, outputs, n=3)
        if any(family.name == name for family in program.families):
            message, hint = f"`{name}` is not among the outputs of this program", f"add it there: output {name}"
        else:
            message = f"this program has no output `{name}`"
            hint = f"did you mean {' or '.join(near)}?" if near else f"its outputs are {', '.join(outputs)}"
        problems.append(Diagnostic("N220", message, hint=hint))
    if problems:
        raise NetsorError(problems)
    return [name for name in outputs if not names or name in names]
