"""The degenerate law."""

from __future__ import annotations


import numpy as np

from netsor.expectation.estimate import Estimate, with_error
from netsor.limit.laws.base import Law, LawError, Values


class Constant(Law):
    """X = value, a scalar :class:`Estimate` or a number.  Its error is passed on, not taken for randomness of X."""

    kind = "constant"

    def __init__(self, value: Estimate | float):
        estimate = value if isinstance(value, Estimate) else Estimate(float(value), 0.0, "exact")
        if estimate.shape or not np.isfinite(estimate.value) or not estimate.error >= 0:
            raise ValueError(f"a constant law needs one finite number, not {estimate}")
        self.place, self.uncertainty = float(estimate.value), float(estimate.error)
        self.method = estimate.method

    def mean(self) -> Estimate:
        return Estimate(self.place, self.uncertainty, self.method)

    def var(self) -> Estimate:
        """Exactly 0."""
        return Estimate(0.0, 0.0, "exact")

    def kurtosis(self) -> Estimate:
        """LawError: not defined."""
        raise LawError("the law is a constant: its kurtosis is not defined")

    def atoms(self) -> list[tuple[float, Estimate]]:
        return [(self.place, Estimate(1.0, 0.0, "exact"))]

    def support(self) -> tuple[float, float]:
        return self.place, self.place

    def _moment(self, order: int) -> Values:
        return np.float64(self.place) ** order, order * abs(np.float64(self.place)) ** (order - 1) * self.uncertainty

    def _pdf(self, x: np.ndarray) -> Values:
        raise LawError(f"there is no density: the law is the constant {with_error(self.place, self.uncertainty)}")

    def _tail(self, x: np.ndarray, upper: bool) -> Values:
        """0 or 1; the error is 1 where the error of the value leaves open which."""
        open_question = (np.abs(x - self.place) <= self.uncertainty) & (self.uncertainty > 0)
        return np.where((x >= self.place) ^ upper, 1.0, 0.0), np.where(open_question, 1.0, 0.0)

    def _quantile(self, q: np.ndarray, upper: bool) -> Values:
        return np.full(q.shape, self.place), np.full(q.shape, self.uncertainty)

    def _cf(self, t: np.ndarray) -> Values:
        return np.exp(1j * t * self.place), np.minimum(np.abs(t) * self.uncertainty, 2.0)

    def _rvs(self, count: int, generator: np.random.Generator) -> np.ndarray:
        return np.full(count, self.place)
