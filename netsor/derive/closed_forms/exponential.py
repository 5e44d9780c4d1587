"""Exponentials: exp, the Gaussian bump, and the units that are exponential below zero."""

from __future__ import annotations

import sympy

from netsor.derive.closed_forms.terms import Decomposition, Term, ramp

SELU_ALPHA = sympy.Float("1.6732632423543772")
SELU_SCALE = sympy.Float("1.0507009873554805")


def exp() -> Decomposition:
    return Decomposition((Term(1, rate=sympy.Integer(1)),))


def exponential(rate) -> Decomposition:
    """e^{rate x}; not in the catalogue: a factor of the exponential of a linear combination."""
    return Decomposition((Term(1, rate=rate),))


def gaussian() -> Decomposition:
    return Decomposition((Term(1, decay=sympy.Integer(1)),))


def elu(alpha=sympy.S.One) -> Decomposition:
    return _unit(1, alpha, sympy.Integer(1))


def celu(alpha=sympy.S.One) -> Decomposition | None:
    return None if alpha == 0 else _unit(1, alpha, 1 / alpha)


def selu(scale=SELU_SCALE, alpha=SELU_ALPHA) -> Decomposition:
    return _unit(scale, alpha, sympy.Integer(1))


def _unit(scale, alpha, rate) -> Decomposition:
    """scale x for x > 0, scale alpha (e^{rate x} - 1) below."""
    curve = Term(scale * alpha / sympy.Integer(2), rate=rate)
    level = Term(-scale * alpha / sympy.Integer(2))
    below = (curve, curve.times(-1).signed(), level, level.times(-1).signed())
    return Decomposition((*ramp(scale), *below))


FUNCTIONS = {"exp": exp, "gaussian": gaussian, "rbf": gaussian, "elu": elu, "celu": celu, "selu": selu}
CITATION = "moment generating function of a Gaussian; completing the square"
