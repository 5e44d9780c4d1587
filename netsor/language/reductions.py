"""Reductions: `sum(e for i, o in -1..1 if cond)` and its kin, and softmax, where the index stays free."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from netsor.ir.expressions import (
    ONE, ZERO, Call, Compare, Expr, Index, Logic, Num, Range, Reduce, Softmax, Sym, Where, add, fresh, mul, power,
    total,
)
from netsor.ir.kernel import range_size
from netsor.ir.rewrite import free_indices
from netsor.language import syntax
from netsor.language.conditions import condition, guard_of
from netsor.language.constants import closed_value, evaluator, free_parameters, numbers_of, tidy
from netsor.language.diagnostics import Label
from netsor.language.expressions import constant, evaluates, value
from netsor.language.ranges import CHECK_LIMIT, check_subscripts, relevant_guards
from netsor.language.scope import IndexEntity, Pieces
from netsor.language.source import Span
from netsor.language.state import Frame, fail
from netsor.language.values import Condition, Level, NeedsValues, Value
from netsor.language.widths import common_width

REDUCTIONS = ("sum", "prod", "mean", "max", "min")
UNROLL_LIMIT = 100_000


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
    entity = frame.state.scope.entities.get(word)
    if binder.range is not None:
        if entity is not None and not isinstance(entity, IndexEntity):
            fail("N202", f"`{word}` is already defined", binder.name.span, "",
                 (Label(entity.span, "first defined here"),))
        index = Index(word, range_of(binder.range, frame))
    elif isinstance(entity, IndexEntity):
        index = entity.index
    else:
        found = frame.state.scope.find(word, binder.name.span)
        what = "a family" if isinstance(found, Pieces) else "not an index"
        fail("N318", f"`{word}` is {what}, and only an index can be bound", binder.name.span, "",
             (Label(found.span, "defined here"),), f"declare an index, or give it a range: for {word} in 1..3")
    return fresh(index) if frame.inlined or word in frame.indices else index


@evaluates(syntax.Reduction)
def reduction(node: syntax.Reduction, frame: Frame) -> Value:
    word = node.function.dotted
    if word == "softmax":
        return softmax(node, frame)
    if word not in REDUCTIONS:
        near = frame.state.scope.suggestion(word, (*REDUCTIONS, "softmax"))
        fail("N208", f"`{word}` does not reduce over an index", node.function.span, "",
             hint=near or "reductions are sum, prod, mean, max, min and softmax")
    return _reduce(word, list(node.binders), node, frame)


def _reduce(op: str, binders: list[syntax.Binder], node: syntax.Reduction, frame: Frame) -> Value:
    """Over all binders at once, if possible; an index whose values must be told apart is unrolled into terms."""
    indices: list[Index] = []
    inside = frame
    for binder in binders:
        index = bound_index(binder, frame)
        if any(index.name == other.name for other in indices):
            fail("N318", f"`{index.name}` is bound twice", binder.span)
        inside = inside.with_indices(**{index.name: index})
        indices.append(index)
    try:
        return _whole(op, node, inside, tuple(indices))
    except NeedsValues as need:
        if need.index not in indices:
            raise
        k = indices.index(need.index)
    return _unrolled(op, indices[k], binders[:k] + binders[k + 1:], node, frame)


def _whole(op: str, node: syntax.Reduction, frame: Frame, indices: tuple[Index, ...]) -> Value:
    infinite = [index for index in indices if index.range.infinite]
    if infinite and op not in ("sum", "mean"):
        fail("N313", f"{op} over the infinite range of `{infinite[0].name}` has no limit here", node.span)
    test = _guard(node, frame, infinite)
    if test is not None and test.static is False:
        return _over_nothing(op, node)
    guard = None if test is None or test.static else test.expr
    if any(index.range.size == 0 for index in indices if not index.range.infinite):
        return _over_nothing(op, node)
    body = value(node.body, frame.with_guard(None if test is None else guard_of(test)))
    level = max(body.level, test.level if guard is not None else Level.NUMBER)
    if op in ("mean", "max", "min") and guard is not None:
        check_not_empty(op, indices, test, node, frame)
    match op:
        case "sum":
            return Value(level, total(body.expr, indices, guard), node.span, width=body.width)
        case "mean":
            count = number_of_terms(indices, guard)
            return Value(level, mul(total(body.expr, indices, guard), power(count, -1)), node.span, width=body.width)
    return Value(level, Reduce(op, body.expr, indices, guard), node.span, width=body.width)


def _guard(node: syntax.Reduction, frame: Frame, infinite: Sequence[Index]) -> Condition | None:
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


def _over_nothing(op: str, node: syntax.Reduction) -> Value:
    if op == "sum":
        return Value(Level.NUMBER, ZERO, node.span)
    if op == "prod":
        return Value(Level.NUMBER, ONE, node.span)
    fail("N511", f"this {op} has no terms", node.span)


def check_not_empty(op: str, indices: tuple[Index, ...], test: Condition, node: syntax.Reduction, frame: Frame) -> None:
    """Raise N511 where the guard, known beforehand, admits no term for some values of the other indices."""
    if test.level != Level.NUMBER:
        return
    counted = total(ONE, indices, test.expr)
    outer = relevant_guards(frame.guards, free_indices(counted))
    touched = free_indices(test.expr).union(*map(free_indices, outer)) | set(indices)
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


# --- index by index


def _unrolled(op: str, index: Index, rest: list[syntax.Binder], node: syntax.Reduction, frame: Frame) -> Value:
    """The terms written out, for values of the index at which different definitions stand."""
    if index.range.infinite:
        fail("N313", f"`{index.name}` has infinitely many values, which cannot be told apart", node.span)
    if index.range.size > UNROLL_LIMIT:
        fail("N512", f"this reduction would be written out in {index.range.size:,} terms", node.span)
    inner_op = "sum" if op == "mean" else op
    terms: list[Expr] = []
    values: list[Value] = []
    counts: list[Expr] = []
    level = Level.NUMBER
    for number in numbers_of(index.range):
        inside = frame.with_indices(**{index.name: Num(number)})
        test = None
        if node.guard is not None and not rest:
            test = condition(node.guard.condition, inside)
            if test.static is False:
                continue
        if op in ("max", "min") and rest and node.guard is not None:
            fail("N409", f"{op} under a guard over values that are defined one by one is not supported yet", node.span)
        if test is not None and test.static is None:
            if op not in ("sum", "mean"):
                fail("N409", f"{op} with this guard over values that are defined one by one is not supported yet",
                     node.span)
            term = value(node.body, inside.with_guard(guard_of(test)))
            terms.append(ZERO if term.expr == ZERO else Where(test.expr, term.expr, ZERO))
            counts.append(Where(test.expr, ONE, ZERO))
            level = max(level, term.level, test.level)
        else:
            term = _reduce(inner_op, rest, node, inside) if rest else value(node.body, inside)
            terms.append(term.expr)
            level = max(level, term.level)
            if op == "mean" and rest:
                counts.append(_count(rest, node, inside))
            else:
                counts.append(ONE)
        values.append(term)
    if not terms:
        return _over_nothing(op, node)
    match op:
        case "sum":
            expr = _sum(terms, node.span)
        case "mean":
            expr = mul(_sum(terms, node.span), power(add(*counts), -1))
        case "prod":
            expr = mul(*terms)
        case _:
            expr = terms[0] if len(terms) == 1 else Call(op, tuple(terms))
    return Value(level, expr, node.span, width=common_width(values))


def _sum(terms: list[Expr], span: Span) -> Expr:
    numbers = sum(term.value for term in terms if isinstance(term, Num))
    return add(*[term for term in terms if not isinstance(term, Num)], tidy(numbers, span))


def _count(binders: list[syntax.Binder], node: syntax.Reduction, frame: Frame) -> Expr:
    """How many terms the remaining binders give."""
    indices: list[Index] = []
    for binder in binders:
        index = bound_index(binder, frame)
        frame = frame.with_indices(**{index.name: index})
        indices.append(index)
    test = _guard(node, frame, [])
    return number_of_terms(tuple(indices), None if test is None or test.static else test.expr)


# --- softmax


def softmax(node: syntax.Reduction, frame: Frame) -> Value:
    if len(node.binders) != 1:
        fail("N318", "softmax runs over one index", node.binders[1].span)
    binder = node.binders[0]
    word = binder.name.name
    at = frame.indices.get(word)
    index = bound_index(binder, frame)
    if at is None:
        fail("N318", f"softmax keeps its index free, and `{word}` is neither on the left nor bound around it",
             binder.span, "", hint=f"write [… , {word}] on the left")
    if index.range.infinite:
        fail("N313", f"a softmax over the infinite range of `{word}` has no limit here", node.span)
    if index.range.size == 0:
        fail("N511", "this softmax has no terms", node.span)
    index = Index(word, index.range) if not frame.inlined else index
    outside = tuple(guard for guard in frame.guards if index not in free_indices(guard))  # of another `index`
    inside = replace(frame.with_indices(**{word: index}), guards=outside)
    if at != index:
        check_subscripts("softmax", [at], [index.range], [binder.span], frame)
    test = _guard(node, inside, [])
    if test is not None and test.static is False:
        fail("N511", "this softmax has no terms", node.span, "", (Label(node.guard.span, "this excludes them all"),))
    guard = None if test is None or test.static else test.expr
    body_frame = inside.with_guard(None if test is None else guard_of(test))
    try:
        body = value(node.body, body_frame)
    except NeedsValues as need:
        if need.index != index:
            raise
        body = _table(index, node, inside, test)
    if body.level == Level.VECTOR:
        fail("N306", "softmax acts on scalars, and this is a vector", node.body.span)
    if guard is not None:
        check_not_empty("softmax", (index,), test, node, inside)
    level = max(body.level, test.level if guard is not None else Level.NUMBER)
    return Value(level, Softmax(body.expr, index, guard, at), node.span)


def _table(index: Index, node: syntax.Reduction, frame: Frame, test: Condition | None) -> Value:
    """The body as a choice between its values one by one."""
    level, expr = Level.NUMBER, None
    for number in reversed(numbers_of(index.range)):
        guard = None if test is None else guard_of(test)
        here = frame.with_indices(**{index.name: Num(number)})
        if guard is not None:
            only = condition(node.guard.condition, here)
            if only.static is False:
                continue
            here = here.with_guard(guard_of(only))
        body = value(node.body, here)
        level = max(level, body.level)
        expr = body.expr if expr is None else Where(Compare("==", index, Num(number)), body.expr, expr)
    return Value(level, expr, node.span)
