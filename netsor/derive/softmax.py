"""Moments of softmax weights of independent scores: closed where symmetry or a one-dimensional integral gives them.

With A the softmax of s independent N(0, v) scores: E A_j = 1/s, E A_j^2 = E[sum_k A_k^2]/s, and the sum over j and k of E[A_j^2 A_k^2] is
E[(sum_k A_k^2)^2]; both are integrals over one variable (:mod:`netsor.derive.closed_forms.attention`).
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import sympy

from netsor.derive.closed_forms.attention import SquaredWeights
from netsor.derive.objects import GaussianExpectation, Softmax
from netsor.ir.expressions import Compare, Expect, Expr, Indicator, Leaf, Mul, Num, Pow, first, mul, second
from netsor.ir.expressions import Softmax as SoftmaxNode
from netsor.ir.kernel import range_size
from netsor.ir.rewrite import free_indices, substitute, walk

if TYPE_CHECKING:
    from netsor.derive.convert import Converter
    from netsor.derive.names import Letters


def softmax_moment(expect: Expect, convert: "Converter", letters: "Letters") -> sympy.Expr | None:
    """E A_j or E A_j^2, if that is what the expectation is."""
    found = _iid_weights(expect)
    if found is None:
        return None
    places, variance, count = found
    size = convert(count, letters)
    admitted = sympy.S.One  # weights that the guard excludes are 0
    for weight in _weights(expect):
        if weight.guard is not None:
            admitted = admitted * _indicator(convert.condition(substitute(weight.guard, {weight.index: weight.at}), letters))
    match list(places.values()):
        case [1]:
            return admitted / size
        case [2]:
            return admitted * SquaredWeights(1, size, convert(variance, letters)) / size
    return None


def _indicator(condition) -> sympy.Expr:
    from netsor.derive.convert import indicator

    return indicator(condition)


def _weights(expect: Expect) -> list[SoftmaxNode]:
    """The different softmax weights among the factors."""
    found = {}
    for factor in expect.factors:
        for part in walk(factor):
            if isinstance(part, SoftmaxNode):
                found[part.at, part.guard if part.guard is None else substitute(part.guard, {part.index: part.at})] = part
    return list(found.values())


def _iid_weights(expect: Expect) -> tuple[Counter, Expr, Expr] | None:
    """The places of the weights and their powers, the variance of the scores and their number, for a product of weights of one
    softmax of independent scores."""
    if len(expect.inner) != 1 or len(expect.inner[0]) != 1 or any(mean != Num(0) for mean in expect.mean):
        return None
    index = expect.inner[0][0]
    same = {Indicator(Compare("==", *pair)) for pair in ((first(index), second(index)), (second(index), first(index)))}
    parts = list(expect.covariance[0][0].factors) if isinstance(expect.covariance[0][0], Mul) else [expect.covariance[0][0]]
    deltas = [part for part in parts if part in same]
    rest = mul(*[part for part in parts if part not in same])
    if len(deltas) != 1 or {first(index), second(index)} & free_indices(rest):
        return None
    places: Counter = Counter()
    counts = set()
    factors = [each for factor in expect.factors for each in (factor.factors if isinstance(factor, Mul) else (factor,))]
    for factor in factors:
        weight, power = (factor.base, factor.exponent) if isinstance(factor, Pow) else (factor, Num(1))
        if not isinstance(weight, SoftmaxNode) or not isinstance(power, Num) or weight.body != Leaf(0, (weight.index,)):
            return None
        if weight.index.range != index.range:
            return None
        counts.add(_admitted(weight))
        places[weight.at] += power.value
    if len(counts) != 1 or None in counts:
        return None
    return places, rest, counts.pop()


def _admitted(weight: SoftmaxNode) -> Expr | None:
    """The number of values that the guard admits: all, or those up to a bound."""
    if weight.guard is None:
        return range_size(weight.index.range)
    match weight.guard:
        case Compare(op="<=", left=left, right=right) if left == weight.index and weight.index not in free_indices(right):
            if weight.index.range.lo == 1:
                return right
    return None


def with_squared_weights(expr: sympy.Expr) -> sympy.Expr:
    """The formula with sums over j and k of E[A_j^2 A_k^2] written as E[(sum_k A_k^2)^2]."""
    return expr.replace(lambda part: isinstance(part, sympy.Sum), _squared)


def _squared(total: sympy.Sum) -> sympy.Expr:
    symbols = {limit[0]: limit for limit in total.limits}
    found = _pair_of_squares(total.function)
    if found is None or not set(found[0]) <= set(symbols):
        return total
    places, size, variance = found
    rest = [limit for symbol, limit in symbols.items() if symbol not in places]
    value = SquaredWeights(2, size, variance)
    return sympy.Sum(value, *rest) if rest else value


def _pair_of_squares(expr: sympy.Expr) -> tuple[tuple, sympy.Expr, sympy.Expr] | None:
    """The two places of E[A_j^2 A_k^2], the number of scores and their variance."""
    if not isinstance(expr, GaussianExpectation) or len(expr.inner) != 1 or len(expr.inner[0]) != 1:
        return None
    one, other, low, high = expr.inner[0][0]
    delta = sympy.KroneckerDelta(one, other)
    variance = expr.covariance[0, 0] / delta
    if variance.free_symbols & {one, other}:
        return None
    places = []
    for factor in sympy.Mul.make_args(expr.integrand):
        weight, power = factor.as_base_exp()
        if not isinstance(weight, Softmax) or power != 2 or weight.guard != sympy.true:
            return None
        places.append(weight.at)
    return (tuple(places), high - low + 1, variance) if len(set(places)) == 2 else None
