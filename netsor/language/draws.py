"""What rules of plug-ins draw: once for each call in the text of a statement, whatever number of families that makes."""

from __future__ import annotations

from netsor.ir.expressions import Expr
from netsor.ir.facts import by_draw, uses
from netsor.ir.program import Custom, Draw, Family
from netsor.language import syntax
from netsor.language.diagnostics import Diagnostic, NetsorError
from netsor.language.state import Frame


def draw_of(node: syntax.Call, width: str, constants: tuple[Expr, ...], frame: Frame) -> tuple[Draw, tuple[Expr, ...]]:
    """The draw of this call, and the constants that it is made with.

    It is the same for all values that indices take one by one, but not for two passes of a loop or calls of a block: each of
    these elaborates statements of its own. Vectors of another width are drawn for by themselves.
    """
    key = (frame.state.statements, frame.calls, node, width)
    return frame.state.draws.setdefault(key, (Draw(node.span._replace(call=frame.state.call)), constants))


def arguments_first(families: list[Family]) -> list[Family]:
    """The families in an order in which all that a draw is applied to comes before its first result.

    :raises NetsorError: N409 where there is none, because it is applied to results of its own."""
    parts = by_draw(families)
    if all(len(each) == 1 for each in parts.values()):
        return families
    needed = {draw: list(dict.fromkeys(used for part in each for used in uses(part))) for draw, each in parts.items()}
    ordered: dict[Family, None] = {}
    entered: set[Family] = set()
    for family in families:
        stack = [family]
        while stack:
            current = stack[-1]
            before = needed[current.definition.draw] if isinstance(current.definition, Custom) else uses(current)
            missing = [each for each in before if each not in ordered]
            if missing and current in entered:
                circle = [each for each in stack[stack.index(current):] if each in entered]
                raise NetsorError(_applied_to_itself(circle, parts))
            entered.add(current)
            if missing:
                stack += missing[::-1]
                continue
            ordered.setdefault(stack.pop())
            if isinstance(current.definition, Custom):
                needed[current.definition.draw] = []  # so that many parts are not gone through for each of them
    return list(ordered)


def _applied_to_itself(circle: list[Family], parts: dict[Draw, list[Family]]) -> Diagnostic:
    family = next(each for each in circle if isinstance(each.definition, Custom) and len(parts[each.definition.draw]) > 1)
    return Diagnostic(
        "N409", f"`{family.definition.rule.name}` draws once for all elements here, and some of them are computed from others",
        family.definition.draw.span, "", (),
        "what it is applied to comes before; in a loop (for k in 2..3: y[k] = …) every pass draws anew")
