"""The rectifiers: piecewise polynomial functions with a kink at zero."""

from __future__ import annotations

import sympy

from netsor.derive.closed_forms.terms import Decomposition, Term, ramp

LEAK, QUARTER = sympy.Rational(1, 100), sympy.Rational(1, 4)


def relu() -> Decomposition:
    return leaky_relu(0)


def leaky_relu(slope=LEAK) -> Decomposition:
    """(1 + slope)/2 x + (1 - slope)/2 |x|."""
    half = sympy.S.Half
    return Decomposition((Term(half * (1 + slope), 1), Term(half * (1 - slope), 1).signed()))


def prelu(slope=QUARTER) -> Decomposition:
    return leaky_relu(slope)


def absolute() -> Decomposition:
    return leaky_relu(-1)


def squared_relu() -> Decomposition:
    return Decomposition(ramp(1, power=2))


FUNCTIONS = {"relu": relu, "leaky_relu": leaky_relu, "prelu": prelu, "abs": absolute, "relu2": squared_relu}
CITATION = {name: f"Cho & Saul 2009, arc-cosine kernel of degree {2 if name == 'relu2' else 1}" for name in FUNCTIONS}
