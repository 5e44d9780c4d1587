"""Divergences of averaged conditional densities: right, and resolved far below the noise of histograms."""

import numpy as np
import pytest

from netsor.compare.conditional import kl_of_mixtures
from netsor.limit.laws import GaussianMixture, LawError


def mixture(seed: int, runs: int = 16 * 1000) -> GaussianMixture:
    return GaussianMixture(0.0, (0.3 + np.random.default_rng(seed).beta(2, 5, runs)).reshape(16, -1))


@pytest.mark.parametrize("variance", [0.5, 1.001, 3.0])
def test_two_gaussians_have_the_closed_form(variance):
    found = kl_of_mixtures(GaussianMixture(0.0, [[1.0]]), GaussianMixture(0.0, [[variance]]))
    assert float(found.value) == pytest.approx(0.5 * (1 / variance - 1 + np.log(variance)), rel=1e-9)
    assert float(found.error) == 0


def test_independent_samples_of_one_law_are_at_distance_zero_within_errors():
    """Eight pairs: each beyond 4.5 errors with probability 5e-4 at most (Student's t, 15 degrees of freedom), and the errors are small
    enough to see a divergence of 1e-4, a fifth of the noise floor of kernel density estimates from 50,000 draws."""
    found = [kl_of_mixtures(mixture(2 * k), mixture(2 * k + 1)) for k in range(8)]
    values, errors = np.array([f.value for f in found]), np.array([f.error for f in found])
    assert 4.5 * errors.max() < 1e-4
    assert np.all(np.abs(values) < 4.5 * errors)


def test_the_divergence_of_a_mixture_from_a_gaussian_is_that_of_a_plain_sum():
    """4.5 errors; the noise of the mixing variable, which the jackknife takes off, is below them."""
    p, q = mixture(0), GaussianMixture(0.0, [[0.6]])
    found = kl_of_mixtures(p, q)
    x = np.linspace(-7, 7, 401)
    first, second = p.pdf(x).value, q.pdf(x).value
    direct = np.sum(first * np.log(first / second)) * (x[1] - x[0])
    assert abs(float(found.value) - direct) < 4.5 * float(found.error)
    assert direct > 20 * float(found.error)


def test_atoms_are_refused():
    with pytest.raises(LawError, match="atom"):
        kl_of_mixtures(GaussianMixture(0.0, np.tile([0.0, 1.0], (2, 1))), mixture(0))
