"""Distances of distribution functions: false-alarm rate and power, at one width and extrapolated."""

import numpy as np
import pytest
from scipy import stats

from netsor.compare import kolmogorov

EDGES = np.arange(1, 1024) / 1024


def below(uniform: np.ndarray) -> np.ndarray:
    return np.searchsorted(np.sort(uniform), EDGES, side="right") / len(uniform)


def test_the_probability_is_that_of_scipy():
    draws = np.random.default_rng(1).random(2000)
    exact = stats.kstest(draws, "uniform")
    assert kolmogorov.probability(exact.statistic, 2000) == pytest.approx(exact.pvalue, rel=0.03)
    assert kolmogorov.probability(kolmogorov.critical(1e-5, 2000), 2000) == pytest.approx(1e-5, rel=1e-9)


def test_extrapolated_distances_of_biased_draws_are_false_alarms_as_often_as_stated():
    """Uniform draws distorted by b/n + c/n^2, 2,000 experiments: p below 0.1 in about 200 (the grid makes it fewer).

    Bounds 130 .. 268: 5 sigma of 13.4 around 200 and 3 less for the grid."""
    rng = np.random.default_rng(2)
    widths, hits, misfits = [8, 16, 32, 64], 0, 0
    for _ in range(2000):
        functions = []
        for n in widths:
            u = rng.random(500)
            shift = 0.6 / n - 0.5 / n**2
            functions.append(below(_distorted(u, shift)))
        found = kolmogorov.extrapolate(widths, functions, [500] * 4, EDGES)
        hits += kolmogorov.probability(found.distance, found.count) < 0.1
        misfits += bool(found.left_out)
    assert 130 <= hits <= 268 and misfits < 20


def _distorted(u: np.ndarray, shift: float) -> np.ndarray:
    """Draws with distribution function x + shift x (1 - x), linear in the shift."""
    b = 1 + shift
    return u if shift == 0 else (b - np.sqrt(b * b - 4 * shift * u)) / (2 * shift)


def test_a_deviation_that_is_detectable_is_detected():
    """A distribution function off by the smallest detectable deviation at one point; at least 90 % of 300 (5 sigma: 0.087)."""
    rng = np.random.default_rng(3)
    count, level = 4000, 1e-4
    off = kolmogorov.smallest_detectable(count, level)
    hits = 0
    for _ in range(300):
        u = rng.random(count)
        moved = np.where((u > 0.5 - off) & (u < 0.5), 0.5 + (u - 0.5 + off) * 1e-6, u)
        distance = np.max(np.abs(below(moved) - EDGES))
        hits += kolmogorov.probability(distance, count) < level
    assert hits / 300 > 0.9 - 0.087


def test_an_error_of_the_limit_is_not_taken_for_bias():
    rng = np.random.default_rng(4)
    widths = [8, 16, 32, 64]
    functions = [below(_distorted(rng.random(20000), 0.3 + 1 / n)) for n in widths]
    found = kolmogorov.extrapolate(widths, functions, [20000] * 4, EDGES)
    assert found.distance == pytest.approx(0.3 / 4, abs=0.03) and kolmogorov.probability(found.distance, found.count) < 1e-8


def test_one_width_is_not_extrapolated():
    assert kolmogorov.extrapolate([8], [EDGES], [100], EDGES) is None
