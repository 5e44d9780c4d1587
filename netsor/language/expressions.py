"""Expressions: a node of the tree to a Value, a Condition, a matrix or a function.

`evaluate` dispatches on the kind of node; the arithmetic is here, names in references.py, functions in calls.py,
reductions and conditions in files of their own.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

from netsor.ir.expressions import ONE, Expr, Num, add, mul
from netsor.ir.program import Matrix
from netsor.language import syntax
from netsor.language.constants import literal, raised, tidy
from netsor.language.diagnostics import Label
from netsor.language.hidden import finish, vector
from netsor.language.scope import BlockEntity
from netsor.language.source import Span
from netsor.language.state import Frame, fail
from netsor.language.values import Condition, Dot, FunctionValue, Level, MatrixValue, Product, Value
from netsor.language.widths import common_width, is_size, sum_of_widths

Meaning = Value | Condition | MatrixValue | FunctionValue
EVALUATORS: dict[type, Callable[[Any, Frame], Meaning]] = {}


def evaluates(kind: type) -> Callable:
    """Register the function that evaluates nodes of this kind."""
    def register(function: Callable[[Any, Frame], Meaning]) -> Callable:
        EVALUATORS[kind] = function
        return function
    return register


def evaluate(node: syntax.Node, frame: Frame) -> Meaning:
    """What the node stands for; rules in it may still be pending."""
    return EVALUATORS[type(node)](node, frame)


def quantity(node: syntax.Node, frame: Frame) -> Value:
    """The value of a node that must be a number, scalar or vector; perhaps with something pending."""
    meaning = evaluate(node, frame)
    if isinstance(meaning, Value):
        return meaning
    wrong_kind(meaning, "a number, scalar or vector")


def value(node: syntax.Node, frame: Frame) -> Value:
    """The value of a node, nothing pending."""
    return finish(quantity(node, frame), frame)


def constant(node: syntax.Node, frame: Frame, what: str) -> Expr:
    """The expression of a node that must be known before the limit is taken. `what` says for what it is needed."""
    meaning = value(node, frame)
    if meaning.level != Level.NUMBER:
        fail("N320", f"{what} must be a constant, and this is {meaning.level.word}", node.span)
    return meaning.expr


def vector_value(node: syntax.Node, frame: Frame, what: str) -> Value:
    """The value of a node that must be a vector."""
    meaning = value(node, frame)
    if meaning.level != Level.VECTOR:
        fail("N307", f"{what} needs a vector, and this is {meaning.level.word}", node.span)
    return meaning


def wrong_kind(meaning: Meaning, wanted: str) -> None:
    if isinstance(meaning, MatrixValue):
        fail("N308", f"this is a matrix, where {wanted} is needed", meaning.span, "",
             hint="a matrix is applied to a vector: W @ x")
    if isinstance(meaning, Condition):
        fail("N309", f"this is a condition, where {wanted} is needed", meaning.span, "",
             hint="write 1 if … else 0 to make a number of it")
    if isinstance(meaning, FunctionValue) and isinstance(meaning.entity, BlockEntity):
        passed = meaning.span.text != meaning.name  # the name of an argument
        fail("N331", f"`{meaning.name}` is a block, where {wanted} is needed", meaning.span, "", (Label(meaning.entity.span, "defined here"),),
             f"pass {wanted} for it" if passed else "call it on a line of its own, and use what that line defines")
    if isinstance(meaning, FunctionValue):
        fail("N208", f"`{meaning.name}` is a function, where {wanted} is needed", meaning.span, "",
             hint=f"write {meaning.name}(…) to apply it")


@evaluates(syntax.Number)
def number(node: syntax.Number, frame: Frame) -> Value:
    return Value(Level.NUMBER, literal(node), node.span)


@evaluates(syntax.Infinity)
def infinity(node: syntax.Infinity, frame: Frame) -> Value:
    return Value(Level.NUMBER, Num(math.inf), node.span)


def _check_finite(parts: list[Value]) -> None:
    for part in parts:
        if isinstance(part.expr, Num) and part.expr.value in (math.inf, -math.inf):
            fail("N502", "inf cannot be calculated with", part.span)


@evaluates(syntax.Add)
def addition(node: syntax.Add, frame: Frame) -> Value:
    parts = [quantity(operand, frame) for operand in node.operands]
    if all(map(is_size, parts)):
        return sum_of_widths([sign_of(sign) for sign in node.signs], parts, node.span)
    parts = [finish(part, frame) for part in parts]
    _check_finite(parts)
    exact = [sign_of(sign) * part.expr.value for sign, part in zip(node.signs, parts) if isinstance(part.expr, Num)]
    others = [mul(sign_of(sign), part.expr) for sign, part in zip(node.signs, parts) if not isinstance(part.expr, Num)]
    result = add(*others, tidy(sum(exact), node.span))
    return Value(max(part.level for part in parts), result, node.span, width=common_width(parts))


def sign_of(sign: str) -> int:
    return -1 if sign == "-" else 1


@evaluates(syntax.Negative)
def negative(node: syntax.Negative, frame: Frame) -> Value:
    operand = quantity(node.operand, frame)
    if isinstance(operand.expr, Num) and operand.pending is None and math.isinf(operand.expr.value):
        return Value(Level.NUMBER, Num(-operand.expr.value), node.span)
    if not isinstance(operand.pending, Dot):
        operand = finish(operand, frame)
    return replace(operand, expr=mul(-1, operand.expr), span=node.span)


@evaluates(syntax.Multiply)
def multiplication(node: syntax.Multiply, frame: Frame) -> Value:
    """A product collects the powers of widths that scale a dot among its factors."""
    parts = [quantity(operand, frame) for operand in node.operands]
    dots = [k for k, part in enumerate(parts) if isinstance(part.pending, Dot)]
    for k, part in enumerate(parts):
        scaled = k in dots and any(part.widths.values())
        if node.operators[k] == "/" or (part.pending is not None and k not in dots) or (scaled and len(dots) > 1):
            parts[k] = _finish_factor(part, frame)
    dots = [k for k in dots if isinstance(parts[k].pending, Dot)]
    if len(dots) > 1:
        fail("N312", "a product has at most one dot, so that it is clear which scale is whose", parts[dots[1]].span,
             "put each dot with its scale in brackets, or give it a name")
    _check_finite(parts)
    widths: dict[Expr, Fraction] = {}
    constant: int | Fraction | float = 1
    factors: list[Expr] = []
    for operator, part in zip(node.operators, parts):
        sign = -1 if operator == "/" else 1
        for unit, power in part.widths.items():
            widths[unit] = widths.get(unit, Fraction(0)) + sign * power
        expr = part.expr if sign > 0 else raised(part.expr, Num(-1), part.span)
        if isinstance(expr, Num):
            constant = tidy(constant * expr.value, node.span).value
        else:
            factors.append(expr)
    widths = {unit: power for unit, power in widths.items() if power}
    pending = parts[dots[0]].pending if dots else None
    level = max(part.level for part in parts)
    return Value(level, mul(constant, *factors), node.span, widths, pending, common_width(parts))


def _finish_factor(part: Value, frame: Frame) -> Value:
    """A factor with nothing pending; powers of widths without a dot stay, they may scale a dot elsewhere."""
    return part if part.pending is None else finish(part, frame)


@evaluates(syntax.Power)
def power_of(node: syntax.Power, frame: Frame) -> Value:
    base = evaluate(node.base, frame)
    if isinstance(base, MatrixValue) and isinstance(node.exponent, syntax.Name) and node.exponent.dotted == "T":
        fail("N131", "a transpose is written with a point", node.span, f"write {node.base.span.text}.T")
    if not isinstance(base, Value):
        wrong_kind(base, "a number, scalar or vector")
    return to_the_power(base, value(node.exponent, frame), node.span, frame)


def to_the_power(base: Value, exponent: Value, span: Span, frame: Frame) -> Value:
    _check_finite([base, exponent])
    if base.pending is None and any(base.widths.values()):
        if not isinstance(exponent.expr, Num):
            fail("N310", "a power of a width has a number as its exponent", exponent.span)
        power = Fraction(exponent.expr.value)
        widths = {unit: own * power for unit, own in base.widths.items()}
        return Value(base.level, raised(base.expr, exponent.expr, span), span, widths, width=base.width)
    base = finish(base, frame)
    width = common_width((base, exponent))
    return Value(max(base.level, exponent.level), raised(base.expr, exponent.expr, span), span, width=width)


@evaluates(syntax.MatMul)
def matmul(node: syntax.MatMul, frame: Frame) -> Value:
    matrix = evaluate(node.left, frame)
    if not isinstance(matrix, MatrixValue):
        what = matrix.level.word if isinstance(matrix, Value) else "not a matrix"
        fail("N308", "what stands before `@` must be a matrix", node.left.span, f"this is {what}",
             hint="vectors are multiplied by * (coordinatewise) or dot(u, v)" if what == Level.VECTOR.word else "")
    argument = evaluate(node.right, frame)
    if isinstance(argument, MatrixValue):
        fail("N308", "a product of two matrices is not a vector", node.span, "",
             hint="apply them one after the other: W2 @ (W1 @ x)")
    if not isinstance(argument, Value):
        wrong_kind(argument, "a vector")
    argument = finish(argument, frame)
    if argument.level != Level.VECTOR:
        fail("N307", f"a matrix is applied to a vector, and this is {argument.level.word}", node.right.span)
    to_width, from_width = matrix.shape
    if argument.width != from_width:
        what = "transposed matrix" if matrix.transposed else "matrix"
        fail("N324", f"this {what} is applied to vectors of width {from_width}, and this has width {argument.width}",
             node.right.span, "", (Label(matrix.matrix.span, _shape(matrix.matrix)),))
    coord = vector(argument.expr, argument.width, frame, node.right.span)
    product = Product(matrix.matrix, matrix.subscripts, coord, matrix.transposed)
    return Value(Level.VECTOR, ONE, node.span, pending=product, width=to_width)


def _shape(matrix: Matrix) -> str:
    return f"the shape of `{matrix.name}` is ({matrix.rows}, {matrix.columns})"
