"""Moments of softmax weights of independent scores: closed where symmetry or a one-dimensional integral gives them.

With A the softmax of m iid N(mean, v) scores, the weights are exchangeable and sum to one.  With W_k = E (sum_j A_j^2)^k, integrals over
one variable (:mod:`netsor.derive.closed_forms.attention`),

    E A_j = 1/m,    E A_j^2 = W_1/m,    E A_j A_k = (1 - W_1)/(m (m - 1)) for j != k,    sum_jk E A_j^2 A_k^2 = W_2,
    sum_k E[f A_k] = E f  for every f.
"""

from __future__ import annotations

from dataclasses import dataclass

import sympy

from netsor.derive.closed_forms.attention import SquaredWeights
from netsor.derive.counting import Ranges
from netsor.derive.objects import GaussianExpectation, Softmax, indicator
from netsor.derive.sums import distributed, summation

MOST_MONOMIALS = 40  # that an integrand is expanded into
LONGEST_SUMMAND = 400  # operations of a sum's body that is expanded


@dataclass(frozen=True)
class Weights:
    """A softmax of iid scores: the law as a :class:`GaussianExpectation` of 1, the variance of what is in the exponent, a weight, and the
    symbol of its index with its ends."""

    law: GaussianExpectation
    variance: sympy.Expr
    weight: Softmax

    @property
    def bound(self) -> tuple:
        return tuple(self.weight.limits)

    def admits(self, place: sympy.Expr) -> sympy.Expr:
        """1 where the guard admits an index, 0 elsewhere."""
        return indicator(self.weight.guard.xreplace({self.bound[0]: place})) if self.weight.guard != sympy.true else sympy.S.One

    def size(self, ranges: Ranges) -> sympy.Expr:
        """The number of weights that are not 0."""
        return summation(self.admits(self.bound[0]), [self.bound], ranges)

    def at(self, place: sympy.Expr) -> Softmax:
        body, guard, _, limits = self.weight.args
        return Softmax(body, guard, place, limits)

    def expectation(self, powers: dict) -> sympy.Expr:
        """E of a product of weights, standing: ``powers`` by place."""
        product = sympy.Mul(*[self.at(place)**power for place, power in powers.items()])
        return product if product == 1 else GaussianExpectation(product, *self.law.args[1:])


def weights_of(expectation: GaussianExpectation) -> tuple[Weights, dict[sympy.Dummy, sympy.Expr], sympy.Expr] | None:
    """The softmax whose weights an expectation is about, the place of each weight by the dummy that stands for it, and the integrand in
    these dummies; None if it is about anything else."""
    if len(expectation.inner) != 1 or len(expectation.inner[0]) != 1:
        return None
    one, other, low, high = expectation.inner[0][0]
    variance, rest = _without(expectation.covariance[0, 0], sympy.KroneckerDelta(one, other))
    mean, found = expectation.means[0], sorted(expectation.integrand.atoms(Softmax), key=str)
    if rest is None or variance.free_symbols & {one, other} or mean.free_symbols & {one, other} or not found:
        return None
    variable = expectation.variables[0]
    first = found[0]
    alike = {(each.body.xreplace({each.limits[0]: one}), each.guard.xreplace({each.limits[0]: one}), each.limits[1:]) for each in found}
    slope = first.body.xreplace({first.limits[0]: one}).expand().coeff(variable)
    shift = sympy.expand(first.body.xreplace({first.limits[0]: one}) - slope * variable)
    if len(alike) != 1 or first.limits[1:] != (low, high) or slope == 0 or {one, variable} & (slope.free_symbols | shift.free_symbols):
        return None
    places = {sympy.Dummy("A"): each.at for each in found}
    integrand = expectation.integrand.xreplace({each: dummy for dummy, each in zip(places, found)})
    if integrand.free_symbols & expectation.own_symbols:
        return None
    return Weights(expectation, slope**2 * variance, first), places, integrand


def _without(product: sympy.Expr, factor: sympy.Expr) -> tuple[sympy.Expr, sympy.Expr | None]:
    """A product without one of its factors, and that factor (None if it is none)."""
    factors = sympy.Mul.make_args(product)
    return sympy.Mul(*[each for each in factors if each != factor]), (factor if factor in factors else None)


def softmax_moment(expectation: GaussianExpectation, ranges: Ranges) -> sympy.Expr | None:
    """The expectation of a polynomial in the weights of one softmax: E A_j and E A_j^2 in closed form, of other monomials as
    expectations of their own; None for any other expectation."""
    found = weights_of(expectation)
    if found is None:
        return None
    weights, places, integrand = found
    try:
        polynomial = sympy.Poly(integrand, *places)
    except sympy.PolynomialError:
        return None
    if len(polynomial.terms()) > MOST_MONOMIALS:
        return None
    total = sympy.S.Zero
    for exponents, coefficient in polynomial.terms():
        powers: dict = {}
        for place, power in zip(places.values(), exponents):
            if power:
                powers[place] = powers.get(place, 0) + power
        total += coefficient * _monomial(weights, powers, ranges)
    return total


