"""Divergences against closed forms, expansions and independent values."""

from pathlib import Path

import mpmath
import numpy as np
import pytest

import netsor
from netsor.compare import kl_divergence, kl_matched_gaussian, kl_of_densities
from netsor.limit.laws import GaussianMixture, LawError

ROOT = Path(__file__).parents[2]


def log_normal(mean, variance):
    return lambda x: -0.5 * (x - mean) ** 2 / variance - 0.5 * np.log(2 * np.pi * variance)


@pytest.mark.parametrize("mean, variance", [(0.0, 1.0), (0.5, 1.3), (1e-5, 1.0), (0.0, 1 + 1e-6), (3.0, 0.2)])
def test_two_gaussians(mean, variance):
    with mpmath.workdps(40):
        v, m = mpmath.mpf(variance), mpmath.mpf(mean)
        exact = float((1 / v - 1 + mpmath.log(v) + m**2 / v) / 2)
    found = kl_of_densities(log_normal(0.0, 1.0), log_normal(mean, variance), -12, 12)
    assert found == pytest.approx(exact, rel=1e-9, abs=1e-25)
    law = kl_divergence(GaussianMixture(0.0, 1.0), GaussianMixture(mean, variance))
    assert float(law.value) == pytest.approx(exact, rel=1e-4 if exact < 1e-9 else 1e-8, abs=1e-20) and law.error < 1e-12


def test_a_narrow_mixture_follows_the_expansion_in_its_cumulants():
    """Two variances 1 +- d: KL = kappa^2/48 + O(d^6) with the excess kurtosis kappa = 3 d^2."""
    d = 0.01
    law = GaussianMixture(0.0, np.array([[1 - d, 1 + d], [1 + d, 1 - d]]))
    found = kl_matched_gaussian(law)
    assert float(found.value) == pytest.approx((3 * d * d) ** 2 / 48, rel=5e-3) and found.error < 1e-12


@pytest.mark.parametrize("program, heads, reference, digits", [
    ("attention.netsor", 1, 9.7e-4, 0.05e-4), ("attention.netsor", 2, 2.7e-4, 0.05e-4), ("attention.netsor", 4, 7.3e-5, 0.1e-5),
    ("attention_relu.netsor", 1, 2.7e-7, 0.06e-7), ("attention_relu.netsor", 2, 6.8e-8, 0.15e-8),
])
def test_attention_is_as_far_from_gaussian_as_an_independent_computation_says(program, heads, reference, digits):
    """Two digits are known; the tolerance is their last place and 4 errors of what is found here."""
    limit = netsor.load(ROOT / "programs" / program, H=heads).limit(samples=2**16, outputs=["y"])
    found = kl_matched_gaussian(limit["y"][0])
    assert abs(float(found.value) - reference) <= digits + 4 * float(found.error)
    assert float(found.error) < 0.03 * reference


def test_gaussians_and_laws_with_atoms():
    assert float(kl_matched_gaussian(GaussianMixture(0.0, 2.0)).value) == 0.0
    with pytest.raises(LawError):
        kl_matched_gaussian(GaussianMixture(0.0, np.array([[0.0, 1.0], [1.0, 0.0]])))
