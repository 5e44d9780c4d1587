"""Statements that declare: width, param, index, data, const, def."""

from __future__ import annotations

import math
from fractions import Fraction
from numbers import Integral, Rational, Real
from typing import Any

import numpy as np

from netsor.ir.expressions import Expr, Index, Num, Range, Sym
from netsor.ir.labelled import TooLarge
from netsor.ir.program import ArrayDeclaration
from netsor.ir.rewrite import free_indices, rebuild
from netsor.language import syntax, widths
from netsor.language.arguments import check_formals
from netsor.language.constants import closed_value, evaluator, free_parameters, tidy, whole
from netsor.language.data import read_array
from netsor.language.diagnostics import Diagnostic, Label, NetsorError
from netsor.language.expressions import constant, quantity, value
from netsor.language.lefthand import Left, each_value, read_left
from netsor.language.binders import range_of
from netsor.language.scope import FunctionEntity, IndexEntity, ParameterEntity
from netsor.language.source import Source, Span
from netsor.language.state import SIZE, Frame, State, fail
from netsor.language.values import Level

ARRAY_LIMIT = 50_000_000  # entries of one array


def width(node: syntax.Width, frame: Frame) -> None:
    for entry in node.entries:
        if isinstance(entry, syntax.WidthLike):
            widths.declare_like(entry, frame)
            continue
        if isinstance(entry, syntax.WidthNew):
            widths.declare(entry, None, frame)
        elif frame.scope.width is None:
            like = " like x" if frame.scope.is_block else ""
            fail("N325", "the first width is that of an argument" if like else "the first width is free", entry.value.span, "", (),
                 f"width n{like}, {entry.name.name} = …")
        else:
            widths.declare(entry, quantity(entry.value, frame), frame)


# --- parameters


def param(node: syntax.Param, frame: Frame) -> None:
    for setting in node.settings:
        name = setting.name.name
        frame.scope.check_free(setting.name)
        if name in frame.state.settings:
            expr = set_value(name, frame.state.settings[name], frame)
        elif setting.default is not None:
            expr = constant(setting.default, frame, f"the value of `{name}`")
            expr = _free(name, _parameter_value(name, _trial(expr), setting.default.span), frame.state)
        elif frame.state.free is not None and name not in frame.state.free.pinned:
            expr = Sym(name, trial=frame.state.free.trial_of(name))
            frame.state.undetermined.add(name)
        else:
            fail("N503", f"`{name}` has no value", setting.span, "", (), f"give it one: --set {name}=…")
        declare_parameter(setting.name, expr, frame.state)


def declare_parameter(name: syntax.Identifier, expr: Expr, state: State) -> None:
    state.scope.declare(name, ParameterEntity(name.name, expr, name.span))
    if isinstance(expr, Sym):
        state.parameters[name.name] = math.inf if expr.infinite else None
    else:
        state.parameters[name.name] = expr.value


def _trial(expr: Expr) -> Expr:
    """The expression with the trial values of free parameters in their place."""
    if isinstance(expr, Sym) and not expr.infinite:
        return Num(expr.trial)
    return rebuild(expr, _trial)


def _free(name: str, expr: Expr, state: State) -> Expr:
    """In a derivation, the parameter as a symbol."""
    if state.free is None or name in state.free.pinned or not isinstance(expr, Num):
        return expr
    return Sym(name, trial=expr.value)


def _parameter_value(name: str, expr: Expr, span: Span) -> Expr:
    number = closed_value(expr)
    if number is None:
        fail("N320", f"the value of `{name}` must be a number", span)
    if number == -math.inf or number != number:
        fail("N502", f"{number} is no value for a parameter", span)
    if number == math.inf:
        return Sym(name, True)
    return expr if isinstance(expr, Num) else tidy(number, span)


