"""Piecewise linear functions whose kinks are away from zero."""

from __future__ import annotations

import sympy

from netsor.derive.closed_forms.terms import Decomposition, Term, polynomial, ramp


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


FUNCTIONS = {"clip": clip, "hardtanh": hardtanh, "hardsigmoid": hardsigmoid}
CITATION = "piecewise linear with thresholds: integration by parts, error functions"
