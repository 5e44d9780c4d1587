"""Laws known through replicate averages: errors and quantiles, the same way for all of them."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from netsor.expectation.estimate import Estimate
from netsor.limit.laws.base import Law, Values
from netsor.limit.laws.inversion import find_quantiles
from netsor.limit.laws.point_masses import PointMasses
from netsor.limit.laws.replicates import standard_error


class ReplicatedLaw(Law):
    """A law whose density and tails are averages over samples (R, M), with a discrete part ``points``."""

    points: PointMasses
    relative_error: float

    # --- what a law supplies: x (points,) -> (R, points) --------------------------------------------------------------

    @abstractmethod
    def _density_replicates(self, x: np.ndarray) -> np.ndarray:
        """The density of the continuous part."""

    @abstractmethod
    def _tail_replicates(self, x: np.ndarray, upper: bool) -> np.ndarray:
        """P(X > x) or P(X <= x)."""

    @abstractmethod
    def _density_slope(self, x: np.ndarray) -> np.ndarray:
        """A bound for the change of the density per relative change of the variances: (points,)."""

    @abstractmethod
    def _tail_slope(self, x: np.ndarray) -> np.ndarray:
        """A bound for the change of the tails per relative change of the variances: (points,)."""

    @abstractmethod
    def _bracket(self, q: np.ndarray, upper: bool) -> tuple[np.ndarray, np.ndarray]:
        """Points on both sides of the quantiles."""

    # --- what follows ------------------------------------------------------------------------------------------------

    def atoms(self) -> list[tuple[float, Estimate]]:
        return self.points.atoms(self.method)

    def _error(self, replicates: np.ndarray, slope) -> np.ndarray:
        """One standard error, plus the bound for the error of the variances; ``slope()`` is asked only if needed."""
        error = standard_error(replicates)
        return error + self.relative_error * slope() if self.relative_error else error

    def _pdf(self, x: np.ndarray) -> Values:
        replicates = self._density_replicates(x)
        value = replicates.mean(axis=0)
        with np.errstate(invalid="ignore"):
            error = self._error(replicates, lambda: self._density_slope(x))
        return value, np.where(np.isinf(value), 0.0, error)

    def _tail(self, x: np.ndarray, upper: bool) -> Values:
        replicates = self._tail_replicates(x, upper)
        return replicates.mean(axis=0), self._error(replicates, lambda: self._tail_slope(x))

    def _quantile(self, q: np.ndarray, upper: bool) -> Values:
        """Errors by the delta method, error of the probability over the density; at atoms see ``_error_at_atoms``."""
        flip = q > 0.5  # the other tail is the small one; 1 - q is exact here
        value, error = np.empty_like(q), np.empty_like(q)
        for chosen, side, level in ((~flip, upper, q[~flip]), (flip, not upper, 1 - q[flip])):
            if not len(level):
                continue
            place, at_atom = self._solve(level, side)
            deviation = np.zeros_like(place)
            smooth = ~at_atom
            if smooth.any():
                _, probability_error = self._tail(place[smooth], side)
                density = self._density_replicates(place[smooth]).mean(axis=0)
                with np.errstate(divide="ignore", invalid="ignore"):
                    deviation[smooth] = np.where(probability_error > 0, probability_error / density, 0.0)
            if at_atom.any():
                deviation[at_atom] = self._error_at_atoms(level[at_atom], side, place[at_atom])
            value[chosen], error[chosen] = place, deviation
        return value, error

    def _solve(self, q: np.ndarray, upper: bool) -> tuple[np.ndarray, np.ndarray]:
        """Quantiles for q <= 1/2 of the tail, and whether they are atoms."""
        low, high = self._bracket(q, upper)
        at_atom = np.zeros(q.shape, dtype=bool)
        place = np.empty_like(q)
        if len(self.points):
            places, masses = self.points.places, self.points.masses.mean(axis=0)
            after = self._tail_replicates(places, upper).mean(axis=0)
            # the tail jumps at an atom from ``before`` to ``after``, upwards for the lower tail
            before = after + masses if upper else after - masses
            k = np.searchsorted(-after if upper else after, -q if upper else q)  # first place past the quantile's level
            inside = k < len(places)
            j = np.minimum(k, len(places) - 1)
            at_atom = inside & ((q < before[j]) if upper else (q > before[j]))
            place[at_atom] = places[j[at_atom]]
            high = np.where(inside, np.minimum(high, places[j]), high)
            low = np.where(k > 0, np.maximum(low, places[np.maximum(k - 1, 0)]), low)
            low = np.minimum(low, high)
        free = ~at_atom
        if free.any():
            def tail(x: np.ndarray) -> np.ndarray:
                return self._tail_replicates(x, upper).mean(axis=0)

            place[free] = find_quantiles(tail, q[free], upper, low[free], high[free])
        return place, at_atom

    def _error_at_atoms(self, q: np.ndarray, upper: bool, place: np.ndarray) -> np.ndarray:
        """How far the quantile moves when its level moves by one error of the probability (Woodruff's interval)."""
        jump = self.points.masses[:, np.searchsorted(self.points.places, place)]
        right = self._tail_replicates(place, upper)
        left = right + jump if upper else right - jump  # the tail just before the atom
        more, less = (standard_error(side) for side in ((left, right) if upper else (right, left)))
        certain = self.relative_error * self._tail_slope(place) if self.relative_error else 0.0
        moved = np.zeros_like(place)
        for level in (q - less - certain, q + more + certain):
            inner = (level > 0) & (level < 1)
            shifted = np.full(q.shape, np.inf)
            if inner.any():
                shifted[inner] = self._solve(level[inner], upper)[0]
            moved = np.maximum(moved, np.abs(shifted - place))
        return moved
