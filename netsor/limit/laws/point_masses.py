"""The discrete part of a law."""

from __future__ import annotations

import numpy as np

from netsor.expectation.estimate import Estimate
from netsor.limit.laws.replicates import standard_error


class PointMasses:
    """``places`` (A,), increasing, with the mass that each replicate gives them, ``masses`` (R, A)."""

    def __init__(self, places: np.ndarray, masses: np.ndarray):
        """Equal places are merged; places without mass are dropped."""
        self.places, back = np.unique(places, return_inverse=True)
        self.masses = np.zeros((len(masses), len(self.places)))
        np.add.at(self.masses, (slice(None), back.ravel()), masses)
        heavy = self.masses.any(axis=0)
        self.places, self.masses = self.places[heavy], self.masses[:, heavy]
        self._below = np.concatenate([np.zeros((len(masses), 1)), np.cumsum(self.masses, axis=1)], axis=1)
        above = np.cumsum(self.masses[:, ::-1], axis=1)[:, ::-1]
        self._above = np.concatenate([above, np.zeros((len(masses), 1))], axis=1)

    @staticmethod
    def of_samples(values: np.ndarray, where: np.ndarray) -> PointMasses:
        """Each of the samples ``values`` (R, M) with where = True is a point of mass 1/M in its replicate."""
        replicates, samples = values.shape
        row, _ = np.nonzero(where)
        places, back = np.unique(values[where], return_inverse=True)
        masses = np.zeros((replicates, len(places)))
        np.add.at(masses, (row, back.ravel()), 1.0 / samples)
        return PointMasses(places, masses)

    def __len__(self) -> int:
        return len(self.places)

    def tail(self, x: np.ndarray, upper: bool) -> np.ndarray:
        """The mass in (x, inf) if upper, else in (-inf, x]: shape (R, points)."""
        position = np.searchsorted(self.places, x, side="right")
        return (self._above if upper else self._below)[:, position]

    def at(self, x: np.ndarray) -> np.ndarray:
        """Which of the points x are atoms."""
        return np.isin(x, self.places)

    def atoms(self, method: str) -> list[tuple[float, Estimate]]:
        """Places and masses."""
        value, error = self.masses.mean(axis=0), standard_error(self.masses)
        return [(float(p), Estimate(v, e, method)) for p, v, e in zip(self.places, value, error)]
