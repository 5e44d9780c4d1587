"""Jumps at zero: step and sign, both 0 at 0."""

import numpy as np

from netsor.nonlinearities.base import Nonlinearity
from netsor.nonlinearities.forms import KinkAtZero
from netsor.nonlinearities.registry import register


class Step(Nonlinearity):
    """phi(x) = 1 for x > 0, 0 otherwise."""

    name, growth, strip = "step", "bounded", np.inf
    citation = "Sheppard 1899; Cho & Saul 2009, arc-cosine kernel of degree 0"

    def function(self, x):
        return np.heaviside(x, 0.0)

    def derivative(self, x):
        return np.zeros_like(x)

    def kinks(self):
        return (0.0,)

    def form(self):
        return KinkAtZero(constant=0.5, sign=0.5)


class Sign(Nonlinearity):
    """phi(x) = 1, 0, -1 for x > 0, x = 0, x < 0."""

    name, growth, strip = "sign", "bounded", np.inf
    citation = "Sheppard 1899: E sign(u) sign(v) = (2/pi) arcsin rho"

    def function(self, x):
        return np.sign(x)

    def derivative(self, x):
        return np.zeros_like(x)

    def kinks(self):
        return (0.0,)

    def parity(self):
        return -1

    def form(self):
        return KinkAtZero(sign=1.0)


register(Step())
register(Sign())
