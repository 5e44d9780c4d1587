"""E[dF/dz] without a derivative: Stein's lemma, for functions with jumps and those whose derivative is not known.

For jointly Gaussian z and a function F of them, E[(z_k - m_k) F] = sum_l Cov(z_k, z_l) E[dF/dz_l].  With e_1, …, e_r the variables
made orthogonal one after the other (Gram–Schmidt) this is

    E[F e_j] / E[e_j^2],

the derivative along e_j; a variable that is a combination of earlier ones has e_j = 0 and adds nothing.  That is the definition of
the derivative in Yang 2020, arXiv:2009.10685 (Tensor Programs III), with the pseudo-inverse of the covariance.
"""

from __future__ import annotations

from dataclasses import replace

from netsor.ir.expressions import (
    ONE, ZERO, Add, Compare, Coord, Expr, Indicator, Logic, Mul, Num, Reduce, Where, add, mul, power,
)
from netsor.ir.facts import bottom_up, vectors_of
from netsor.ir.polynomials import coords, degree, homogeneous_degree
from netsor.ir.program import Family, Nonlin
from netsor.ir.rewrite import bound, children, free_indices, substitute
from netsor.rules import GaussianRule, Source, rule_of
from netsor.rules.additions import Additions
from netsor.rules.base import is_affine
from netsor.rules.jacobian import Jacobian, NoSlope, Partial

MOST_VARIABLES = 8
DEPENDENT = Num(1e-12)
"""A variable whose part outside the span of earlier ones has less than this share of its variance lies in the span."""


class NoExpectation(Exception):
    """The lemma cannot be applied.  The message says why."""


class Stein:
    """Expected derivatives in a program that is being written (``additions``)."""

    def __init__(self, additions: Additions):
        self.additions = additions
        self._gaussian: dict[Family, bool] = {}
        self._sources: dict[Family, frozenset[Source]] = {}
        self._centred: dict[Family, bool] = {}

    def partials(self, expr: Expr, jacobian: Jacobian) -> list[Partial]:
        """E of the derivative of ``expr``: partials whose slope is 1.

        :raises NoExpectation: if jumps are in sums or maxima of correlated variables, or in too many of them."""
        moment = self.additions.moment
        orthogonal: list[tuple[Expr, list[Partial], Expr]] = []  # e_j, its derivative, 1/E[e_j^2]
        found: list[Partial] = []
        for variable in self._variables(expr, jacobian):
            own = rest = add(variable, mul(-1, self._mean(variable)))
            derivative = jacobian.partials(variable)
            for earlier, partials, inverse in orthogonal:
                weight = self.additions.scalar(mul(moment(mul(own, earlier)), inverse))
                rest = add(rest, mul(-1, weight, earlier))
                derivative = derivative + [partial.scaled(mul(-1, weight)) for partial in partials]
            direction = self.additions.vector(rest)
            inverse = _inverse(moment(power(direction, 2)), moment(power(own, 2)) if orthogonal else None)
            orthogonal.append((direction, derivative, inverse))
            response = self.additions.scalar(mul(moment(mul(direction, expr)), inverse))
            found += [partial.scaled(response) for partial in derivative]
        return found

    # --- the variables -----------------------------------------------------------------------------------------------

    def _variables(self, expr: Expr, jacobian: Jacobian) -> list[Coord]:
        """The Gaussian variables behind ``expr`` that depend on atoms, and those correlated with them."""
        all_of_them = list(dict.fromkeys(self._arguments(expr, frozenset())))
        chosen = [found for found in all_of_them if jacobian.depends(found[0])]
        for found in chosen:  # grows: whatever may be correlated with a chosen one
            chosen += [other for other in all_of_them if other not in chosen and self._meet(found[0], other[0])]
        chosen.sort(key=all_of_them.index)
        if any(is_bound for _, is_bound in chosen):
            raise NoExpectation("a function that jumps, or has no known derivative, runs over an index inside its argument")
        if len(chosen) > MOST_VARIABLES:
            raise NoExpectation(f"a function that jumps, or has no known derivative, depends on {len(chosen)} correlated vectors")
        return [variable for variable, _ in chosen]

    def _arguments(self, expr: Expr, inner: frozenset) -> list[tuple[Coord, bool]]:
        """The largest parts that are affine in Gaussian vectors, and whether an inner index occurs in them."""
        if not coords(expr):
            return []
        if degree(expr) == 1 and all(self._is_gaussian(part.family) for part in coords(expr)):
            if isinstance(expr, Add | Mul):  # numbers around a variable only shift and stretch it
                terms = [t for t in (expr.terms if isinstance(expr, Add) else (expr,)) if coords(t)]
                factors = terms[0].factors if len(terms) == 1 and isinstance(terms[0], Mul) else (terms[0],)
                vectors = [factor for factor in factors if coords(factor)]
                if len(terms) == 1 and len(vectors) == 1:
                    expr = vectors[0]
            return [(self.additions.vector(expr), bool(free_indices(expr) & inner))]
        if isinstance(expr, Coord):
            if not isinstance(expr.family.definition, Nonlin):
                return []  # an input that is not Gaussian, independent of everything
            names = dict(zip(expr.family.axes, expr.subscripts))
            return self._arguments(substitute(expr.family.definition.body, names), inner)
        inner = inner | bound(expr)
        return [found for child in children(expr) for found in self._arguments(child, inner)]

    def _is_gaussian(self, family: Family) -> bool:
        return bottom_up(family, self._gaussian, vectors_of, self._find_gaussian)

    def _find_gaussian(self, family: Family) -> bool:
        definition = family.definition
        if isinstance(definition, Nonlin):
            return is_affine(definition.body, self._gaussian.__getitem__)
        return isinstance(rule_of(family), GaussianRule)

    def _meet(self, left: Coord, right: Coord) -> bool:
        return any(a.meets(b) for a in self._sources_of(left.family) for b in self._sources_of(right.family))

    def _sources_of(self, family: Family) -> frozenset[Source]:
        return bottom_up(family, self._sources, vectors_of, self._find_sources)

    def _find_sources(self, family: Family) -> frozenset[Source]:
        if isinstance(family.definition, Nonlin):
            return frozenset().union(*(self._sources[used] for used in vectors_of(family)))
        return frozenset((rule_of(family).source(family.generic),))

    def _mean(self, variable: Coord) -> Expr:
        """E of a Gaussian variable, 0 where that can be seen."""
        centred = bottom_up(variable.family, self._centred, vectors_of, self._find_centred)
        return ZERO if centred else self.additions.moment(variable)

    def _find_centred(self, family: Family) -> bool:
        if isinstance(family.definition, Nonlin):
            linear = homogeneous_degree(family.definition.body) == 1
            return linear and all(self._centred[used] for used in vectors_of(family))
        return rule_of(family).mean(family.generic) == ZERO


