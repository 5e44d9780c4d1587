"""Softmax attention with random scores against numbers from independent quadrature.

y = H^(-1/2) sum over a, j of softmax(p_a)_j Z_aj with 4 iid scores per head: given the scores a Gaussian of variance V, the mean
over the heads of sum_j softmax(p_a)_j^2.
"""

import numpy as np
import pytest
from scipy.special import ndtri, softmax
from scipy.stats import qmc

from netsor.limit.laws import GaussianMixture

X = np.array([0.0, 0.5, 1.0, 2.0, 3.0])
DENSITY = {1: [0.6534883928, 0.4619069055, 0.1692344196, 0.0053429870, 0.0000699411],
           2: [0.64608013, 0.46240278, 0.17319460, 0.00468894, 0.00002913]}
DISTRIBUTION = [0.7924715799, 0.9458080578, 0.9987261010, 0.9999852003]
VARIANCE, SECOND_MOMENT, KURTOSIS = 0.391971443576, 0.166102890986, 0.2433184252
REPLICATES = 32


def attention(heads: int) -> GaussianMixture:
    """32 scrambled Sobol sequences of 4,096 points."""
    normals = [ndtri(qmc.Sobol(4 * heads, rng=np.random.default_rng([heads, seed])).random_base2(12) + 2.0**-33)
               for seed in range(REPLICATES)]
    scores = np.stack(normals).reshape(REPLICATES, -1, heads, 4)
    return GaussianMixture(0.0, np.mean(np.sum(softmax(scores, axis=-1) ** 2, axis=-1), axis=-1), method="Sobol")


@pytest.fixture(scope="module", params=[1, 2])
def heads_and_law(request):
    return request.param, attention(request.param)


def agree(estimate, expected, largest_error):
    """Within 4 stated errors and the rounding of the table: false alarm 3.7e-4 a number (Student's t, 31 degrees of
    freedom); what it would catch is bounded by the largest error allowed."""
    assert np.all(estimate.error < largest_error)
    assert np.all(np.abs(estimate.value - expected) < 4 * estimate.error + 1e-8)


def test_density(heads_and_law):
    heads, law = heads_and_law
    density = law.pdf(X)
    np.testing.assert_allclose(density.value, DENSITY[heads], atol=1e-4)
    agree(density, DENSITY[heads], 2e-5)


def test_moments(heads_and_law):
    heads, law = heads_and_law
    agree(law.var(), VARIANCE, 2e-5)
    agree(law.kurtosis(), KURTOSIS / heads, 2e-4)
    agree(law.cross_cumulant(), (SECOND_MOMENT - VARIANCE**2) / heads, 2e-5)
    assert float(law.mean()) == 0.0 and float(law.mean().error) == 0.0


def test_distribution_function_and_quantiles_of_one_head():
    law = attention(1)
    np.testing.assert_allclose(law.cdf(X[1:]).value, DISTRIBUTION, atol=1e-4)
    agree(law.cdf(X[1:]), DISTRIBUTION, 1e-5)
    agree(law.ppf(DISTRIBUTION), X[1:], 2e-3)
