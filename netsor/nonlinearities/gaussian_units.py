"""Functions built from the normal distribution function: erf, sigmoid_erf, gelu."""

import math

import numpy as np

from netsor.nonlinearities.base import Nonlinearity
from netsor.nonlinearities.forms import ErrorFunction, pair_sine
from netsor.nonlinearities.registry import register

# These functions are entire, but grow like exp(y^2) off the real line; the strip is where they stay moderate.
MODERATE = 2.0


class Erf(Nonlinearity):
    """The error function."""

    name, growth, strip = "erf", "bounded", MODERATE
    citation = "Williams 1997, equation 11"

    def function(self, x):
        from scipy.special import erf

        return erf(x)

    def derivative(self, x):
        return 2.0 / np.sqrt(np.pi) * np.exp(-x * x)

    def slope(self, z, of):
        return 2 / math.sqrt(math.pi) * of("gaussian", z)

    def kinks(self):
        return ()

    def parity(self):
        return -1

    def form(self):
        return ErrorFunction(constant=0.0, amplitude=1.0, scale=1.0)


class SigmoidErf(Nonlinearity):
    """phi(x) = (1 + erf(x)) / 2, the gate of Gaussian-process readings of GRU and LSTM."""

    name, growth, strip = "sigmoid_erf", "bounded", MODERATE
    citation = "Yang 2019 (Tensor Programs I), appendix on gated networks; Williams 1997"

    def function(self, x):
        from scipy.special import ndtr

        return ndtr(np.sqrt(2.0) * x)

    def derivative(self, x):
        return np.exp(-x * x) / np.sqrt(np.pi)

    def slope(self, z, of):
        return of("gaussian", z) / math.sqrt(math.pi)

    def kinks(self):
        return ()

    def form(self):
        return ErrorFunction(constant=0.5, amplitude=0.5, scale=1.0)


class Gelu(Nonlinearity):
    """phi(x) = x Phi(x), exactly, Phi the standard normal distribution function."""

    name, growth, strip = "gelu", "linear", MODERATE
    citation = "Hendrycks & Gimpel 2016; Tsuchida, Pearce, van der Heide, Roosta & Gallagher 2021, proposition 1"

    def function(self, x):
        from scipy.special import ndtr

        return np.where(np.isneginf(x), 0.0, x * ndtr(x))

    def derivative(self, x):
        from scipy.special import ndtr

        return ndtr(x) + x * np.exp(-0.5 * x * x) / np.sqrt(2 * np.pi)

    def slope(self, z, of):
        scaled = z / math.sqrt(2)
        return of("sigmoid_erf", scaled) + z * of("gaussian", scaled) / math.sqrt(2 * math.pi)

    def kinks(self):
        return ()

    def mean(self, variance):
        """Stein: E u Phi(u) = v E Phi'(u), and Phi'(u) averages to the density of N(0, 1 + v) at 0."""
        variance = np.asarray(variance, dtype=float)
        return variance / np.sqrt(2 * np.pi * (1 + variance))

    def pairs(self):
        return {"gelu": _gelu_pair}


def _gelu_pair(var_u, cov, var_v):
    """E uPhi(u) vPhi(v), by Stein's lemma applied twice.

    With A = 1 + var_u, B = 1 + var_v and D = AB - cov^2 it is
    cov E Phi Phi + (var_u var_v D + cov^2) / (2 pi A B sqrt D),  E Phi Phi = 1/4 + arcsin(cov / sqrt(AB)) / 2 pi.
    All terms of the fraction are positive, and their factors are kept of moderate size.
    """
    sine = pair_sine(var_u, cov, var_v)
    upper_u, upper_v = 1.0 + var_u, 1.0 + var_v
    # sqrt D = sqrt(1 + var_u + var_v + sine^2), without squaring large numbers
    root = np.hypot(sine, np.sqrt(var_u + upper_v))
    angle = np.arctan(cov / root)
    density = (var_u / upper_u) * (var_v / upper_v) * root + (cov / upper_u) * (cov / upper_v) / root
    return cov * (0.25 + angle / (2 * np.pi)) + density / (2 * np.pi)


for declaration in (Erf, SigmoidErf, Gelu):
    register(declaration())
