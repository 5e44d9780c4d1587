"""Polynomials: square, cube and the normalised Hermite polynomials."""

import math

import numpy as np

from netsor.nonlinearities.base import Nonlinearity
from netsor.nonlinearities.registry import register

_SOURCE = "Isserlis 1918"


class Polynomial(Nonlinearity):
    """A polynomial; a subclass gives the coefficients."""

    growth, strip = "polynomial", np.inf

    def function(self, x, *params):
        return np.polynomial.polynomial.polyval(x, np.array(self.polynomial(*params)))

    def derivative(self, x, *params):
        derived = np.polynomial.polynomial.polyder(np.array(self.polynomial(*params)))
        return np.polynomial.polynomial.polyval(x, derived)

    def kinks(self, *params):
        return ()

    def parity(self, *params):
        powers = {power % 2 for power, weight in enumerate(self.polynomial(*params)) if weight}
        return {frozenset({0}): 1, frozenset({1}): -1}.get(frozenset(powers), 0)

    def form(self, *params):
        from netsor.nonlinearities.forms import PolynomialForm

        return PolynomialForm(self.polynomial(*params))


class Square(Polynomial):
    """phi(x) = x^2."""

    name, citation = "square", _SOURCE

    def function(self, x):
        return x * x

    def slope(self, z, of):
        return 2 * z

    def polynomial(self):
        return (0.0, 0.0, 1.0)


class Cube(Polynomial):
    """phi(x) = x^3."""

    name, citation = "cube", _SOURCE

    def function(self, x):
        return x * x * x

    def slope(self, z, of):
        return 3 * z**2

    def polynomial(self):
        return (0.0, 0.0, 0.0, 1.0)


class Hermite(Polynomial):
    """The probabilists' Hermite polynomial He_k(x) / sqrt(k!): E phi_j(u) phi_k(v) = rho^k if j = k at unit variance."""

    name, citation = "hermite", "Mehler 1866; Isserlis 1918"

    def check(self, k):
        _degrees(k)

    def function(self, x, k):
        """By the three-term recurrence, which is stable where the monomials are not."""
        degrees = _degrees(k)
        before, now = np.zeros_like(x), np.ones_like(x)
        result = now + np.zeros(degrees.shape)
        for j in range(int(np.max(degrees, initial=0))):
            before, now = now, (x * now - np.sqrt(j) * before) / np.sqrt(j + 1)
            result = np.where(degrees == j + 1, now, result)
        return result

    def derivative(self, x, k):
        return np.sqrt(k) * self.function(x, np.maximum(np.asarray(k) - 1, 0))

    def slope(self, z, of, k):
        degree = _degree(getattr(k, "value", k))
        return math.sqrt(degree) * of("hermite", z, degree - 1) if degree else 0 * z

    def polynomial(self, k):
        degree = _degree(k)
        before, now = np.zeros(degree + 1), np.zeros(degree + 1)
        now[0] = 1.0
        for j in range(degree):
            raised = np.concatenate([[0.0], now[:-1]])
            before, now = now, (raised - np.sqrt(j) * before) / np.sqrt(j + 1)
        return tuple(now)


def _degree(k) -> int:
    return int(_degrees(k).item())


def _degrees(k) -> np.ndarray:
    """Degrees are whole numbers; the monomial coefficients lose all accuracy far beyond 40."""
    degrees = np.asarray(k, dtype=float)
    whole = (degrees == np.rint(degrees)) & (degrees >= 0) & (degrees <= 40)
    if not whole.all():
        raise ValueError(f"hermite needs a whole degree between 0 and 40, not {degrees.flat[np.argmin(whole)]:g}")
    return degrees


for declaration in (Square, Cube, Hermite):
    register(declaration())
