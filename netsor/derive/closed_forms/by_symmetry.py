"""Functions of which only the even or the odd part has closed forms: E phi(u) psi(v) is known when the rest averages out."""

from __future__ import annotations

import sympy

from netsor.derive.closed_forms.terms import Decomposition, polynomial

HALF = sympy.Rational(1, 2)


def sigmoid() -> Decomposition:
    """1/2 + tanh(x/2)/2."""
    return Decomposition(polynomial(HALF), remainder=-1, whole=_logistic)


def tanh() -> Decomposition:
    return Decomposition((), remainder=-1, whole=sympy.tanh)


def softplus() -> Decomposition:
    """x/2 + log(2 cosh(x/2))."""
    return _half_linear(lambda x: sympy.log(1 + sympy.exp(x)))


def silu() -> Decomposition:
    """x/2 + x/2 tanh(x/2)."""
    return _half_linear(lambda x: x * _logistic(x))


def gelu_tanh() -> Decomposition:
    cubic = sympy.Rational("0.044715")
    return _half_linear(lambda x: x / 2 * (1 + sympy.tanh(sympy.sqrt(2 / sympy.pi) * (x + cubic * x**3))))


def _half_linear(whole) -> Decomposition:
    """x/2 plus an even function."""
    return Decomposition(polynomial(0, HALF), remainder=1, whole=whole)


def _logistic(x):
    return 1 / (1 + sympy.exp(-x))


FUNCTIONS = {"sigmoid": sigmoid, "tanh": tanh, "softplus": softplus, "silu": silu, "gelu_tanh": gelu_tanh}
CITATION = "symmetry of the Gaussian law"
