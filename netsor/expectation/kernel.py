"""The matrix E f(u_i) f(u_j) of a Gaussian vector u."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from netsor.expectation.dual import DualFunction
from netsor.expectation.estimate import Estimate, ExpectationUndefined
from netsor.expectation.functions import UnaryFunction
from netsor.expectation.interpolation import TOO_MANY, WANTED, dual_function, law_ranges, patches
from netsor.expectation.memory import keep_freed_memory
from netsor.expectation.pair import ROUNDING, expect_pair, pair_formula
from netsor.expectation.threads import in_threads
from netsor.expectation.unary import check_integrable, expect_unary
from netsor.nonlinearities.forms.geometry import half_angle

# Cells of a block: a handful of its temporaries fit the second-level cache.
BLOCK = 200
# Smaller matrices are not worth a second thread.
_PARALLEL = 4 * BLOCK


def expect_kernel(f: UnaryFunction, mean: Any, K: np.ndarray) -> Estimate:
    """The symmetric matrices E f(u_i) f(u_j), u ~ N(mean, K), for K (..., N, N) and mean (..., N) or 0.

    Only blocks on and above the diagonal are computed, in two threads. Raises as ``expect_pair``.
    """
    check_integrable(f, power=2)
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
    if len(K) <= BLOCK:
        return _small_kernels(f, mean, K)
    _check_kernel(K, variance)
    constant = np.flatnonzero(variance == 0)
    positive = np.where(variance > 0, variance, 1.0)
    estimate = closed_kernel(f, mean, positive, K) or interpolated_kernel(f, mean, positive, K)
    if estimate is None:
        return _small_kernels(f, mean, K)
    if len(constant):
        means = expect_unary(f, mean, variance).value
        estimate.value[constant, :] = means[constant, None] * means
        estimate.value[:, constant] = estimate.value[constant, :].T
    if not np.all(np.isfinite(np.diagonal(estimate.value))):
        raise ExpectationUndefined(f"the expectation of {f.label} squared overflows")
    return estimate


def closed_kernel(f: UnaryFunction, mean: np.ndarray, variance: np.ndarray, K: np.ndarray) -> Estimate | None:
    """By formula."""
    shifted = bool(np.any(mean))
    formula = pair_formula(f, f, centred=not shifted)
    if formula is None:
        return None

    def block(rows: slice, columns: slice) -> np.ndarray:
        mean_u, mean_v = (mean[rows, None], mean[None, columns]) if shifted else (0.0, 0.0)
        return formula(mean_u, mean_v, variance[rows, None], K[rows, columns], variance[None, columns])

    value = fill_symmetric(len(K), block)
    bound = 2 * ROUNDING * (float(np.diagonal(value).max()) + float(variance.max()) + float(np.max(mean * mean)))
    return Estimate(value, bound, "closed form")


def interpolated_kernel(f: UnaryFunction, mean: np.ndarray, variance: np.ndarray, K: np.ndarray) -> Estimate | None:
    """By the dual function, whose factors are evaluated once a row; passes when it misses the wanted error."""
    groups = patches(variance)
    ranges = [law_ranges(mean[group], variance[group]) for group in groups]
    duals = {
        (one, two): dual_function(f, f, ranges[one], ranges[two])
        for one in range(len(groups))
        for two in range(one, len(groups))
    }
    worst = max(dual.error for dual in duals.values())
    if worst > WANTED and len(K) ** 2 <= TOO_MANY:
        return None
    value = np.empty(K.shape) if len(groups) > 1 else None
    for (one, two), dual in duals.items():
        rows, columns = groups[one], groups[two]
        part = K if len(groups) == 1 else K[np.ix_(rows, columns)]
        block = _dual_block(dual, mean[rows], mean[columns], variance[rows], part, variance[columns])
        if len(groups) == 1:
            value = fill_symmetric(len(K), block)
        elif one == two:
            value[np.ix_(rows, rows)] = fill_symmetric(len(rows), block)
        else:
            filled = fill(len(rows), len(columns), block)
            value[np.ix_(rows, columns)] = filled
            value[np.ix_(columns, rows)] = filled.T
    root = np.sqrt(np.abs(np.diagonal(value)))
    return Estimate(value, worst * float(root.max()) ** 2, f"interpolation in the angle (relative error {worst:.0e})")


def _dual_block(dual: DualFunction, mean_u, mean_v, var_u, cov, var_v) -> Callable[[slice, slice], np.ndarray]:
    """The dual function on blocks of a matrix."""
    left, right = dual.factors_at(0, mean_u, var_u), dual.factors_at(1, mean_v, var_v)

    def block(rows: slice, columns: slice) -> np.ndarray:
        t = half_angle(var_u[rows, None], cov[rows, columns], var_v[None, columns])
        return dual.on_grid(t, [factor[rows] for factor in left], [factor[:, columns] for factor in right])

    return block


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
        if rows == columns:
            part = np.triu(part) + np.triu(part, 1).T
        value[rows, columns] = part
        if rows != columns:
            value[columns, rows] = part.T

    if size < _PARALLEL:
        for where in _upper_blocks(size):
            fill(where)
    else:
        keep_freed_memory()
        in_threads(fill, _upper_blocks(size))
    return value


def fill(rows: int, columns: int, block: Callable[[slice, slice], np.ndarray]) -> np.ndarray:
    """The matrix whose blocks are block(rows, columns)."""
    value = np.empty((rows, columns))
    for row in range(0, rows, BLOCK):
        for column in range(0, columns, BLOCK):
            where = slice(row, min(row + BLOCK, rows)), slice(column, min(column + BLOCK, columns))
            with np.errstate(all="ignore"):
                value[where] = block(*where)
    return value


def _upper_blocks(size: int) -> Iterator[tuple[slice, slice]]:
    starts = range(0, size, BLOCK)
    for row in starts:
        for column in starts:
            if column >= row:
                yield slice(row, min(row + BLOCK, size)), slice(column, min(column + BLOCK, size))
