"""Moments of softmax attention by quadrature over scores."""

from __future__ import annotations

import numpy as np
from independently.quadrature import expectation, normal
from scipy.integrate import quad

_NODES, _WEIGHTS = normal(160)


def softmax_square_moments(tokens: int, variance: float, sink: float = 0.0) -> tuple[float, float]:
    """E V and E V^2, V = sum_j A_j^2 for A_j = e^{x_j}/(sink + sum e^{x_j}) of iid N(0, variance) scores.

    With S the denominator: 1/S^2 = int t e^{-tS} dt and 1/S^4 = int t^3 e^{-tS} dt / 6, over t = e^r.
    """
    return power_sums(np.exp(np.sqrt(variance) * _NODES), _WEIGHTS, tokens, sink)


def power_sums(powers: np.ndarray, weights: np.ndarray, tokens: int, sink: float = 0.0) -> tuple[float, float]:
    """E V and E V^2, V = sum_j X_j^2/(sink + sum X_j)^2 for iid positive X with these values and weights."""

    def weighted(t: float, power: int) -> float:
        return float(weights @ (powers**power * np.exp(-t * powers)))

    def first(r: float) -> float:
        t = np.exp(r)
        return t**2 * np.exp(-t * sink) * tokens * weighted(t, 2) * weighted(t, 0) ** (tokens - 1)

    def second(r: float) -> float:
        t = np.exp(r)
        same = tokens * weighted(t, 4) * weighted(t, 0) ** (tokens - 1)
        pairs = tokens * (tokens - 1) * weighted(t, 2) ** 2 * weighted(t, 0) ** (tokens - 2) if tokens > 1 else 0.0
        return t**4 / 6 * np.exp(-t * sink) * (same + pairs)

    options = {"epsabs": 1e-13, "epsrel": 1e-12, "limit": 400}
    return quad(first, -25, 12, **options)[0], quad(second, -25, 12, **options)[0]


def softmax_mean(tokens: int, sink: float) -> float:
    """E e^{x_1}/(sink + sum e^{x_j}) of iid N(0, 1) scores: 1/S = int e^{-tS} dt."""
    powers = np.exp(_NODES)

    def density(r: float) -> float:
        t = np.exp(r)
        own, others = _WEIGHTS @ (powers * np.exp(-t * powers)), _WEIGHTS @ np.exp(-t * powers)
        return t * np.exp(-t * sink) * own * others ** (tokens - 1)

    return quad(density, -25, 12, epsabs=1e-13, epsrel=1e-12, limit=400)[0]


def rows_of_attention(queries: np.ndarray, scores: np.ndarray, tokens: np.ndarray, bias=0.0, count: int = 40):
    """E A_i K A_k^T over rows i, k and E (A_0 K A_0^T)^2 for rows of scores with covariance queries ⊗ scores and mean bias.

    Softmax does not see a common shift, so that s scores have s - 1 contrasts: a rule in rows * (s - 1) variables.
    """
    size, rows = len(scores), len(queries)
    contrasts = np.eye(size) - 1 / size
    left, right = _root(queries), _root(contrasts @ scores @ contrasts)
    bias = np.broadcast_to(bias, (rows, size))

    def weights(*normals: np.ndarray) -> np.ndarray:
        xi = np.array(np.broadcast_arrays(*normals))
        xi = xi.reshape(left.shape[1], right.shape[1], *xi.shape[1:])
        logits = np.einsum("ia,ab...,jb->ij...", left, xi, right) + bias.reshape(rows, size, *(1,) * (xi.ndim - 2))
        powers = np.exp(logits)
        return powers / powers.sum(axis=1, keepdims=True)

    def products(*normals: np.ndarray) -> np.ndarray:
        a = weights(*normals)
        kernel = np.einsum("ij...,jl,kl...->ik...", a, tokens, a)
        return np.concatenate([kernel.reshape(rows * rows, *kernel.shape[2:]), kernel[:1, 0] ** 2])

    found = expectation(products, left.shape[1] * right.shape[1], count)
    return found[:-1].reshape(rows, rows), found[-1]


def _root(covariance: np.ndarray) -> np.ndarray:
    """L with L L^T the covariance and as many columns as its rank."""
    values, vectors = np.linalg.eigh(covariance)
    kept = values > 1e-12 * values.max()
    return vectors[:, kept] * np.sqrt(values[kept])


def excess_kurtosis(mean: float, square: float, fixed: float = 0.0, heads: int = 1) -> float:
    """Of a Gaussian whose variance is ``fixed`` plus the mean over heads of independent V with these moments."""
    return 3 * (square - mean**2) / heads / (fixed + mean) ** 2
