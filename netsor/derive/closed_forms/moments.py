"""Moments of two Gaussian variables, by Stein's lemma, times none, one or two smoothed signs.

Stein's lemma E u g(u, v) = mean_u E g + var_u E dg/du + cov E dg/dv lowers the powers one by one; where the derivative
meets a smoothed sign it leaves the density S'(x - at) = 2 N(x; at, noise), which conditions the Gaussian law.
All coefficients are rational in the entries of the law.
"""

from __future__ import annotations

import functools

import sympy

from netsor.derive.closed_forms.law import Law
from netsor.derive.closed_forms.terms import SmoothedSign

ZERO, ONE = sympy.Integer(0), sympy.Integer(1)


@functools.lru_cache(maxsize=4096)
def moment(law: Law, j: int, k: int) -> sympy.Expr:
    """E u^j v^k."""
    if j < 0 or k < 0:
        return ZERO
    if j == 0 and k == 0:
        return ONE
    if law.mean_u == 0 and law.mean_v == 0:
        return _centred_moment(law, j, k)
    if j == 0:
        return moment(law.swapped(), k, 0)
    value = law.mean_u * moment(law, j - 1, k) + (j - 1) * law.var_u * moment(law, j - 2, k)
    return sympy.expand(value + k * law.cov * moment(law, j - 1, k - 1))


def _centred_moment(law: Law, j: int, k: int) -> sympy.Expr:
    """sum_i i! C(j, i) C(k, i) (j-i-1)!! (k-i-1)!! var_u^{(j-i)/2} cov^i var_v^{(k-i)/2}: i pairs between u and v."""
    if (j + k) % 2:
        return ZERO
    value = ZERO
    for i in range(j % 2, min(j, k) + 1, 2):
        count = sympy.factorial(i) * sympy.binomial(j, i) * sympy.binomial(k, i)
        count *= sympy.factorial2(j - i - 1) * sympy.factorial2(k - i - 1)
        value += count * law.var_u ** ((j - i) // 2) * law.cov**i * law.var_v ** ((k - i) // 2)
    return value


@functools.lru_cache(maxsize=4096)
def one_sign(law: Law, j: int, k: int, sign: SmoothedSign) -> tuple[sympy.Expr, sympy.Expr]:
    """E u^j v^k S(v - at) as (e, r): e erf(z) + r sqrt(2/pi) e^{-z^2} / sqrt(B), B = var_v + noise,

    z = (mean_v - at) / sqrt(2 B).
    """
    if j < 0 or k < 0:
        return ZERO, ZERO
    if j == 0 and k == 0:
        return ONE, ZERO
    if j:
        lower = (
            (law.mean_u, one_sign(law, j - 1, k, sign)),
            ((j - 1) * law.var_u, one_sign(law, j - 2, k, sign)),
            (k * law.cov, one_sign(law, j - 1, k - 1, sign)),
        )
        ridge = law.cov * moment(_at_the_kink(law, sign), j - 1, k)
    else:
        lower = (
            (law.mean_v, one_sign(law, 0, k - 1, sign)),
            ((k - 1) * law.var_v, one_sign(law, 0, k - 2, sign)),
        )
        ridge = law.var_v * moment(_at_the_kink(law, sign), 0, k - 1)
    return sum(w * part[0] for w, part in lower), sum(w * part[1] for w, part in lower) + ridge


def _at_the_kink(law: Law, sign: SmoothedSign) -> Law:
    """The law given that v + N(0, noise) = at."""
    wide = law.var_v + sign.noise
    gap = sign.at - law.mean_v
    return Law(
        law.mean_u + law.cov * gap / wide,
        law.mean_v + law.var_v * gap / wide if sign.noise != 0 else sign.at,
        law.var_u - law.cov**2 / wide,
        law.cov * sign.noise / wide,
        law.var_v * sign.noise / wide,
    )


def two_signs(law: Law, j: int, k: int, one: SmoothedSign, two: SmoothedSign) -> tuple[sympy.Expr, sympy.Expr]:
    """E u^j v^k S(u) S(v) as (2/pi) times (e, r): e arcsin(cov / sqrt(A B)) + r / sqrt(A B - cov^2).

    A = var_u + noise of one, B = var_v + noise of two; the law is centred and both signs are at zero.
    """
    if j < 0 or k < 0 or (j + k) % 2:
        return ZERO, ZERO
    if j == 0 and k == 0:
        return ONE, ZERO
    if j == 0:
        return two_signs(law.swapped(), k, 0, two, one)
    lower = (
        ((j - 1) * law.var_u, two_signs(law, j - 2, k, one, two)),
        (k * law.cov, two_signs(law, j - 1, k - 1, one, two)),
    )
    # S'(u) conditions on u, and the sign of v remains; the other way about for S'(v)
    ridge_u = one_sign(_at_the_kink(law.swapped(), one).swapped(), j - 1, k, two)[1]
    ridge_v = one_sign(_at_the_kink(law, two).swapped(), k, j - 1, one)[1]
    ridge = law.var_u * ridge_u + law.cov * ridge_v
    return sum(w * part[0] for w, part in lower), sum(w * part[1] for w, part in lower) + ridge


def wave_moment(law: Law, k: int, function: type) -> sympy.Expr:
    """E w(u) v^k e^{var_u/2}, w = sin or cos: Stein's lemma in v, with E cos u = e^{-var_u/2} cos mean_u."""
    if k < 0:
        return ZERO
    if k == 0:
        return function(law.mean_u)
    turned = wave_moment(law, k - 1, sympy.cos) if function is sympy.sin else -wave_moment(law, k - 1, sympy.sin)
    value = law.mean_v * wave_moment(law, k - 1, function) + (k - 1) * law.var_v * wave_moment(law, k - 2, function)
    return sympy.expand(value + law.cov * turned)
