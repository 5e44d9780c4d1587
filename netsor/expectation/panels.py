"""Composite Gauss-Legendre rules on panels that resolve a function."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

# Where a standard normal variable lives: its density underflows beyond 38.6.
BASE = np.array([-38.0, -26.0, -18.0, -13.0, -9.0, -6.0, -4.0, -2.0, 0.0, 2.0, 4.0, 6.0, 9.0, 13.0, 18.0, 26.0, 38.0])
NODES = 16
# A function that needs more panels than this is integrated as it is, with the error that the coarser rule shows.
MOST_PANELS = 2000


@lru_cache
def gauss_legendre(nodes: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights on [-1, 1]."""
    return np.polynomial.legendre.leggauss(nodes)


@lru_cache
def _legendre_tail(nodes: int, kept: int = 3) -> np.ndarray:
    """The matrix from values at the nodes to the last ``kept`` Legendre coefficients."""
    x, w = gauss_legendre(nodes)
    vander = np.polynomial.legendre.legvander(x, nodes - 1)
    return ((vander * w[:, None]).T * (np.arange(nodes)[:, None] + 0.5))[-kept:]


def composite(breaks: np.ndarray, nodes: int = NODES) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights of the composite rule between sorted breaks (..., P + 1): both (..., P * nodes)."""
    x, w = gauss_legendre(nodes)
    middle, half = 0.5 * (breaks[..., 1:] + breaks[..., :-1]), 0.5 * np.diff(breaks, axis=-1)
    points = middle[..., None] + half[..., None] * x
    weights = half[..., None] * w
    return points.reshape(*breaks.shape[:-1], -1), weights.reshape(*breaks.shape[:-1], -1)


def resolve(
    function: Callable[[np.ndarray], np.ndarray],
    kinks: np.ndarray,
    tolerance: float = 1e-14,
    max_depth: int = 48,
) -> np.ndarray:
    """Breaks of panels on which a standardised function is a polynomial of degree NODES - 1 to ``tolerance``.

    function maps x (points) to values (components, points); all are weighted by exp(-x^2/4), the square
    root of the Gaussian weight, and measured relative to the largest value of their component.
    Panels far out where the weighted function is negligible are dropped.
    """
    breaks = np.unique(np.concatenate([BASE, kinks[np.abs(kinks) < BASE[-1]]]))
    left, right = breaks[:-1], breaks[1:]
    x, _ = gauss_legendre(NODES)
    tail = _legendre_tail(NODES)
    scale = 0.0
    done: list[tuple[float, float, float]] = []
    for depth in range(max_depth):
        middle, half = 0.5 * (left + right), 0.5 * (right - left)
        points = middle[:, None] + half[:, None] * x
        values = function(points.ravel())
        weighted = values.reshape(-1, *points.shape) * np.exp(-0.25 * points * points)
        size = np.abs(weighted).max(axis=2)
        scale = np.maximum(scale, size.max(axis=1, keepdims=True))
        relative = np.where(scale > 0, scale, 1.0)
        rough = (np.abs(weighted @ tail.T).max(axis=2) / relative).max(axis=0)
        magnitude = (size / relative).max(axis=0)
        smooth = ~(rough > tolerance * (1.0 if depth < 12 else 100.0))
        done.extend(zip(left[smooth], right[smooth], magnitude[smooth]))
        left, middle, right = left[~smooth], middle[~smooth], right[~smooth]
        if not len(left) or len(done) + len(left) > MOST_PANELS:
            done.extend(zip(left, right, np.ones_like(left)))
            break
        left, right = np.concatenate([left, middle]), np.concatenate([middle, right])
    else:
        done.extend(zip(left, right, np.ones_like(left)))
    done.sort()
    heavy = [position for position, panel in enumerate(done) if panel[2] > 1e-19]
    if not heavy:
        return np.array([-9.0, 0.0, 9.0])
    panels = done[heavy[0] : heavy[-1] + 1]
    return np.array([panels[0][0], *(panel[1] for panel in panels)])
