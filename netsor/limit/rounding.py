"""Covariances that arithmetic, or the noise of quasi-random points, has left slightly outside what covariances can be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


class NotACovariance(ArithmeticError):
    """A variance is negative, or a covariance too large, beyond rounding and noise: an error of ours and not of the program."""


@dataclass(frozen=True)
class Allowance:
    """What may be cut off, as a fraction of the largest variance, and who is told of the average that was."""

    share: float = 1e-9  # what cancellation may leave in place of zero
    tell: Callable[[float], None] = lambda cut: None


CANCELLATION = Allowance()


def nonnegative(variance: np.ndarray, allowance: Allowance = CANCELLATION) -> np.ndarray:
    """Variances with negative errors set to zero."""
    low = np.min(variance, initial=0.0)
    if not low < 0:
        return variance
    largest = np.max(variance, initial=0.0)
    if low < -allowance.share * largest - 1e-300:
        raise NotACovariance(f"a variance is {low:.3g}")
    _tell(allowance, np.minimum(variance, 0.0), largest)
    return np.maximum(variance, 0.0)


def correlated(covariance: np.ndarray, left: np.ndarray, right: np.ndarray, allowance: Allowance = CANCELLATION) -> np.ndarray:
    """Covariances brought back to at most sqrt(left right)."""
    bound = np.sqrt(left) * np.sqrt(right)
    beyond = np.abs(covariance) - bound
    excess = np.max(beyond, initial=0.0)
    if not excess > 0:
        return covariance
    largest = np.max(bound, initial=0.0)
    if excess > allowance.share * largest + 1e-300 and excess > allowance.share * max(np.max(left), np.max(right)):
        raise NotACovariance(f"a covariance exceeds the root of its variances by {excess:.3g}")
    _tell(allowance, np.maximum(beyond, 0.0), largest)
    return np.clip(covariance, -bound, bound)


def _tell(allowance: Allowance, cut: np.ndarray, largest: float) -> None:
    if largest > 0:
        allowance.tell(float(np.mean(np.abs(cut))) / float(largest))
