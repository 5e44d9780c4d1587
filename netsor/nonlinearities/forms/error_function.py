"""The error function as a sign smoothed by independent noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from netsor.nonlinearities.forms.geometry import pair_sine
from netsor.nonlinearities.forms.kink_at_zero import KinkAtZero


@dataclass(frozen=True)
class ErrorFunction:
    """constant + amplitude erf(scale x).

    erf(a x) = E sgn(sqrt(2) a x + noise) with standard normal noise, so every expectation is one of
    the sign of a variable with mean sqrt(2) a mean, variance 1 + 2 a^2 var, covariances times sqrt(2) a.
    """

    constant: float
    amplitude: float
    scale: float

    def signs(self) -> KinkAtZero:
        return KinkAtZero(constant=self.constant, sign=self.amplitude)

    @property
    def stretch(self) -> float:
        return np.sqrt(2.0) * self.scale

    def mean(self, mean, variance):
        return self.signs().mean(self.stretch * mean, 1.0 + self.stretch**2 * np.asarray(variance, dtype=float))


def error_function_pair(one: ErrorFunction, two: ErrorFunction):
    """Centred E erf(a u) erf(b v) = (2/pi) arcsin(2ab cov / sqrt((1 + 2a^2 var_u)(1 + 2b^2 var_v))), Williams 1997."""
    square_one, square_two = one.stretch**2, two.stretch**2
    weight = one.amplitude * two.amplitude * 2 / np.pi
    product = one.stretch * two.stretch

    def formula(mean_u, mean_v, var_u, cov, var_v):
        sine = pair_sine(var_u, cov, var_v)
        # (1 + x)(1 + y) - z^2 = 1 + x + y + (xy - z^2)
        root = np.hypot(product * sine, np.sqrt(1.0 + (square_one * var_u + square_two * var_v)))
        angle = np.arctan(product * cov / root)
        angle *= weight
        angle += one.constant * two.constant
        return angle

    return formula


def smoothed_pair(one: ErrorFunction, formula):
    """E one(u) g(v) from the formula of a sign with g, by widening u."""
    stretch = one.stretch

    def widened(mean_u, mean_v, var_u, cov, var_v):
        return formula(stretch * mean_u, mean_v, 1.0 + stretch**2 * var_u, stretch * cov, var_v)

    return widened
