"""The matrix E f(u_i) f(u_j) of a Gaussian vector u."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from netsor.expectation.estimate import Estimate, ExpectationUndefined
from netsor.expectation.functions import UnaryFunction
from netsor.expectation.pair import ROUNDING, expect_pair, pair_formula
from netsor.expectation.unary import expect_unary

# Cells of a block: a handful of its temporaries fit the second-level cache.
BLOCK = 128
THREADS = min(2, os.cpu_count() or 1)
# Smaller matrices are not worth a second thread.
_PARALLEL = 4 * BLOCK


def expect_kernel(f: UnaryFunction, mean: Any, K: np.ndarray) -> Estimate:
    """The symmetric matrices E f(u_i) f(u_j), u ~ N(mean, K), for K (..., N, N) and mean (..., N) or 0.

    Only blocks on and above the diagonal are computed, in two threads. Raises as ``expect_pair``.
    """
    K = np.asarray(K, dtype=float)
    mean = np.broadcast_to(np.asarray(mean, dtype=float), K.shape[:-1])
    if K.ndim == 2:
        return _one_kernel(f, mean, K)
    if K.shape[-1] <= BLOCK:
        return _small_kernels(f, mean, K)
    size = K.shape[-1]
    parts = [_one_kernel(f, m, k) for m, k in zip(mean.reshape(-1, size), K.reshape(-1, size, size))]
    value = np.array([part.value for part in parts]).reshape(K.shape)
    error = np.array([part.error for part in parts]).reshape(K.shape)
    return Estimate(value, error, parts[0].method if parts else "exact")


def _small_kernels(f: UnaryFunction, mean: np.ndarray, K: np.ndarray) -> Estimate:
    """Many small matrices: their upper triangles are one array of pairs."""
    rows, columns = np.triu_indices(K.shape[-1])
    variance = np.diagonal(K, axis1=-2, axis2=-1)
    pairs = expect_pair(
        f, f, mean[..., rows], mean[..., columns], variance[..., rows], variance[..., columns], K[..., rows, columns]
    )
    value, error = np.empty(K.shape), np.empty(K.shape)
    for target, source in ((value, pairs.value), (error, pairs.error)):
        target[..., rows, columns] = source
        target[..., columns, rows] = source
    return Estimate(value, error, pairs.method)


def _one_kernel(f: UnaryFunction, mean: np.ndarray, K: np.ndarray) -> Estimate:
    variance = np.ascontiguousarray(np.diagonal(K))
    formula = pair_formula(f, f, centred=not np.any(mean))
    if formula is None or len(K) <= BLOCK:
        return _small_kernels(f, mean, K)
    _check_kernel(K, variance)
    constant = np.flatnonzero(variance == 0)
    positive = np.where(variance > 0, variance, 1.0)
    shifted = bool(np.any(mean))

    def block(rows: slice, columns: slice) -> np.ndarray:
        mean_u, mean_v = (mean[rows, None], mean[None, columns]) if shifted else (0.0, 0.0)
        return formula(mean_u, mean_v, positive[rows, None], K[rows, columns], positive[None, columns])

    value = fill_symmetric(len(K), block)
    if len(constant):
        means = expect_unary(f, mean, variance).value
        value[constant, :] = means[constant, None] * means
        value[:, constant] = value[constant, :].T
    scale = np.diagonal(value)
    if not np.all(np.isfinite(scale)):
        raise ExpectationUndefined(f"the expectation of {f.label} squared overflows")
    bound = 2 * ROUNDING * (float(np.max(scale, initial=0.0)) + float(np.max(variance, initial=0.0)))
    return Estimate(value, bound, "closed form")


def _check_kernel(K: np.ndarray, variance: np.ndarray) -> None:
    if np.any(variance < 0) or not np.isfinite(np.sum(K)):
        raise ValueError("a kernel has entries that are not finite or a negative variance")


def fill_symmetric(size: int, block: Callable[[slice, slice], np.ndarray]) -> np.ndarray:
    """The symmetric matrix whose blocks on and above the diagonal are block(rows, columns)."""
    value = np.empty((size, size))

    def fill(where: tuple[slice, slice]) -> None:
        rows, columns = where
        with np.errstate(all="ignore"):
            part = block(rows, columns)
        value[rows, columns] = part
        if rows != columns:
            value[columns, rows] = value[rows, columns].T

    if size < _PARALLEL or THREADS == 1:
        for where in _upper_blocks(size):
            fill(where)
    else:
        with ThreadPoolExecutor(THREADS) as pool:
            list(pool.map(fill, _upper_blocks(size)))
    return value


def _upper_blocks(size: int) -> Iterator[tuple[slice, slice]]:
    starts = range(0, size, BLOCK)
    for row in starts:
        for column in starts:
            if column >= row:
                yield slice(row, min(row + BLOCK, size)), slice(column, min(column + BLOCK, size))
