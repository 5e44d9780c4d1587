"""sin and cos."""

from __future__ import annotations

import sympy

from netsor.derive.closed_forms.terms import Decomposition, Wave


def sine() -> Decomposition:
    return Decomposition((Wave(sympy.Integer(1), sympy.sin),))


def cosine() -> Decomposition:
    return Decomposition((Wave(sympy.Integer(1), sympy.cos),))


FUNCTIONS = {"sin": sine, "cos": cosine}
CITATION = "characteristic function of a Gaussian; Rahimi & Recht 2007"
