"""Errors from independent randomisations: samples have shape (R, M), R replicates of M samples each."""

from __future__ import annotations

from typing import Any

import numpy as np


def replicated(*arrays: Any) -> tuple[np.ndarray, ...]:
    """The arrays as read-only float64 of one common shape (R, M); scalars are broadcast, R = M = 1 if all are scalars.

    ValueError for other shapes, for values that are not finite, and for one replicate of several samples, whose error
    nothing could tell.
    """
    arrays = tuple(np.asarray(array, dtype=float) for array in arrays)
    if any(array.ndim not in (0, 2) for array in arrays):
        shapes = ", ".join(str(array.shape) for array in arrays)
        raise ValueError(f"samples of a law have shape (replicates, samples) or are scalars, not {shapes}")
    arrays = np.broadcast_arrays(*arrays)
    if arrays[0].ndim == 0:
        arrays = [array.reshape(1, 1) for array in arrays]
    replicates, samples = arrays[0].shape
    if replicates * samples == 0:
        raise ValueError(f"a law needs samples, the shape is {arrays[0].shape}")
    if replicates == 1 and samples > 1:
        raise ValueError("one randomisation says nothing about its own error: a law needs at least two of them")
    if not all(np.isfinite(array).all() for array in arrays):
        raise ValueError("the samples of a law must be finite")
    copies = tuple(np.array(array) for array in arrays)
    for array in copies:
        array.setflags(write=False)
    return copies


def standard_error(replicates: np.ndarray) -> np.ndarray:
    """One standard error of the mean over the first axis (R replicates); 0 for R = 1, which stands for no sampling."""
    count = len(replicates)
    if count == 1:
        return np.zeros(replicates.shape[1:])
    return replicates.std(axis=0, ddof=1) / np.sqrt(count)


def influence_error(influence: np.ndarray) -> float:
    """The delta method: the standard error of a smooth statistic from its influence function at the samples (R, M).

    To first order the statistic of the pooled samples is its true value plus the mean of the influence function.
    """
    return float(standard_error(influence.mean(axis=1)))


def sampling_text(shape: tuple[int, int]) -> str:
    """What the samples are, for ``method``."""
    return "exact" if shape == (1, 1) else f"{shape[0]} randomisations of {shape[1]} samples"
