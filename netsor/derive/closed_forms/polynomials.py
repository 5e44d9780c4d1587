"""Polynomials: identity, square, cube, monomials, Hermite polynomials."""

from __future__ import annotations

import sympy

from netsor.derive.closed_forms.terms import Decomposition, polynomial


def identity() -> Decomposition:
    return monomial(1)


def square() -> Decomposition:
    return monomial(2)


def cube() -> Decomposition:
    return monomial(3)


def constant(value) -> Decomposition:
    return Decomposition(polynomial(value))


def monomial(power) -> Decomposition | None:
    power = sympy.sympify(power)
    if not (power.is_Integer and power >= 0):
        return None
    return Decomposition(polynomial(*[0] * int(power), 1))


def any_polynomial(*coefficients) -> Decomposition:
    return Decomposition(polynomial(*coefficients))


def hermite(degree) -> Decomposition | None:
    """He_k(x) / sqrt(k!) = sum_i (-1)^i sqrt(k!) / (2^i i! (k - 2i)!) x^{k - 2i}."""
    degree = sympy.sympify(degree)
    if not (degree.is_Integer and degree >= 0):
        return None
    k = int(degree)
    coefficients = [sympy.Integer(0)] * (k + 1)
    for i in range(k // 2 + 1):
        weight = sympy.Rational((-1) ** i, 2**i * sympy.factorial(i) * sympy.factorial(k - 2 * i))
        coefficients[k - 2 * i] = weight * sympy.sqrt(sympy.factorial(k))
    return Decomposition(polynomial(*coefficients))


def hermite_pair(j: int, k: int, var_u, cov, var_v) -> sympy.Expr:
    """E He_j(u) He_k(v) / sqrt(j! k!) = sum_i cov^i/i! E He_j^(i)(u) E He_k^(i)(v) / sqrt(j! k!), centred, with

    He_m^(i) = m!/(m-i)! He_{m-i} and E He_m(u) = (m-1)!! (var_u - 1)^{m/2} for even m: rho^k if both variances are 1."""
    if (j + k) % 2:
        return sympy.Integer(0)
    value = sympy.Integer(0)
    for i in range(j % 2, min(j, k) + 1, 2):
        weight = sympy.binomial(j, i) * sympy.binomial(k, i) * sympy.factorial(i)
        weight *= sympy.factorial2(j - i - 1) * sympy.factorial2(k - i - 1)
        value += weight * cov**i * (var_u - 1) ** ((j - i) // 2) * (var_v - 1) ** ((k - i) // 2)
    return sympy.factor_terms(value) / sympy.sqrt(sympy.factorial(j) * sympy.factorial(k))


FUNCTIONS = {
    "identity": identity, "square": square, "cube": cube, "constant": constant, "monomial": monomial,
    "polynomial": any_polynomial, "hermite": hermite,
}
CITATION = "Isserlis 1918"
