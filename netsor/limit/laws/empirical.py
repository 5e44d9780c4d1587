"""The law of a scalar known through samples only."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from netsor.expectation.estimate import Estimate
from netsor.limit.laws.base import Law, LawError, Values
from netsor.limit.laws.replicates import influence_error, replicated, sampling_text, standard_error


class Empirical(Law):
    """Samples of shape (R, M): R independent replicates of M samples of X.

    Averages and the distribution function are those of the pooled samples; errors are standard errors from the
    replicates (delta method for ratios).  That of a probability is never taken smaller than 1/(R M), one sample: beyond
    the largest sample all replicates agree on 0 and know nothing.  Quantiles carry Woodruff's interval: how far
    they move when the level moves by its error, which is infinite where the samples do not reach.
    """

    kind = "function of gaussian"

    def __init__(self, values: Any, *, method: str | None = None):
        (self.values,) = replicated(values)
        self.method = method or sampling_text(self.values.shape)
        self._replicates, self._pooled = np.sort(self.values, axis=1), np.sort(self.values.ravel())
        self._resolution = 1.0 / self.values.size if self.values.size > 1 else 0.0

    def mean(self) -> Estimate:
        return Estimate(self.values.mean(), influence_error(self.values), self.method)

    def var(self) -> Estimate:
        """The mean squared deviation from the mean of all samples."""
        square = self._central() ** 2
        return Estimate(square.mean(), influence_error(square), self.method)

    def kurtosis(self) -> Estimate:
        c = self._central()
        variance, third, fourth = (np.mean(c**k) for k in (2, 3, 4))
        if variance == 0:
            raise LawError("all samples are equal: the kurtosis is not defined")
        influence = (c**4 - 4 * third * c) / variance**2 - 2 * fourth / variance**3 * c**2
        return Estimate(fourth / variance**2 - 3, influence_error(influence), self.method)

    def _central(self) -> np.ndarray:
        c = self.values - self.values.mean()
        return c - c.mean()

    def _moment(self, order: int) -> Values:
        power = self.values**order
        return power.mean(), influence_error(power)

    def _pdf(self, x: np.ndarray) -> Values:
        raise LawError(
            "the law is known through samples only: a density would need smoothing, whose bias cannot be stated; "
            "use cdf, which is exact up to its sampling error"
        )

    def _tail(self, x: np.ndarray, upper: bool) -> Values:
        count = np.stack([np.searchsorted(row, x, side="right") for row in self._replicates])
        samples = self.values.shape[1]
        part = (samples - count if upper else count) / samples
        return part.mean(axis=0), np.maximum(standard_error(part), self._resolution)

    def _quantile(self, q: np.ndarray, upper: bool) -> Values:
        level = 1 - q if upper else q
        place = self._order_statistic(level)
        error = self._tail(place, False)[1]
        left, right = self._order_statistic(level - error), self._order_statistic(level + error)
        return place, np.maximum(place - left, right - place)

    def _order_statistic(self, level: np.ndarray) -> np.ndarray:
        """The smallest sample with empirical P(X <= x) >= level; infinite for levels outside the samples."""
        count = self._pooled.size
        rank = np.ceil(level * count * (1 - 4 * np.finfo(float).eps)).astype(int)
        place = self._pooled[np.clip(rank, 1, count) - 1]
        return np.where(rank < 1, -np.inf, np.where(rank > count, np.inf, place)) if count > 1 else place

    def _cf(self, t: np.ndarray) -> Values:
        value, error = np.empty(len(t), dtype=complex), np.empty(len(t))
        for k, one in enumerate(t):
            parts = np.stack([np.cos(one * self.values).mean(axis=1), np.sin(one * self.values).mean(axis=1)], axis=1)
            value[k], error[k] = complex(*parts.mean(axis=0)), np.hypot(*standard_error(parts))
        return value, error

    def _rvs(self, count: int, generator: np.random.Generator) -> np.ndarray:
        """Resampling with replacement."""
        return self.values.ravel()[generator.integers(self.values.size, size=count)]

    def support(self) -> tuple[float, float]:
        """The whole line: samples do not tell where a law ends."""
        return -math.inf, math.inf
