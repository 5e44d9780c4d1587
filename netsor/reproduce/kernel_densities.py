"""The paper's statistic as its authors compute it: the divergence between two kernel density estimates.

Gaussian kernels with Scott's bandwidth, POINTS equidistant points between the smallest and the largest draw, OFFSET added to both
densities, both normalised on the grid (github.com/manasakai/infinite-width-attention).  :mod:`netsor.compare.kernel_density` has a
variant without the offset, which is why its floor is higher: there, regions that only one sample reaches count in full."""

from __future__ import annotations

import numpy as np

POINTS = 500
OFFSET = 1e-12


def divergences(finite: list[np.ndarray], limit: np.ndarray) -> np.ndarray:
    """KL(finite, limit) for each of several samples, on one grid."""
    from scipy.stats import gaussian_kde

    low = min(limit.min(), *(each.min() for each in finite))
    high = max(limit.max(), *(each.max() for each in finite))
    grid = np.linspace(low, high, POINTS)
    *first, second = (_normalised(gaussian_kde(sample)(grid)) for sample in (*finite, limit))
    return np.array([np.sum(p * np.log(p / second)) for p in first])


def _normalised(density: np.ndarray) -> np.ndarray:
    return (density + OFFSET) / np.sum(density + OFFSET)