def _monomial(weights: Weights, powers: dict, ranges: Ranges) -> sympy.Expr:
    """E of a product of powers of weights."""
    match list(powers.items()):
        case [(place, 1)]:
            return weights.admits(place) / weights.size(ranges)
        case [(place, 2)]:
            size = weights.size(ranges)
            return weights.admits(place) * SquaredWeights(1, size, weights.variance) / size
    return weights.expectation(powers)


# --- sums over the places of the weights -----------------------------------------------------------------------------


def with_weights_summed(expr: sympy.Expr, ranges: Ranges) -> sympy.Expr:
    """The formula with sums of expectations of products of weights worked out."""
    if not any(weights_of(each) for each in expr.atoms(GaussianExpectation)):
        return expr
    expr = expr.replace(lambda part: isinstance(part, sympy.Sum), lambda part: _summed(part, ranges))
    return expr.replace(lambda part: isinstance(part, GaussianExpectation), lambda part: _closed(part, ranges))


def _summed(total: sympy.Sum, ranges: Ranges) -> sympy.Expr:
    """A sum, its terms one by one."""
    if not total.function.has(GaussianExpectation) or total.function.count_ops() > LONGEST_SUMMAND:
        return total
    found = sympy.S.Zero
    for term in sympy.Add.make_args(distributed(total.function)):
        found += summation(term, list(total.limits), ranges).replace(
            lambda part: isinstance(part, sympy.Sum), lambda part: _sum_of_term(part, ranges))
    return found


def _sum_of_term(total: sympy.Sum, ranges: Ranges) -> sympy.Expr:
    """A sum of one product with an expectation of weights among its factors."""
    factors = sympy.Mul.make_args(total.function)
    for factor in factors:
        found = _product_of_weights(factor) if isinstance(factor, GaussianExpectation) else None
        if found is None:
            continue
        weights, powers = found
        others = sympy.Mul(*[each for each in factors if each is not factor])
        limits = [tuple(limit) for limit in total.limits]
        whole = {place for place in powers if (place, *weights.bound[1:]) in limits and place not in others.free_symbols}
        summed = _summed_over(weights, powers, whole, ranges)
        if summed is not None:
            value, gone = summed
            return summation(others * value, [limit for limit in limits if limit[0] not in gone], ranges).replace(
                lambda part: isinstance(part, sympy.Sum), lambda part: _sum_of_term(part, ranges))
    closed = total.function.replace(lambda part: isinstance(part, GaussianExpectation), lambda part: _closed(part, ranges))
    return total if closed == total.function else summation(distributed(closed), list(total.limits), ranges)


def _summed_over(weights: Weights, powers: dict, whole: set, ranges: Ranges) -> tuple[sympy.Expr, set] | None:
    """The sum of E prod A_j^power over places of the set ``whole``, each over all weights, and those that it was taken over."""
    size = weights.size(ranges)
    once = sorted((place for place in whole if powers[place] == 1), key=str)
    if once:
        rest = {place: power for place, power in powers.items() if place != once[0]}
        return (_monomial(weights, rest, ranges) if rest else sympy.S.One), {once[0]}
    if whole == set(powers) and set(powers.values()) == {2} and len(powers) == 2:
        return SquaredWeights(2, size, weights.variance), whole
    fixed = [place for place in powers if place not in whole]
    if len(whole) == len(fixed) == 1 and powers[fixed[0]] == 1 and powers[next(iter(whole))] == 2:
        return weights.admits(fixed[0]) * SquaredWeights(1, size, weights.variance) / size, whole  # the same for all j
    return None


def _closed(expectation: GaussianExpectation, ranges: Ranges) -> sympy.Expr:
    """E A_j, E A_j^2 and E A_j A_k = delta_jk W_1/m + (1 - delta_jk) (1 - W_1)/(m (m - 1)); anything else as it is."""
    found = _product_of_weights(expectation)
    if found is None or sorted(found[1].values()) not in ([1], [2], [1, 1]):
        return expectation
    weights, powers = found
    if len(powers) == 1:
        return _monomial(weights, powers, ranges)
    one, other = powers
    size, same = weights.size(ranges), sympy.KroneckerDelta(one, other)
    both = weights.admits(one) * weights.admits(other)
    if size == 1:
        return both
    first = SquaredWeights(1, size, weights.variance)
    return both * (same * first / size + (1 - same) * (1 - first) / (size * (size - 1)))


def _product_of_weights(expectation: GaussianExpectation) -> tuple[Weights, dict] | None:
    """The softmax and the powers of its weights by place, if their product is all that an expectation is about."""
    found = weights_of(expectation)
    if found is None:
        return None
    powers: dict = {}
    for factor in sympy.Mul.make_args(found[2]):
        base, exponent = factor.as_base_exp()
        if base not in found[1] or not exponent.is_Integer:
            return None
        powers[found[1][base]] = powers.get(found[1][base], 0) + exponent
    return found[0], powers
