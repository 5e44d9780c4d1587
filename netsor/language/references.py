"""Names in expressions: parameters, indices, and elements of families, matrices and arrays."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from netsor.ir.expressions import ONE, Array, Call, Expr, Index, Num, Range, add
from netsor.ir.program import ArrayDeclaration, Matrix
from netsor.ir.rewrite import free_indices
from netsor.language import syntax
from netsor.language.diagnostics import Label
from netsor.language.expressions import Meaning, evaluate, evaluates, value
from netsor.language.ranges import check_subscripts, interval, normal
from netsor.language.scope import (
    FunctionEntity, IndexEntity, ParameterEntity, Pieces, WidthEntity, count, is_built_in,
)
from netsor.language.source import Span
from netsor.language.state import Frame, fail
from netsor.language.values import FunctionValue, Level, MatrixValue, NeedsValues, Value


@evaluates(syntax.Name)
def name(node: syntax.Name, frame: Frame) -> Meaning:
    if len(node.path) > 1:
        fail("N409", "names inside blocks are not supported yet", node.span)
    word = node.path[0].name
    if word in frame.names or word in frame.indices:
        if node.subscripts:
            fail("N303", f"`{word}` has no subscripts here", node.span)
        if word in frame.names:
            return _local(frame.names[word], node.span)
        return _index_value(frame.indices[word], node.span)
    if is_built_in(word) and word not in frame.state.scope.entities:
        return _built_in(node, word)
    if word == frame.owner and word not in frame.state.scope.entities and word not in frame.state.scope.poisoned:
        fail("N204", f"`{word}` is used in its own definition", node.path[0].span, "", (),
             "a recurrence has a first element and a loop: x[1] = …, then for t in 2..3: x[t] = … x[t-1]"
             if node.subscripts else "")
    entity = frame.state.scope.find(word, node.path[0].span)
    match entity:
        case Pieces():
            return _element(entity, node, frame)
        case IndexEntity():
            fail("N301", f"the index `{word}` is neither on the left nor bound by a reduction", node.span, "",
                 (Label(entity.span, "declared here"),))
    if node.subscripts:
        fail("N303", f"`{word}` has no subscripts", node.span, "", (Label(entity.span, "declared here"),))
    match entity:
        case ParameterEntity():
            return Value(Level.NUMBER, entity.value, node.span)
        case WidthEntity():
            return Value(Level.NUMBER, ONE, node.span, {frame.state.widths[word]: Fraction(1)})
        case FunctionEntity():
            return FunctionValue(word, node.span, entity.definition)
    raise TypeError(type(entity).__name__)


def _local(meaning: Meaning, span: Span) -> Meaning:
    """What a local name stands for, seen at the place where it is used."""
    if isinstance(meaning, Value | MatrixValue):
        return replace(meaning, span=span)
    return meaning


def _index_value(expr: Expr, span: Span) -> Value:
    if isinstance(expr, Index) and expr.range.infinite:
        fail("N313", f"`{expr.name}` has infinitely many values and is not a number", span, "",
             hint=f"it can only be a subscript; with a finite {expr.range.symbol} it is a number")
    return Value(Level.NUMBER, expr, span)


def _built_in(node: syntax.Name, word: str) -> Meaning:
    if node.subscripts:
        fail("N303", f"`{word}` is built in and has no subscripts", node.span)
    if word == "pi":
        return Value(Level.NUMBER, Num(math.pi), node.span)
    return FunctionValue(word, node.span)


@evaluates(syntax.Transpose)
def transpose(node: syntax.Transpose, frame: Frame) -> Meaning:
    matrix = evaluate(node.operand, frame)
    if not isinstance(matrix, MatrixValue):
        fail("N308", "`.T` is the transpose of a matrix", node.span,
             f"this is {matrix.level.word if isinstance(matrix, Value) else 'not a matrix'}")
    return replace(matrix, span=node.span, transposed=not matrix.transposed)


# --- subscripts


def subscript(node: syntax.Node, frame: Frame) -> Expr:
    """A subscript as a sum in normal form; an index whose range is infinite stands alone."""
    if isinstance(node, syntax.Name) and not node.subscripts and node.dotted in frame.indices:
        return frame.indices[node.dotted]
    meaning = value(node, frame)
    if meaning.level != Level.NUMBER:
        fail("N320", f"a subscript must be a constant, and this is {meaning.level.word}", node.span)
    if isinstance(meaning.expr, Num) and not math.isfinite(meaning.expr.value):
        fail("N502", "inf is no subscript", node.span)
    return normal(meaning.expr)


def is_wrap(node: syntax.Node) -> bool:
    return isinstance(node, syntax.Call) and node.function.dotted == "wrap"


def wrapped(node: syntax.Call, entity: Pieces, place: int, frame: Frame) -> Expr:
    """`wrap(e)` as the subscript at this place: e, taken around the circle of the values that the subscript has."""
    if len(node.arguments) != 1 or node.keywords:
        fail("N316", "`wrap` takes 1 argument, the position on the circle", node.span)
    position = subscript(node.arguments[0], frame)
    if place >= entity.rank:
        return position  # too many subscripts: said where they are counted
    ranges = [each.range if isinstance(each, Index) else Range(each, each) for each in (p[place] for p, _, _ in entity.all_parts())]
    if any(range_.infinite for range_ in ranges):
        fail("N313", "an infinite range is no circle", node.span)
    low, high = min(range_.lo for range_ in ranges), max(range_.hi for range_ in ranges)
    size = high - low + 1
    if isinstance(position, Num):
        return Num((position.value - low) % size + low)
    bounds = interval(position)
    if bounds is not None and low <= bounds[0] and bounds[1] <= high:
        return position
    return normal(add(Call("mod", (normal(add(position, -low)), Num(size))), low))


def _element(entity: Pieces, node: syntax.Name, frame: Frame) -> Meaning:
    terms = [
        wrapped(each, entity, place, frame) if is_wrap(each) else subscript(each, frame)
        for place, each in enumerate(node.subscripts)
    ]
    return element(entity, terms, node, frame)


def element(entity: Pieces, subscripts: list[Expr], node: syntax.Name, frame: Frame) -> Meaning:
    """The element of a family, matrix or array at these subscripts."""
    if len(subscripts) != entity.rank:
        needs = " and needs it here, as in " + f"{entity.name}[i]" if entity.rank == 1 else " and needs them here"
        rest = f", not {len(subscripts)}" if subscripts else needs
        fail("N303", f"`{entity.name}` has {count(entity.rank, 'subscript')}{rest}", node.span, "",
             (Label(entity.span, "defined here"),))
    spans = [each.span for each in node.subscripts]
    pattern, part = _part(entity, subscripts, node, spans)
    ranges = [axis.range if isinstance(axis, Index) else None for axis in pattern]
    check_subscripts(entity.name, subscripts, ranges, spans, frame)
    own = tuple(each for each, axis in zip(subscripts, pattern) if isinstance(axis, Index))
    if isinstance(part, Matrix):
        return MatrixValue(part, own, node.span)
    if isinstance(part, ArrayDeclaration):
        return Value(Level.NUMBER, _entry(part, own, frame), node.span)
    return Value(Level.VECTOR if part.is_vector else Level.SCALAR, part[own], node.span, width=part.width)


def _entry(array: ArrayDeclaration, subscripts: tuple[Expr, ...], frame: Frame) -> Expr:
    """An entry of an array; a number where the subscripts are numbers (in a derivation arrays keep their names)."""
    if frame.state.free is not None or not all(isinstance(each, Num) for each in subscripts):
        return Array(array, subscripts)
    position = tuple(int(each.value) - range_.lo for each, range_ in zip(subscripts, array.ranges))
    entry = float(np.asarray(array.values)[position])
    return Num(int(entry)) if entry.is_integer() and abs(entry) < 2**53 else Num(entry)


def _part(entity: Pieces, subscripts: Sequence[Expr], node: syntax.Name, spans: Sequence[Span]):
    """The part of a family that these subscripts belong to."""
    found = []
    undecided: Expr | None = None
    for mask, group in entity.parts.items():
        fixed = [term for term, constant in zip(subscripts, mask) if constant]
        open_terms = [term for term in fixed if not isinstance(term, Num)]
        if open_terms:
            undecided = open_terms[0]
            continue
        constants = tuple(term.value for term in fixed)
        found += [entry for entry in group.get(constants, ()) if _may_meet(entry[0], subscripts)]
    if undecided is None and len(found) == 1:
        return found[0][0], found[0][1]
    if undecided is None and not found:
        _missing(entity, subscripts, node, spans)
    inside = [entry for entry in found if _inside(entry[0], subscripts)]
    if undecided is None and len(inside) == 1:
        return inside[0][0], inside[0][1]
    differing = undecided if undecided is not None else next(term for term in subscripts if free_indices(term))
    if not free_indices(differing):
        fail("N305", "this subscript is not known to be a whole number", spans[list(subscripts).index(differing)])
    raise NeedsValues(min(free_indices(differing), key=lambda index: (index.name, str(index.tag))))


def _may_meet(pattern: tuple[Index | int, ...], subscripts: Sequence[Expr]) -> bool:
    return all(not isinstance(axis, Index) or not isinstance(term, Num)
               or axis.range.lo <= term.value <= axis.range.hi for axis, term in zip(pattern, subscripts))


def _inside(pattern: tuple[Index | int, ...], subscripts: Sequence[Expr]) -> bool:
    for axis, term in zip(pattern, subscripts):
        if isinstance(axis, Index):
            bounds = interval(term)
            if bounds is None or bounds[0] < axis.range.lo or bounds[1] > axis.range.hi:
                return False
    return True


def _missing(entity: Pieces, subscripts: Sequence[Expr], node: syntax.Name, spans: Sequence[Span]) -> None:
    """Say which element is asked for and which there are."""
    for term, span in zip(subscripts, spans):
        if isinstance(term, Num) and term.value != int(term.value):
            fail("N305", f"this subscript is not a whole number: it is {term.value}", span)
    parts = entity.all_parts()
    if len(parts) == 1 and all(isinstance(axis, Index) for axis in parts[0][0]):
        ranges = [axis.range for axis in parts[0][0]]
        for term, range_, span in zip(subscripts, ranges, spans):
            if isinstance(term, Num) and not range_.lo <= term.value <= range_.hi:
                fail("N304", f"`{entity.name}` has no element at {term.value}", span,
                     f"the range is {range_.lo}..{range_.hi}", (Label(entity.span, "defined here"),))
    from netsor.ir.text import text

    asked = f"{entity.name}[{','.join(map(text, subscripts))}]"
    shown = [_label(entity.name, pattern) for pattern, _, _ in parts]
    some = ", ".join(shown if len(shown) <= 6 else [*shown[:3], "…", *shown[-2:]])
    fail("N206", f"`{asked}` is not defined (yet)", node.span, f"defined up to here: {some}" if shown else "",
         (Label(entity.span, "first defined here"),))


def _label(name: str, pattern: tuple[Index | int, ...]) -> str:
    return f"{name}[{','.join(each.name if isinstance(each, Index) else str(each) for each in pattern)}]"
