"""A function on a range of Gaussian laws: the nodes from which it is interpolated in mean and log variance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from netsor.expectation.chebyshev import basis, lobatto, to_coefficients
from netsor.expectation.functions import UnaryFunction


@dataclass(frozen=True)
class Interval:
    """An interval with Chebyshev nodes; a single point has one node."""

    low: float
    high: float
    nodes: int

    def points(self) -> np.ndarray:
        return 0.5 * (self.low + self.high) + 0.5 * (self.high - self.low) * lobatto(self.nodes)

    def basis(self, x: np.ndarray) -> np.ndarray:
        if self.nodes == 1:
            return np.ones((len(x), 1))
        return basis((2.0 * x - self.low - self.high) / (self.high - self.low), self.nodes)

    def inside(self) -> np.ndarray:
        """Points that are not nodes, for checks; the ends of the interval are nodes."""
        fractions = np.array([0.5]) if self.nodes == 1 else np.array([0.037, 0.431, 0.912])
        return self.low + (self.high - self.low) * fractions


@dataclass(frozen=True)
class Family:
    """x -> f(mean + exp(log_variance / 2) x) at the nodes of two intervals, followed by check points."""

    function: UnaryFunction
    means: Interval
    log_variances: Interval

    @staticmethod
    def single(function: UnaryFunction, mean: float, variance: float) -> Family:
        """One law."""
        log_variance = float(np.log(variance))
        return Family(function, Interval(mean, mean, 1), Interval(log_variance, log_variance, 1))

    @property
    def size(self) -> int:
        return self.means.nodes * self.log_variances.nodes

    @property
    def parity(self) -> int:
        """The parity of every member: that of the function if all laws are centred."""
        return self.function.parity if self.means.low == self.means.high == 0.0 else 0

    def laws(self) -> np.ndarray:
        """Means and deviations of the nodes, then of the check points: shape (size + checks, 2)."""
        node = np.meshgrid(self.means.points(), self.log_variances.points(), indexing="ij")
        mean_check, log_check = self.means.inside(), self.log_variances.inside()
        count = max(len(mean_check), len(log_check))
        check = np.resize(mean_check, count), np.resize(log_check, count)
        mean = np.concatenate([node[0].ravel(), check[0]])
        return np.stack([mean, np.exp(0.5 * np.concatenate([node[1].ravel(), check[1]]))], axis=1)

    def values(self, x: np.ndarray) -> np.ndarray:
        """f under every law, shape (size + checks, *x.shape)."""
        mean, deviation = self.laws().T.reshape(2, -1, *(1,) * x.ndim)
        return self.function(mean + deviation * x)

    def kinks(self) -> np.ndarray:
        """The kinks of all members, in standard coordinates."""
        mean, deviation = self.laws().T
        kinks = (np.array(self.function.kinks, dtype=float)[:, None] - mean) / deviation
        return np.unique(kinks)

    def hints(self) -> np.ndarray:
        """Breaks for the member of largest deviation; the layers of the others are wider."""
        mean, deviation = self.laws().T
        return self.function.breaks(0.5 * (mean.min() + mean.max()), deviation.max())[0]

    def basis(self, mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
        """The interpolation basis at given laws, shape (laws, size)."""
        one, two = self.means.basis(mean), self.log_variances.basis(np.log(variance))
        return (one[:, :, None] * two[:, None, :]).reshape(len(mean), -1)

    def transform(self) -> np.ndarray:
        """From values at the nodes to coefficients of the basis."""
        return np.kron(to_coefficients(self.means.nodes), to_coefficients(self.log_variances.nodes))

    def tails(self, coefficients: np.ndarray) -> tuple[float, float]:
        """The largest of the last two coefficients in each direction; first axis of ``coefficients`` is the basis."""
        grid = np.abs(coefficients).reshape(self.means.nodes, self.log_variances.nodes, -1)
        mean_tail = grid[-2:].max() if self.means.nodes > 2 else 0.0
        log_tail = grid[:, -2:].max() if self.log_variances.nodes > 2 else 0.0
        return float(mean_tail), float(log_tail)
