"""Integrals that stand in formulas: a number with its digits or none, and no warnings on the way."""

import math
import warnings

import pytest
import sympy

from netsor.derive.evaluate import Evaluation
from netsor.derive.quadrature import Unknown

T = sympy.Symbol("t", real=True)


def value(function: sympy.Expr) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return Evaluation([], {}, {}, {})(sympy.Integral(function, (T, 0, 1)))


def test_a_smooth_and_a_singular_integral():
    assert value(sympy.exp(-T**2)) == pytest.approx(math.sqrt(math.pi) / 2 * math.erf(1), abs=1e-14)
    assert value(sympy.log(T) ** 2) == pytest.approx(2.0, abs=1e-9)


def test_what_is_not_resolved_has_no_number():
    with pytest.raises(Unknown, match="the integral over t is not resolved"):
        value(sympy.sin(1 / T) / T)
