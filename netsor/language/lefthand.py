"""The left of a definition: which subscripts are indices, which are numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from netsor.ir.expressions import Index, Num
from netsor.language import syntax
from netsor.language.constants import numbers_of, whole
from netsor.language.diagnostics import Diagnostic, Label, NetsorError
from netsor.language.expressions import constant
from netsor.language.scope import IndexEntity, Part
from netsor.language.state import FAMILY_LIMIT, Frame, State, fail
from netsor.language.values import NeedsValues


@dataclass(frozen=True)
class Left:
    """`pattern` holds the subscripts, an Index for all its values or a number; `words` names axes that have numbers."""

    pattern: tuple[Index | int, ...]
    axes: tuple[Index, ...]
    words: tuple[str | None, ...] = ()

    def at(self, index: Index, number: int) -> Left:
        pattern = tuple(number if each == index else each for each in self.pattern)
        words = tuple(index.name if each == index else word for each, word in zip(self.pattern, self.words))
        return Left(pattern, tuple(axis for axis in self.axes if axis != index), words)

    def define(self, element: syntax.Element, what: str, part: Part, state: State) -> None:
        """Give the name its new part; an error if another one covers the same subscripts."""
        pieces = state.scope.pieces(element.name, what, len(self.pattern), element.span)
        clash = pieces.overlapping(self.pattern)
        if clash is not None:
            raise NetsorError(Diagnostic(
                "N202", f"`{label(element.name.name, self.pattern)}` is defined twice", element.span,
                "defined again here",
                (Label(clash[1], "first defined here"),) if clash[1] != element.span else (),
                "" if clash[1] != element.span else "in a loop, give the name the loop variable as a subscript"))
        pieces.left = self.words or pieces.left
        state.scope.define(pieces, self.pattern, part, element.span)


def label(name: str, pattern: tuple[Index | int, ...]) -> str:
    if not pattern:
        return name
    return f"{name}[{','.join(each.name if isinstance(each, Index) else str(each) for each in pattern)}]"


def read_left(element: syntax.Element, frame: Frame) -> Left:
    """An index stands for all its values, at most once; anything else is a number."""
    pattern: list[Index | int] = []
    words: list[str | None] = []
    for node in element.subscripts:
        index = _index(node, frame)
        words.append(node.dotted if isinstance(node, syntax.Name) and not node.subscripts else None)
        if index is None:
            pattern.append(_number(node, frame))
        elif index in pattern:
            fail("N302", f"the index `{index.name}` stands twice on the left", node.span, "", (),
                 "use another index with the same range")
        else:
            pattern.append(index)
    return Left(tuple(pattern), tuple(each for each in pattern if isinstance(each, Index)), tuple(words))


def _index(node: syntax.Node, frame: Frame) -> Index | None:
    if not isinstance(node, syntax.Name) or node.subscripts or node.dotted in frame.names:
        return None
    entity = frame.state.scope.entities.get(node.dotted)
    return entity.index if isinstance(entity, IndexEntity) else None


def _number(node: syntax.Node, frame: Frame) -> int:
    try:
        expr = constant(node, frame, "a subscript on the left")
    except NetsorError as error:
        if error.diagnostics[0].code == "N301":
            fail("N302", "a subscript on the left is an index by itself, or a number", node.span, "", (),
                 "to define shifted elements, use a loop: for i in …:")
        raise
    number = whole(expr)
    if number is None:
        fail("N302", "a subscript on the left is an index or a whole number", node.span)
    return number


def each_value(left: Left, frame: Frame, define: Callable[[Left, Frame], None]) -> None:
    """Define the whole family at once; where the definition differs from value to value of an index, value by value."""
    if any(axis.range.size == 0 for axis in left.axes if not axis.range.infinite):
        return  # an index without values: there is nothing to define
    inside = frame.with_indices(**{axis.name: axis for axis in left.axes})
    try:
        define(left, inside)
        return
    except NeedsValues as need:
        index = need.index
    if index not in left.axes:
        fail("N901", f"the index `{index.name}` could not be resolved", frame.state.current)
    if index.range.infinite:
        fail("N313", f"`{index.name}` has infinitely many values, which cannot be told apart", frame.state.current)
    if index.range.size > FAMILY_LIMIT:
        fail("N512", f"this would be {index.range.size:,} separate definitions", frame.state.current)
    for number in numbers_of(index.range):
        rest = left.at(index, number)
        fixed = frame.with_indices(**{index.name: Num(number)})
        each_value(rest, fixed, define)
