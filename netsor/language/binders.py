"""What reductions and loops run over: ranges, bound indices, guards, and how many terms these admit."""

from __future__ import annotations

import math
from collections.abc import Sequence

from netsor.ir.expressions import ONE, ZERO, Compare, Expr, Index, Logic, Range, Sym, fresh, mul, total
from netsor.ir.kernel import range_size
from netsor.ir.rewrite import free_indices
from netsor.language import syntax
from netsor.language.conditions import condition
from netsor.language.constants import closed_value, evaluator, free_parameters
from netsor.language.diagnostics import Label
from netsor.language.expressions import constant
from netsor.language.ranges import CHECK_LIMIT, relevant_guards
from netsor.language.scope import IndexEntity, Pieces
from netsor.language.state import Frame, fail
from netsor.language.values import Condition, Level, Value


def range_of(node: syntax.Range, frame: Frame) -> Range:
    """The range a node states; its bounds are whole numbers, the upper one perhaps an infinite parameter."""
    lowest, low = _bound(node.low, frame)
    highest, high = _bound(node.high, frame)
    if low is None:
        fail("N317", "a range starts at a number", node.low.span)
    if high is None:
        return Range(low, math.inf, highest.name)
    free = free_parameters(lowest) | free_parameters(highest)
    return Range(low, high, bounds=(lowest, highest) if free else None)


def _bound(node: syntax.Node, frame: Frame) -> tuple[Expr, int | None]:
    """The bound and its value (at the trial values of free parameters), None if it is infinite."""
    expr = constant(node, frame, "the bound of a range")
    if isinstance(expr, Sym) and expr.infinite:
        if not isinstance(node, syntax.Name):
            fail("N317", "an infinite range ends at a bare parameter", node.span)
        return expr, None
    free = free_parameters(expr) and not free_indices(expr)
    number = evaluator().number(expr) if free else closed_value(expr)
    if number is None:
        fail("N317", "the bound of a range must be a number that does not depend on an index", node.span)
    if math.isinf(number):
        fail("N317", "an infinite range ends at a parameter", node.span, "",
             hint="param H = inf, then a range 1..H")
    if number != int(number):
        fail("N317", f"the bound of a range must be a whole number, and this is {number}", node.span)
    return expr, int(number)


def bound_index(binder: syntax.Binder, frame: Frame) -> Index:
    """The index that a binder binds: a declared one, or one with a range of its own."""
    word = binder.name.name
    entity = frame.entity(word)
    if binder.range is not None:
        if entity is not None and not isinstance(entity, IndexEntity):
            fail("N202", f"`{word}` is already defined", binder.name.span, "",
                 (Label(entity.span, "first defined here"),))
        index = frame.scope.index(word, range_of(binder.range, frame))
    elif isinstance(entity, IndexEntity):
        index = entity.index
    else:
        found = frame.find(word, binder.name.span)
        what = "a family" if isinstance(found, Pieces) else "not an index"
        fail("N318", f"`{word}` is {what}, and only an index can be bound", binder.name.span, "",
             (Label(found.span, "defined here"),), f"declare an index, or give it a range: for {word} in 1..3")
    return fresh(index) if frame.inlined or word in frame.indices else index


def guard_condition(node: syntax.Reduction, frame: Frame, infinite: Sequence[Index]) -> Condition | None:
    if node.guard is None:
        return None
    test = condition(node.guard.condition, frame)
    if infinite and test.static is None:
        fail("N313", f"the infinite range of `{infinite[0].name}` cannot be guarded", node.guard.span)
    return test


def number_of_terms(indices: tuple[Index, ...], guard: Expr | None) -> Expr:
    if guard is not None:
        return total(ONE, indices, guard)
    return mul(*[range_size(index.range) for index in indices])


def over_nothing(op: str, node: syntax.Reduction) -> Value:
    if op == "sum":
        return Value(Level.NUMBER, ZERO, node.span)
    if op == "prod":
        return Value(Level.NUMBER, ONE, node.span)
    fail("N511", f"this {op} has no terms", node.span)


def check_not_empty(op: str, indices: tuple[Index, ...], test: Condition, node: syntax.Reduction, frame: Frame) -> None:
    """Raise N511 where the guard, known beforehand, admits no term for some values of the other indices."""
    if test.level == Level.NUMBER:
        check_count(op, total(ONE, indices, test.expr), free_indices(test.expr) | set(indices), node, frame)


def check_count(op: str, counted: Expr, touched: frozenset[Index], node: syntax.Reduction, frame: Frame) -> None:
    """Raise N511 where the number of terms, known beforehand, is zero; ``touched`` are the indices that are gone through to count."""
    outer = relevant_guards(frame.guards, free_indices(counted))
    touched = touched.union(*map(free_indices, outer))
    if math.prod(index.range.size for index in touched) > CHECK_LIMIT:
        return
    empty: Expr = Compare("==", counted, ZERO)
    if outer:
        empty = Logic("and", (empty, *outer))
    found = evaluator().evaluate(empty)
    if found.data.any():
        position = [int(each[0]) for each in found.data.nonzero()] if found.labels else []
        where = ", ".join(f"{label.name} = {label.range.lo + p}" for label, p in zip(found.labels, position))
        fail("N511", f"this {op} has no terms" + (f" for {where}" if where else ""), node.span,
             "", (Label(node.guard.span, "this excludes them all"),))
