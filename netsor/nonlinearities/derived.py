"""The derivative of a nonlinearity that declares no formula for it, as a function of its own."""

from __future__ import annotations

import numpy as np

from netsor.nonlinearities.base import Nonlinearity

MARK = "'"


class DerivativeOf(Nonlinearity):
    """phi' almost everywhere, called by the name of phi with a prime; it takes the parameters of phi."""

    def __init__(self, original: Nonlinearity):
        growth = {"bounded": "linear"}.get(original.growth, original.growth)
        values = {
            "name": original.name + MARK, "growth": growth, "strip": original.strip, "citation": original.citation,
            "domain": original.domain, "function": original.derivative, "kinks": original.kinks,
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)
        super().__init__()
        object.__setattr__(self, "parameters", original.parameters)

    def derivative(self, x, *params):
        raise NotImplementedError(f"the second derivative of {self.name.removesuffix(MARK)} is not known")


def jumps(nonlinearity: Nonlinearity, *params: float) -> bool:
    """Whether the function has a jump at one of its kinks, as far as two points beside it tell."""
    kinks = np.array([place for place in nonlinearity.kinks(*params) if np.isfinite(place)], dtype=float)
    inside = kinks[(kinks > nonlinearity.domain[0]) & (kinks < nonlinearity.domain[1])]
    left, right = (nonlinearity(inside + side * 1e-9 * (1 + np.abs(inside)), *params) for side in (-1, 1))
    return bool(np.any(np.abs(left - right) > 1e-6 * (1 + np.abs(left))))
