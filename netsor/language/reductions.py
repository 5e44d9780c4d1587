"""Reductions: `sum(e for i, o in -1..1 if cond)` and its kin, and softmax, where the index stays free."""

from __future__ import annotations

from dataclasses import replace

from netsor.ir.expressions import Compare, Index, Num, Reduce, Softmax, Where, mul, power, total
from netsor.ir.rewrite import free_indices
from netsor.language import syntax
from netsor.language.binders import bound_index, check_not_empty, guard_condition, number_of_terms, over_nothing
from netsor.language.conditions import condition, guard_of
from netsor.language.constants import is_empty, numbers_of
from netsor.language.diagnostics import Label
from netsor.language.expressions import evaluates, value
from netsor.language.ranges import check_subscripts
from netsor.language.state import Frame, fail, written
from netsor.language.unrolling import unrolled
from netsor.language.values import Condition, Level, NeedsValues, Value

REDUCTIONS = ("sum", "prod", "mean", "max", "min")


@evaluates(syntax.Reduction)
def reduction(node: syntax.Reduction, frame: Frame) -> Value:
    word = node.function.dotted
    if word == "softmax":
        return softmax(node, frame)
    if word not in REDUCTIONS:
        near = frame.scope.suggestion(word, (*REDUCTIONS, "softmax"))
        fail("N208", f"`{word}` does not reduce over an index", node.function.span, "",
             hint=near or "reductions are sum, prod, mean, max, min and softmax")
    return _reduce(word, list(node.binders), node, frame)


def _reduce(
    op: str, binders: list[syntax.Binder], node: syntax.Reduction, frame: Frame, part: bool = False
) -> Value | None:
    """Over all binders at once, if possible; an index whose values must be told apart is unrolled into terms.

    A ``part`` of a larger reduction may have no terms: None if it never has any."""
    indices: list[Index] = []
    inside = frame
    for binder in binders:
        index = bound_index(binder, frame)
        if any(index.name == other.name for other in indices):
            fail("N318", f"`{index.name}` is bound twice", binder.span)
        inside = inside.with_indices(**{binder.name.name: index})
        indices.append(index)
    try:
        return _whole(op, node, inside, tuple(indices), part)
    except NeedsValues as need:
        if need.index not in indices:
            raise
        k = indices.index(need.index)
    return unrolled(op, indices[k], binders[:k] + binders[k + 1:], node, frame, _reduce, part)


def _whole(op: str, node: syntax.Reduction, frame: Frame, indices: tuple[Index, ...], part: bool) -> Value | None:
    infinite = [index for index in indices if index.range.infinite]
    if infinite and op not in ("sum", "mean"):
        fail("N313", f"{op} over the infinite range of `{infinite[0].name}` has no limit here", node.span)
    test = guard_condition(node, frame, infinite)
    guard = None if test is None or test.static else test.expr
    if (test is not None and test.static is False) or any(is_empty(index.range) for index in indices):
        return None if part else over_nothing(op, node)
    body = value(node.body, frame.with_guard(None if test is None else guard_of(test)))
    level = max(body.level, test.level if guard is not None else Level.NUMBER)
    if op in ("mean", "max", "min") and guard is not None and not part:
        check_not_empty(op, indices, test, node, frame)
    match op:
        case "sum":
            return Value(level, total(body.expr, indices, guard), node.span, width=body.width)
        case "mean":
            count = number_of_terms(indices, guard)
            return Value(level, mul(total(body.expr, indices, guard), power(count, -1)), node.span, width=body.width)
    return Value(level, Reduce(op, body.expr, indices, guard), node.span, width=body.width)


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
    if is_empty(index.range):
        fail("N511", "this softmax has no terms", node.span)
    index = frame.scope.index(word, index.range) if not frame.inlined else index
    outside = tuple(guard for guard in frame.guards if index not in free_indices(guard))  # of another `index`
    inside = replace(frame.with_indices(**{word: index}), guards=outside)
    if at != index:
        check_subscripts("softmax", [at], [index.range], [binder.span], frame)
    test = guard_condition(node, inside, [])
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
        fail("N306", "softmax acts on scalars, and this is a vector", node.body.span, "", (),
             "in each coordinate alone it is written out: exp(x[i]) / sum(exp(x[j]) for j)")
    if guard is not None:
        check_not_empty("softmax", (index,), test, node, inside)
    level = max(body.level, test.level if guard is not None else Level.NUMBER)
    return Value(level, Softmax(body.expr, index, guard, at), node.span)


def _table(index: Index, node: syntax.Reduction, frame: Frame, test: Condition | None) -> Value:
    """The body as a choice between its values one by one."""
    level, expr = Level.NUMBER, None
    for number in reversed(numbers_of(index.range)):
        guard = None if test is None else guard_of(test)
        here = frame.with_indices(**{written(index): Num(number)})
        if guard is not None:
            only = condition(node.guard.condition, here)
            if only.static is False:
                continue
            here = here.with_guard(guard_of(only))
        body = value(node.body, here)
        level = max(level, body.level)
        expr = body.expr if expr is None else Where(Compare("==", index, Num(number)), body.expr, expr)
    return Value(level, expr, node.span)
