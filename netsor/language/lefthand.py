"""The left of a definition: which subscripts are indices, which are numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import NoReturn

from netsor.ir.expressions import Index, Num
from netsor.language import syntax
from netsor.language.constants import is_empty, numbers_of, whole
from netsor.language.diagnostics import Diagnostic, Label, NetsorError
from netsor.language.expressions import constant
from netsor.language.references import check_index_is_declared
from netsor.language.scope import IndexEntity, Part, Piece, Scope, label
from netsor.language.source import Span
from netsor.language.state import FAMILY_LIMIT, Frame, fail, written
from netsor.language.values import NeedsValues


@dataclass(frozen=True)
class Left:
    """`pattern` holds the subscripts, an Index for all its values or a number; `words` names axes that have numbers.

    In a block the pattern begins with the subscripts of the call. `axes` are the indices that what is defined has as
    axes: all those of the pattern, or without those that the call carries.
    """

    pattern: tuple[Index | int, ...]
    axes: tuple[Index, ...]
    words: tuple[str | None, ...] = ()

    @property
    def own(self) -> tuple[Index | int, ...]:
        """The subscripts that what is defined has: the numbers and its axes."""
        return tuple(each for each in self.pattern if not isinstance(each, Index) or each in self.axes)

    def without(self, indices: Iterable[Index]) -> Left:
        """The same left for something that serves all values of these indices."""
        dropped = set(indices)
        return replace(self, axes=tuple(axis for axis in self.axes if axis not in dropped))

    def renamed(self, names: Mapping[Index, Index]) -> Left:
        """The same left with other indices."""
        return replace(self, pattern=tuple(names.get(each, each) for each in self.pattern),
                       axes=tuple(names.get(axis, axis) for axis in self.axes))

    def at(self, index: Index, number: int) -> Left:
        pattern = tuple(number if each == index else each for each in self.pattern)
        words = tuple(written(index) if each == index else word for each, word in zip(self.pattern, self.words))
        return Left(pattern, tuple(axis for axis in self.axes if axis != index), words)

    def define(self, element: syntax.Element, what: str, part: Part, scope: Scope) -> None:
        """Give the name its new part; an error if another one covers the same subscripts."""
        pieces = scope.pieces(element.name, what, len(self.pattern), element.span)
        clash = pieces.overlapping(self.pattern)
        if clash is not None:
            raise NetsorError(Diagnostic(
                "N202", f"`{label(element.name.name, self.pattern[len(scope.prefix):])}` is defined twice", element.span,
                "defined again here",
                (Label(clash.span, "first defined here"),) if clash.span != element.span else (),
                "" if clash.span != element.span else "in a loop, give the name the loop variable as a subscript"))
        pieces.left = self.words or pieces.left
        scope.define(pieces, Piece(self.pattern, part, element.span, self.axes))


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
    return left_of((*frame.scope.prefix, *pattern), (*frame.scope.words, *words))


def left_of(pattern: Iterable[Index | int], words: Iterable[str | None] = ()) -> Left:
    pattern = tuple(pattern)
    return Left(pattern, tuple(each for each in pattern if isinstance(each, Index)), tuple(words))


def _index(node: syntax.Node, frame: Frame) -> Index | None:
    if not isinstance(node, syntax.Name) or node.subscripts or node.dotted in frame.names:
        return None
    entity = frame.entity(node.dotted)
    return entity.index if isinstance(entity, IndexEntity) else None


def _number(node: syntax.Node, frame: Frame) -> int:
    check_index_is_declared(node, frame)
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
    if any(is_empty(axis.range) for axis in left.axes):
        return  # an index without values: there is nothing to define
    inside = frame
    for axis in left.axes:
        inside = inside.at(axis, axis)
    try:
        define(left, inside)
        return
    except NeedsValues as need:
        index = need.index
    if index not in left.axes and index in left.pattern:
        serves_all(index, frame.state.current)
    if index not in left.axes:
        fail("N901", f"the index `{index.name}` could not be resolved", frame.state.current)
    if index.range.infinite:
        fail("N313", f"`{index.name}` has infinitely many values, which cannot be told apart", frame.state.current)
    if index.range.size > FAMILY_LIMIT:
        fail("N512", f"this would be {index.range.size:,} separate definitions", frame.state.current)
    for number in numbers_of(index.range):
        rest = left.at(index, number)
        each_value(rest, frame.at(index, Num(number)), define)


def serves_all(index: Index, span: Span | None) -> NoReturn:
    """A matrix or input of a block is the same for all values of the subscripts that its call carries."""
    fail("N332", f"this depends on `{index.name}`, which the call carries", span,
         "the matrices and inputs of a block serve all its values")
