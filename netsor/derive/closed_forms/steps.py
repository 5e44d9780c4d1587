"""Jumps at zero: step and sign."""

from __future__ import annotations

import sympy

from netsor.derive.closed_forms.terms import Decomposition, Term, ramp


def step() -> Decomposition:
    """(1 + sgn x)/2, except that step(0) is 0."""
    return Decomposition(ramp(1, power=0), whole=lambda x: sympy.Heaviside(x, 0))


def above(at) -> Decomposition:
    """1 beyond a threshold, 0 below; not in the catalogue: the condition x > at."""
    return Decomposition(ramp(1, at, power=0), kinks=(sympy.sympify(at),))


def sign() -> Decomposition:
    return Decomposition((Term(1).signed(),))


FUNCTIONS = {"step": step, "above": above, "sign": sign}
CITATION = "Sheppard 1899; Cho & Saul 2009, arc-cosine kernel of degree 0"
