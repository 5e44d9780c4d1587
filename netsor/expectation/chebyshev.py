"""Chebyshev interpolation: nodes, coefficients, basis, and Clenshaw's recurrence on large arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np


def lobatto(nodes: int) -> np.ndarray:
    """cos(pi k / (nodes - 1)), from 1 to -1; the points of ``nodes`` are every other one of 2 nodes - 1."""
    if nodes == 1:
        return np.zeros(1)
    return np.sin(np.pi * np.arange(nodes - 1, -nodes, -2) / (2 * (nodes - 1)))


def to_coefficients(nodes: int) -> np.ndarray:
    """The matrix from values at the Lobatto points to Chebyshev coefficients."""
    if nodes == 1:
        return np.ones((1, 1))
    k = np.arange(nodes)
    matrix = 2.0 / (nodes - 1) * np.cos(np.pi * np.outer(k, k) / (nodes - 1))
    matrix[:, [0, -1]] *= 0.5
    matrix[[0, -1]] *= 0.5
    return matrix


def basis(x: np.ndarray, nodes: int) -> np.ndarray:
    """T_k(x), shape (len(x), nodes)."""
    return np.polynomial.chebyshev.chebvander(x, nodes - 1)


def clenshaw(t: np.ndarray, coefficient: Callable[[int], np.ndarray | float], orders: Sequence[int], parity: int):
    """sum over m in orders of coefficient(m) T_m(t).

    orders is 0, 1, 2, ... without parity, 1, 3, 5, ... for an odd and 0, 2, 4, ... for an even series, where
    T_{m+2} = 2 T_2 T_m - T_{m-2} halves the work.
    """
    twice = 2.0 * t if not parity else 4.0 * t * t - 2.0
    later, latest, spare = np.zeros_like(t), np.zeros_like(t), np.empty_like(t)
    for m in reversed(orders):
        np.multiply(twice, latest, out=spare)
        spare -= later
        spare += coefficient(m)
        later, latest, spare = latest, spare, later
    # T_1 = T_{-1} = t for odd series; T_1 and T_2 are half of ``twice`` for the others
    if parity == -1:
        latest -= later
        latest *= t
        return latest
    twice *= 0.5
    twice *= later
    latest -= twice
    return latest
