"""From sums over pairs of terms to one formula, laid out as one would write it.

A summand is a rational coefficient times

- *plain*: weight e^{exponent} times 1, erf(z) or erfi(z),
- *ridge*: weight e^{exponent} sqrt(2/pi) / sqrt(width), the density at a kink,
- *circle*: weight e^{exponent} (2/pi) times the arcsine of a correlation or the root of a determinant.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from dataclasses import dataclass, field

import sympy

ZERO, ONE = sympy.Integer(0), sympy.Integer(1)
HIGHEST_FACTORED = 12
"""Polynomials of higher degree are left as sums: their factors say nothing, and cost seconds."""


def root(width: sympy.Expr) -> sympy.Expr:
    """sqrt(width) for a positive fraction with positive denominator: roots of numerator and denominator."""
    numerator, denominator = sympy.fraction(width)
    if denominator == 1:
        numerator, denominator = sympy.fraction(sympy.together(width))
    return sympy.sqrt(numerator) / sympy.sqrt(denominator)


def _zero():
    return defaultdict(lambda: ZERO)


@dataclass
class Circle:
    """(2/pi) (angle arcsin(sine) + sum of coefficients times roots), to be laid out together."""

    angle: sympy.Expr = ZERO
    kinked: bool = False
    roots: dict = field(default_factory=_zero)


@dataclass
class Collected:
    """Summands of one kind with the same transcendental part, added up.  Keys are (weight, exponent, ...)."""

    plain: dict = field(default_factory=lambda: defaultdict(_zero))
    ridges: dict = field(default_factory=_zero)
    circles: dict = field(default_factory=lambda: defaultdict(Circle))

    def add(self, weight, exponent, atom, coefficient) -> None:
        if coefficient == 0 or atom == 0:
            return
        if atom.could_extract_minus_sign():  # erf(-z) = -erf(z)
            atom, coefficient = -atom, -coefficient
        self.plain[weight, tidy_exponent(exponent)][atom] += coefficient

    def add_ridge(self, weight, exponent, width, coefficient) -> None:
        if coefficient != 0:
            self.ridges[weight, tidy_exponent(exponent), width] += coefficient

    def add_circle(self, weight, exponent, sine, angle, kinked: bool, radical, ridge) -> None:
        circle = self.circles[weight, tidy_exponent(exponent), sine]
        circle.angle += angle
        circle.kinked = kinked
        circle.roots[radical] += ridge

    def expression(self) -> sympy.Expr:
        circles = self._circles_expression()
        groups = defaultdict(list)
        for key, atoms in self.plain.items():
            groups[key] = _with_complements({atom: tidy(coefficient) for atom, coefficient in atoms.items()})
        for (weight, exponent, width), coefficient in self.ridges.items():
            coefficient = _over_root(coefficient, width)
            if coefficient != 0:
                key = _nearest(groups, weight, exponent)
                bump = sympy.exp(sympy.factor(exponent - key[1]))
                groups[key].append(sympy.sqrt(2 / sympy.pi) * bump * coefficient)
        total = ZERO
        for (weight, exponent), parts in groups.items():
            total += weight * sympy.exp(exponent) * sympy.factor_terms(sympy.Add(*parts))
        return total + circles

    def _circles_expression(self) -> sympy.Expr:
        total = ZERO
        for (weight, exponent, sine), circle in self.circles.items():
            parts = [tidy(coefficient) * radical for radical, coefficient in circle.roots.items() if coefficient != 0]
            angle = sympy.asin(sine)
            constants = self.plain[weight, exponent]
            if circle.kinked and constants[ONE] != 0:
                # as for rectifiers: k + (2/pi) k arcsin rho = (2/pi) k (pi - arccos rho)
                constants[ONE] -= circle.angle
                angle = sympy.pi - sympy.acos(sine)
            parts.append(tidy(circle.angle) * angle)
            total += 2 / sympy.pi * weight * sympy.exp(exponent) * sympy.factor_terms(sympy.Add(*parts))
        return total


def _nearest(groups, weight, exponent) -> tuple:
    """The group of plain summands with the simplest remaining exponent, for the sake of a common factor."""
    candidates = [key for key in groups if key[0] == weight]
    return min(candidates, key=lambda key: sympy.count_ops(tidy_exponent(exponent - key[1])), default=(weight, exponent))


@functools.lru_cache(maxsize=4096)
def tidy_exponent(exponent: sympy.Expr) -> sympy.Expr:
    return sympy.factor(exponent)


def _over_root(coefficient: sympy.Expr, width: sympy.Expr) -> sympy.Expr:
    """coefficient / sqrt(width), as quotient * sqrt(width) when the division is without rest."""
    quotient = tidy(coefficient / width)
    if sympy.count_ops(quotient) < sympy.count_ops(coefficient):
        return quotient * root(width)
    return tidy(coefficient) / root(width)


@functools.lru_cache(maxsize=4096)
def tidy(coefficient: sympy.Expr) -> sympy.Expr:
    """A rational coefficient with its common factors pulled out, or as it is if that is shorter."""
    symbols = coefficient.free_symbols
    if not symbols:
        return sympy.expand(coefficient)
    try:
        numerator, denominator = sympy.together(coefficient).as_numer_denom()
        degree = sympy.Poly(numerator, *symbols).total_degree() + sympy.Poly(denominator, *symbols).total_degree()
    except sympy.PolynomialError:  # a parameter under a root, say
        return sympy.factor_terms(coefficient)
    if degree > HIGHEST_FACTORED:
        return sympy.factor_terms(sympy.expand(coefficient))
    factored = sympy.factor(numerator / denominator)
    return min(factored, sympy.factor_terms(coefficient), key=sympy.count_ops)


def _with_complements(atoms: dict[sympy.Expr, sympy.Expr]) -> list[sympy.Expr]:
    """k + k erf(z) as k (1 + erf(z)), k - k erf(z) as k erfc(z), and the rest as it is."""
    constant = atoms.pop(ONE, ZERO)
    parts = []
    for atom, coefficient in atoms.items():
        if constant != 0 and isinstance(atom, sympy.erf) and coefficient in (constant, -constant):
            parts.append(constant * (1 + atom if coefficient == constant else sympy.erfc(atom.args[0])))
            constant = ZERO
        else:
            parts.append(coefficient * atom)
    return [constant, *parts] if constant != 0 else parts
