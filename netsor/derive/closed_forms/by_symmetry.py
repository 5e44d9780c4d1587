"""Functions of which only the even or the odd part has closed forms: E phi(u) psi(v) is known when the rest averages out."""

from __future__ import annotations

import sympy

from netsor.derive.closed_forms.terms import Decomposition, polynomial

HALF = sympy.Rational(1, 2)


def sigmoid() -> Decomposition:
    """1/2 + tanh(x/2)/2."""
    return Decomposition(polynomial(HALF), remainder=-1)


def tanh() -> Decomposition:
    return Decomposition((), remainder=-1)


def half_linear() -> Decomposition:
    """x/2 plus an even function: softplus, silu = x/2 + x/2 tanh(x/2), gelu_tanh."""
    return Decomposition(polynomial(0, HALF), remainder=1)


FUNCTIONS = {"sigmoid": sigmoid, "tanh": tanh, "softplus": half_linear, "silu": half_linear, "gelu_tanh": half_linear}
CITATION = "symmetry of the Gaussian law"
