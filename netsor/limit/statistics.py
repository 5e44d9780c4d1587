"""Values and errors from independent replicates."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from netsor.expectation import Estimate


SMALLEST = 1e-75  # variance whose fourth moment is still a normal float
ROUNDING = 16 * np.finfo(float).eps  # of a difference of numbers near 3


def average(replicates: np.ndarray, method: str, relative_error: float = 0.0) -> Estimate:
    """The mean over replicates (axis 0) and its standard error; ``relative_error`` of deterministic quadrature is added.

    One replicate means that nothing random entered."""
    value = replicates.mean(axis=0)
    count = len(replicates)
    spread = replicates.std(axis=0, ddof=1) / np.sqrt(count) if count > 1 else np.zeros_like(value)
    return Estimate(value, _with_quadrature(value, spread, relative_error), method)


def jackknife(statistics: np.ndarray, function: Callable[[np.ndarray], np.ndarray], method: str,
              relative_error: float = 0.0) -> Estimate:
    """``function`` of averaged statistics: shape (replicates, statistics, …) -> value and jackknife error over replicates."""
    count = len(statistics)
    value = function(statistics.mean(axis=0))
    if count == 1:
        return Estimate(value, _with_quadrature(value, np.zeros_like(value), relative_error), method)
    total = statistics.sum(axis=0)
    without = np.array([function((total - own) / (count - 1)) for own in statistics])
    error = np.sqrt((count - 1) / count * np.sum((without - without.mean(axis=0)) ** 2, axis=0))
    return Estimate(value, _with_quadrature(value, error, relative_error), method)


def widened(estimate: Estimate, error: np.ndarray) -> Estimate:
    """The estimate with an independent absolute error added."""
    return Estimate(estimate.value, np.hypot(estimate.error, error), estimate.method)


def _with_quadrature(value: np.ndarray, spread: np.ndarray, relative_error: float) -> np.ndarray:
    if not relative_error:
        return spread
    return np.hypot(spread, relative_error * np.max(np.abs(value), initial=0.0))


def excess_kurtosis(second: np.ndarray, fourth: np.ndarray) -> np.ndarray:
    """mu4/mu2^2 - 3; 0 for a constant, and where it is nothing but rounding; NaN where the fourth moment leaves the range of floats."""
    with np.errstate(all="ignore"):
        second = np.where((second > 0) & ((second < SMALLEST) | (second > 1 / SMALLEST)), np.nan, second)
        excess = np.where(second <= 0, 0.0, fourth / np.where(second == 0, 1.0, second) ** 2 - 3.0)
    return np.where(np.abs(excess) < ROUNDING, 0.0, excess)