def _inverse(square: Expr, variance: Expr | None) -> Expr:
    """1/E[e^2] for a variable that is not zero; with earlier ones, 0 if no more than rounding is left of its ``variance``.

    Where e is zero so is E[F e], and any number will do."""
    if variance is None:
        return power(add(square, Indicator(Compare("==", square, ZERO))), -1)
    new = Compare(">", square, mul(DEPENDENT, variance))
    return mul(Indicator(new), power(Where(new, square, ONE), -1))


def expected(expr: Expr, jacobian: Jacobian, stein: Stein) -> list[Partial]:
    """E of the derivative of an expression: partials whose slope is 1.  Differentiated where that is possible; otherwise the sum is
    taken apart and what cannot be differentiated is left to Stein's lemma.

    :raises NoExpectation: where neither helps."""
    try:
        return [_averaged(partial, stein.additions) for partial in jacobian.partials(expr)]
    except NoSlope:
        pass
    of = lambda part: expected(part, jacobian, stein)  # noqa: E731
    match expr:
        case Coord(family=family):
            return of(substitute(family.definition.body, dict(zip(family.axes, expr.subscripts))))
        case Add():
            return [partial for term in expr.terms for partial in of(term)]
        case Mul(factors=factors) if not all(map(coords, factors)):
            scale = mul(*[factor for factor in factors if not coords(factor)])
            rest = mul(*[factor for factor in factors if coords(factor)])
            return [partial.scaled(scale) for partial in of(rest)]
        case Reduce(op="sum") if expr.guard is None or not coords(expr.guard):
            return [partial.within(expr.indices, expr.guard) for partial in of(expr.body)]
        case Where() if not coords(expr.test):
            opposite = Logic("not", (expr.test,))
            return [p.where(expr.test) for p in of(expr.then)] + [p.where(opposite) for p in of(expr.otherwise)]
    return stein.partials(expr, jacobian)


def _averaged(partial: Partial, additions: Additions) -> Partial:
    return replace(partial, slope=ONE, coefficient=mul(partial.coefficient, additions.moment(partial.slope)))
