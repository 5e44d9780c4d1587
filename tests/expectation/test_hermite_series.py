"""Mehler's series with coefficients from panels, against quadrature in the plane."""

import numpy as np
import pytest

from netsor.expectation import UnaryFunction
from netsor.expectation.hermite_series import MODERATE, coefficients, hermite_series
from netsor.expectation.pair_cells import Cells
from netsor.expectation.pair_quadrature import plane_quadrature, plane_rule

PAIRS = [("relu", "relu"), ("step", "elu"), ("sign", "tanh"), ("exp", "hardtanh"), ("selu", "gelu"), ("abs", "cube"), ("clip", "cos")]
CORRELATIONS = np.array([0.0, 1e-9, -0.3, 0.71, -0.95, MODERATE])


def function(name):
    return UnaryFunction.of(name, *((-0.7, 0.4) if name == "clip" else ()))


@pytest.mark.parametrize("mean_f, mean_g, var_f, var_g", [(0.0, 0.0, 1.3, 1.3), (0.4, -1.1, 0.2, 2.5), (0.0, 3.0, 9.0, 1e-4)])
@pytest.mark.parametrize("first, second", PAIRS)
def test_against_the_plane(first, second, mean_f, mean_g, var_f, var_g):
    """Rules that have the panels of one function in common and nothing else; their stated errors cover the difference, and are small."""
    f, g = function(first), function(second)
    many = np.ones(len(CORRELATIONS))
    cells = Cells(mean_f * many, mean_g * many, var_f * many, var_g * many, CORRELATIONS * np.sqrt(var_f * var_g))
    value, error = hermite_series(f, g, cells)
    rule = plane_rule(f, g, mean_f, mean_g, var_f, var_g)
    size = np.sqrt(rule.matrix(0.0, 1.0)[0][0, 0] ** 2 + 1)
    for rho, own, stated in zip(CORRELATIONS, value, error):
        matrix, gap = rule.matrix(rho, np.sqrt((1 - rho) * (1 + rho)))
        assert abs(own - matrix[0, 0]) <= stated + gap[0, 0] + 1e-16  # what a conditional mean of zero rounds to
        assert stated < 2e-12 * size * (1 + np.exp(var_f) if first == "exp" else 1)


def test_coefficients_of_a_step():
    """E 1(X > 0) He_m(X) / sqrt(m!) = He_{m-1}(0) / sqrt(2 pi m!): by induction from the generating function."""
    found = coefficients(UnaryFunction.of("step"), 0.0, 1.0, 400).fine
    values = [1.0, 0.0]  # He_m(0) / sqrt(m!)
    for order in range(1, 400):
        values.append(-np.sqrt(order / (order + 1)) * values[order - 1])
    expected = [0.5] + [values[m - 1] / np.sqrt(2 * np.pi * m) for m in range(1, 400)]
    np.testing.assert_allclose(found, expected, atol=2e-15)


def test_few_orders_are_not_enough_and_the_error_says_so(monkeypatch):
    """With the series cut far too early the stated error still covers what is missing."""
    from netsor.expectation import hermite_series as module

    f = UnaryFunction.of("sign")
    cells = Cells(np.zeros(1), np.zeros(1), np.ones(1), np.ones(1), np.array([0.9]))
    exact = 2 / np.pi * np.arcsin(0.9)
    assert abs(hermite_series(f, f, cells)[0][0] - exact) < 1e-13
    monkeypatch.setattr(module, "_DROPPED", 1e-2)
    value, error = hermite_series(f, f, cells)
    assert 1e-6 < abs(value[0] - exact) < error[0] < 0.1


def test_a_function_with_a_sharp_layer_takes_a_moment_each_law():
    """A thousand times narrower than the deviation, every cell of other variances: what one rule in the plane for each would take minutes."""
    f = UnaryFunction("layer", lambda z: z / np.sqrt(z**2 / (1 + z**2) + 1e-6), parity=-1)
    variance = np.linspace(1.0, 2.0, 90)
    cells = Cells(np.zeros(90), np.zeros(90), variance, variance[::-1], 0.5 * np.ones(90))
    estimate = plane_quadrature(f, f, cells)
    assert np.all(estimate.error < 1e-12)
    for cell in (0, 44):
        rule = plane_rule(f, f, 0.0, 0.0, variance[cell], variance[::-1][cell])
        rho = 0.5 / np.sqrt(variance[cell] * variance[::-1][cell])
        assert abs(rule.matrix(rho, np.sqrt(1 - rho * rho))[0][0, 0] - estimate.value[cell]) < 1e-12
