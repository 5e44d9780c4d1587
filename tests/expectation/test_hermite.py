"""Mehler's expansion: exact on Hermite polynomials, equal to panels, and refused where it would not converge."""

from __future__ import annotations

import math

import numpy as np
import pytest

from netsor.expectation import UnaryFunction
from netsor.expectation.dual_values import PanelRule, TrapezoidRule
from netsor.expectation.family import Family, Interval
from netsor.expectation.hermite import HermiteRule, hermite_coefficients

ANGLES = (0.0, 1e-6, 1e-3, 0.3, 1.2, math.pi / 2, 2.5, math.pi - 1e-3, math.pi)


CENTRED = Interval(0.0, 0.0, 1)


def family(name, low, high, nodes=4, means=CENTRED):
    return Family(UnaryFunction.of(name), means, Interval(math.log(low), math.log(high), nodes))


def units(one, two):
    return np.sqrt(np.outer(np.diagonal(HermiteRule.of(one, one).matrix(0.0)), np.diagonal(HermiteRule.of(two, two).matrix(0.0))))


@pytest.mark.parametrize("name, low, high", [("tanh", 0.01, 3), ("tanh", 2, 100), ("gelu_tanh", 0.1, 10), ("mish", 0.1, 10), ("cos", 0.1, 9)])
def test_all_angles_against_panels(name, low, high):
    """Two-dimensional quadrature on graded panels shares nothing with it; panels are good to 1e-12."""
    one = family(name, low, high)
    rule, panels = HermiteRule.of(one, one), PanelRule(one, one)
    for theta in ANGLES:
        assert np.abs((rule.matrix(theta) - panels.matrix(theta)) / units(one, one)).max() < 1e-12, theta


def test_two_functions_with_means():
    one, two = family("tanh", 0.5, 4, means=Interval(-1.0, 2.0, 3)), family("softplus", 0.1, 9)
    rule = HermiteRule.of(one, two)
    trapezoid = TrapezoidRule(one, two, 250)
    for theta in ANGLES:
        assert np.abs((rule.matrix(theta) - trapezoid.matrix(theta)) / units(one, two)).max() < 1e-13, theta


def test_coefficients_of_polynomials_and_waves():
    """x^3 = He_3 + 3 He_1; cos(s x) has coefficients (-1)^k e^{-s^2/2} s^{2k} / sqrt((2k)!)."""
    cube = hermite_coefficients(Family.single(UnaryFunction.of("cube"), 0.0, 1.0), 64)[0]
    expected = np.zeros(64)
    expected[[1, 3]] = 3.0, math.sqrt(6.0)
    np.testing.assert_allclose(cube, expected, rtol=0, atol=1e-14)
    wave = hermite_coefficients(Family.single(UnaryFunction.of("cos"), 0.0, 4.0), 64)[0]
    expected = [(-1) ** k * math.exp(-2.0) * 2.0 ** (2 * k) / math.sqrt(math.factorial(2 * k)) for k in range(32)]
    np.testing.assert_allclose(wave[::2], expected, rtol=0, atol=1e-15)
    assert not wave[1::2].any()


@pytest.mark.parametrize("name, variance", [("tanh", 1e6), ("exp", 30.0)])
def test_what_does_not_converge_is_left_to_others(name, variance):
    one = Family.single(UnaryFunction.of(name), 0.0, variance)
    assert HermiteRule.of(one, one) is None
