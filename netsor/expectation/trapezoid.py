"""E f(U) g(V) of many pairs of smooth functions at once, by the trapezoidal rule in the plane.

The rule converges geometrically for analytic functions with Gaussian weight (Trefethen & Weideman 2014, SIAM Review 56, 385-458).  At
rho = +-1 the integrand is nearest to its singularities, any other angle stretches it: how many points a law needs is seen on a line.
"""

from __future__ import annotations

import math

import numpy as np

from netsor.expectation.functions import UnaryFunction
from netsor.expectation.pair_cells import Cells
from netsor.expectation.threads import halt_point

REACH = 9.0  # grid points whose weight is below e^{-REACH^2 / 2} = 3e-18 are left out
REFINEMENTS = (41, 55, 73, 97, 129, 173, 231, 309, 413)  # points in a direction, tried one after the other; beyond, graded panels win
CONVERGED = 3e-14  # agreement of two successive rules, relative to sqrt(E f^2 E g^2)
_CHUNK = 2**19


def line(points: int) -> tuple[np.ndarray, np.ndarray]:
    """The points of the rule in one direction, and their weights."""
    x = np.linspace(-REACH, REACH, points)
    return x, np.exp(-0.5 * x * x) / math.sqrt(2 * math.pi) * (x[1] - x[0])


def trapezoid(f: UnaryFunction, g: UnaryFunction, cells: Cells) -> tuple[np.ndarray, np.ndarray]:
    """Values and errors; NaN where the finest rules still differ."""
    value, error = np.full(len(cells), np.nan), np.full(len(cells), np.nan)
    needed = points_needed(f, g, cells)
    for points in np.unique(needed[needed > 0]):
        x, y, weight = _disk(int(points))
        step = max(1, _CHUNK // len(weight))
        own = np.flatnonzero(needed == points)
        for start in range(0, len(own), step):
            halt_point()
            where = own[start:start + step]
            value[where], error[where] = _on_disk(f, g, cells[where], x, y, weight)
    return value, error


def points_needed(f: UnaryFunction, g: UnaryFunction, cells: Cells) -> np.ndarray:
    """The number of points in a direction with which the rule agrees with the next finer one at rho = 1 and -1; 0: too many."""
    needed = np.zeros(len(cells), dtype=int)
    step = max(1, _CHUNK // REFINEMENTS[-1])
    for start in range(0, len(cells), step):
        halt_point()
        open_ = np.arange(start, min(start + step, len(cells)))
        previous = None
        for points in REFINEMENTS:
            value, size, ends = _on_line(f, g, cells[open_], points)
            hopeless = ~np.isfinite(value).all(axis=0) | (ends > 1e-14 * size)
            settled = np.zeros(len(open_), dtype=bool)
            if previous is not None:
                settled = ~hopeless & np.all(np.abs(value - previous[1]) <= CONVERGED * size, axis=0)
                needed[open_[settled]] = previous[0]
            left = ~(settled | hopeless)
            open_ = open_[left]
            previous = points, value[:, left]
            if not len(open_):
                break
    return needed


def _on_line(f, g, cells: Cells, points: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sums at rho = 1 and -1 (2, cells), sqrt(E f^2 E g^2), and what is left at the ends of the line."""
    x, weight = line(points)
    u = f(cells.mean_f[:, None] + np.sqrt(cells.var_f)[:, None] * x)
    v = g(cells.mean_g[:, None] + np.sqrt(cells.var_g)[:, None] * x)
    with np.errstate(all="ignore"):
        value = np.stack([(u * part) @ weight for part in (v, v[:, ::-1])])
        size = np.sqrt((u * u) @ weight) * np.sqrt((v * v) @ weight)
        ends = np.abs(u[:, [0, -1]]).max(axis=1) * np.abs(v[:, [0, -1]]).max(axis=1) * weight[0]
    return value, size, ends


def _disk(points: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Grid points in the plane within REACH, and their weights."""
    one, weight = line(points)
    inside = np.add.outer(one * one, one * one) <= REACH**2
    x, y = np.broadcast_arrays(one, one[:, None])
    return x[inside], y[inside], np.multiply.outer(weight, weight)[inside]


def _on_disk(f, g, cells: Cells, x: np.ndarray, y: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """U, V = cos(theta/2) x +- sin(theta/2) y with independent x, y; values, and errors from sqrt(E f^2 E g^2)."""
    rho, sine = cells.correlation()
    half = 0.5 * np.arctan2(sine, rho)
    middle, apart = np.cos(half)[:, None] * x, np.sin(half)[:, None] * y
    u = f(cells.mean_f[:, None] + np.sqrt(cells.var_f)[:, None] * (middle + apart))
    v = g(cells.mean_g[:, None] + np.sqrt(cells.var_g)[:, None] * (middle - apart))
    with np.errstate(all="ignore"):
        return (u * v) @ weight, 1e-13 * np.sqrt((u * u) @ weight) * np.sqrt((v * v) @ weight)
