"""Piecewise linear and saturating: clip, hardtanh, hardsigmoid."""

import numpy as np

from netsor.nonlinearities.base import Nonlinearity
from netsor.nonlinearities.forms import Hinges
from netsor.nonlinearities.registry import register


def _above(z, bound, of):
    """1 where z is above the bound, which may be infinite."""
    number = getattr(bound, "value", bound)
    if isinstance(number, (int, float)) and np.isinf(number):
        return int(number < 0)
    return of("step", z - bound)


class Clip(Nonlinearity):
    """phi(x) = min(max(x, lo), hi)."""

    name, growth, strip = "clip", "bounded", np.inf
    citation = "Rosenbaum 1961 (moments of a truncated bivariate normal); Owen 1956"

    def function(self, x, lo, hi):
        return np.minimum(np.maximum(x, lo), hi)

    def derivative(self, x, lo, hi):
        return np.where((x > lo) & (x < hi), 1.0, 0.0)

    def slope(self, z, of, lo, hi):
        return _above(z, lo, of) - _above(z, hi, of)

    def kinks(self, lo, hi):
        return tuple(sorted({bound for bound in (lo, hi) if np.isfinite(bound)}))

    def parity(self, lo, hi):
        return -1 if lo == -hi else 0

    def form(self, lo, hi):
        if not lo < hi:
            return None
        return Hinges.of_pieces(kinks=(lo, hi), slopes=(0.0, 1.0, 0.0), point=lo if np.isfinite(lo) else hi,
                                value=lo if np.isfinite(lo) else hi)


class Hardtanh(Clip):
    """phi(x) = clip(x, -1, 1)."""

    name, growth = "hardtanh", "bounded"
    citation = "Collobert 2004; Rosenbaum 1961"

    def function(self, x, lo=-1.0, hi=1.0):
        return np.minimum(np.maximum(x, lo), hi)


class Hardsigmoid(Nonlinearity):
    """phi(x) = clip(x/6 + 1/2, 0, 1)."""

    name, growth, strip = "hardsigmoid", "bounded", np.inf
    citation = "Howard et al. 2019 (MobileNetV3), as in PyTorch; Rosenbaum 1961"

    def function(self, x):
        return np.minimum(np.maximum(x / 6.0 + 0.5, 0.0), 1.0)

    def derivative(self, x):
        return np.where(np.abs(x) < 3.0, 1.0 / 6.0, 0.0)

    def slope(self, z, of):
        return (of("step", z + 3) - of("step", z - 3)) / 6

    def kinks(self):
        return (-3.0, 3.0)

    def form(self):
        return Hinges.of_pieces(kinks=(-3.0, 3.0), slopes=(0.0, 1.0 / 6.0, 0.0), point=0.0, value=0.5)


for declaration in (Clip, Hardtanh, Hardsigmoid):
    register(declaration())
