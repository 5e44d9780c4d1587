"""Reductions over values at which different definitions stand: their terms written out."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from netsor.ir.expressions import (
    ONE, ZERO, Call, Compare, Expr, Index, Num, Where, add, mul, power,
)
from netsor.ir.rewrite import free_indices
from netsor.language import syntax
from netsor.language.binders import bound_index, check_count, guard_condition, number_of_terms, over_nothing
from netsor.language.conditions import condition, guard_of
from netsor.language.constants import numbers_of, tidy
from netsor.language.expressions import value
from netsor.language.source import Span
from netsor.language.state import Frame, fail, written
from netsor.language.values import Level, Value
from netsor.language.widths import common_width

UNROLL_LIMIT = 100_000
Reducer = Callable[[str, list[syntax.Binder], syntax.Reduction, Frame, bool], Value | None]
GUARDED_LIMIT = 64  # terms of a max or min none of which is certain to count: each names all others


@dataclass(frozen=True)
class Term:
    """A term, the condition under which it counts (None: always), and how many terms of the program it stands for."""

    value: Value
    admitted: Expr | None
    count: Expr
    level: Level
    """Of the condition."""

    def otherwise(self, expr: Expr) -> Expr:
        """The term where it counts, ``expr`` elsewhere."""
        return self.value.expr if self.admitted is None or self.value.expr == expr else Where(self.admitted, self.value.expr, expr)


def unrolled(
    op: str, index: Index, rest: list[syntax.Binder], node: syntax.Reduction, frame: Frame, reduce: Reducer,
    part: bool
) -> Value | None:
    """The terms written out, for values of the index at which different definitions stand; ``reduce`` runs over the binders that are left."""
    if index.range.infinite:
        fail("N313", f"`{index.name}` has infinitely many values, which cannot be told apart", node.span)
    if index.range.size > UNROLL_LIMIT:
        fail("N512", f"this reduction would be written out in {index.range.size:,} terms", node.span)
    values = numbers_of(index.range)
    found = [_term(op, rest, node, frame.with_indices(**{written(index): Num(number)}), reduce) for number in values]
    terms = [term for term in found if term is not None]
    if not terms:
        return None if part else over_nothing(op, node)
    if op in ("mean", "max", "min") and not part:
        _check_not_empty(op, terms, node, frame)
    level = max(max(term.value.level, term.level) for term in terms)
    return Value(level, _combined(op, terms, node.span), node.span, width=common_width([term.value for term in terms]))


def _term(op: str, rest: list[syntax.Binder], node: syntax.Reduction, frame: Frame, reduce: Reducer) -> Term | None:
    """The term where the index is a number, itself a reduction over the other binders; None if it never counts."""
    if rest:
        return _inner(op, rest, node, frame, reduce)
    if node.guard is None:
        return Term(value(node.body, frame), None, ONE, Level.NUMBER)
    test = condition(node.guard.condition, frame)
    if test.static is False:
        return None
    if test.static:
        return Term(value(node.body, frame), None, ONE, Level.NUMBER)
    return Term(value(node.body, frame.with_guard(guard_of(test))), test.expr, Where(test.expr, ONE, ZERO), test.level)


def _inner(op: str, rest: list[syntax.Binder], node: syntax.Reduction, frame: Frame, reduce: Reducer) -> Term | None:
    found = reduce("sum" if op == "mean" else op, rest, node, frame, True)
    if found is None:
        return None
    indices: list[Index] = []
    for binder in rest:
        index = bound_index(binder, frame)
        frame = frame.with_indices(**{binder.name.name: index})
        indices.append(index)
    test = guard_condition(node, frame, [index for index in indices if index.range.infinite])
    guard = None if test is None or test.static else test.expr
    count = number_of_terms(tuple(indices), guard)
    some = None if guard is None else Compare(">", count, ZERO)
    return Term(found, some, count, Level.NUMBER if guard is None else test.level)


def _combined(op: str, terms: list[Term], span: Span) -> Expr:
    if op in ("sum", "mean"):
        total = _sum([term.otherwise(ZERO) for term in terms], span)
        return total if op == "sum" else mul(total, power(add(*[term.count for term in terms]), -1))
    if op == "prod":
        return mul(*[term.otherwise(ONE) for term in terms])
    return _extreme(op, terms, span)


def _extreme(op: str, terms: list[Term], span: Span) -> Expr:
    """The max or min: terms that do not count are replaced by one that does."""
    some = next((term.value.expr for term in terms if term.admitted is None), None)
    if some is None:
        if len(terms) > GUARDED_LIMIT:
            fail("N512", f"this {op} would be written out in {len(terms):,} terms none of which is certain to count; "
                 f"{GUARDED_LIMIT} are possible", span)
        known = all(term.level == Level.NUMBER for term in terms)  # then one of them counts: that was checked
        some = terms[-1].value.expr if known else terms[-1].otherwise(Num(-math.inf if op == "max" else math.inf))
        for term in reversed(terms[:-1]):
            some = term.otherwise(some)
    chosen = list(dict.fromkeys(term.otherwise(some) for term in terms))
    return chosen[0] if len(chosen) == 1 else Call(op, tuple(chosen))


def _sum(terms: list[Expr], span: Span) -> Expr:
    numbers = sum(term.value for term in terms if isinstance(term, Num))
    return add(*[term for term in terms if not isinstance(term, Num)], tidy(numbers, span))


def _check_not_empty(op: str, terms: list[Term], node: syntax.Reduction, frame: Frame) -> None:
    """Raise N511 where conditions that are known beforehand exclude all terms."""
    if all(term.admitted is not None and term.level == Level.NUMBER for term in terms):
        counted = add(*[term.count for term in terms])
        check_count(op, counted, free_indices(counted), node, frame)
