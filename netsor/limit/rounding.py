"""Covariances that arithmetic has left slightly outside what covariances can be."""

from __future__ import annotations

import numpy as np

NOISE = 1e-9  # of the largest variance: what cancellation may leave in place of zero


class NotACovariance(ArithmeticError):
    """A variance is negative, or a covariance too large, beyond rounding: an error of ours and not of the program."""


def nonnegative(variance: np.ndarray) -> np.ndarray:
    """Variances with negative rounding errors set to zero."""
    low = np.min(variance, initial=0.0)
    if not low < 0:
        return variance
    if low < -NOISE * np.max(variance, initial=0.0) - 1e-300:
        raise NotACovariance(f"a variance is {low:.3g}")
    return np.maximum(variance, 0.0)


def correlated(covariance: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Covariances brought back to at most sqrt(left right)."""
    bound = np.sqrt(left) * np.sqrt(right)
    excess = np.max(np.abs(covariance) - bound, initial=0.0)
    if not excess > 0:
        return covariance
    if excess > NOISE * np.max(bound, initial=0.0) + 1e-300 and excess > NOISE * max(np.max(left), np.max(right)):
        raise NotACovariance(f"a covariance exceeds the root of its variances by {excess:.3g}")
    return np.clip(covariance, -bound, bound)
