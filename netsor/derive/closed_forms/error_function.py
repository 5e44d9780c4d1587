"""Functions built from the error function: signs smoothed by Gaussian noise."""

from __future__ import annotations

import sympy

from netsor.derive.closed_forms.terms import Decomposition, Term, polynomial

HALF = sympy.Rational(1, 2)


def erf() -> Decomposition:
    return Decomposition((Term(1).signed(noise=HALF),))


def sigmoid_erf() -> Decomposition:
    return Decomposition((*polynomial(HALF), Term(HALF).signed(noise=HALF)))


def gelu() -> Decomposition:
    """x Phi(x) = x/2 + x/2 (2 Phi(x) - 1)."""
    return Decomposition((Term(HALF, 1), Term(HALF, 1).signed(noise=1)))


FUNCTIONS = {"erf": erf, "sigmoid_erf": sigmoid_erf, "gelu": gelu}
WILLIAMS = "Williams 1997, equation 11"
CITATION = {
    "erf": WILLIAMS, "sigmoid_erf": WILLIAMS, "gelu": "Tsuchida, Pearce, van der Heide, Roosta & Gallagher 2021",
}
