"""Names in expressions: parameters, indices, and elements of families, matrices and arrays."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import NoReturn

import numpy as np

from netsor.ir.expressions import ONE, Array, Call, Coord, Expr, Index, Num, Range, ScalarRef, add, mul
from netsor.ir.kernel import ends, range_size
from netsor.ir.program import ArrayDeclaration, Matrix
from netsor.ir.rewrite import free_indices, substitute
from netsor.language import syntax
from netsor.language.constants import NeedsNumber, free_parameters
from netsor.language.diagnostics import Label
from netsor.language.expressions import Meaning, evaluate, evaluates, value
from netsor.language.ranges import check_subscripts, interval, normal
from netsor.language.scope import (
    Argument, BlockEntity, FunctionArgument, FunctionEntity, IndexEntity, ParameterEntity, Piece, Pieces, WidthEntity, count,
    is_built_in, label,
)
from netsor.language.source import Span
from netsor.language.state import Frame, fail
from netsor.language.values import FunctionValue, Level, MatrixValue, NeedsValues, Value


@evaluates(syntax.Name)
def name(node: syntax.Name, frame: Frame) -> Meaning:
    if len(node.path) > 1:
        return _element(inner_name(node.path, frame), node, frame)
    word = node.path[0].name
    if word in frame.names or word in frame.indices:
        if node.subscripts:
            fail("N303", f"`{word}` has no subscripts here", node.span)
        if word in frame.names:
            return _local(frame.names[word], node.span)
        return _index_value(frame.indices[word], node.span)
    if (is_built_in(word) or word in frame.state.rules) and frame.entity(word) is None:
        return _built_in(node, word)
    if word == frame.owner and frame.entity(word) is None and not frame.scope.is_poisoned(word):
        fail("N204", f"`{word}` is used in its own definition", node.path[0].span, "", (),
             "a recurrence has a first element and a loop: x[1] = …, then for t in 2..3: x[t] = … x[t-1]"
             if node.subscripts else "")
    entity = frame.find(word, node.path[0].span)
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
            return Value(Level.NUMBER, ONE, node.span, {frame.state.widths[entity.width]: Fraction(1)})
        case FunctionEntity() | BlockEntity():
            return FunctionValue(word, node.span, entity)
        case FunctionArgument():
            return replace(entity.value, span=node.span)
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
    check_index_is_declared(node, frame)
    meaning = value(node, frame)
    if meaning.level != Level.NUMBER:
        fail("N320", f"a subscript must be a constant, and this is {meaning.level.word}", node.span)
    if isinstance(meaning.expr, Num) and not math.isfinite(meaning.expr.value):
        fail("N502", "inf is no subscript", node.span)
    return normal(meaning.expr)


def check_index_is_declared(node: syntax.Node, frame: Frame) -> None:
    """A subscript that is an unknown name was to be an index."""
    if not isinstance(node, syntax.Name) or len(node.path) > 1 or node.subscripts:
        return
    word, scope = node.dotted, frame.scope
    if word in frame.names or word in frame.indices or frame.entity(word) is not None or is_built_in(word):
        return
    if not scope.knows(word) and not scope.suggestion(word):
        fail("N201", f"`{word}` is not defined", node.span, "", (), f"declare it: index {word} in 1..…")


def is_wrap(node: syntax.Node) -> bool:
    return isinstance(node, syntax.Call) and node.function.dotted == "wrap"


def wrapped(node: syntax.Call, entity: Pieces, place: int, frame: Frame) -> Expr:
    """`wrap(e)` as the subscript at this place: e, taken around the circle of the values that the subscript has."""
    if len(node.arguments) != 1 or node.keywords:
        fail("N316", "`wrap` takes 1 argument, the position on the circle", node.span)
    position = subscript(node.arguments[0], frame)
    place += len(frame.terms)  # after the subscripts that are not written
    if place >= entity.rank:
        return position  # too many subscripts: said where they are counted
    values = [piece.pattern[place] for piece in entity.all_parts()]
    ranges = [each.range if isinstance(each, Index) else Range(each, each) for each in values]
    if any(range_.infinite for range_ in ranges):
        fail("N313", "an infinite range is no circle", node.span)
    bounds = [bound for range_ in (*ranges, *(index.range for index in free_indices(position))) for bound in range_.bounds or ()]
    if bounds:
        return _wrapped_free(position, ranges, bounds)
    low, high = min(range_.lo for range_ in ranges), max(range_.hi for range_ in ranges)
    size = high - low + 1
    if isinstance(position, Num):
        return Num((position.value - low) % size + low)
    bounds = interval(position)
    if bounds is not None and low <= bounds[0] and bounds[1] <= high:
        return position
    return normal(add(Call("mod", (normal(add(position, -low)), Num(size))), low))


def _wrapped_free(position: Expr, ranges: list[Range], bounds: list[Expr]) -> Expr:
    """The same where free parameters bound a range: the size of the circle is an expression."""
    circle = ranges[0]
    if any(range_ != circle for range_ in ranges):
        raise NeedsNumber(frozenset().union(*map(free_parameters, bounds)))
    if isinstance(position, Index) and position.range == circle:
        return position
    low, _ = ends(circle)
    return normal(add(Call("mod", (normal(add(position, mul(-1, low))), range_size(circle))), low))


def inner_name(path: Sequence[syntax.Identifier], frame: Frame) -> Pieces:
    """What `z.p` stands for: `p` in the block whose call defines `z`."""
    entity = frame.find(path[0].name, path[0].span)
    for step, part in enumerate(path[1:], start=1):
        word = ".".join(each.name for each in path[:step])
        if not isinstance(entity, Pieces) or not entity.inner:
            fail("N211", f"`{word}` is not the value of a block, so that no names are inside it", path[step - 1].span, "",
                 (Label(entity.span, "defined here"),))
        if part.name not in entity.inner:
            fail("N211", f"there is no `{part.name}` inside `{word}`", part.span, "", (),
                 frame.scope.suggestion(part.name, tuple(entity.inner)) or f"inside it are {', '.join(entity.inner)}")
        if entity.inner[part.name] is None:
            fail("N211", f"`{part.name}` is not one thing in all the calls that define `{word}`", part.span, "",
                 (Label(entity.span, "the first of them"),))
        entity = entity.inner[part.name]
    return entity


def _element(entity: Pieces, node: syntax.Name, frame: Frame) -> Meaning:
    terms = [
        wrapped(each, entity, place, frame) if is_wrap(each) else subscript(each, frame)
        for place, each in enumerate(node.subscripts)
    ]
    return element(entity, terms, node, frame)


def element(entity: Pieces, given: list[Expr], node: syntax.Name, frame: Frame) -> Meaning:
    """The element of a family, matrix or array at these subscripts, after those of the block in which the name stands."""
    rank = entity.rank - len(frame.terms)
    if len(given) != rank:
        needs = " and needs it here, as in " + f"{entity.name}[i]" if rank == 1 else " and needs them here"
        rest = f", not {len(given)}" if given else needs
        fail("N303", f"`{entity.name}` has {count(rank, 'subscript')}{rest}", node.span, "",
             (Label(entity.span, "defined here"),))
    subscripts = [*frame.terms, *given]
    spans = [*[node.span] * len(frame.terms), *(each.span for each in node.subscripts)]
    piece = _piece(entity, subscripts, node, spans, len(frame.terms))
    ranges = [axis.range if isinstance(axis, Index) else None for axis in piece.pattern]
    check_subscripts(entity.name, subscripts, ranges, spans, frame)
    own = tuple(each for each, axis in zip(subscripts, piece.pattern) if isinstance(axis, Index) and axis in piece.axes)
    part = piece.part
    if isinstance(part, Argument):
        return replace(renamed(part.value, dict(zip(piece.axes, own)), frame), span=node.span)
    if isinstance(part, Matrix):
        return MatrixValue(part, own, node.span)
    if isinstance(part, ArrayDeclaration):
        return Value(Level.NUMBER, _entry(part, own, frame), node.span)
    return Value(Level.VECTOR if part.is_vector else Level.SCALAR, part[own], node.span, width=part.width)


def renamed(meaning: Meaning, terms: Mapping[Index, Expr], frame: Frame) -> Meaning:
    """The same with these terms for its indices."""
    if isinstance(meaning, MatrixValue):
        return replace(meaning, subscripts=tuple(normal(substitute(each, terms)) for each in meaning.subscripts))
    if not isinstance(meaning, Value):
        return meaning
    expr = substitute(meaning.expr, terms)
    if isinstance(expr, Coord | ScalarRef):
        expr = type(expr)(expr.family, tuple(map(normal, expr.subscripts)))
    elif isinstance(expr, Array):
        expr = _entry(expr.declaration, tuple(map(normal, expr.subscripts)), frame)
    return replace(meaning, expr=expr)


def _entry(array: ArrayDeclaration, subscripts: tuple[Expr, ...], frame: Frame) -> Expr:
    """An entry of an array; a number where the subscripts are numbers (in a derivation arrays keep their names)."""
    if frame.state.free is not None or not all(isinstance(each, Num) for each in subscripts):
        return Array(array, subscripts)
    position = tuple(int(each.value) - range_.lo for each, range_ in zip(subscripts, array.ranges))
    entry = float(np.asarray(array.values)[position])
    return Num(int(entry)) if entry.is_integer() and abs(entry) < 2**53 else Num(entry)


def _piece(
    entity: Pieces, subscripts: Sequence[Expr], node: syntax.Name, spans: Sequence[Span], hidden: int
) -> Piece:
    """The part of a family that these subscripts belong to; the first `hidden` of them are not written."""
    found = []
    undecided: Expr | None = None
    for mask, group in entity.parts.items():
        fixed = [term for term, constant in zip(subscripts, mask) if constant]
        open_terms = [term for term in fixed if not isinstance(term, Num)]
        if open_terms:
            undecided = open_terms[0]
            continue
        constants = tuple(term.value for term in fixed)
        found += [piece for piece in group.get(constants, ()) if _may_meet(piece.pattern, subscripts)]
    if undecided is None and len(found) == 1:
        return found[0]
    if undecided is None and not found:
        _missing(entity, subscripts, node, spans, hidden)
    inside = [piece for piece in found if _inside(piece.pattern, subscripts)]
    if undecided is None and len(inside) == 1:
        return inside[0]
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


def _missing(
    entity: Pieces, subscripts: Sequence[Expr], node: syntax.Name, spans: Sequence[Span], hidden: int
) -> NoReturn:
    """Say which element is asked for and which there are."""
    for term, span in zip(subscripts, spans):
        if isinstance(term, Num) and term.value != int(term.value):
            fail("N305", f"this subscript is not a whole number: it is {term.value}", span)
    patterns = [piece.pattern for piece in entity.all_parts()]
    if len(patterns) == 1 and all(isinstance(axis, Index) for axis in patterns[0]):
        ranges = [axis.range for axis in patterns[0]]
        for term, range_, span in zip(subscripts, ranges, spans):
            if isinstance(term, Num) and not range_.lo <= term.value <= range_.hi:
                fail("N304", f"`{entity.name}` has no element at {term.value}", span,
                     f"the range is {range_.lo}..{range_.hi}", (Label(entity.span, "defined here"),))
    from netsor.ir.text import text

    asked = f"{entity.name}[{','.join(map(text, subscripts[hidden:]))}]"
    shown = list(dict.fromkeys(label(entity.name, pattern[hidden:]) for pattern in patterns))
    some = ", ".join(shown if len(shown) <= 6 else [*shown[:3], "…", *shown[-2:]])
    fail("N206", f"`{asked}` is not defined (yet)", node.span, f"defined up to here: {some}" if shown else "",
         (Label(entity.span, "first defined here"),))

