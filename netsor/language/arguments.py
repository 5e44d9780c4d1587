"""The arguments of a call of a `def` or `block`: by place, then by name."""

from __future__ import annotations

from netsor.language import syntax
from netsor.language.diagnostics import Label
from netsor.language.scope import count
from netsor.language.state import fail


def given_arguments(definition: syntax.Function | syntax.Block, node: syntax.Call) -> dict[str, syntax.Node]:
    """What is given for each argument, by its name; N316 where an argument does not fit or is missing without a default."""
    word = definition.name.name
    formals = [formal.element.name.name for formal in definition.formals]
    here = (Label(definition.name.span, "defined here"),)
    if len(node.arguments) > len(formals):
        fail("N316", f"`{word}` takes {count(len(formals), 'argument')}, and {len(node.arguments)} are given", node.span, "", here)
    given: dict[str, syntax.Node] = dict(zip(formals, node.arguments))
    for keyword in node.keywords:
        name = keyword.name.name
        if name not in formals:
            known = f"its arguments are {', '.join(formals)}"
            fail("N316", f"`{word}` has no argument called `{name}`", keyword.name.span, "", (Label(definition.name.span, known),))
        if name in given:
            fail("N316", f"`{name}` is given twice", keyword.span)
        given[name] = keyword.value
    for formal in definition.formals:
        name = formal.element.name.name
        if name not in given and formal.default is None:
            fail("N316", f"`{word}` needs a value for `{name}`", node.span, "", (Label(formal.span, "this argument"),))
    return given


def check_formals(formals: tuple[syntax.Formal, ...]) -> None:
    """N321 where a name occurs twice."""
    seen: set[str] = set()
    for formal in formals:
        name = formal.element.name
        if name.name in seen:
            fail("N321", f"the argument `{name.name}` occurs twice", formal.element.span)
        seen.add(name.name)
