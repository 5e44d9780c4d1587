"""Expectations of smooth functions of a few Gaussian variables, on a grid along their principal axes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from netsor.expectation.estimate import Estimate, ExpectationUndefined, NotResolved
from netsor.expectation.threads import halt_point

MOST_VARIABLES = 4
_MOST_POINTS = 2**22
# Points beyond this radius (of independent standard normals) have a probability below 2e-11.
_REACH = 7.5
# Distances between points that suit the function, tried one after the other, and one that suits the Gaussian weight.
_SPACINGS = tuple(1.2 * 0.75**k for k in range(12))
_WIDEST = 0.85
# Two successive rules agree to this, relative to E|f|; the error of the finer one is about its power 1.4.
_CONVERGED = 1e-7
_CHUNK = 2**16


def grid_points(variables: int) -> int:
    """How many points an expectation takes, about."""
    return 2 ** (4 * variables + 3)


def expect_on_grid(function: Callable[[np.ndarray], np.ndarray], mean: np.ndarray, covariance: np.ndarray) -> Estimate:
    """E function(X) for one law X ~ N(mean, covariance), function: (points, k) -> (points), analytic.

    The trapezoidal rule converges geometrically for analytic functions with Gaussian weight, in any direction (Trefethen &
    Weideman 2014, SIAM Review 56, 385-458). In principal axes directions of small variance take few points.
    Raises NotResolved where the function varies too fast, ExpectationUndefined where it is not a number.
    """
    variance, axes = np.linalg.eigh(covariance)
    kept = variance > 1e-14 * max(float(variance[-1]), 0.0)
    if not np.any(kept):
        value = float(function(mean[None])[0])
        return Estimate(value, 1e-14 * abs(value), "exact")
    deviation = np.sqrt(variance[kept])
    root = axes[:, kept] * deviation
    previous = None
    for spacing in _SPACINGS:
        steps = 1.0 / np.hypot(1.0 / _WIDEST, deviation / spacing)  # frequencies of a product add up like those of Gaussians
        value, size, far = _sum(function, mean, root, steps)
        if previous is not None and abs(value - previous) <= _CONVERGED * size:
            error = abs(value - previous) + far + 1e-14 * size
            return Estimate(value, error, f"quadrature ({len(steps)} variables)")
        previous = value
    raise NotResolved("a function of several variables varies too fast")


def _sum(function, mean: np.ndarray, root: np.ndarray, steps: np.ndarray) -> tuple[float, float, float]:
    """The rule's value, that of |f|, and the part of the latter from the outermost shell."""
    lines = [step * np.arange(-int(_REACH / step), int(_REACH / step) + 1) for step in steps]
    if np.prod([float(len(line)) for line in lines]) > 3 * _MOST_POINTS:
        raise NotResolved("a function of several variables needs too fine a grid")
    squares = np.zeros(())
    for line in lines:
        squares = squares[..., None] + line**2
    inside = np.nonzero(squares <= _REACH**2)
    squares = squares[inside]
    weights = np.prod(steps) * np.exp(-0.5 * squares) / (2 * np.pi) ** (0.5 * len(steps))
    values = np.empty(len(weights))
    for start in range(0, len(weights), _CHUNK):
        halt_point()
        part = slice(start, start + _CHUNK)
        x = np.stack([line[index[part]] for line, index in zip(lines, inside)], axis=1)
        with np.errstate(all="ignore"):
            values[part] = function(x @ root.T + mean)
    if not np.all(np.isfinite(values)):
        raise ExpectationUndefined("a function of several variables is not a number somewhere, or overflows")
    values *= weights
    size = np.abs(values)
    return float(values.sum()), float(size.sum()), float(size[squares > (_REACH - 0.5) ** 2].sum())
