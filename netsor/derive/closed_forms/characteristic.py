"""Products of exponentials, sines, cosines and powers of any number of Gaussian variables.

Products of waves are sums of waves of linear combinations, and with x ~ N(m, K)

    E P(x) e^{a.x} cos(b.x) = Re e^{(a + ib).m + (a + ib)K(a + ib)/2} E P(x + K(a + ib)),

the sine being the imaginary part (moment generating and characteristic function; completing the square).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import sympy

from netsor.derive.closed_forms.isserlis import polynomial_moment

MOST_WAVES = 64  # that a product of waves is a sum of
EXPONENTIALS, SINES, COSINES = ("exp", "exponential"), ("sin", "sine"), ("cos", "cosine")
CITATION = "characteristic function of a Gaussian"


@dataclass(frozen=True)
class Factor:
    """exp, sin or cos (``kind``) of ``rate`` times the variable at ``place``."""

    kind: str
    place: int
    rate: sympy.Expr


def as_factor(name: str, parameters: Sequence[sympy.Expr], place: int) -> Factor | None:
    """A function of one variable as a factor, if it is an exponential or a wave; their rate is the one parameter, or 1."""
    rate = parameters[0] if parameters else sympy.S.One
    for kind, names in (("exp", EXPONENTIALS), ("sin", SINES), ("cos", COSINES)):
        if name in names:
            return Factor(kind, place, rate)
    return None


def wave_expectation(factors: Sequence[Factor], powers: Sequence[int], means: Sequence, covariance: sympy.Matrix) -> sympy.Expr | None:
    """E of the product of the factors and of x_i^{powers[i]}; None where there are more waves than MOST_WAVES."""
    size = len(powers)
    rate = [sympy.S.Zero] * size
    waves: dict[tuple, sympy.Expr] = {("cos", (sympy.S.Zero,) * size): sympy.S.One}
    for each in factors:
        if each.kind == "exp":
            rate[each.place] += each.rate
            continue
        frequency = tuple(each.rate if place == each.place else sympy.S.Zero for place in range(size))
        waves = _times(waves, each.kind, frequency)
        if len(waves) > MOST_WAVES:
            return None
    a, m = sympy.Matrix(rate), sympy.Matrix(means)
    return sympy.Add(*[
        weight * _one_wave(kind, a, sympy.Matrix(frequency), powers, m, covariance) for (kind, frequency), weight in waves.items()])


def _times(waves: dict, kind: str, frequency: tuple) -> dict:
    """A sum of waves times one more: 2 cos A cos B = cos(A - B) + cos(A + B), and so on."""
    found: dict[tuple, sympy.Expr] = {}
    for (own, b), weight in waves.items():
        total, difference = ([x + sign * y for x, y in zip(b, frequency)] for sign in (1, -1))
        result = "cos" if own == kind else "sin"
        signs = {("cos", "cos"): (1, 1), ("sin", "sin"): (-1, 1), ("sin", "cos"): (1, 1), ("cos", "sin"): (1, -1)}[own, kind]
        for place, sign in zip((total, difference), signs):
            leading = next((each for each in place if each != 0), sympy.S.Zero)
            if leading.could_extract_minus_sign():  # cos is even, sin is odd
                place, sign = [-each for each in place], sign if result == "cos" else -sign
            if result == "sin" and leading == 0:
                continue
            key = (result, tuple(map(sympy.expand, place)))
            found[key] = found.get(key, sympy.S.Zero) + sign * weight / 2
    return {key: weight for key, weight in found.items() if weight != 0}


def _one_wave(kind: str, a: sympy.Matrix, b: sympy.Matrix, powers: Sequence[int], m: sympy.Matrix, covariance: sympy.Matrix) -> sympy.Expr:
    """E of the powers times e^{a.x} times one wave of b.x."""
    dot = lambda x, y: (x.T * y)[0, 0]  # noqa: E731
    size = sympy.exp(sympy.factor_terms(sympy.expand(dot(a, m) + dot(a, covariance * a) / 2 - dot(b, covariance * b) / 2)))
    angle = sympy.expand(dot(b, m) + dot(a, covariance * b))
    real, imaginary = sympy.S.One, sympy.S.Zero
    if any(powers):
        unit = sympy.Dummy()
        shifted = m + covariance * a + unit * covariance * b
        moment = sympy.expand(polynomial_moment(powers, covariance, list(map(sympy.expand, shifted))))
        parts = sympy.Poly(moment, unit).all_coeffs()[::-1]
        real = sympy.Add(*[(-1) ** (k // 2) * part for k, part in enumerate(parts) if k % 2 == 0])
        imaginary = sympy.Add(*[(-1) ** (k // 2) * part for k, part in enumerate(parts) if k % 2])
    sine, cosine = sympy.sin(angle), sympy.cos(angle)
    value = real * cosine - imaginary * sine if kind == "cos" else real * sine + imaginary * cosine
    return size * sympy.factor_terms(value)
