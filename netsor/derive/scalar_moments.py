"""Expectations over independent random scalars, through the equations that a derivation has stated.

E K[4] with K[4] = K[3] (1 + kept[4]/2), K[3] = K[2] (1 + kept[3]/2), ... and independent kept[l] factorises one equation after another:
an expression is written as a product, factors that share no random scalar are independent, and what is left of each is a polynomial
in one scalar.  Laws that are not Gaussian are functions of a standard normal variable here (:mod:`netsor.ir.laws`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import sympy

from netsor.derive.closed_forms import polynomial_moment
from netsor.derive.equations import Equations
from netsor.derive.mentions import key
from netsor.derive.objects import Indicator, function
from netsor.derive.statement import Statement

MOST_STEPS = 2000  # products looked at
MOST_TERMS = 64  # of a sum that a product is multiplied out to
LONGEST_DECIMAL = 9


class NoMoment(Exception):
    """An expectation that does not factorise to polynomials in single scalars."""


class ScalarMoments:
    """Expectations over independent Gaussian scalars: ``laws`` has the mean and the variance of one element of each family; those of one
    family count as dependent.  ``statements`` are the equations of everything else that has a name."""

    def __init__(self, statements: Iterable[Statement], laws: Mapping[sympy.Expr, tuple[sympy.Expr, sympy.Expr]]):
        self.laws = {key(element)[0]: law for element, law in laws.items()}
        self.equations = Equations(statements)
        self._behind: dict[sympy.Expr, frozenset] = {}
        self._known: dict[sympy.Expr, sympy.Expr] = {}
        self.steps = 0

    def __call__(self, expr: sympy.Expr) -> sympy.Expr:
        """E of an expression.

        :raises NoMoment: where it has none in closed form."""
        if expr not in self._known:
            self.steps += 1
            if self.steps > MOST_STEPS:
                raise NoMoment
            self._known[expr] = self._find(expr)
        return self._known[expr]

    def _find(self, expr: sympy.Expr) -> sympy.Expr:
        if not self.behind(expr):
            return expr
        expr = sympy.factor_terms(expr, clear=False)
        result = sympy.S.One
        for product in self._independent(sympy.Mul.make_args(expr)):
            result *= self._of_product(product)
        return result

    def _of_product(self, product: sympy.Expr) -> sympy.Expr:
        """E of factors that all share scalars."""
        scalars = self.behind(product)
        if not scalars:
            return product
        if len(scalars) == 1:
            return self._of_one(product, next(iter(scalars)))
        if isinstance(product, sympy.Add):
            return sympy.Add(*map(self, product.args))
        named = [part for part in product.atoms(sympy.Symbol, sympy.Indexed) if self.equation(part) is not None]
        if named:
            latest = max(named, key=lambda part: (len(self.behind(part)), str(part)))
            return self(product.xreplace({latest: sympy.factor_terms(self.equation(latest), clear=False)}))
        expanded = sympy.expand(product)
        if not isinstance(expanded, sympy.Add) or len(expanded.args) > MOST_TERMS:
            raise NoMoment
        return sympy.Add(*map(self, expanded.args))

    def _independent(self, factors: Iterable[sympy.Expr]) -> list[sympy.Expr]:
        """Products of the factors that share scalars."""
        groups: list[tuple[frozenset, sympy.Expr]] = []
        for factor in factors:
            own = self.behind(factor)
            linked = [group for group in groups if group[0] & own]
            groups = [group for group in groups if group not in linked]
            groups.append((own.union(*(each for each, _ in linked)), sympy.Mul(factor, *(part for _, part in linked))))
        return [part for _, part in groups]

    def behind(self, expr: sympy.Expr) -> frozenset:
        """The names of the random scalars that an expression rests on."""
        found: frozenset = frozenset()
        for part in expr.atoms(sympy.Symbol, sympy.Indexed):
            if part not in self._behind:
                self._behind[part] = frozenset()
                name, right = key(part)[0], self.equation(part)
                self._behind[part] = frozenset((name,)) if name in self.laws else frozenset() if right is None else self.behind(right)
            found |= self._behind[part]
        return found

    def equation(self, part: sympy.Expr) -> sympy.Expr | None:
        """The right side of the equation of a named quantity, at its subscripts."""
        statement = self.equations.of(part)
        return None if statement is None else self.equations.right(statement, part)

    # --- one scalar --------------------------------------------------------------------------------------------------

    def _of_one(self, expr: sympy.Expr, name: tuple) -> sympy.Expr:
        """E of a polynomial in one scalar z, in indicators of z > c, or in the uniform variable Phi(z)."""
        while named := [part for part in expr.atoms(sympy.Symbol, sympy.Indexed) if self.equation(part) is not None and self.behind(part)]:
            expr = expr.xreplace({part: self.equation(part) for part in named})
        elements = {part for part in expr.atoms(sympy.Symbol, sympy.Indexed) if key(part)[0] == name}
        if len(elements) != 1 or any(elements & each.atoms(sympy.Symbol, sympy.Indexed) for each in expr.atoms(sympy.Sum, sympy.Product)):
            raise NoMoment
        z = elements.pop()
        expr = expr.replace(sympy.Piecewise, lambda *cases: _by_indicators(cases, z))
        uniform, normal = sympy.Dummy("u"), sympy.Dummy("z")
        expr = expr.xreplace({each: uniform for each in expr.atoms(sympy.Function) if _is_uniform(each, z)})
        indicators = {each: sympy.Dummy() for each in expr.atoms(Indicator) if each.has(z)}
        expr = expr.xreplace(indicators).xreplace({z: normal})
        try:
            polynomial = sympy.Poly(expr, normal, uniform, *indicators.values())
        except sympy.PolynomialError:
            raise NoMoment from None
        return sympy.Add(*[
            coefficient * _moment(powers, list(indicators), z, *self.laws[name]) for powers, coefficient in polynomial.terms()])


def _by_indicators(cases, z: sympy.Expr) -> sympy.Expr:
    """(a if z < c else b) as b + (a - b) 1[z < c]."""
    (value, test), *rest = cases
    if test == sympy.true:
        return value
    other = _by_indicators(rest, z)
    return other + (value - other) * Indicator(test)


def _is_uniform(expr: sympy.Expr, z: sympy.Expr) -> bool:
    """Whether this is Phi(z) = sigmoid_erf(z/sqrt(2))."""
    if expr.func is not function("sigmoid_erf"):
        return False
    slope = expr.args[0] / z
    return slope.is_number and abs(float(slope) - math.sqrt(0.5)) < 1e-15


def _moment(powers: tuple[int, ...], indicators: list, z: sympy.Expr, mean: sympy.Expr, variance: sympy.Expr) -> sympy.Expr:
    """E z^powers[0] Phi(z)^powers[1] times indicators, where one kind of these occurs alone; z is N(mean, variance), and standard normal
    where it is more than a polynomial."""
    normal, uniform, *others = powers
    present = [each for each, power in zip(indicators, others) if power]
    if (normal > 0) + (uniform > 0) + len(present) > 1:
        raise NoMoment
    if normal:
        return polynomial_moment((normal,), [[variance]], [mean])
    if (uniform or present) and (mean, variance) != (0, 1):
        raise NoMoment
    if uniform:
        return sympy.Rational(1, uniform + 1)
    return _probability(present[0].args[0], z) if present else sympy.S.One


def _probability(condition, z: sympy.Expr) -> sympy.Expr:
    """P(z > c) of a standard normal z."""
    if not isinstance(condition, (sympy.Gt, sympy.Ge, sympy.Lt, sympy.Le)) or z not in (condition.lhs, condition.rhs):
        raise NoMoment
    at = condition.rhs if condition.lhs == z else condition.lhs
    if at.has(z):
        raise NoMoment
    above = isinstance(condition, (sympy.Gt, sympy.Ge)) == (condition.lhs == z)
    return _below(-at if above else at)


def _below(at: sympy.Expr) -> sympy.Expr:
    """Phi(at); of normal_quantile(q) it is q."""
    for sign in (1, -1):
        if (sign * at).func is function("normal_quantile"):
            probability = (sign * at).args[0]
            return probability if sign == 1 else 1 - probability
    value = (1 + sympy.erf(at / sympy.sqrt(2))) / 2
    if at.is_Float:  # the quantile of a probability that is a decimal
        decimal = sympy.Rational(str(round(float(value), LONGEST_DECIMAL)))
        return decimal if abs(float(decimal) - float(value)) < 1e-15 else sympy.Float(float(value))
    return value
