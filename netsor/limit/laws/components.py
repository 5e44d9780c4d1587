"""Averages over the components of a Gaussian mixture, replicate by replicate, in bounded memory."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import log_ndtr, ndtr

BLOCK = 2**17  # numbers held at a time: they stay in the cache
ROOT_TWO_PI = np.sqrt(2 * np.pi)


class Components:
    """Gaussian components of equal weight; mean and variance have shape (R, M).

    Those of variance 0 are left out of every average (they keep their weight, so averages sum to ``weight``);
    they are the atoms of the mixture.
    """

    def __init__(self, mean: np.ndarray, variance: np.ndarray):
        self.shape = variance.shape
        self.mean, self.deviation = mean.ravel(), np.sqrt(variance.ravel())
        self.spread = self.deviation > 0
        self.all_spread = bool(self.spread.all())
        with np.errstate(divide="ignore"):
            self.inverse = np.where(self.spread, 1 / self.deviation, 0.0)
        self.centred = not self.mean.any()

    # --- the averages: x of shape (points,) -> (R, points) ------------------------------------------------------------

    def density(self, x: np.ndarray) -> np.ndarray:
        """Average of phi((x - m)/s)/s."""
        return self._average(x, lambda z, _: _gauss(z) * self.inverse)

    def density_slope(self, x: np.ndarray) -> np.ndarray:
        """Average of |d density / d log V| = |z^2 - 1| phi(z) / (2s)."""
        return self._average(x, lambda z, _: 0.5 * np.abs(z * z - 1) * _gauss(z) * self.inverse)

    def tail(self, x: np.ndarray, upper: np.ndarray | bool) -> np.ndarray:
        """Average of P(X > x) where ``upper`` (one for each point, or one for all), of P(X <= x) elsewhere."""
        return self._average(x, lambda z, sign: ndtr(np.multiply(z, sign, out=z), out=z), upper)

    def tail_slope(self, x: np.ndarray) -> np.ndarray:
        """Average of |d P(X <= x) / d log V| = |z| phi(z) / 2."""
        return self._average(x, lambda z, _: 0.5 * np.abs(z) * _gauss(z))

    def log_density(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The density as exp(shift) times averages of order one, so that the far tail does not underflow."""
        with np.errstate(divide="ignore"):
            constant = np.where(self.spread, np.log(self.inverse / ROOT_TWO_PI), -np.inf)
        return self._log_average(x, lambda z, _: constant - 0.5 * z * z)

    def log_tail(self, x: np.ndarray, upper: bool) -> tuple[np.ndarray, np.ndarray]:
        """The tail as exp(shift) times averages of order one."""
        return self._log_average(x, lambda z, sign: log_ndtr(z * sign), upper)

    def extremes(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The smallest and largest m + s z over all components, atoms included."""
        if self.centred:
            ends = np.stack([self.deviation.min() * z, self.deviation.max() * z])
            return ends.min(axis=0), ends.max(axis=0)
        low, high = np.empty_like(z), np.empty_like(z)
        for part in self._parts(len(z)):
            places = self.mean + self.deviation * z[part, None]
            low[part], high[part] = places.min(axis=1), places.max(axis=1)
        return low, high

    # --- blocks ------------------------------------------------------------------------------------------------------

    def _parts(self, points: int):
        step = max(1, BLOCK // self.mean.size)
        return (slice(start, start + step) for start in range(0, points, step))

    def _standardised(self, x: np.ndarray) -> np.ndarray:
        if self.centred:
            return np.multiply.outer(x, self.inverse) if self.all_spread else self._masked(x[:, None] + self.mean)
        return self._masked(np.subtract.outer(x, self.mean))

    def _masked(self, distance: np.ndarray) -> np.ndarray:
        if not self.all_spread:
            distance[:, ~self.spread] = 0.0  # not inf * 0
        distance *= self.inverse
        return distance

    def _average(self, x: np.ndarray, term: Callable, upper: np.ndarray | bool = False) -> np.ndarray:
        sign = np.broadcast_to(np.where(upper, -1.0, 1.0), x.shape)
        result = np.empty((self.shape[0], len(x)))
        for part in self._parts(len(x)):
            values = term(self._standardised(x[part]), sign[part, None])
            if not self.all_spread:
                values *= self.spread
            result[:, part] = values.reshape(-1, *self.shape).mean(axis=2).T
        return result

    def _log_average(self, x: np.ndarray, term: Callable, upper: bool = False) -> tuple[np.ndarray, np.ndarray]:
        shift, result = np.empty(len(x)), np.empty((self.shape[0], len(x)))
        for part in self._parts(len(x)):
            logs = term(self._standardised(x[part]), -1.0 if upper else 1.0)
            logs[:, ~self.spread] = -np.inf
            largest = logs.max(axis=1)
            largest[np.isneginf(largest)] = 0.0
            shift[part] = largest
            logs -= largest[:, None]
            result[:, part] = np.exp(logs, out=logs).reshape(-1, *self.shape).mean(axis=2).T
        return shift, result


def _gauss(z: np.ndarray) -> np.ndarray:
    result = np.multiply(z, z)
    result *= -0.5
    np.exp(result, out=result)
    result *= 1 / ROOT_TWO_PI
    return result
