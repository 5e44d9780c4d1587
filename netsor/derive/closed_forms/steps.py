"""Jumps at zero: step and sign."""

from __future__ import annotations

import sympy

from netsor.derive.closed_forms.terms import Decomposition, Term, ramp


def step() -> Decomposition:
    """(1 + sgn x)/2, except that step(0) is 0."""
    return Decomposition(ramp(1, power=0), whole=lambda x: sympy.Heaviside(x, 0))


def sign() -> Decomposition:
    return Decomposition((Term(1).signed(),))


FUNCTIONS = {"step": step, "sign": sign}
CITATION = "Sheppard 1899; Cho & Saul 2009, arc-cosine kernel of degree 0"
