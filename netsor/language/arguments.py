"""The arguments of a call of a `def` or `block`: by place, then by name."""

from __future__ import annotations

from netsor.language import syntax
from netsor.language.diagnostics import Label
from netsor.language.scope import count
from netsor.language.state import fail


def given_arguments(definition: syntax.Function | syntax.Block, node: syntax.Call) -> dict[str, syntax.Node]:
    """What is given for each argument, by its name; N316 where an argument does not fit or is missing without a default."""
    called = _called(definition, node)
    formals = [formal.element.name.name for formal in definition.formals]
    here = (Label(definition.name.span, "defined here"),)
    if len(node.arguments) > len(formals):
        fail("N316", f"{called} takes {count(len(formals), 'argument')}, and {len(node.arguments)} are given", node.span, "", here,
             _other(definition, node, f"that takes {len(node.arguments)}"))
    given: dict[str, syntax.Node] = dict(zip(formals, node.arguments))
    for keyword in node.keywords:
        name = keyword.name.name
        if name not in formals:
            known = f"its arguments are {', '.join(formals)}"
            fail("N316", f"{called} has no argument called `{name}`", keyword.name.span, "", (Label(definition.name.span, known),),
                 _other(definition, node, f"that has an argument `{name}`"))
        if name in given:
            fail("N316", f"`{name}` is given twice", keyword.span)
        given[name] = keyword.value
    for formal in definition.formals:
        name = formal.element.name.name
        if name not in given and formal.default is None:
            fail("N316", f"{called} needs a value for `{name}`", node.span, "", (Label(formal.span, "this argument"),),
                 _other(definition, node, f"that calls `{definition.name.name}` with one"))
    return given


def _passed(definition: syntax.Function | syntax.Block, node: syntax.Call) -> bool:
    """Whether the call is by another name than that of the definition: of an argument for which it was passed."""
    return node.function.dotted != definition.name.name


def _called(definition: syntax.Function | syntax.Block, node: syntax.Call) -> str:
    own = f"`{definition.name.name}`"
    return f"`{node.function.dotted}`, here {own}," if _passed(definition, node) else own


def _other(definition: syntax.Function | syntax.Block, node: syntax.Call, wanted: str) -> str:
    """What to pass instead; the call itself may stand in a block of someone else's."""
    what = "block" if isinstance(definition, syntax.Block) else "`def`"
    return f"pass a {what} {wanted}" if _passed(definition, node) else ""


def check_formals(formals: tuple[syntax.Formal, ...]) -> None:
    """N321 where a name occurs twice."""
    seen: set[str] = set()
    for formal in formals:
        name = formal.element.name
        if name.name in seen:
            fail("N321", f"the argument `{name.name}` occurs twice", formal.element.span)
        seen.add(name.name)
