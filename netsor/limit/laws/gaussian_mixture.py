"""The law of a Gaussian whose mean and variance are random: the conditional Gaussians, averaged."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import ndtri

from netsor.expectation.estimate import Estimate
from netsor.limit.laws.base import LawError, Values
from netsor.limit.laws.components import Components
from netsor.limit.laws.point_masses import PointMasses
from netsor.limit.laws.replicated import ReplicatedLaw
from netsor.limit.laws.replicates import influence_error, replicated, sampling_text, standard_error


class GaussianMixture(ReplicatedLaw):
    """X given (m, V) is N(m, V); samples of mean and variance have shape (R, M), or are scalars: the exact Gaussian.

    Every number is the average of the conditional one over all R M samples; its error is one standard error, estimated
    from the R replicates (relative accuracy 1/sqrt(2(R - 1))): directly for averages, by the delta method for ratios
    and quantiles.  ``relative_error`` bounds the deterministic relative error of the variances; its effect is bounded
    sample by sample and added.  Samples of variance 0 are atoms.

    Raises ValueError for a negative or infinite variance, and for one replicate of several samples.
    """

    def __init__(self, mean: Any, variance: Any, *, method: str | None = None, relative_error: float = 0.0):
        self.means, self.variances = replicated(mean, variance)
        if self.variances.min() < 0:
            raise ValueError(f"a variance of the mixture is negative: {self.variances.min():.6g}")
        if not 0 <= relative_error < np.inf:
            raise ValueError(f"the relative error of the variances is {relative_error}")
        self.relative_error = float(relative_error)
        self.exact = self.variances.shape == (1, 1)
        self.kind = "gaussian" if self.exact else "gaussian mixture"
        text = sampling_text(self.variances.shape)
        self.method = text if self.exact and not relative_error else method or text
        self.components = Components(self.means, self.variances)
        self.points = PointMasses.of_samples(self.means, self.variances == 0)

    # --- moments -----------------------------------------------------------------------------------------------------

    def mean(self) -> Estimate:
        return Estimate(self.means.mean(), influence_error(self.means), self.method)

    def var(self) -> Estimate:
        """E V + Var m."""
        square = self._central()[0] ** 2 + self.variances
        error = influence_error(square) + self.relative_error * self.variances.mean()
        return Estimate(square.mean(), error, self.method)

    def kurtosis(self) -> Estimate:
        """E[(m - mu)^4 + 6 (m - mu)^2 V + 3 V^2] / Var^2 - 3, by the delta method; 3 Var(V)/E[V]^2 for constant m.

        With d = (m - mu)^2 the numerator minus 3 Var^2 is 3 Var V + 6 Cov(d, V) + Var d - 2 E[d]^2: no cancellation.
        """
        c, d, v = self._central()
        mean_d, total = np.mean(c * c), np.mean(c * c) + self.variances.mean()
        if total == 0:
            raise LawError("the law is a constant: its kurtosis is not defined")
        terms = 3 * v * v + 6 * v * d + d * d
        numerator = terms.mean() - 2 * mean_d**2
        moves_mean = 12 * np.mean(c * v) + 4 * np.mean(c * d)
        influence = (terms - 4 * mean_d * d - moves_mean * c) / total**2 - 2 * numerator / total**3 * (d + v)
        slope = np.mean(self.variances * np.abs(6 * (v + d) / total**2 - 2 * numerator / total**3))
        error = influence_error(influence) + self.relative_error * slope
        return Estimate(numerator / total**2, error, "exact" if self.exact else self.method)

    def cross_cumulant(self) -> Estimate:
        """The fourth cumulant k(x, x, y, y) of two coordinates that share (m, V) and are independent given it: Var V.

        If the means vary as well it is Var(V + (m - mu)^2) - 2 Var(m)^2.
        """
        c, d, v = self._central()
        mean_d, square = np.mean(c * c), d + v
        influence = square**2 - 4 * mean_d * d - 4 * np.mean(c * square) * c
        slope = 2 * np.mean(self.variances * np.abs(square))
        error = influence_error(influence) + self.relative_error * slope
        return Estimate(np.mean(square**2) - 2 * mean_d**2, error, self.method)

    def _central(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """c = m - E m, d = c^2 - E c^2 and v = V - E V at the samples."""
        c = self.means - self.means.mean()
        c -= c.mean()  # the rounding of a large mean
        return c, c * c - np.mean(c * c), self.variances - self.variances.mean()

    def _moment(self, order: int) -> Values:
        """sum over j of binom(order, 2j) (2j - 1)!! E m^(order - 2j) V^j."""
        total, slope = np.zeros_like(self.means), 0.0
        for j in range(order // 2 + 1):
            pairings = float(math.comb(order, 2 * j) * math.prod(range(2 * j - 1, 0, -2)))
            term = pairings * self.means ** (order - 2 * j) * self.variances**j
            total += term
            slope += j * np.abs(term).mean()
        return total.mean(), influence_error(total) + self.relative_error * slope

    def _cf(self, t: np.ndarray) -> Values:
        """E exp(itm - t^2 V/2)."""
        value, error = np.empty(len(t), dtype=complex), np.empty(len(t))
        for k, one in enumerate(t):
            size = np.exp(-0.5 * one * one * self.variances)
            parts = np.stack([size * np.cos(one * self.means), size * np.sin(one * self.means)])
            replicates = parts.mean(axis=2).T
            value[k] = complex(*replicates.mean(axis=0))
            slope = 0.5 * one * one * np.mean(self.variances * size)
            error[k] = np.hypot(*standard_error(replicates)) + self.relative_error * slope
        return value, error

    # --- density, tails, draws ---------------------------------------------------------------------------------------

    def _pdf(self, x: np.ndarray) -> Values:
        self._check_density()
        return super()._pdf(x)

    def _logpdf(self, x: np.ndarray) -> Values:
        self._check_density()
        shift, replicates = self.components.log_density(x)
        return self._logarithm(x, shift, replicates, self.components.density_slope, self.components.density)

    def _logtail(self, x: np.ndarray, upper: bool) -> Values:
        if len(self.points):
            return super()._logtail(x, upper)
        shift, replicates = self.components.log_tail(x, upper)
        tail = lambda y: self.components.tail(y, upper)  # noqa: E731
        return self._logarithm(x, shift, replicates, self.components.tail_slope, tail)

    def _logarithm(self, x, shift, replicates, slope, plain) -> Values:
        value = replicates.mean(axis=0)
        with np.errstate(all="ignore"):
            error = np.where(value > 0, standard_error(replicates) / value, 0.0)
            if self.relative_error:
                relative = slope(x).mean(axis=0) / plain(x).mean(axis=0)
                # where the tail underflows: each component changes by at most (1 + z^2) per relative change
                largest = 1 + np.max(np.abs(x[:, None] - self._mean_range()), axis=1) ** 2 / self._least_variance()
                error += self.relative_error * np.where(np.isfinite(relative), relative, largest)
            error = np.where(np.isinf(x), 0.0, error)
            return shift + np.log(value), error

    def _mean_range(self) -> np.ndarray:
        return np.array([self.means.min(), self.means.max()])

    def _least_variance(self) -> float:
        return float(self.variances.min())

    def _check_density(self) -> None:
        if len(self.points):
            self._refuse_density(self.points.places)

    def _density_replicates(self, x: np.ndarray) -> np.ndarray:
        return self.components.density(x)

    def _density_slope(self, x: np.ndarray) -> np.ndarray:
        return self.components.density_slope(x).mean(axis=0)

    def _tail_replicates(self, x: np.ndarray, upper: bool) -> np.ndarray:
        tail = self.components.tail(x, upper)
        return tail + self.points.tail(x, upper) if len(self.points) else tail

    def _tail_slope(self, x: np.ndarray) -> np.ndarray:
        return self.components.tail_slope(x).mean(axis=0)

    def _bracket(self, q: np.ndarray, upper: bool) -> tuple[np.ndarray, np.ndarray]:
        return self.components.extremes(-ndtri(q) if upper else ndtri(q))

    def _rvs(self, count: int, generator: np.random.Generator) -> np.ndarray:
        chosen = generator.integers(self.components.mean.size, size=count)
        normal = generator.standard_normal(count)
        return self.components.mean[chosen] + self.components.deviation[chosen] * normal

    def support(self) -> tuple[float, float]:
        if self.components.spread.any():
            return -math.inf, math.inf
        return float(self.means.min()), float(self.means.max())

    def _shown(self) -> dict[str, Estimate]:
        shown = super()._shown()
        if self.exact or float(shown["variance"].value) == 0:
            return shown
        return shown | {"excess kurtosis": self.kurtosis()}
