"""Kernels of nonlinearities in closed form or by quadrature, and recursions of them, on NumPy arrays."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from independently.quadrature import expectation, pair


def relu_kernel(kernel: np.ndarray) -> np.ndarray:
    """E relu(u) relu(v) (Cho & Saul 2009)."""
    scale = np.sqrt(np.outer(np.diag(kernel), np.diag(kernel)))
    cosine = np.clip(kernel / np.where(scale > 0, scale, 1), -1, 1)
    return scale * (np.sqrt(1 - cosine**2) + cosine * (np.pi - np.arccos(cosine))) / (2 * np.pi)


def erf_kernel(kernel: np.ndarray) -> np.ndarray:
    """E erf(u) erf(v) (Williams 1997)."""
    scale = np.sqrt(np.outer(1 + 2 * np.diag(kernel), 1 + 2 * np.diag(kernel)))
    return 2 / np.pi * np.arcsin(2 * kernel / scale)


def quadrature_kernel(f: Callable, kernel: np.ndarray, count: int = 160) -> np.ndarray:
    """E f(u) f(v) for every pair, f analytic near the real line."""
    size = len(kernel)
    return np.array([[pair(f, f, kernel[i, i], kernel[j, j], kernel[i, j], count) for j in range(size)] for i in range(size)])


def as_function_of_correlation(f: Callable, nodes: int = 33) -> Callable[[np.ndarray], np.ndarray]:
    """rho -> E f(u) f(v) at unit variances, interpolated in arccos(rho), where it is smooth."""
    angles = np.pi / 2 * (1 + np.cos(np.pi * (np.arange(nodes) + 0.5) / nodes))
    values = [pair(f, f, 1.0, 1.0, float(np.cos(angle))) for angle in angles]
    series = np.polynomial.chebyshev.Chebyshev.fit(angles, values, nodes - 1, domain=[0, np.pi])
    return lambda rho: series(np.arccos(np.clip(rho, -1, 1)))


def normalised(kernel: np.ndarray) -> np.ndarray:
    scale = np.sqrt(np.diag(kernel))
    return kernel / np.outer(scale, scale)


def mean_of(f: Callable, variance: float = 1.0, count: int = 160) -> float:
    """E f(sqrt(variance) Z)."""
    return float(expectation(lambda x: f(np.sqrt(variance) * x), 1, count))
