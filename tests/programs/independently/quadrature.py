"""Expectations over a few independent normal variables by product rules."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


def normal(count: int, edge: float = 9.0) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights of E f(Z) for Z ~ N(0, 1): the trapezoidal rule on (-edge, edge).

    For f analytic in a strip |Im z| < d the error falls like e^{-2 pi d/h} with the step h (Trefethen & Weideman 2014); for sigmoids it
    falls much faster than that of Gauss-Hermite rules.
    """
    nodes = np.linspace(-edge, edge, count)
    return nodes, np.exp(-nodes * nodes / 2) / np.sqrt(2 * np.pi) * (nodes[1] - nodes[0])


def expectation(f: Callable[..., np.ndarray], variables: int, count: int, edge: float = 9.0) -> np.ndarray:
    """E f(Z_1, ..., Z_k) for independent standard normal variables; f takes k arrays that broadcast against each other.

    Axes of f beyond the k of the rule come first and are kept.  The first variable is summed over node by node, to save memory.
    """
    nodes, weights = normal(count, edge)
    rest = [nodes.reshape((-1,) + (1,) * (variables - 2 - k)) for k in range(variables - 1)]
    total = 0.0
    for node, weight in zip(nodes, weights):
        value = np.asarray(f(np.full((1,) * (variables - 1), node), *rest))
        value = np.broadcast_to(value, value.shape[:value.ndim - variables + 1] + (count,) * (variables - 1))
        for _ in range(variables - 1):
            value = value @ weights
        total = total + weight * value
    return total


def pair(f: Callable, g: Callable, variance: float, other: float, covariance: float, count: int = 160) -> float:
    """E f(u) g(v) for a Gaussian pair with these variances; for functions that are analytic near the real line."""
    slope = covariance / np.sqrt(variance)
    rest = np.sqrt(max(other - slope**2, 0.0))
    return float(expectation(lambda x, y: f(np.sqrt(variance) * x) * g(slope * x + rest * y), 2, count))
