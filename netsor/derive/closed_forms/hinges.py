"""Piecewise polynomial functions: the rectifiers, and clips, whose kinks are away from zero."""

from __future__ import annotations

import sympy

from netsor.derive.closed_forms.terms import Decomposition, Term, polynomial, ramp

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


def clip(lo, hi) -> Decomposition | None:
    """min(max(x, lo), hi) = (lo + hi + |x - lo| - |x - hi|) / 2 for lo < hi; either may be infinite."""
    lo, hi = sympy.sympify(lo), sympy.sympify(hi)
    if (hi - lo).is_extended_positive is False:
        return None
    low = (Term(1, 1),) if lo == -sympy.oo else (*polynomial(lo), *_beyond(lo))
    high = () if hi == sympy.oo else tuple(term.times(-1) for term in _beyond(hi))
    return Decomposition(low + high, kinks=tuple(kink for kink in (lo, hi) if kink.is_finite is not False))


def _beyond(at) -> tuple[Term, ...]:
    """max(x - at, 0)."""
    return (*ramp(1, at), *ramp(-at, at, power=0)) if at != 0 else ramp(1)


def hardtanh(lo=sympy.S.NegativeOne, hi=sympy.S.One) -> Decomposition | None:
    return clip(lo, hi)


def hardsigmoid() -> Decomposition:
    """clip(x/6 + 1/2, 0, 1) = 1/2 + clip(x, -3, 3)/6."""
    clipped = clip(-3, 3)
    terms = tuple(term.times(sympy.Rational(1, 6)) for term in clipped.terms)
    return Decomposition((*polynomial(sympy.Rational(1, 2)), *terms), kinks=clipped.kinks)


FUNCTIONS = {
    "relu": relu, "leaky_relu": leaky_relu, "prelu": prelu, "abs": absolute, "relu2": squared_relu, "clip": clip,
    "hardtanh": hardtanh, "hardsigmoid": hardsigmoid,
}
CITATION = "Cho & Saul 2009, arc-cosine kernels of degree 1 and 2"
