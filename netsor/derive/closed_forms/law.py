"""The law of the two Gaussian variables, and what exponentials do to it."""

from __future__ import annotations

from dataclasses import dataclass

import sympy

from netsor.derive.closed_forms.terms import Term


@dataclass(frozen=True)
class Law:
    """(u, v) ~ N((mean_u, mean_v), [[var_u, cov], [cov, var_v]])."""

    mean_u: sympy.Expr
    mean_v: sympy.Expr
    var_u: sympy.Expr
    cov: sympy.Expr
    var_v: sympy.Expr

    def swapped(self) -> Law:
        return Law(self.mean_v, self.mean_u, self.var_v, self.cov, self.var_u)


def tilt(law: Law, one: Term, two: Term) -> tuple[sympy.Expr, sympy.Expr, Law]:
    """E e^{q} as weight e^{exponent}, and the law reweighted by e^{q}, for q the exponents of both terms.

    Completing the square: with D = diag(2 decay), K the covariance and m the means, e^{-x D x/2} leaves covariance
    (1 + K D)^{-1} K, means (1 + K D)^{-1} m and the factor det(1 + K D)^{-1/2} e^{-m D m'/2}, m' the new means;
    then e^{rate x} moves the means by K rate and leaves the factor e^{rate m + rate K rate/2}.
    """
    weight, exponent = sympy.Integer(1), sympy.Integer(0)
    if one.decay != 0 or two.decay != 0:
        p, q = 2 * one.decay, 2 * two.decay
        a, b, c = law.var_u, law.var_v, law.cov
        determinant = (1 + p * a) * (1 + q * b) - p * q * c**2
        mean_u = ((1 + q * b) * law.mean_u - q * c * law.mean_v) / determinant
        mean_v = ((1 + p * a) * law.mean_v - p * c * law.mean_u) / determinant
        exponent = -(p * law.mean_u * mean_u + q * law.mean_v * mean_v) / 2
        weight = 1 / sympy.sqrt(determinant)
        var_u = (a * (1 + q * b) - q * c**2) / determinant
        var_v = (b * (1 + p * a) - p * c**2) / determinant
        law = Law(mean_u, mean_v, var_u, c / determinant, var_v)
    if one.rate != 0 or two.rate != 0:
        r, s = one.rate, two.rate
        exponent += r * law.mean_u + s * law.mean_v + r**2 * law.var_u / 2 + s**2 * law.var_v / 2 + r * s * law.cov
        mean_u = law.mean_u + r * law.var_u + s * law.cov
        mean_v = law.mean_v + s * law.var_v + r * law.cov
        law = Law(mean_u, mean_v, law.var_u, law.cov, law.var_v)
    return weight, exponent, law
