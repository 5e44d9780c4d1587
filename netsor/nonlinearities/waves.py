"""sin, cos and exp."""

import numpy as np

from netsor.nonlinearities.base import Nonlinearity
from netsor.nonlinearities.forms import Waves
from netsor.nonlinearities.registry import register

_SOURCE = "characteristic function of a Gaussian; Rahimi & Recht 2007"


class Sin(Nonlinearity):
    """phi(x) = sin x."""

    name, growth, strip, citation = "sin", "bounded", 2.0, _SOURCE

    def function(self, x):
        return np.sin(x)

    def derivative(self, x):
        return np.cos(x)

    def slope(self, z, of):
        return of("cos", z)

    def kinks(self):
        return ()

    def parity(self):
        return -1

    def form(self):
        return Waves(sine=1.0)


class Cos(Nonlinearity):
    """phi(x) = cos x."""

    name, growth, strip, citation = "cos", "bounded", 2.0, _SOURCE

    def function(self, x):
        return np.cos(x)

    def derivative(self, x):
        return -np.sin(x)

    def slope(self, z, of):
        return -of("sin", z)

    def kinks(self):
        return ()

    def parity(self):
        return 1

    def form(self):
        return Waves(cosine=1.0)


class Exp(Nonlinearity):
    """phi(x) = e^x."""

    name, growth, strip, citation = "exp", "exponential", np.inf, "moment generating function of a Gaussian"

    def function(self, x):
        return np.exp(x)

    def derivative(self, x):
        return np.exp(x)

    def slope(self, z, of):
        return of("exp", z)

    def kinks(self):
        return ()

    def form(self):
        return Waves(exponential=1.0)


for declaration in (Sin, Cos, Exp):
    register(declaration())
