"""Square roots of covariance matrices that may be singular."""

from __future__ import annotations

import numpy as np

# Eigenvalues of a correlation matrix below this fraction of the largest are rounding.
FLOOR = 1e-13
# Negative eigenvalues down to this fraction of the largest one are taken for zero.
SEMIDEFINITE = 1e-8
# Cholesky is used when no pivot falls below this: then it is as accurate as the eigendecomposition.
SAFE_PIVOT = 1e-5


class NotSemidefinite(ValueError):
    """A covariance is not positive semidefinite within the tolerance, or not finite."""


def psd_root(K: np.ndarray, tolerance: float = SEMIDEFINITE) -> np.ndarray:
    """L with L L^T = K for symmetric positive semidefinite K of shape (..., N, N).

    K is scaled to correlations first, so that rows of very different variance keep their accuracy. Definite
    matrices get the lower triangular Cholesky factor, others (copied rows, zero rows) V sqrt(lambda) with
    rounding removed. A row of K that is zero is a row of L that is exactly zero.
    Raises NotSemidefinite when K is not finite or has an eigenvalue below ``-tolerance`` times the largest (of the correlations).
    """
    K = np.asarray(K, dtype=float)
    if not np.all(np.isfinite(K)):
        raise NotSemidefinite("a covariance matrix has entries that are not finite")
    size = K.shape[-1]
    flat = K.reshape(-1, size, size)
    diagonal = np.diagonal(flat, axis1=1, axis2=2)
    if np.any(diagonal < 0):
        raise NotSemidefinite(f"a covariance matrix has a negative variance, {diagonal.min():.3g}")
    deviation = np.sqrt(diagonal)
    inverse = np.where(deviation > 0, 1.0 / np.where(deviation > 0, deviation, 1.0), 0.0)
    corr = flat * inverse[:, :, None] * inverse[:, None, :]
    corr = 0.5 * (corr + corr.swapaxes(1, 2))
    roots = np.empty_like(corr)
    if size:
        remaining = _cholesky_where_safe(corr, roots)
        if len(remaining):
            roots[remaining] = _eigen_root(corr[remaining], tolerance)
    roots *= deviation[:, :, None]
    return roots.reshape(K.shape)


def _cholesky_where_safe(corr: np.ndarray, roots: np.ndarray) -> np.ndarray:
    """Fill in the Cholesky factors of the safely definite matrices; return the positions of the others."""
    try:
        roots[...] = np.linalg.cholesky(corr)
        safe = np.diagonal(roots, axis1=1, axis2=2).min(axis=1) > SAFE_PIVOT
        return np.flatnonzero(~safe)
    except np.linalg.LinAlgError:
        if len(corr) == 1:
            return np.array([0])
        half = len(corr) // 2
        first = _cholesky_where_safe(corr[:half], roots[:half])
        second = _cholesky_where_safe(corr[half:], roots[half:])
        return np.concatenate([first, half + second])


def _eigen_root(corr: np.ndarray, tolerance: float) -> np.ndarray:
    values, vectors = np.linalg.eigh(corr)
    largest = np.maximum(values[:, -1:], 0.0)
    if np.any(values < -tolerance * np.maximum(largest, 1.0)):
        raise NotSemidefinite(f"a covariance matrix is not positive semidefinite: relative eigenvalue {values.min():.3g}")
    kept = np.where(values > FLOOR * corr.shape[-1] * largest, values, 0.0)
    return vectors * np.sqrt(kept)[:, None, :]


def solve_root(L: np.ndarray, B: np.ndarray) -> np.ndarray:
    """L^+ B for L of ``psd_root``, shapes (..., N, N) and (..., N, M).

    If K = L L^T is the covariance of p and B = Cov(p, q), then L^+ B is the covariance of q with the
    independent standard normals behind p; directions that L does not have are ignored.
    """
    L, B = np.asarray(L, dtype=float), np.asarray(B, dtype=float)
    scale = np.sqrt(np.sum(L * L, axis=-1, keepdims=True))
    inverse = np.where(scale > 0, 1.0 / np.where(scale > 0, scale, 1.0), 0.0)
    # L = scale R: the pseudo-inverse solution in the norm where every row of L weighs the same
    return np.linalg.pinv(L * inverse, rcond=1e-7) @ (B * inverse)
