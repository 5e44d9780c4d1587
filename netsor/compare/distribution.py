"""Distribution functions on a grid: the limit's, tabulated to a known error, and those of draws.

A law averages the conditional distribution functions of its samples, which is exact but slow; here it is asked at as few
points as linear interpolation needs.  Atoms are taken out: what is compared is the law given that X is at none of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from netsor.limit.laws import Law

EDGES = 4096
MAX_NODES = 4096
MAX_ATOMS = 16
REACH = 8.0
ERRORS = 3.0
"""Standard errors of the limit's distribution function by which distances to it are reduced."""


class NotContinuous(ValueError):
    """There is no continuous part to compare; the message says why."""


@dataclass(frozen=True)
class DistributionTable:
    """P(X <= x | X at no atom) at increasing ``edges``.

    ``error`` bounds what interpolation and ERRORS standard errors of the limit add to a distance; ``samples`` is the
    number of samples where the law itself is an empirical one (inf otherwise); ``gap`` is the largest probability
    between two edges, which a supremum over edges can miss."""

    edges: np.ndarray
    values: np.ndarray
    error: float
    atoms: np.ndarray
    law: Law
    samples: float = np.inf

    @property
    def gap(self) -> float:
        return float(np.max(np.diff(self.values, prepend=0.0, append=1.0)))

    def continuous_part(self, draws: np.ndarray) -> np.ndarray:
        """The draws (runs,) that are at no atom."""
        if not len(self.atoms):
            return draws
        tolerance = 1e-12 * np.maximum(np.abs(self.atoms), np.finfo(float).tiny)
        return draws[~np.any(np.abs(draws[:, None] - self.atoms) <= tolerance, axis=1)]

    def below(self, draws: np.ndarray) -> tuple[np.ndarray, int]:
        """The share of the continuous part of the draws that is <= each edge, and how many draws that part has.
        Where a draw is no number, no share is."""
        inside = np.sort(self.continuous_part(draws))
        if np.isnan(inside[-1:]).any():  # sorted last
            return np.full(len(self.edges), np.nan), len(inside)
        return np.searchsorted(inside, self.edges, side="right") / max(len(inside), 1), len(inside)


def tabulate(law: Law, tolerance: float, edges: int = EDGES) -> DistributionTable:
    """The table of a law whose interpolation is off by at most about ``tolerance`` (the error says by how much).

    :raises NotContinuous: for constants, laws that consist of atoms, and laws with too many of them."""
    from netsor.limit.laws import Empirical

    deviation = float(law.std().value)
    if not deviation > 0:
        raise NotContinuous("the limit is a constant")
    if isinstance(law, Empirical):
        return _of_samples(law, edges)
    places, masses = _atoms(law)
    rest = 1.0 - masses.sum()
    if rest <= 1e-3:
        raise NotContinuous("the law consists of atoms")

    def continuous(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        estimate = law.cdf(x)
        steps = (x[:, None] >= places) @ masses if len(places) else 0.0
        return np.clip((estimate.value - steps) / rest, 0.0, 1.0), estimate.error / rest

    left, right = law.support()
    centre = float(law.mean().value)
    nodes = np.unique(np.concatenate([
        np.clip(centre + deviation * np.linspace(-REACH, REACH, 65), left, right), places]))
    if len(nodes) < 2:
        raise NotContinuous("the support of the law is a point")
    values, errors = continuous(nodes)
    nodes, values, off, noise = _refined(continuous, nodes, values, errors.max(initial=0.0), tolerance)
    levels = np.arange(1, edges) / edges
    rising = np.concatenate([[True], np.diff(values) > 0])
    at = np.unique(np.interp(levels, values[rising], nodes[rising]))
    return DistributionTable(at, np.interp(at, nodes, values), off + ERRORS * noise, places, law)


def _refined(function, nodes, values, noise, tolerance):
    """Nodes, values, the largest misfit of linear interpolation in the middle of an interval, and the largest standard
    error.  Every middle becomes a node, which leaves a quarter of its misfit where the function is smooth; where the
    misfit was too large the halves are tried again."""
    candidates, off = np.arange(len(nodes) - 1), 0.0
    while True:
        middle = 0.5 * (nodes[candidates] + nodes[candidates + 1])
        exact, errors = function(middle)
        misfit = np.abs(0.5 * (values[candidates] + values[candidates + 1]) - exact)
        noise = max(noise, float(errors.max(initial=0.0)))
        bad = misfit > tolerance
        off = max(off, float(misfit[~bad].max(initial=0.0)))
        places = np.concatenate([nodes, middle])
        order = np.argsort(places, kind="stable")
        is_bad = np.concatenate([np.zeros(len(nodes), dtype=bool), bad])[order]
        nodes, values = places[order], np.maximum.accumulate(np.concatenate([values, exact])[order])
        if not bad.any():
            return nodes, values, off, noise
        if len(nodes) > MAX_NODES:
            return nodes, values, max(off, float(misfit.max())), noise
        parts = np.flatnonzero(is_bad)
        candidates = np.unique(np.concatenate([parts - 1, parts]))


def _of_samples(law, edges: int) -> DistributionTable:
    """The empirical distribution function of a law that is known through samples: its error is that of a second sample."""
    pooled = np.sort(law.values.ravel())
    at = np.unique(pooled[np.arange(1, edges) * len(pooled) // edges])
    if len(at) < min(edges, len(pooled)) // 2:
        raise NotContinuous("the law is known through samples, and many of them are equal")
    return DistributionTable(at, np.searchsorted(pooled, at, side="right") / len(pooled), 0.0, np.empty(0), law, len(pooled))


def _atoms(law: Law) -> tuple[np.ndarray, np.ndarray]:
    atoms = law.atoms()
    if len(atoms) > MAX_ATOMS:
        raise NotContinuous(f"the law has {len(atoms)} atoms")
    return np.array([place for place, _ in atoms]), np.array([float(mass.value) for _, mass in atoms])
