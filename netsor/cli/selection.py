"""``--output NAME``: which outputs are wanted."""

from __future__ import annotations


def selected(program, outputs: tuple[str, ...]) -> list[str]:
    """The outputs asked for, all if none is named; NetsorError for a name that is no output."""
    from difflib import get_close_matches

    from netsor.language.diagnostics import Diagnostic, NetsorError

    problems = []
    for name in outputs:
        if name in program.outputs:
            continue
        near = get_close_matches(name, program.outputs, n=3)
        if any(family.name == name for family in program.ir.families):
            message, hint = f"`{name}` is not among the outputs of this program", f"add it there: output {name}"
        else:
            message = f"this program has no output `{name}`"
            hint = f"did you mean {' or '.join(near)}?" if near else f"its outputs are {', '.join(program.outputs)}"
        problems.append(Diagnostic("N220", message, hint=hint))
    if problems:
        raise NetsorError(problems)
    return [name for name in program.outputs if not outputs or name in outputs]
