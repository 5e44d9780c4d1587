"""Widths: the `width` statement, shapes, which vectors go together, and powers of widths that cancel.

Any width is a constant times the first. A product of widths is kept as the powers of its factors, named widths or sums of such; what
is left when the powers of a dot or of a matrix's variance have cancelled is a ratio of widths, a number in the limit.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

import numpy as np

from netsor.ir.expressions import Expr, Num, Width, add, mul, power
from netsor.ir.program import Family, Matrix
from netsor.ir.rewrite import rebuild
from netsor.ir.text import text
from netsor.language import syntax
from netsor.language.constants import closed_value, evaluator, tidy
from netsor.language.diagnostics import Label
from netsor.language.scope import Argument, Part, Pieces, WidthEntity
from netsor.language.source import Span
from netsor.language.state import Frame, fail
from netsor.language.values import Condition, Level, MatrixValue, Value

Powers = Mapping[Expr, Fraction]


# --- the statement


def declare(entry: syntax.WidthNew | syntax.WidthRatio, found: Value | None, frame: Frame) -> None:
    """A width: the first one is free, `found` is the value of any other."""
    state, scope = frame.state, frame.scope
    name = entry.name.name
    first = state.widths.get(state.width)
    scope.check_free(entry.name)
    if found is None and scope.is_block:
        fail("N325", "a block has the widths of its arguments", entry.name.span, "", (), f"width {name} like x, with a vector x")
    if found is None and first is not None:
        fail("N325", "only the first width is free", entry.name.span, "",
             (Label(scope.entities[first.name].span, "this one"),), f"make it a multiple: {name} = 2*{first.name}")
    ratio = Num(1) if first is None else _ratio(found, first)
    width = _width_of_ratio(ratio, name, frame) if scope.is_block else name
    _name_width(entry.name, width, frame)
    state.widths.setdefault(width, Width(width, ratio.value))
    state.width_spans.setdefault(width, entry.name.span)


def _name_width(name: syntax.Identifier, width: str, frame: Frame) -> None:
    frame.scope.declare(name, WidthEntity(name.name, name.span, width))
    frame.scope.width = frame.scope.width or width


def _width_of_ratio(ratio: Num, name: str, frame: Frame) -> str:
    """The width that a block derives: the first of that size, so that what calls of blocks return goes together."""
    known = frame.state.widths
    found = next((width for width, each in known.items() if each.ratio == ratio.value), None)
    if found is not None:
        return found
    names = itertools.chain([name], (f"{name}_{k}" for k in itertools.count(2)))
    return next(each for each in names if each not in known and each not in frame.state.scope.later)


def declare_like(entry: syntax.WidthLike, frame: Frame) -> None:
    """`n like x`: the width of a vector, or of a matrix that is square."""
    entity = frame.find(entry.like.name, entry.like.span)
    if not isinstance(entity, Pieces):
        fail("N325", f"`{entry.like.name}` is no vector", entry.like.span, "", (Label(entity.span, "defined here"),))
    found = {width for piece in entity.all_parts() for width in _widths_of(piece.part)}
    if len(found) != 1 or "" in found:
        what = "is no vector" if "" in found or not found else f"has more than one width: {', '.join(sorted(found))}"
        fail("N325", f"`{entry.like.name}` {what}", entry.like.span, "", (Label(entity.span, "defined here"),))
    frame.scope.check_free(entry.name)
    _name_width(entry.name, found.pop(), frame)


def _widths_of(part: Part) -> tuple[str, ...]:
    match part.value if isinstance(part, Argument) else part:
        case MatrixValue(matrix=matrix) | (Matrix() as matrix):
            return matrix.rows, matrix.columns
        case (Value() | Family()) as vector:
            return (vector.width,)
    return ("",)


def _ratio(found: Value, first: Width) -> Num:
    """The value of a width as a multiple of the first; N325 where it is none."""
    if found.level != Level.NUMBER or found.pending is not None or order(found.widths) != 1:
        fail("N325", "a width is a constant times an earlier width", found.span, "", (), f"such as 2*{first.name}")
    ratio = closed_value(_limit(mul(found.expr, relative(found.widths, first, Fraction(1)))))
    if ratio is None or not math.isfinite(ratio):
        fail("N325", "the ratio of two widths is a number", found.span, "this has no finite number as its value")
    if ratio <= 0:
        fail("N325", "the ratio of two widths is positive", found.span, f"this is {ratio} times {first.name}")
    return tidy(ratio, found.span)


def _limit(expr: Expr) -> Expr:
    """The expression with the ratio for each width, exact where that is possible."""
    return Num(expr.ratio) if isinstance(expr, Width) else rebuild(expr, _limit)


def named_width(node: syntax.Node, frame: Frame) -> str:
    """The width that a shape names."""
    if isinstance(node, syntax.Name) and len(node.path) == 1 and not node.subscripts and node.dotted not in frame.names:
        word = node.dotted
        entity = frame.find(word, node.span)
        if isinstance(entity, WidthEntity):
            return entity.width
        fail("N325", f"`{word}` is not a width", node.span, "", (Label(entity.span, "defined here"),))
    fail("N325", "a shape names widths", node.span, "", (), f"declare it: width {frame.scope.width_word(frame.state.width)}, m = …")


# --- vectors that go together


def common_width(parts: Iterable[Value | Condition]) -> str:
    """The width of those parts that are vectors, "" if none is; N324 if they differ."""
    first = None
    for part in parts:
        if part.level == Level.VECTOR and first is None:
            first = part
        elif part.level == Level.VECTOR and part.width != first.width:
            fail("N324", f"a vector of width {part.width} and one of width {first.width} do not go together", part.span,
                 f"this has width {part.width}", (Label(first.span, f"this has width {first.width}"),))
    return first.width if first is not None else ""


# --- powers of widths


def order(widths: Powers) -> Fraction:
    """The power of n with which the product grows."""
    return sum(widths.values(), Fraction(0))


def relative(widths: Powers, own: Width, exponent: Fraction) -> Expr:
    """The product divided by `own^exponent`; a constant if that is its order."""
    powers = dict(widths)
    powers[own] = powers.get(own, Fraction(0)) - exponent
    return mul(*[_power(unit, each) for unit, each in powers.items() if each])


def _power(unit: Expr, exponent: Fraction) -> Expr:
    return power(unit, exponent.numerator if exponent.denominator == 1 else exponent)


def written(widths: Powers) -> str:
    """The product as text."""
    return " ".join(f"{text(unit)}^({each})" for unit, each in widths.items() if each)


def is_size(value: Value) -> bool:
    """Whether the value is a number of the order of a power of n."""
    return value.level == Level.NUMBER and value.pending is None and any(value.widths.values())


def sum_of_widths(signs: Sequence[int], parts: Sequence[Value], span: Span) -> Value:
    """A sum of widths, or of equal powers of widths, as a new unit."""
    grows = order(parts[0].widths)
    for part in parts:
        if order(part.widths) != grows or not grows:
            fail("N310", "only widths, or equal powers of them, are added", span)
    terms = [mul(sign, part.expr, *[_power(unit, each) for unit, each in part.widths.items()])
             for sign, part in zip(signs, parts)]
    unit = _power(add(*terms), 1 / grows)
    size = np.asarray(evaluator().evaluate(unit).data)
    if not (size > 0).all() or not np.isfinite(size).all():
        fail("N310", "a sum of widths is positive", span, "this is not")
    return Value(Level.NUMBER, Num(1), span, {unit: grows})
