"""Functions built from the logistic function and tanh: sigmoid, tanh, softplus, silu, mish, gelu_tanh."""

import numpy as np

from netsor.nonlinearities.base import Nonlinearity
from netsor.nonlinearities.registry import register

_GELU_ROOT = np.sqrt(2.0 / np.pi)
_GELU_CUBIC = 0.044715


def _sigmoid(x):
    from scipy.special import expit

    return expit(x)


class Sigmoid(Nonlinearity):
    """phi(x) = 1 / (1 + e^{-x})."""

    name, growth, strip = "sigmoid", "bounded", np.pi
    citation = "the logistic function; E phi(Z) = 1/2 by symmetry"

    def function(self, x):
        return _sigmoid(x)

    def derivative(self, x):
        return _sigmoid(x) * _sigmoid(-x)

    def slope(self, z, of):
        return of("sigmoid", z) * of("sigmoid", -z)

    def kinks(self):
        return ()

    def mean(self, variance):
        return np.full(np.shape(variance), 0.5)


class Tanh(Nonlinearity):
    """The hyperbolic tangent."""

    name, growth, strip = "tanh", "bounded", np.pi / 2
    citation = "the hyperbolic tangent; poles at i pi (k + 1/2)"

    def function(self, x):
        return np.tanh(x)

    def derivative(self, x):
        decay = np.exp(-2.0 * np.abs(x))
        return 4.0 * decay / (1.0 + decay) ** 2

    def slope(self, z, of):
        return (1 - of("tanh", z)) * (1 + of("tanh", z))

    def kinks(self):
        return ()

    def parity(self):
        return -1


class Softplus(Nonlinearity):
    """phi(x) = log(1 + e^x)."""

    name, growth, strip = "softplus", "linear", np.pi
    citation = "Dugas et al. 2001"

    def function(self, x):
        return np.logaddexp(0.0, x)

    def derivative(self, x):
        return _sigmoid(x)

    def slope(self, z, of):
        return of("sigmoid", z)

    def kinks(self):
        return ()


class Silu(Nonlinearity):
    """phi(x) = x sigmoid(x), also called swish."""

    name, growth, strip = "silu", "linear", np.pi
    citation = "Elfwing, Uchibe & Doya 2018; Ramachandran, Zoph & Le 2017"

    def function(self, x):
        return np.where(np.isneginf(x), 0.0, x * _sigmoid(x))

    def derivative(self, x):
        return _sigmoid(x) + x * _sigmoid(x) * _sigmoid(-x)

    def slope(self, z, of):
        return of("sigmoid", z) * (1 + z * of("sigmoid", -z))

    def kinks(self):
        return ()


class Mish(Nonlinearity):
    """phi(x) = x tanh(softplus(x)); poles where e^x = -1 +- i, that is at log(2)/2 +- 3 pi i / 4."""

    name, growth, strip = "mish", "linear", 3 * np.pi / 4
    citation = "Misra 2020, arXiv 1908.08681"

    def function(self, x):
        return np.where(np.isneginf(x), 0.0, x * np.tanh(np.logaddexp(0.0, x)))

    def derivative(self, x):
        squashed = np.tanh(np.logaddexp(0.0, x))
        return squashed + x * (1.0 - squashed) * (1.0 + squashed) * _sigmoid(x)

    def slope(self, z, of):
        squashed = of("tanh", of("softplus", z))
        return squashed + z * (1 - squashed) * (1 + squashed) * of("sigmoid", z)

    def kinks(self):
        return ()


class GeluTanh(Nonlinearity):
    """phi(x) = x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), as in GPT-2 and BERT.

    The nearest poles are roots of 0.044715 z^3 + z = i (pi/2)^{3/2}: +-0.634 +- 2.755i.
    """

    name, growth, strip = "gelu_tanh", "linear", 2.75
    citation = "Hendrycks & Gimpel 2016, section 2"

    def function(self, x):
        return np.where(np.isneginf(x), 0.0, 0.5 * x * (1.0 + np.tanh(self._inner(x))))

    def derivative(self, x):
        inner = self._inner(x)
        decay = np.exp(-2.0 * np.abs(inner))
        slope = _GELU_ROOT * (1.0 + 3.0 * _GELU_CUBIC * x * x)
        return 0.5 * (1.0 + np.tanh(inner)) + 0.5 * x * 4.0 * decay / (1.0 + decay) ** 2 * slope

    def slope(self, z, of):
        squashed = of("tanh", float(_GELU_ROOT) * (z + _GELU_CUBIC * z**3))
        inner = float(_GELU_ROOT) * (1 + 3 * _GELU_CUBIC * z**2)
        return (1 + squashed) * (1 + z * (1 - squashed) * inner) / 2

    def kinks(self):
        return ()

    @staticmethod
    def _inner(x):
        return _GELU_ROOT * x * (1.0 + _GELU_CUBIC * x * x)


for declaration in (Sigmoid, Tanh, Softplus, Silu, Mish, GeluTanh):
    register(declaration())
