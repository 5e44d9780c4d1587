"""log and sqrt: not numbers below zero, so a Gaussian with any variance leaves their domain."""

import numpy as np

from netsor.nonlinearities.base import Nonlinearity
from netsor.nonlinearities.registry import register


class Log(Nonlinearity):
    """The natural logarithm; singular at 0, NaN below."""

    name, growth, strip = "log", "linear", np.inf
    citation = "singular at 0"
    domain = (0.0, np.inf)

    def function(self, x):
        return np.log(x)

    def derivative(self, x):
        return np.where(x > 0, 1.0 / x, np.nan)

    def slope(self, z, of):
        return 1 / z

    def kinks(self):
        return (0.0,)


class Sqrt(Nonlinearity):
    """The square root; singular at 0, NaN below."""

    name, growth, strip = "sqrt", "linear", np.inf
    citation = "singular at 0"
    domain = (0.0, np.inf)

    def function(self, x):
        return np.sqrt(x)

    def derivative(self, x):
        return np.where(x > 0, 0.5 / np.sqrt(x), np.nan)

    def slope(self, z, of):
        return z ** -0.5 / 2

    def kinks(self):
        return (0.0,)


register(Log())
register(Sqrt())
