"""The kernel density statistic: blind where the theory says so."""

import numpy as np
import pytest

from netsor.compare import kde_divergence, noise_floor


def test_the_floor_is_that_of_independent_samples_and_hides_small_kurtosis():
    """20,000 draws: the floor is near 1e-3.  A mixture with KL 2.7e-4 to its Gaussian stays within it (the mean over pairs has a
    standard deviation of about 3e-4), and a scale wrong by 10 % (KL 1e-2) stands out."""
    rng = np.random.default_rng(1)
    samples = [rng.standard_normal(20000) for _ in range(8)]
    floor, deviation = noise_floor(samples, points=200)
    assert 3e-4 < floor < 3e-3 and 0 < deviation < floor
    variance = 1 + 0.2 * np.where(rng.random(20000) < 0.5, 1, -1)  # excess kurtosis 0.12: KL 3e-4
    mixture = np.sqrt(variance) * rng.standard_normal(20000)
    assert kde_divergence(mixture, samples[0], points=200) < floor + 6 * deviation
    assert kde_divergence(1.1 * samples[1], samples[0], points=200) > floor + 6 * deviation


def test_equal_samples_do_not_diverge():
    sample = np.random.default_rng(2).standard_normal(500)
    assert kde_divergence(sample, sample) == pytest.approx(0.0, abs=1e-15)
