"""Smooth functions of two to four variables on grids: against formulas, against nested quadrature, and refusals."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import multivariate_normal

from netsor.expectation import ExpectationUndefined, grid_expectation
from netsor.expectation.estimate import NotResolved


def expect_on_grid(function, mean, covariance):
    return grid_expectation(function, mean, covariance).estimate


def covariance(size, decay=0.6):
    return 1.3 * decay ** np.abs(np.subtract.outer(np.arange(size), np.arange(size)))


@pytest.mark.parametrize("size", [2, 3])
def test_products_of_distribution_functions_are_orthant_probabilities(size):
    """E prod Phi(X_k) = P(all noise_k < X_k) = 2^-k + sum of arcsin(rho) / (2^(k-1) pi), rho of N(0, 1 + C): Sheppard 1899."""
    found = expect_on_grid(lambda x: ndtr(x).prod(axis=1), np.zeros(size), covariance(size))
    C = np.eye(size) + covariance(size)
    rho = C[np.triu_indices(size, 1)] / C[0, 0]
    exact = 0.5**size + np.arcsin(rho).sum() / (2 ** (size - 1) * np.pi)
    assert abs(found.value - exact) < 1e-11
    assert found.error < 3e-7 * found.value


def test_four_distribution_functions():
    """Against Genz's quasi-random algorithm for the distribution function, good to 1e-5."""
    found = expect_on_grid(lambda x: ndtr(x).prod(axis=1), np.zeros(4), covariance(4))
    law = multivariate_normal(np.zeros(4), np.eye(4) + covariance(4), seed=0)
    assert abs(found.value - law.cdf(np.zeros(4))) < 1e-4 and found.error < 3e-7 * found.value


@pytest.mark.parametrize("size, mean", [(2, 0.0), (3, 0.5), (4, -0.3)])
def test_exponentials_of_sums(size, mean):
    """E exp(t sum X) = exp(t m + t^2 V / 2); the tails beyond the grid are part of the error."""
    C = covariance(size)
    found = expect_on_grid(lambda x: np.exp(0.4 * x.sum(axis=1)), np.full(size, mean), C)
    exact = np.exp(0.4 * size * mean + 0.08 * C.sum())
    assert abs(found.value - exact) <= found.error < 1e-5 * exact


def test_three_sigmoids_against_nested_gauss_hermite():
    """Forty nodes in each of three independent variables; logistic functions have poles at i pi."""
    C = covariance(3, 0.4) * 0.3
    root = np.linalg.cholesky(C)
    nodes, weights = np.polynomial.hermite_e.hermegauss(40)
    weights = weights / weights.sum()
    points = np.stack(np.meshgrid(nodes, nodes, nodes, indexing="ij"), axis=-1) @ root.T + [0.2, -0.1, 0.4]

    def gates(x):
        one, two, three = np.moveaxis(x, -1, 0)
        return np.tanh(one) * np.tanh(two) / (1 + np.exp(-three)) + one * two**2

    expected = np.einsum("ijk,i,j,k", gates(points), weights, weights, weights)
    found = expect_on_grid(gates, np.array([0.2, -0.1, 0.4]), C)
    assert abs(found.value - expected) < 1e-9 and found.error < 1e-6


def test_variables_that_depend_on_each_other():
    """A covariance of rank one, and one that is zero."""
    direction = np.array([1.0, -1.0, 0.5])
    found = expect_on_grid(lambda x: x.prod(axis=1) ** 2, np.zeros(3), np.outer(direction, direction))
    assert abs(found.value - 0.25 * 15) <= found.error
    found = expect_on_grid(lambda x: np.cos(x).prod(axis=1), np.ones(3), np.zeros((3, 3)))
    assert found.value == pytest.approx(np.cos(1.0) ** 3, abs=1e-14)


def test_small_variances_still_refine():
    """A covariance so small that the weight alone sets the spacing: two rules that agree must be different rules."""
    found = expect_on_grid(lambda x: np.exp(x.sum(axis=1)), np.zeros(3), 1e-4 * np.eye(3))
    assert abs(found.value - np.exp(1.5e-4)) < 1e-10


def test_what_varies_too_fast_or_is_not_a_number():
    with pytest.raises(NotResolved):
        expect_on_grid(lambda x: np.tanh(1e5 * x).prod(axis=1) ** 2, np.zeros(4), np.eye(4))
    with pytest.raises(ExpectationUndefined):
        expect_on_grid(lambda x: np.sqrt(x).prod(axis=1), np.zeros(2), np.eye(2))


def test_near_laws_by_derivatives():
    """Against the grid itself for a law some 1e-5 away in its own units, means and a singular direction included; too far away is refused."""
    C = covariance(3)
    C = np.block([[C, C[:, :1]], [C[:1], C[:1, :1]]])  # the fourth variable is the first
    mean = np.array([0.2, -0.1, 0.4, 0.2])
    function = lambda x: ndtr(x).prod(axis=1)  # noqa: E731
    known = grid_expectation(function, mean, C)
    noise = np.random.default_rng(0).normal(size=(4, 4))
    noise[3] = noise[0]
    change = noise @ noise.T
    for size, close in ((2e-6, True), (1e-2, False)):
        law = mean + size * noise[:, 0], C + size * change
        found = known.near(*law)
        assert (found is not None) == close
        if found is not None:
            exact = expect_on_grid(function, *law)
            assert abs(found.value - exact.value) < 1e-3 * abs(exact.value - known.estimate.value)
            assert abs(found.value - exact.value) <= found.error + exact.error


def test_a_law_with_a_direction_more_is_not_near():
    C = np.ones((2, 2))
    known = grid_expectation(lambda x: ndtr(x).prod(axis=1), np.zeros(2), C)
    assert known.near(np.zeros(2), C + 1e-6 * np.eye(2)) is None
