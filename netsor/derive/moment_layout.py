"""Moments over the scores laid out as one would write them."""

from __future__ import annotations

from collections.abc import Callable

import sympy

from netsor.derive.closed_forms.attention import SquaredWeights
from netsor.derive.objects import GaussianExpectation
from netsor.derive.sums import distributed, where_equal
from netsor.derive.tidy import tidy

LONG = 60  # operations of a ratio beyond which it may be shorter as it is
LONGEST = 2000  # operations of moments that are simplified
NAMED = (GaussianExpectation, SquaredWeights, sympy.Sum, sympy.Indexed)


def excess_kurtosis(first: sympy.Expr, second: sympy.Expr) -> sympy.Expr:
    """3 (E V^2 - (E V)^2)/(E V)^2 from E V and E V^2, factored as a rational function of parameters, moments and whatever has a name."""
    if first.count_ops() + second.count_ops() > LONGEST:
        return 3 * (second / first**2 - 1)
    found = _ratio(first, second, NAMED)
    if found.count_ops() > LONG:
        found = min(found, _ratio(first, second, (*NAMED, sympy.Function)), key=sympy.count_ops)
    return min(found, 3 * (second / first**2 - 1), key=sympy.count_ops)


def _ratio(first: sympy.Expr, second: sympy.Expr, named: tuple[type, ...]) -> sympy.Expr:
    """The excess kurtosis, algebra looking into nothing of the types ``named``."""
    (one, two), back = _opaque(named, first, second)
    mean, variance = sympy.factor(one), sympy.factor(two - one**2)
    variance = sympy.Mul(*[_collected(factor) for factor in sympy.Mul.make_args(variance)])
    return _without_sign(back(sympy.factor_terms(3 * variance / mean**2)))


def covariance(total: sympy.Expr) -> sympy.Expr:
    """A covariance with one term for each product of Kronecker deltas, where that is shorter."""
    if total.count_ops() > LONGEST:
        return total
    found: dict[sympy.Expr, sympy.Expr] = {}
    for term in sympy.Add.make_args(distributed(total)):
        deltas = [factor for factor in sympy.Mul.make_args(term) if isinstance(factor, sympy.KroneckerDelta)]
        rest = sympy.Mul(*[factor for factor in sympy.Mul.make_args(term) if factor not in deltas])
        found[sympy.Mul(*deltas)] = found.get(sympy.Mul(*deltas), sympy.S.Zero) + where_equal([rest], deltas)[0]
    collected = sympy.factor_terms(sympy.Add(*[delta * _factored(rest) for delta, rest in found.items()]))
    return min(collected, tidy(total), key=sympy.count_ops)


def _collected(total: sympy.Expr) -> sympy.Expr:
    """A sum by powers of the moments in it, where that is shorter."""
    if not isinstance(total, sympy.Add):
        return total
    moments = sorted(total.atoms(sympy.Dummy), key=str)
    return min(total, sympy.collect(total, moments, sympy.factor), key=sympy.count_ops)


def _factored(total: sympy.Expr) -> sympy.Expr:
    """1 + gamma^2 (W - 1/s) for what is a sum of such terms."""
    number, rest = total.as_coeff_Add()
    return number + sympy.factor_terms(rest)


def _opaque(named: tuple[type, ...], *moments: sympy.Expr) -> tuple[list[sympy.Expr], Callable[[sympy.Expr], sympy.Expr]]:
    """The formulas with a symbol for each part that algebra is not to look into, and the way back."""
    parts = set().union(*(moment.atoms(*named) for moment in moments))
    names = {part: sympy.Dummy(positive=part.is_positive) for part in parts}
    outermost = {name: part for part, name in names.items()}
    return [moment.xreplace(names) for moment in moments], lambda expr: expr.xreplace(outermost)


def _without_sign(product: sympy.Expr) -> sympy.Expr:
    """b - a for -(a - b)."""
    number, rest = product.as_coeff_Mul()
    if number.is_negative:
        for factor in sympy.Mul.make_args(rest):
            if isinstance(factor, sympy.Add):
                return -number * (rest / factor) * -factor
    return product
