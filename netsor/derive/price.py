"""Derivatives of Gaussian expectations: Price's theorem.

For x ~ N(m, C) and f that may depend on theta too,

    d/dtheta E f(x) = sum_i dm_i/dtheta E[d_i f] + sum_{i<j} dC_ij/dtheta E[d_i d_j f] + 1/2 sum_i dC_ii/dtheta E[d_i d_i f] + E[df/dtheta]

(Price 1958; Bonnet 1964), derivatives of f in the sense of distributions.  Where these are no functions (a kink has a delta in its
second derivative, a jump in its first) Gaussian integration by parts takes one off f: E[g (x_i - m_i)] = sum_k C_ik E[d_k g], which is

    C_ii E[d_i g] = E[g (x_i - m_i)] - sum_{k != i} C_ik E[d_k g]    and    E[d_i g] = E[g (C^-1 (x - m))_i].

The first form serves where the d_k g are functions, as of products phi(u) psi(v), and holds where C is singular; the second holds for
every g, and an invertible C.
"""

from __future__ import annotations

import sympy

from netsor.derive.objects import GaussianExpectation
from netsor.derive.slopes import NoSlope, slope

MOST_VARIABLES = 3  # of laws whose covariance is inverted as a formula


def derivative(expr: GaussianExpectation, by: sympy.Expr) -> sympy.Expr | None:
    """The derivative by a symbol (or Indexed) that is not bound in the expectation; None where none is known here: variables with inner
    indices, and functions that jump or are singular where ``by`` stands in them."""
    if any(expr.inner):
        return None
    try:
        total = expected(expr, slope(expr.integrand, by))
        rule = _Rule(expr)
        for i in range(len(expr.variables)):
            if (rate := sympy.diff(expr.means[i], by)) != 0:
                total += rate * rule.first(i)
            for j in range(i, len(expr.variables)):
                if (rate := sympy.diff(expr.covariance[i, j], by)) != 0:
                    total += rate * rule.second(i, j) / (2 if i == j else 1)
    except NoSlope:
        return None
    return total


def expected(law: GaussianExpectation, integrand: sympy.Expr) -> sympy.Expr:
    """E[integrand] under the law of another expectation: a sum term by term, what is not random in front, and of the variables those
    that occur."""
    own = set(law.variables)
    total = sympy.S.Zero
    for term in sympy.Add.make_args(integrand):
        outside = [factor for factor in sympy.Mul.make_args(term) if not factor.free_symbols & own]
        inside = sympy.Mul(*[factor for factor in sympy.Mul.make_args(term) if factor.free_symbols & own])
        kept = [k for k, variable in enumerate(law.variables) if variable in inside.free_symbols]
        total += sympy.Mul(*outside) * (sympy.S.One if inside == 1 else GaussianExpectation(
            inside, sympy.Tuple(*[law.variables[k] for k in kept]), sympy.Tuple(*[law.means[k] for k in kept]),
            law.covariance.extract(kept, kept), sympy.Tuple(*[law.inner[k] for k in kept])))
    return total


class _Rule:
    """E[d_i f] and E[d_i d_j f] for the f of an expectation, by functions that exist."""

    def __init__(self, expr: GaussianExpectation):
        self.law, self.function, self.count = expr, expr.integrand, len(expr.variables)

    def first(self, i: int) -> sympy.Expr:
        return self._derivative(self.function, i)

    def second(self, i: int, j: int) -> sympy.Expr:
        for one, other in ((i, j), (j, i)):
            try:
                inner = slope(self.function, self.law.variables[one])
            except NoSlope:
                continue
            return self._derivative(inner, other)
        # E[d_i d_j f] = E[f (a_i a_j - (C^-1)_ij)], a = C^-1 (x - m)
        return self._weighted(self._score(i) * self._score(j) - self._inverse()[i, j], self.function)

    def _weighted(self, weight: sympy.Expr, function: sympy.Expr) -> sympy.Expr:
        """E[weight g] for a polynomial weight, monomial by monomial."""
        return sum((expected(self.law, term * function) for term in sympy.Add.make_args(sympy.expand(weight))), sympy.S.Zero)

    def _derivative(self, function: sympy.Expr, i: int) -> sympy.Expr:
        """E[d_i g]."""
        try:
            return expected(self.law, slope(function, self.law.variables[i]))
        except NoSlope:
            pass
        covariance, variable, mean = self.law.covariance, self.law.variables[i], self.law.means[i]
        try:
            others = sum((
                covariance[i, k] * expected(self.law, slope(function, self.law.variables[k]))
                for k in range(self.count) if k != i and covariance[i, k] != 0), sympy.S.Zero)
        except NoSlope:
            return self._weighted(self._score(i), function)
        moved = expected(self.law, variable * function) - mean * expected(self.law, function)
        return (moved - others) / covariance[i, i]

    def _score(self, i: int) -> sympy.Expr:
        """(C^-1 (x - m))_i."""
        inverse = self._inverse()
        return sum((inverse[i, k] * (self.law.variables[k] - self.law.means[k]) for k in range(self.count)), sympy.S.Zero)

    def _inverse(self) -> sympy.Matrix:
        if self.count > MOST_VARIABLES:
            raise NoSlope
        return self.law.covariance.inv(method="ADJ")
