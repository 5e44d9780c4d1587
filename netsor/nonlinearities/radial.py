"""The Gaussian bump, also called rbf."""

import numpy as np

from netsor.nonlinearities.base import Nonlinearity
from netsor.nonlinearities.forms import pair_sine
from netsor.nonlinearities.registry import register


class Gaussian(Nonlinearity):
    """phi(x) = e^{-x^2}."""

    name, growth, strip = "gaussian", "bounded", 2.0
    citation = "Williams 1997, section 3.2; a Gaussian integral"

    def function(self, x):
        return np.exp(-x * x)

    def derivative(self, x):
        return -2.0 * x * np.exp(-x * x)

    def slope(self, z, of):
        return -2 * z * of("gaussian", z)

    def kinks(self):
        return ()

    def parity(self):
        return 1

    def mean(self, variance):
        return 1.0 / np.sqrt(1.0 + 2.0 * np.asarray(variance, dtype=float))

    def pairs(self):
        return {"gaussian": _gaussian_pair, "rbf": _gaussian_pair}


def _gaussian_pair(var_u, cov, var_v):
    """((1 + 2 var_u)(1 + 2 var_v) - 4 cov^2)^{-1/2}."""
    sine = pair_sine(var_u, cov, var_v)
    return 1.0 / np.hypot(np.sqrt(1.0 + 2.0 * var_u + 2.0 * var_v), 2.0 * sine)


class Rbf(Gaussian):
    """The same function under its other usual name."""

    name = "rbf"


register(Gaussian())
register(Rbf())
