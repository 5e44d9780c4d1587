"""False-alarm rates and power of single tests and families of them, on data of known law."""

import numpy as np
import pytest
from scipy import stats

from netsor.compare.measured import mean_of
from netsor.compare.probability import (
    holm, power_against, smallest_detectable, threshold, two_sided, welch_degrees, without_skewness,
)


def test_tail_probabilities_are_those_of_student_and_of_the_normal_law():
    for ratio, degrees in ((2.0, 15.0), (-6.0, 15.0), (5.0, 49999.0)):
        assert two_sided(ratio, degrees) == pytest.approx(2 * stats.t.sf(abs(ratio), degrees), rel=1e-9)
    assert two_sided(8.0) == pytest.approx(2 * stats.norm.sf(8.0), rel=1e-9)
    assert threshold(1e-4) == pytest.approx(stats.norm.isf(0.5e-4))


def test_degrees_of_freedom_are_those_of_the_error_that_dominates():
    assert welch_degrees((1e-9, 1000), (1.0, 15)) == pytest.approx(15)
    assert welch_degrees((1.0, 1000), (0.0, 15)) == pytest.approx(1000)
    assert welch_degrees((0.0, 1000), (0.0, 15)) == np.inf


def test_fourth_moments_of_few_runs_are_called_off_as_often_as_stated():
    """Means of c^4 over 2,000 Gaussian runs, level 2e-3 on either side, 20,000 repetitions: 40 false alarms expected a side.

    With the correction both sides must lie within 16 .. 80 (Poisson: false alarms below 1e-5; without the correction
    the lower side has more than 100 and the upper side fewer than 10)."""
    rng = np.random.default_rng(4)
    plain, corrected = [], []
    for _ in range(20):
        draws = rng.standard_normal((2000, 1000))
        found = mean_of(draws**4)
        z = (found.value - 3) / found.stderr
        plain.append(z)
        corrected.append(without_skewness(z, found.third / found.stderr**3))
    plain, corrected = np.concatenate(plain), np.concatenate(corrected)
    edge = stats.norm.isf(2e-3)
    assert (plain < -edge).sum() > 80
    assert 16 <= (corrected < -edge).sum() <= 80
    assert 16 <= (corrected > edge).sum() <= 80


def test_the_correction_keeps_order_and_does_nothing_without_skewness():
    ratio = np.linspace(-60, 60, 2001)
    assert np.all(np.diff(without_skewness(ratio, 0.3)) >= 0)
    assert without_skewness(ratio, 0.0) == pytest.approx(ratio)


def test_holm_rejects_step_by_step():
    assert holm(np.array([0.011, 0.02, 0.9, 0.012]), 0.05).tolist() == [True, True, False, True]
    assert holm(np.array([0.011, 0.03, 0.9, 0.03]), 0.05).tolist() == [True, False, False, False]
    assert holm(np.array([0.2]), 0.05).tolist() == [False] and holm(np.array([]), 0.05).tolist() == []


def test_any_false_rejection_among_dependent_tests_is_as_rare_as_stated():
    """50 tests, equal in pairs, level 0.05, 4,000 families: at most 200 expected; beyond 265 has probability 3e-6."""
    rng = np.random.default_rng(5)
    z = np.repeat(rng.standard_normal((4000, 25)), 2, axis=1)
    assert sum(holm(two_sided(row), 0.05).any() for row in z) <= 265


def test_the_smallest_detectable_deviation_is_detected_in_nine_of_ten_cases():
    """20,000 repetitions: 0.900 +- 0.002, five of these allowed."""
    level, stderr = 1e-5, 0.3
    deviation = float(smallest_detectable(stderr, level))
    z = (deviation + stderr * np.random.default_rng(6).standard_normal(20000)) / stderr
    assert np.mean(two_sided(z) < level) == pytest.approx(0.9, abs=0.0107)
    assert power_against(deviation, stderr, level) == pytest.approx(0.9, abs=1e-9)
    assert power_against(0.0, stderr, level) == pytest.approx(level)
    assert power_against(0.0, 0.0, level) == pytest.approx(level) and power_against(1.0, 0.0, level) == 1.0
