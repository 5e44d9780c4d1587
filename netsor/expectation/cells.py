"""E f(Z) where the parameters of f differ from cell to cell."""

from __future__ import annotations

import numpy as np

from netsor.expectation.adaptive import adaptive_expectation
from netsor.expectation.estimate import Estimate
from netsor.expectation.functions import CellFunction
from netsor.expectation.panels import BASE, NODES, composite
from netsor.expectation.threads import halt_point

# A cell whose two rules differ by more than this, relative to E|f|, is integrated again by itself.
ACCEPTED = 1e-12
_CHUNK = 2**21


def expect_cells(f: CellFunction, mean: np.ndarray, variance: np.ndarray) -> Estimate:
    """Cells share the layout of the panels, split at each cell's own kinks; hard ones are done adaptively."""
    count = len(mean)
    kinks = np.broadcast_to(np.asarray(f.kinks, dtype=float).reshape(len(f.kinks), -1), (count, np.shape(f.kinks)[-1]))
    value, error = np.empty(count), np.empty(count)
    panels = len(BASE) - 1 + kinks.shape[1]
    step = max(1, _CHUNK // (panels * NODES))
    redone = 0
    for start in range(0, count, step):
        halt_point()
        chunk = slice(start, min(start + step, count))
        deviation = np.sqrt(variance[chunk])
        with np.errstate(all="ignore"):
            standard = np.where(deviation[:, None] > 0, (kinks[chunk] - mean[chunk, None]) / deviation[:, None], 0.0)
        value[chunk], error[chunk], size = _shared_panels(f, chunk, mean[chunk], deviation, standard)
        for offset in np.flatnonzero(~(error[chunk] <= ACCEPTED * size) & (deviation > 0)):
            cell = start + offset
            value[cell], error[cell] = _alone(f, cell, mean[cell], deviation[offset], standard[offset])
            redone += 1
    note = f", {redone} cells adaptively" if redone else ""
    split = ", split at kinks" if kinks.shape[1] else ""
    return Estimate(value, error, f"quadrature ({panels * NODES} nodes{split}{note})")


def _shared_panels(f, chunk, mean, deviation, kinks):
    edges = np.sort(
        np.concatenate([np.broadcast_to(BASE, (len(mean), len(BASE))), np.clip(kinks, BASE[0], BASE[-1])], axis=1)
    )
    sums = []
    for nodes in (NODES, NODES - 5):
        x, weights = composite(edges, nodes)
        weights = weights * np.exp(-0.5 * x * x) / np.sqrt(2 * np.pi)
        values = f.at(chunk, mean[:, None] + deviation[:, None] * x)
        sums.append(np.sum(values * weights, axis=1))
        if nodes == NODES:
            size = np.sum(np.abs(values) * weights, axis=1)
    return sums[0], np.abs(sums[0] - sums[1]) + 4 * np.finfo(float).eps * size, size


def _alone(f, cell, mean, deviation, kinks):
    def integrand(_, x):
        return f.at(slice(cell, cell + 1), (mean + deviation * x).reshape(1, -1)).reshape(x.shape)

    value, error, _ = adaptive_expectation(integrand, kinks[None, :])
    return value[0], error[0]
