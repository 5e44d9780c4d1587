"""Linear above zero, exponential below: elu, selu, celu."""

import numpy as np

from netsor.nonlinearities.base import Nonlinearity
from netsor.nonlinearities.registry import register

SELU_ALPHA = 1.6732632423543772
SELU_SCALE = 1.0507009873554805


def _below(x):
    """exp(min(x, 0)) - 1: the unused branch must not overflow."""
    return np.expm1(np.minimum(x, 0.0))


class Elu(Nonlinearity):
    """phi(x) = x for x > 0, alpha (e^x - 1) otherwise."""

    name, growth, strip = "elu", "linear", np.inf
    citation = "Clevert, Unterthiner & Hochreiter 2016"

    def function(self, x, alpha=1.0):
        return np.where(x > 0, x, alpha * _below(x))

    def derivative(self, x, alpha):
        return np.where(x > 0, 1.0, alpha * np.exp(np.minimum(x, 0.0)))

    def slope(self, z, of, alpha):
        return of("step", z) + alpha * of("step", -z) * of("exp", of("min", z, 0))

    def kinks(self, alpha):
        return (0.0,)


class Selu(Nonlinearity):
    """phi(x) = scale * elu(x, alpha), with E phi(Z) = 0 and E phi(Z)^2 = 1 for Z ~ N(0, 1)."""

    name, growth, strip = "selu", "linear", np.inf
    citation = "Klambauer, Unterthiner, Mayr & Hochreiter 2017"

    def function(self, x):
        return SELU_SCALE * np.where(x > 0, x, SELU_ALPHA * _below(x))

    def derivative(self, x):
        return SELU_SCALE * np.where(x > 0, 1.0, SELU_ALPHA * np.exp(np.minimum(x, 0.0)))

    def slope(self, z, of):
        return SELU_SCALE * (of("step", z) + SELU_ALPHA * of("step", -z) * of("exp", of("min", z, 0)))

    def kinks(self):
        return (0.0,)


class Celu(Nonlinearity):
    """phi(x) = x for x > 0, alpha (e^{x/alpha} - 1) otherwise."""

    name, growth, strip = "celu", "linear", np.inf
    citation = "Barron 2017, arXiv 1704.07483"

    def function(self, x, alpha=1.0):
        return np.where(x > 0, x, alpha * _below(x / alpha))

    def derivative(self, x, alpha):
        return np.where(x > 0, 1.0, np.exp(np.minimum(x / alpha, 0.0)))

    def slope(self, z, of, alpha):
        return of("step", z) + of("step", -z) * of("exp", of("min", z, 0) / alpha)

    def kinks(self, alpha):
        return (0.0,)


for declaration in (Elu, Selu, Celu):
    register(declaration())
