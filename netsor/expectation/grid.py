"""Expectations of smooth functions of a few Gaussian variables, on a grid along their principal axes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from netsor.expectation.estimate import Estimate, ExpectationUndefined, NotResolved
from netsor.expectation.threads import halt_point

MOST_VARIABLES = 4
MOST_POINTS = 2**20  # of all rules together
# Points beyond this radius (of independent standard normals) have a probability below 2e-11.
_REACH = 7.5
# Distances between points that suit the function, tried one after the other, and one that suits the Gaussian weight.
_SPACINGS = tuple(1.2 * 0.75**k for k in range(12))
_WIDEST = 0.85
# Two successive rules agree to this, relative to E|f|; the error of the finer one is about its power 1.4.
_CONVERGED = 1e-7
_NEAR = 1e-8  # relative: the error of first derivatives that is accepted
_CHUNK = 2**16


def grid_points(variables: int) -> int:
    """How many points an expectation takes, about."""
    return 2 ** (4 * variables + 3)


@dataclass(frozen=True)
class GridExpectation:
    """E f(X), and what it becomes for laws so close to that of X that the first derivatives are enough.

    With X = mean + root z: ``slope`` = E[f z], ``curvature`` = E[f (z z^T - 1)], ``size`` = E|f|."""

    estimate: Estimate
    mean: np.ndarray
    covariance: np.ndarray
    root: np.ndarray
    slope: np.ndarray
    curvature: np.ndarray
    size: float

    def near(self, mean: np.ndarray, covariance: np.ndarray) -> Estimate | None:
        """E f for another law: dE = E[f z] dm + E[f (z z^T - 1)] dC / 2 in the coordinates z (Price 1958); None if it is too far away."""
        inverse = np.linalg.pinv(self.root, rcond=1e-10)
        shift, change = inverse @ (mean - self.mean), covariance - self.covariance
        whitened = inverse @ change @ inverse.T
        outside = np.abs(change - self.root @ whitened @ self.root.T).max() + np.abs(mean - self.mean - self.root @ shift).max()
        distance = float(np.linalg.norm(whitened) + np.linalg.norm(shift))
        left = 3 * distance**2  # E[f H4(z)] and the like are of the size of E|f| times a small number
        if left > _NEAR or outside > 1e-13 * np.abs(self.covariance).max():
            return None
        value = self.estimate.value + self.slope @ shift + 0.5 * np.sum(self.curvature * whitened)
        return Estimate(float(value), float(self.estimate.error + left * self.size), self.estimate.method)


def grid_expectation(function: Callable[[np.ndarray], np.ndarray], mean: np.ndarray, covariance: np.ndarray) -> GridExpectation:
    """E function(X) for one law X ~ N(mean, covariance), function: (points, k) -> (points), analytic.

    The trapezoidal rule converges geometrically for analytic functions with Gaussian weight, in any direction (Trefethen &
    Weideman 2014, SIAM Review 56, 385-458). In principal axes directions of small variance take few points.
    Raises NotResolved where the function varies too fast, ExpectationUndefined where it is not a number.
    """
    variance, axes = np.linalg.eigh(covariance)
    kept = variance > 1e-14 * max(float(variance[-1]), 0.0)
    if not np.any(kept):
        value = float(function(mean[None])[0])
        estimate = Estimate(value, 1e-14 * abs(value), "exact")
        return GridExpectation(estimate, mean, covariance, axes[:, :0], np.zeros(0), np.zeros((0, 0)), abs(value))
    deviation = np.sqrt(variance[kept])
    root = axes[:, kept] * deviation
    previous, used = None, 0.0
    for spacing in _SPACINGS:
        steps = 1.0 / np.hypot(1.0 / _WIDEST, deviation / spacing)  # frequencies of a product add up like those of Gaussians
        lines = [step * np.arange(-int(_REACH / step), int(_REACH / step) + 1) for step in steps]
        used += _ball(len(lines)) * np.prod([float(len(line)) for line in lines])
        if used > MOST_POINTS:
            raise NotResolved("a function of several variables needs too fine a grid")
        sums = np.prod(steps) / (2 * np.pi) ** (0.5 * len(steps)) * _sum(function, mean, root, lines)
        value, size, far = sums[:3]
        if previous is not None and abs(value - previous) <= _CONVERGED * size:
            error = abs(value - previous) + far + 1e-14 * size
            estimate = Estimate(float(value), float(error), f"quadrature ({len(steps)} variables)")
            return GridExpectation(estimate, mean, covariance, root, *_derivatives(sums, root), float(size))
        previous = value
    raise NotResolved("a function of several variables varies too fast")


def _derivatives(sums: np.ndarray, root: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """E[f z] and E[f (z z^T - 1)] from the sums of f, f y and f y y^T, y = root z."""
    inverse, size = np.linalg.pinv(root, rcond=1e-10), len(root)
    second = inverse @ sums[3 + size:].reshape(size, size) @ inverse.T
    return inverse @ sums[3:3 + size], second - sums[0] * np.eye(len(inverse))


def _ball(variables: int) -> float:
    """The part of a cube that the ball in it takes."""
    return math.pi ** (0.5 * variables) / math.gamma(0.5 * variables + 1) / 2**variables


def _sum(function, mean: np.ndarray, root: np.ndarray, lines: list[np.ndarray]) -> np.ndarray:
    """Weighted sums over the points in the ball: of f, of |f|, of |f| in the outermost shell, of f y and of f y y^T for the deviation y
    from the mean."""
    outer = _outer_axes([len(line) for line in lines])
    slices, shift = _in_ball(lines[:outer], root[:, :outer])
    squares, x = _in_ball(lines[outer:], root[:, outer:])
    order = np.argsort(squares)
    squares, deviation = squares[order], x[order]
    weights = np.exp(-0.5 * squares)
    sums = np.zeros(3 + len(mean) + len(mean) ** 2)
    for square, by in zip(slices, shift):
        last, inner = np.searchsorted(squares, [_REACH**2 - square, max((_REACH - 0.5) ** 2 - square, -1.0)], side="right")
        for start in range(0, last, _CHUNK):
            halt_point()
            part = slice(start, min(start + _CHUNK, last))
            with np.errstate(all="ignore"):
                y = deviation[part] + by
                values = function(y + mean) * weights[part]
            if not np.all(np.isfinite(values)):
                raise ExpectationUndefined("a function of several variables is not a number somewhere, or overflows")
            size = np.abs(values)
            shell = size[max(inner - start, 0):].sum()
            own = [[values.sum(), size.sum(), shell], values @ y, ((y.T * values) @ y).ravel()]
            sums += np.exp(-0.5 * square) * np.concatenate(own)
    return sums


def _outer_axes(counts: list[int]) -> int:
    """How many of the axes are taken value by value, so that the others fit one chunk."""
    outer = 0
    while outer < len(counts) - 1 and np.prod(counts[outer:], dtype=float) > 2 * _CHUNK:
        outer += 1
    return outer


def _in_ball(lines: list[np.ndarray], root: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The points of a grid within _REACH: squared radii, and root times the points (points, k)."""
    squares, x = np.zeros(1), np.zeros((1, len(root)))
    for line, column in zip(lines, root.T):
        squares, x = squares[:, None] + line**2, x[:, None] + line[:, None] * column
        inside = squares <= _REACH**2
        squares, x = squares[inside], x[inside]
    return squares, x