def set_value(name: str, given: Any, frame: Frame) -> Expr:
    """The value of `--set name=given`: a number, or a constant expression of the language."""
    if isinstance(given, str):
        return _written_value(name, given, frame)
    span = Source(f"{name} = {given}", "--set").span(0, 0)
    if isinstance(given, bool) or not isinstance(given, Real) or given != given or given == -math.inf:
        raise NetsorError(Diagnostic("N504", f"{given!r} is no value for the parameter `{name}`"))
    if given == math.inf:
        return Sym(name, True)
    if isinstance(given, Integral):
        return Num(int(given))
    return tidy(Fraction(given) if isinstance(given, Rational) else Fraction(repr(float(given))), span)


def _written_value(name: str, text: str, frame: Frame) -> Expr:
    from netsor.language.parse import parse

    source = Source(f"param {name} = {text}", "--set")
    tree = parse(source)
    (statement, *more) = tree.statements
    if more or not isinstance(statement, syntax.Param) or len(statement.settings) != 1:
        raise NetsorError(Diagnostic("N504", f"`{text}` is no value for the parameter `{name}`",
                                     hint="one constant expression, such as 8, 1/3 or inf"))
    node = statement.settings[0].default
    outside = Frame(frame.state, frame.state.scope)
    return _parameter_value(name, constant(node, outside, f"the value of `{name}`"), node.span)


# --- indices and functions


def index(node: syntax.IndexIn | syntax.IndexLike, frame: Frame) -> None:
    if isinstance(node, syntax.IndexLike):
        like = frame.find(node.like.name, node.like.span)
        if not isinstance(like, IndexEntity):
            fail("N318", f"`{node.like.name}` is not an index", node.like.span, "", (Label(like.span, "defined here"),))
        range_ = like.index.range
    else:
        range_ = range_of(node.range, frame)
    for name in node.names:
        frame.scope.declare(name, IndexEntity(frame.scope.index(name.name, range_), name.span))


def function(node: syntax.Function, frame: Frame) -> None:
    for formal in node.formals:
        if formal.element.subscripts:
            fail("N321", "the arguments of a `def` have no subscripts", formal.element.span)
    check_formals(node.formals)
    frame.scope.declare(node.name, FunctionEntity(node, node.name.span, frame.scope))


# --- arrays


def const(node: syntax.Const, frame: Frame) -> None:
    left = read_left(node.element, frame)
    each_value(left, frame, lambda left, inside: _one_const(node, left, inside))


def _one_const(node: syntax.Const, left: Left, frame: Frame) -> None:
    meaning = value(node.value, frame)
    name = node.element.name.name
    if meaning.level != Level.NUMBER:
        fail("N320", f"a const is known before the limit is taken, and this is {meaning.level.word}", node.value.span)
    left = left.without(index for index in frame.scope.prefix if index not in free_indices(meaning.expr))
    check_array_size([axis.range for axis in left.axes], node.element.span)
    if not left.axes and isinstance(meaning.expr, Num):
        values: Any = np.array(float(meaning.expr.value))
    else:
        try:
            values = np.array(evaluator().array(meaning.expr, left.axes))
        except TooLarge as error:
            fail("N512", f"`{name}` is too large: {error}", node.span)
    check_finite(values, left, node.value.span)
    if not node.element.subscripts and isinstance(meaning.expr, Num) and not left.axes:  # a plain number stays exact
        frame.scope.declare(node.element.name, ParameterEntity(name, meaning.expr, node.element.name.span))
        return
    declare_array(node.element, left, values, frame, meaning.expr)


def check_array_size(ranges: list[Range], span: Span) -> None:
    if any(range_.infinite for range_ in ranges):
        fail("N313", "an array has no infinite range", span)
    entries = math.prod(range_.size for range_ in ranges)
    if entries > ARRAY_LIMIT:
        fail("N512", f"this array would have {entries:,} entries; {ARRAY_LIMIT:,} are possible", span)


