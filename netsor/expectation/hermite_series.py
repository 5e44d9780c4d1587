"""E f(U) g(V) = sum_m rho^m a_m b_m at moderate correlations, whatever the kinks: Mehler's expansion with coefficients from panels.

The powers of rho end the series, not the smoothness of the functions; a cell costs a sum, and a law one set of integrals.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from netsor.expectation.functions import UnaryFunction
from netsor.expectation.hermite import hermite_tables
from netsor.expectation.pair_cells import Cells
from netsor.expectation.panels import MOST_PANELS, NODES, composite, resolve
from netsor.expectation.threads import halt_point

MODERATE = 0.97
"""The largest |rho|: some 1,300 terms."""
_DROPPED = 1e-17
_PHASE = 4.0  # of the polynomial of highest order, over a panel: what the nodes integrate besides the function
_CHUNK = 2**20


@dataclass(frozen=True)
class Coefficients:
    """E f(X) He_m(X) / sqrt(m!), m < orders, by two rules on the same panels, and E |f(X)| e^{X^2/4}, to which they round."""

    fine: np.ndarray
    coarse: np.ndarray
    size: float


def hermite_series(f: UnaryFunction, g: UnaryFunction, cells: Cells) -> tuple[np.ndarray, np.ndarray]:
    """Values and errors for cells of |rho| <= MODERATE; NaN where a function needs too many panels.

    Mehler 1866; the part dropped is below |rho|^orders times the size of the last terms."""
    rho, _ = cells.correlation()
    largest = float(np.abs(rho).max(initial=0.5))
    orders = math.ceil(math.log(_DROPPED) / math.log(largest))
    value, error = np.empty(len(cells)), np.empty(len(cells))
    step = max(1, _CHUNK // orders)
    for start in range(0, len(cells), step):  # each with its own coefficients, so that memory is bounded
        part = slice(start, start + step)
        laws: dict = {}
        at_first = _laws(f, cells.mean_f[part], cells.var_f[part], orders, laws)
        at_second = _laws(g, cells.mean_g[part], cells.var_g[part], orders, laws)
        value[part], error[part] = _sums(rho[part, None] ** np.arange(orders), list(laws.values()), at_first, at_second)
    return value, error


def _laws(f: UnaryFunction, mean: np.ndarray, variance: np.ndarray, orders: int, known: dict) -> np.ndarray:
    """Where the law of every cell is among the known ones, which those that are new join with their coefficients."""
    distinct, back = np.unique(np.stack([mean, variance], axis=1), axis=0, return_inverse=True)
    keys = [(f.key, *law) for law in distinct]
    for key in keys:
        if key not in known:
            known[key] = coefficients(f, *key[1:], orders)
    place = {key: number for number, key in enumerate(known)}
    return np.array([place[key] for key in keys])[back.ravel()]


def coefficients(f: UnaryFunction, mean: float, variance: float, orders: int) -> Coefficients:
    """Those of x -> f(mean + sqrt(variance) x)."""
    halt_point()
    deviation = math.sqrt(variance)
    standard = lambda x: f(mean + deviation * x)  # noqa: E731
    breaks = resolve(lambda x: standard(x)[None], f.breaks(mean, deviation)[0])
    if len(breaks) >= MOST_PANELS:
        return Coefficients(*np.full((2, orders), np.nan), np.nan)
    breaks = _split(breaks, _PHASE / math.sqrt(orders))
    fine, size = _projected(standard, breaks, orders, NODES)
    coarse, _ = _projected(standard, breaks, orders, NODES - 4)
    return Coefficients(fine, coarse, size)


def _split(breaks: np.ndarray, widest: float) -> np.ndarray:
    """Panels no wider than that."""
    counts = np.ceil(np.diff(breaks) / widest).astype(int)
    position = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.append(np.repeat(breaks[:-1], counts) + position * np.repeat(np.diff(breaks) / counts, counts), breaks[-1])


def _projected(function, breaks: np.ndarray, orders: int, nodes: int) -> tuple[np.ndarray, float]:
    x, weights = composite(breaks, nodes)
    found = np.empty(orders)
    with np.errstate(all="ignore"):  # what overflows is no number, and left to panels in the plane
        weighted = function(x) * weights * np.exp(-0.25 * x * x) / math.sqrt(2 * math.pi)
        for start, table in hermite_tables(x, orders):
            found[start:start + len(table)] = table @ weighted
        return found, float(np.abs(weighted).sum())


def _sums(powers: np.ndarray, laws: list[Coefficients], at_first: np.ndarray, at_second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Values and errors of cells, given the powers of their correlations and the places of their two laws."""
    fine, rough = np.array([law.fine for law in laws]), np.array([law.coarse for law in laws])
    size = np.array([law.size for law in laws])
    a, b = fine[at_first], fine[at_second]
    value = np.einsum("cm,cm,cm->c", powers, a, b)
    coarse = np.einsum("cm,cm,cm->c", powers, rough[at_first], rough[at_second])
    decay = np.abs(powers)
    rounding = size[at_first] * np.einsum("cm,cm->c", decay, np.abs(b)) + size[at_second] * np.einsum("cm,cm->c", decay, np.abs(a))
    last = np.abs(a[:, -32:]).max(axis=1) * np.abs(b[:, -32:]).max(axis=1) * decay[:, -1]
    tail = last / (1.0 - decay[:, 1])
    return value, np.abs(value - coarse) + 4 * np.finfo(float).eps * rounding + tail
