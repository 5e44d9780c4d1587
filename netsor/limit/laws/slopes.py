"""Derivatives of functions that come without one."""

from __future__ import annotations

import numpy as np

from netsor.expectation.functions import UnaryFunction

NODES = 14
HALF_WIDTHS = (0.25, 0.0625, 0.015625, 0.00390625, 0.0009765625)


def derivative(function: UnaryFunction, z: np.ndarray, kinks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """f'(z) and its error: the declared derivative, or that of an interpolant through Chebyshev points.

    The points lie around z but on one side of every kink; among several half-widths the one that agrees
    best with the next smaller is taken, and the disagreement is the error.
    """
    if function.nonlinearity is not None:
        slope = np.asarray(function.nonlinearity.derivative(z, *function.parameters), dtype=float)
        return np.broadcast_to(slope, z.shape), np.zeros_like(z)
    edges = np.concatenate([[-np.inf], np.sort(kinks), [np.inf]])
    position = np.searchsorted(edges, z, side="right")
    left, right = edges[position - 1], edges[position]
    strip = min(function.strip, 1.0) if function.strip > 0 else 1.0
    slopes = [_interpolated(function, z, left, right, strip * width) for width in HALF_WIDTHS]
    gaps = np.abs(np.diff(np.stack(slopes), axis=0))
    gaps[np.isnan(gaps)] = np.inf
    best = np.argmin(gaps, axis=0)
    each = np.arange(len(z))
    return np.stack(slopes)[best, each], gaps[best, each]


def _interpolated(function, z, left, right, half_width) -> np.ndarray:
    """The derivative at z of the interpolant on an interval of this half-width, moved and shrunk to fit."""
    half = np.minimum(half_width, 0.25 * (right - left))
    middle = np.clip(z, left + half * 1.0001, right - half * 1.0001)
    nodes = np.cos(np.pi * (2 * np.arange(NODES) + 1) / (2 * NODES))
    values = function(middle[:, None] + half[:, None] * nodes)
    vander = np.polynomial.chebyshev.chebvander(nodes, NODES - 1)
    coefficients = 2.0 / NODES * values @ vander
    coefficients[:, 0] *= 0.5
    slopes = np.polynomial.chebyshev.chebder(coefficients.T)
    return np.polynomial.chebyshev.chebval((z - middle) / half, slopes, tensor=False) / half
