"""The attention paper's statistic: the divergence between two kernel density estimates (Sakai, Karakida & Imaizumi 2025).

For its figures, not for decisions: smoothing hides small differences and noise makes large ones of none.  So it comes with
its floor, the same statistic between independent samples of one law.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from netsor.compare.divergence import integrand

POINTS = 400
REACH = 6.0
FLOOR_PAIRS = 4


@dataclass(frozen=True)
class KernelDensityDivergence:
    """The statistic at one width beside its noise floor, mean and standard deviation over pairs of samples of the limit.

    Only a value well above ``floor + 3 floor_deviation`` says anything."""

    output: str
    element: str
    width: int
    value: float
    floor: float
    floor_deviation: float


def kde_divergence(first: np.ndarray, second: np.ndarray, points: int = POINTS) -> float:
    """KL between Gaussian kernel density estimates (Scott's bandwidth) of two samples, on a grid over REACH standard
    deviations of the second; NaN where one is not finite or constant, and has no such estimate."""
    if not all(np.isfinite(sample).all() and np.std(sample) > 0 for sample in (first, second)):
        return float("nan")
    density_p, density_q = (_density(sample, second, points) for sample in (first, second))
    step = 2 * REACH * float(np.std(second)) / (points - 1)
    return float(step * np.sum(integrand(density_p, density_q)))


def noise_floor(samples: list[np.ndarray], points: int = POINTS) -> tuple[float, float]:
    """Mean and standard deviation of the statistic between independent samples of one law, two by two."""
    values = [kde_divergence(a, b, points) for a, b in zip(samples[::2], samples[1::2])]
    return float(np.mean(values)), float(np.std(values, ddof=1)) if len(values) > 1 else float("inf")


def _density(sample: np.ndarray, around: np.ndarray, points: int) -> np.ndarray:
    """The logarithm of the estimate on the grid."""
    from scipy.stats import gaussian_kde

    centre, deviation = float(np.mean(around)), float(np.std(around))
    grid = np.linspace(centre - REACH * deviation, centre + REACH * deviation, points)
    density = gaussian_kde(sample)(grid)
    return np.log(np.maximum(density, np.finfo(float).tiny))
