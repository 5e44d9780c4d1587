"""The directions of a Gaussian vector along which a function varies most, for the first coordinates of quasi-random points.

Quasi-random points are better in their first coordinates, and pairs of them, than in later ones.  With X = R z and z standard normal any
rotation of z is allowed; the eigenvectors of E[grad f grad f^T], largest eigenvalue first, put the variation of f there.
Source: Xiao & Wang 2019, SIAM J. Sci. Comput. 41, A2715-A2739 (gradient principal component analysis).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

FEWEST_VARIABLES = 3
_PLACES = 64
_STEP = 0.25  # standard deviations: differences as wide as this see jumps too


def directions(
    function: Callable[[np.ndarray, slice], np.ndarray], mean: np.ndarray, roots: np.ndarray, budget: int, laws: np.ndarray | None = None,
) -> np.ndarray:
    """A rotation (cells, r, r) for each of the roots (cells, k, r) of covariances, for means (cells, k).

    function(x, cells) as for :func:`netsor.expectation.expect_several`; at most ``budget`` numbers are held at once.  Any rotation is right:
    a cell where the function is not a number is not turned.  Cells with the same number in ``laws`` (cells,) get one rotation, in which
    each of them weighs the same."""
    cells, size, rank = roots.shape
    if size < FEWEST_VARIABLES or not rank:
        return np.broadcast_to(np.eye(rank), (cells, rank, rank))
    energies = np.zeros((cells, rank, rank))
    places = np.random.default_rng(0).standard_normal((_PLACES, 1, rank))
    normals = np.concatenate([np.zeros((1, rank)), _STEP * np.eye(rank), -_STEP * np.eye(rank)]) + places
    normals = normals.reshape(-1, rank)
    step = max(1, budget // (len(normals) * size))
    for start in range(0, cells, step):
        part = slice(start, min(start + step, cells))
        x = normals @ roots[part].swapaxes(-1, -2) + mean[part, None, :]
        with np.errstate(all="ignore"):
            values = np.asarray(function(x, part), dtype=float).reshape(-1, _PLACES, 1 + 2 * rank)
            slopes = values[..., 1:rank + 1] - values[..., rank + 1:]
            energies[part] = np.einsum("cpi,cpj->cij", slopes, slopes)
    energies[~np.isfinite(energies).all(axis=(1, 2))] = np.diag(np.arange(rank, 0.0, -1.0))
    if laws is None:
        return np.linalg.eigh(energies)[1][..., ::-1]  # largest first
    total = np.trace(energies, axis1=1, axis2=2)
    shared = np.zeros((laws.max(initial=-1) + 1, rank, rank))
    np.add.at(shared, laws, energies / np.where(total > 0, total, 1.0)[:, None, None])
    return np.linalg.eigh(shared)[1][laws, :, ::-1]
