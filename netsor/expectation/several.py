"""Expectations of functions of several Gaussian variables by randomised quasi-Monte Carlo."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from netsor.expectation.directions import directions
from netsor.expectation.estimate import ExpectationUndefined
from netsor.expectation.linear_algebra import SEMIDEFINITE, psd_root
from netsor.expectation.sobol import MOST_DIMENSIONS, Sobol
from netsor.expectation.threads import halt_point

# Numbers held at once by a chunk of cells: 2^22 doubles are 32 MB, and a handful of such arrays exist.
CHUNK = 2**22
BLOCK = 2**15  # points
TURNED = 2**12  # with as many points it pays to look first where the function varies
TWINS = 4 * np.finfo(float).eps  # relative rounding of variances and covariance of one variable under two names


def expect_several(
    function: Callable[[np.ndarray, slice], np.ndarray],
    mean: np.ndarray,
    covariance: np.ndarray,
    *,
    points: int = 2**13,
    replicates: int = 8,
    seed: int = 0,
    rotations: np.ndarray | None = None,
    laws: np.ndarray | None = None,
    tolerance: float = SEMIDEFINITE,
) -> np.ndarray:
    """E function(X) for X ~ N(mean, covariance), by ``replicates`` independent scramblings of Sobol's sequence.

    function(x, cells)   x of shape (cells, points, k) -> (cells, points), the cells being a slice of the C cells
    mean                 (R, C, k), R = 1 or replicates;  covariance (R, C, k, k)
    returns              (replicates, C): unbiased and independent over the first axis, so the standard error of
                         anything computed from them is that of a mean over replicates

    ``rotations`` (C, r, r), for covariances of rank r, say in which coordinates points are to be good; found for the first law if not
    given.  Cells with the same number in ``laws`` (C,) have the same mean and covariance and get the same points, so that products
    f_i f_j of functions have averages that are a Gram matrix.  ``tolerance`` is that of :func:`psd_root`.  ``points`` is rounded up to a
    power of two. The result depends on the seed and not on how cells are chunked.
    Raises ExpectationUndefined when the function is not a number somewhere: such points are never dropped.
    """
    mean, covariance = np.asarray(mean, dtype=float), np.asarray(covariance, dtype=float)
    given = np.broadcast_shapes(mean.shape[:2], covariance.shape[:2])
    cells, size = given[1], covariance.shape[-1]
    if given[0] not in (1, replicates):
        raise ValueError(f"the first axis of mean and covariance is {given[0]}, neither 1 nor {replicates} replicates")
    mean = np.broadcast_to(mean, (*given, size))
    roots = reduced_root(np.broadcast_to(covariance, (*given, size, size)), tolerance)
    rank = roots.shape[-1]
    twins = _twins(mean, covariance)
    result = np.zeros((replicates, cells))
    points = 1 << max(points - 1, 0).bit_length()
    if points >= TURNED:
        if rotations is None or rotations.shape[-1] != rank:
            rotations = directions(function, mean[0], roots[0], CHUNK, laws)
        roots = roots @ rotations
    for replicate, normals in _normals(points, rank, replicates, seed):
        law = replicate if given[0] > 1 else 0
        step = max(1, CHUNK // max(1, len(normals) * size))
        for start in range(0, cells, step):
            halt_point()
            chunk = slice(start, min(start + step, cells))
            x = normals @ roots[law, chunk].swapaxes(-1, -2) + mean[law, chunk, None, :]
            for k, same, where in twins:
                at = np.flatnonzero(where[law, chunk])
                x[at, :, same] = x[at, :, k]
            with np.errstate(all="ignore"):
                values = np.asarray(function(x, chunk), dtype=float)
            if values.shape != x.shape[:2]:
                raise ValueError(f"the function returned shape {values.shape}, expected {x.shape[:2]}")
            sums = values.sum(axis=1)
            _refuse_undefined(sums, values, x, start)
            result[replicate, chunk] += sums
    return result / points


def reduced_root(covariance: np.ndarray, tolerance: float = SEMIDEFINITE) -> np.ndarray:
    """L (..., k, r) with L L^T = covariance (..., k, k), r being the largest rank: as few variables as there are, those of the largest
    variance first where there are fewer than k."""
    roots = psd_root(covariance, tolerance)
    size = np.linalg.norm(roots, axis=-2)
    singular = (size == 0).any(axis=-1, keepdims=True)
    order = np.argsort(np.where(singular, -size, 0.0), axis=-1, kind="stable")
    rank = int((size > 0).sum(axis=-1).max(initial=0))
    return np.take_along_axis(roots, order[..., None, :], axis=-1)[..., :rank]


def _twins(mean: np.ndarray, covariance: np.ndarray) -> list[tuple[int, int, np.ndarray]]:
    """Variables that are one: (k, same, the cells where), so that a comparison of them sees a tie and not rounding."""
    variance = np.diagonal(covariance, axis1=-2, axis2=-1)
    bound = (1 + TWINS) * covariance  # of a covariance that is both variances
    equal = (variance[..., :, None] <= bound) & (variance[..., None, :] <= bound) & (mean[..., :, None] == mean[..., None, :])
    pairs = np.argwhere(np.triu(equal.any(axis=(0, 1)), 1))
    return [(k, same, np.broadcast_to(equal[..., k, same], mean.shape[:-1])) for k, same in pairs]


def _refuse_undefined(sums: np.ndarray, values: np.ndarray, x: np.ndarray, start: int) -> None:
    """A sum is a number exactly when every value is, up to overflow."""
    if np.all(np.isfinite(sums)):
        return
    cell = int(np.flatnonzero(~np.isfinite(sums))[0])
    bad = np.flatnonzero(~np.isfinite(values[cell]))
    if not len(bad):
        raise ExpectationUndefined(f"the average over cell {start + cell} overflows")
    where = np.array2string(x[cell, bad[0]], precision=4)
    raise ExpectationUndefined(
        f"the function is {values[cell, bad[0]]} at {where} (cell {start + cell}), and at {len(bad)} of "
        f"{values.shape[1]} points: its expectation is not a number"
    )


def _normals(points: int, size: int, replicates: int, seed: int) -> Iterator[tuple[int, np.ndarray]]:
    """The numbers of replicates with their (points, size) standard normals, BLOCK points at a time: scrambled Sobol points, or
    pseudo-random beyond its dimension."""
    for replicate, stream in enumerate(np.random.SeedSequence(seed).spawn(replicates)):
        generator = np.random.default_rng(stream)
        sobol = Sobol(size, generator) if 0 < size <= MOST_DIMENSIONS else None
        for start in range(0, points, BLOCK):
            stop = min(start + BLOCK, points)
            yield replicate, generator.standard_normal((stop - start, size)) if sobol is None else sobol.normal(start, stop)