def check_finite(values: np.ndarray, left: Left, span: Span) -> None:
    bad = ~np.isfinite(values)
    if bad.any():
        position = np.unravel_index(np.argmax(bad), values.shape)
        where = ", ".join(f"{axis.name} = {axis.range.lo + int(p)}" for axis, p in zip(left.axes, position))
        found = values[position]
        fail("N510", f"this constant is {'not a number' if np.isnan(found) else 'infinite'}"
             + (f" for {where}" if where else ""), span)


def declare_array(
    element: syntax.Element, left: Left, values: np.ndarray, frame: Frame, definition: Expr | None = None
) -> None:
    ranges = tuple(axis.range for axis in left.axes)
    array = ArrayDeclaration(frame.scope.path + element.name.name, ranges, values, element.span, left.axes, definition)
    left.define(element, "an array", array, frame.scope)
    frame.state.arrays.append(array)


def data(node: syntax.Data, frame: Frame) -> None:
    name = node.element.name.name
    frame.scope.check_free(node.element.name)
    values = trial_array(node, frame) if _is_free(node, frame) else read_array(node, frame)
    if _is_free(node, frame):
        frame.state.undetermined.add(name)
    if values.ndim != len(node.element.subscripts):
        fail("N506", f"`{name}` is declared with {len(node.element.subscripts)} sizes, and the array has "
             f"{values.ndim} ({_shape(values)})", node.element.span)
    sizes = [_size(size, subscript, values, frame) for size, subscript in zip(values.shape, node.element.subscripts)]
    ranges = tuple(
        Range(1, size) if isinstance(expr, Num) else Range(1, size, bounds=(Num(1), expr)) for size, expr in zip(values.shape, sizes))
    axes = tuple(Index(f"{name}.{k}", range_) for k, range_ in enumerate(ranges))
    declare_array(node.element, Left(axes, axes), values, frame)


def _shape(values: np.ndarray) -> str:
    return " x ".join(map(str, values.shape)) or "a single number"


def _is_free(node: syntax.Data, frame: Frame) -> bool:
    """Whether an array without numbers may do without in a derivation."""
    return frame.state.free is not None and node.value is None and node.element.name.name not in frame.state.data


def trial_array(node: syntax.Data, frame: Frame) -> np.ndarray:
    """An array that stands for one without numbers: the identity between the first and the last half of its subscripts."""
    shape = []
    for subscript in node.element.subscripts:
        known = not (isinstance(subscript, syntax.Name) and subscript.dotted not in frame.state.scope.entities)
        shape.append(SIZE if not known else int(evaluator().number(constant(subscript, frame, "a size"))))
    half = len(shape) // 2
    if len(shape) % 2 or shape[:half] != shape[half:]:
        return np.ones(shape)
    return np.eye(math.prod(shape[:half])).reshape(shape)


def _size(size: int, node: syntax.Node, values: np.ndarray, frame: Frame) -> Expr:
    """The size of an array as an expression: a known one must be that of the array; an unknown name becomes a parameter."""
    state = frame.state
    if isinstance(node, syntax.Name) and len(node.path) == 1 and not node.subscripts \
            and node.dotted not in state.scope.entities and node.dotted not in frame.names:
        word = node.path[0]
        if word.name in state.settings:
            given = set_value(word.name, state.settings[word.name], frame)
            if whole(given) != size:
                raise NetsorError(Diagnostic(
                    "N504", f"`{word.name}` is set to {state.settings[word.name]}, but the data say {size}", node.span))
        if word.name in state.scope.later and state.scope.later[word.name].start > node.span.start:
            state.scope.find(word.name, node.span)
        declare_parameter(word, _free(word.name, Num(size), state), state)
        return state.scope.entities[word.name].value
    expr = constant(node, frame, "a size")
    wanted = whole(_trial(expr))
    if wanted != size:
        said = node.span.text if wanted is None or node.span.text == str(wanted) else f"{node.span.text} = {wanted}"
        fail("N506", f"the array is {_shape(values)}, which does not fit here", node.span,
             f"{said}, but the array has {size}")
    return expr if free_parameters(expr) else Num(size)
