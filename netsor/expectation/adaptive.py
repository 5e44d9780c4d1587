"""Adaptive quadrature of many one-dimensional Gaussian expectations at once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from netsor.expectation.panels import BASE, NODES, gauss_legendre
from netsor.expectation.threads import halt_point

MAX_DEPTH = 48
TOLERANCE = 1e-14
# Functions that oscillate without end are cut off here; their error then says how far they are off.
MOST_PANELS = 20_000
_CHUNK = 2**16


def adaptive_expectation(
    integrand: Callable[[np.ndarray, np.ndarray], np.ndarray], kinks: np.ndarray
) -> tuple[np.ndarray, np.ndarray, int]:
    """E integrand(cell, X) for X ~ N(0, 1) and every cell: values, errors and the largest number of nodes used.

    integrand(cells, x)  cells (m,) numbers of cells, x (m, points) -> (m, points)
    kinks                (cells, number of kinks) in x; +-inf where there are fewer

    Every panel is integrated whole and in two halves by Gauss-Legendre rules until the two agree to TOLERANCE
    of E|integrand|; the difference, far larger than the error of the halves, is the reported error.
    """
    count = len(kinks)
    value, error, size = np.zeros(count), np.zeros(count), np.zeros(count)
    used = np.zeros(count, dtype=int)
    edges = np.sort(np.concatenate([np.broadcast_to(BASE, (count, len(BASE))), np.clip(kinks, -38.0, 38.0)], axis=1))
    cell = np.repeat(np.arange(count), edges.shape[1] - 1)
    left, right = edges[:, :-1].ravel(), edges[:, 1:].ravel()
    proper = right > left
    cell, left, right = cell[proper], left[proper], right[proper]
    whole, magnitude = _panel_sums(integrand, cell, left, right)
    np.add.at(size, cell, magnitude)
    for depth in range(MAX_DEPTH):
        halt_point()
        np.add.at(used, cell, 2 * NODES)
        middle = 0.5 * (left + right)
        first, first_size = _panel_sums(integrand, cell, left, middle)
        second, second_size = _panel_sums(integrand, cell, middle, right)
        growth = first_size + second_size - magnitude
        np.add.at(size, cell, np.maximum(growth, 0.0))
        gap = np.abs(first + second - whole)
        # comparisons with NaN are false: a cell that is not a number ends at once, and says so by its value
        rough = gap > TOLERANCE * (1.0 if depth < 12 else 10.0) * size[cell]
        if depth == MAX_DEPTH - 1 or np.count_nonzero(rough) > MOST_PANELS + 200 * count:
            rough[:] = False
        np.add.at(value, cell[~rough], (first + second)[~rough])
        np.add.at(error, cell[~rough], gap[~rough])
        if not np.any(rough):
            break
        cell = np.concatenate([cell[rough]] * 2)
        left, right = np.concatenate([left[rough], middle[rough]]), np.concatenate([middle[rough], right[rough]])
        whole = np.concatenate([first[rough], second[rough]])
        magnitude = np.concatenate([first_size[rough], second_size[rough]])
    return value, error + 4 * np.finfo(float).eps * size, int(used.max(initial=0))


def _panel_sums(integrand, cell, left, right) -> tuple[np.ndarray, np.ndarray]:
    """The Gaussian-weighted integral of each panel, and that of the absolute value."""
    nodes, weights = gauss_legendre(NODES)
    total, magnitude = np.empty(len(left)), np.empty(len(left))
    for start in range(0, len(left), _CHUNK):
        part = slice(start, start + _CHUNK)
        half = 0.5 * (right[part] - left[part])
        x = 0.5 * (right[part] + left[part])[:, None] + half[:, None] * nodes
        density = half[:, None] * weights * np.exp(-0.5 * x * x) / np.sqrt(2 * np.pi)
        with np.errstate(all="ignore"):
            values = integrand(cell[part], x) * density
        total[part], magnitude[part] = values.sum(axis=1), np.abs(values).sum(axis=1)
    return total, magnitude
