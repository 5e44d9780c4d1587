"""Rectifiers: relu, leaky_relu, prelu, abs and the squared relu."""

import numpy as np

from netsor.nonlinearities.base import Nonlinearity
from netsor.nonlinearities.forms import KinkAtZero, pair_geometry
from netsor.nonlinearities.registry import register


class Relu(Nonlinearity):
    """phi(x) = max(x, 0) = (x + |x|) / 2."""

    name, growth, strip = "relu", "linear", np.inf
    citation = "Cho & Saul 2009, arc-cosine kernel of degree 1"

    def function(self, x):
        return np.maximum(x, 0.0)

    def derivative(self, x):
        return np.heaviside(x, 0.0)

    def slope(self, z, of):
        return of("step", z)

    def kinks(self):
        return (0.0,)

    def form(self):
        return KinkAtZero(slope=0.5, absolute=0.5)


class LeakyRelu(Nonlinearity):
    """phi(x) = x for x > 0, slope * x otherwise."""

    name, growth, strip = "leaky_relu", "linear", np.inf
    citation = "Maas, Hannun & Ng 2013; arc-cosine kernel of degree 1"

    def function(self, x, slope=0.01):
        return np.where(x > 0, x, slope * x)

    def derivative(self, x, slope):
        return np.where(x > 0, 1.0, slope)

    def slope(self, z, of, slope):
        return slope + (1 - slope) * of("step", z)

    def kinks(self, slope):
        return () if slope == 1 else (0.0,)

    def parity(self, slope):
        return {1: -1, -1: 1}.get(slope, 0)

    def form(self, slope):
        return KinkAtZero(slope=0.5 * (1 + slope), absolute=0.5 * (1 - slope))


class Prelu(LeakyRelu):
    """leaky_relu with the initial slope of He et al."""

    name = "prelu"
    citation = "He, Zhang, Ren & Sun 2015, section 2.1; arc-cosine kernel of degree 1"

    def function(self, x, slope=0.25):
        return np.where(x > 0, x, slope * x)


class Abs(Nonlinearity):
    """phi(x) = |x|."""

    name, growth, strip = "abs", "linear", np.inf
    citation = "Cho & Saul 2009, from the arc-cosine kernel of degree 1"

    def function(self, x):
        return np.abs(x)

    def derivative(self, x):
        return np.sign(x)

    def slope(self, z, of):
        return of("sign", z)

    def kinks(self):
        return (0.0,)

    def parity(self):
        return 1

    def form(self):
        return KinkAtZero(absolute=1.0)


class SquaredRelu(Nonlinearity):
    """phi(x) = max(x, 0)^2."""

    name, growth, strip = "relu2", "polynomial", np.inf
    citation = "So et al. 2021 (Primer); Cho & Saul 2009, arc-cosine kernel of degree 2"

    def function(self, x):
        return np.maximum(x, 0.0) ** 2

    def derivative(self, x):
        return 2.0 * np.maximum(x, 0.0)

    def slope(self, z, of):
        return 2 * of("relu", z)

    def kinks(self):
        return (0.0,)

    def mean(self, variance):
        return 0.5 * np.asarray(variance, dtype=float)

    def pairs(self):
        return {"relu2": _squared_relu_pair}


def _squared_relu_pair(var_u, cov, var_v):
    """((pi - theta)(1 + 2 rho^2) + 3 sin(theta) rho) var_u var_v / 2 pi, with theta = arccos rho."""
    sine, arcsine = pair_geometry(var_u, cov, var_v)
    return (3 * sine * cov + (np.pi / 2 + arcsine) * (var_u * var_v + 2 * cov * cov)) / (2 * np.pi)


for declaration in (Relu, LeakyRelu, Prelu, Abs, SquaredRelu):
    register(declaration())
