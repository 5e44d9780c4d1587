"""What is measured of one output at every width: means of known functions about the limit, and a distribution function.

The functions are fixed by the limit before anything is drawn; c = x - (the limit's mean):

    mean              E c
    variance          E c^2
    excess kurtosis   E c^4/(E c^2)^2 - 3
    covariance        E c_i c_j
    cf                E cos(tc), E sin(tc) at t = 1/sd and 2/sd
    mass              P(x = a) for the atoms a of the law
    squares           E c^2 c'^2 for two coordinates of one vector: independent only given the scores

The averages of variances (in units of the limit's), kurtoses and cf over all elements are statistics too: where elements
are alike, they see what no single element shows.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from netsor.compare import not_finite
from netsor.compare.distribution import DistributionTable
from netsor.compare.measured import Measured, excess_kurtosis_of, mean_of, with_average

FREQUENCIES = (1, 2)
PAIR_BLOCK = 64
DISTRIBUTION = "distribution"


@dataclass(frozen=True)
class Places:
    """Where a statistic is taken: names for a reader and the size of one unit of it (for rounding)."""

    labels: list[str]
    scale: np.ndarray


@dataclass(frozen=True)
class Measurement:
    """One output at one width: ``numbers[statistic]``, for each table P(X <= edge) with the number of draws, and how many runs are
    not finite."""

    numbers: dict[str, Measured]
    below: dict[int, tuple[np.ndarray, int]]
    not_finite: int = 0


@dataclass(frozen=True)
class Probe:
    """The statistics of one output.  ``elements`` are flat positions in the output; ``pairs``, ``random`` and the keys
    of ``tables`` are positions in ``elements``; ``random`` are those whose limit is no constant."""

    name: str
    elements: np.ndarray
    centre: np.ndarray
    deviation: np.ndarray
    random: np.ndarray
    pairs: np.ndarray
    atoms: list[tuple[int, float]]
    tables: dict[int, DistributionTable]
    with_squares: bool
    statistics: dict[str, Places]
    notes: list[str] = field(default_factory=list)

    def measure(self, draws: np.ndarray) -> Measurement:
        """``draws`` of the chosen elements: (runs, elements, coordinates), one coordinate for scalars."""
        c = draws - self.centre[:, None]
        square = np.mean(c * c, axis=-1)
        numbers = {"mean": mean_of(c.mean(axis=-1))}
        if len(self.random):
            own, deviation = c[:, self.random], self.deviation[self.random]
            average = with_average(square[:, self.random] / deviation**2)[:, len(self.random):]
            square = np.concatenate([square, average], axis=1)
            numbers["excess kurtosis"] = excess_kurtosis_of(own, average=True)
            for multiple in FREQUENCIES:
                phase = own * (multiple / deviation)[:, None]
                numbers[cf_name("real", multiple)] = mean_of(with_average(np.cos(phase).mean(axis=-1)))
                numbers[cf_name("imaginary", multiple)] = mean_of(with_average(np.sin(phase).mean(axis=-1)))
        numbers["variance"] = mean_of(square)
        if len(self.pairs):
            numbers["covariance"] = self._covariances(c)
        if self.atoms:
            at = [np.abs(draws[:, k] - a) <= 1e-12 * abs(a) for k, a in self.atoms]
            numbers["mass"] = mean_of(np.stack([hit.mean(axis=-1) for hit in at], axis=1))
        if self.with_squares:
            square, count = np.square(c[:, self.random]), c.shape[-1]
            both = square.sum(axis=-1) ** 2 - np.sum(square**2, axis=-1)
            numbers["squares"] = mean_of(both / (count * (count - 1)))
        # one coordinate of each run: several are dependent, and the distance knows independent draws only
        below = {k: table.below(draws[:, k, 0]) for k, table in self.tables.items()}
        return Measurement(numbers, below, not_finite.count(draws))

    def _covariances(self, c: np.ndarray) -> Measured:
        parts = []
        for start in range(0, len(self.pairs), PAIR_BLOCK):
            i, j = self.pairs[start : start + PAIR_BLOCK].T
            parts.append(mean_of(np.mean(c[:, i] * c[:, j], axis=-1)))
        joined = (np.concatenate([getattr(part, name) for part in parts]) for name in ("value", "stderr", "third"))
        return Measured(*joined, runs=len(c))


def cf_name(part: str, multiple: int) -> str:
    """ "cf real 2/sd" """
    return f"cf {part} {multiple}/sd"
