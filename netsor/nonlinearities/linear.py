"""The identity."""

import numpy as np

from netsor.nonlinearities.base import Nonlinearity
from netsor.nonlinearities.forms import KinkAtZero
from netsor.nonlinearities.registry import register


class Identity(Nonlinearity):
    """phi(x) = x."""

    name, growth, strip = "identity", "linear", np.inf
    citation = "E u v = cov"

    def function(self, x):
        return x

    def derivative(self, x):
        return np.ones_like(x)

    def slope(self, z, of):
        return 0 * z + 1

    def kinks(self):
        return ()

    def parity(self):
        return -1

    def polynomial(self):
        return (0.0, 1.0)

    def form(self):
        return KinkAtZero(slope=1.0)


register(Identity())
