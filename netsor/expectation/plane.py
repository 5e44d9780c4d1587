"""Two-dimensional Gaussian quadrature, split at the kinks of both functions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from netsor.expectation.estimate import NotResolved
from netsor.expectation.panels import BASE, NODES, composite, resolve
from netsor.expectation.threads import halt_point, serial_product

Components = Callable[[np.ndarray], np.ndarray]
"""x of any shape -> values of shape (components, *x.shape), x standard normal."""

_CHUNK = 2**19
MOST_PANELS = 2**18  # in the plane


class PlaneRule:
    """E F(X) G(Y)^T for standard normal X, Y of any correlation, F and G vectors of functions.

    Y = rho X + s E. The outer integral over X runs over panels that resolve F and the conditional mean of G,
    which has layers of width s at the images of G's kinks; the inner one over E is split at G's kinks.
    """

    def __init__(self, first: Components, second: Components, first_kinks: np.ndarray, second_kinks: np.ndarray,
                 *, hints: tuple[np.ndarray, np.ndarray] = (np.empty(0), np.empty(0)), even: bool = False):
        """``hints`` are further breaks of either function; ``even``: (X, Y) -> (-X, -Y) changes no product."""
        self.first, self.second = first, second
        self.second_kinks = second_kinks
        self.even = even
        self.first_breaks = resolve(first, np.concatenate([first_kinks, hints[0]]))
        self.second_breaks = resolve(second, np.concatenate([second_kinks, hints[1]]))
        # fast-growing functions need the far tails of the inner variable, others do not
        reach = 9.0 if np.abs(self.second_breaks).max() <= 18.0 else BASE[-1]
        self.inner_breaks = BASE[np.abs(BASE) <= reach]
        second_panels = len(self.second_breaks)
        if (len(self.first_breaks) + second_panels) * (len(self.inner_breaks) + second_panels) > MOST_PANELS:
            raise NotResolved("a function oscillates, or breaks, too often to be integrated over two variables")

    def matrix(self, rho: float, sine: float) -> tuple[np.ndarray, np.ndarray]:
        """The matrix of expectations (components of F, components of G), and its error by a coarser rule."""
        fine, size = self._matrix(rho, sine, NODES)
        coarse, _ = self._matrix(rho, sine, NODES - 4)
        # rounding of the sums, the tails beyond nine deviations of functions that grow like exp, and rounding of the correlation where the angle depends on it steeply
        steepness = 1.0 / sine if sine and len(self.second_kinks) else 0.0
        rounding = np.finfo(float).eps * (160.0 + 4.0 * steepness)
        return fine, np.abs(fine - coarse) + rounding * size

    def fine(self, rho: float, sine: float, nodes: int = NODES) -> np.ndarray:
        """The matrix alone."""
        return self._matrix(rho, sine, nodes)[0]

    def _matrix(self, rho: float, sine: float, nodes: int) -> tuple[np.ndarray, np.ndarray]:
        """Expectations, and those of |F| |E[G | X]|: the size against which sums round."""
        x, weights = composite(self._outer_breaks(rho, sine), nodes)
        if self.even:
            weights = 2.0 * weights
        first = self.first(x) * (weights * np.exp(-0.5 * x * x) / np.sqrt(2 * np.pi))
        conditional = self.second(rho * x) if sine == 0 else self._conditional(x, rho, sine, nodes)
        return serial_product(first, conditional), serial_product(np.abs(first), np.abs(conditional))

    def _outer_breaks(self, rho: float, sine: float) -> np.ndarray:
        breaks = [self.first_breaks]
        lowest, highest = 0.0 if self.even else min(self.first_breaks[0], -9.0), max(self.first_breaks[-1], 9.0)
        if abs(rho) > 1e-3:
            breaks.append(self.second_breaks / rho)
            layers = 2.0 ** np.arange(0, 60) * max(sine, 1e-14) if 0 < sine < 1 else np.empty(0)
            layers = layers[layers < 2.0]
            for kink in self.second_kinks:
                breaks.extend([kink / rho + layers, kink / rho - layers])
        merged = np.unique(np.concatenate([*breaks, [lowest]]))
        return merged[(merged >= lowest) & (merged <= highest)]

    def _conditional(self, x: np.ndarray, rho: float, sine: float, nodes: int) -> np.ndarray:
        """E[G(rho x + sine E)] for every x: (components, points)."""
        parts, inner = [], self.inner_breaks
        members = len(self.second(np.zeros(1)))
        step = max(1, _CHUNK // (members * nodes * (len(self.second_breaks) + len(inner))))
        for start in range(0, len(x), step):
            halt_point()
            centre = rho * x[start : start + step, None]
            edges = np.clip((self.second_breaks - centre) / sine, inner[0], inner[-1])
            edges = np.sort(np.concatenate([edges, np.broadcast_to(inner, (len(centre), len(inner)))], axis=1))
            y, weights = composite(_drop_empty(edges), nodes)
            weights = weights * np.exp(-0.5 * y * y) / np.sqrt(2 * np.pi)
            parts.append(np.sum(self.second(centre + sine * y) * weights, axis=-1))
        return np.concatenate(parts, axis=-1)


def _drop_empty(edges: np.ndarray) -> np.ndarray:
    """Remove panels that are empty in every row: rows are shifted so that their proper panels come first."""
    width = np.diff(edges, axis=1)
    most = int((width > 0).sum(axis=1).max())
    if most == width.shape[1]:
        return edges
    order = np.argsort(width <= 0, axis=1, kind="stable")[:, :most]
    order.sort(axis=1)
    starts = np.take_along_axis(edges[:, :-1], order, axis=1)
    return np.concatenate([starts, edges[:, -1:]], axis=1)
