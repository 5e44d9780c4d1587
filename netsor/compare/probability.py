"""False-alarm rates: what a difference is worth, one test and many tests at once."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr, ndtri, stdtr

POWER = 0.9
"""The probability with which a deviation counts as one that would have been detected."""


def two_sided(ratio: np.ndarray | float, degrees: np.ndarray | float = np.inf) -> np.ndarray:
    """The probability that Student's t with ``degrees`` of freedom (normal for inf) exceeds abs(ratio) in modulus."""
    below = -np.abs(np.asarray(ratio, dtype=float))
    degrees = np.asarray(degrees, dtype=float)
    large = ~(degrees < 1e7)
    return 2 * np.where(large, ndtr(below), stdtr(np.where(large, 1e7, degrees), below))


def without_skewness(ratio: np.ndarray | float, skewness: np.ndarray | float) -> np.ndarray:
    """A studentised mean T turned into what is normal up to O(1/runs), for any skewness of the runs.

    Hall 1992 (J. R. Statist. Soc. B 54, 221): T + g/6 + g T^2/3 + g^2 T^3/27, monotone in T, with g the skewness of
    the mean.  Without it the tails of fourth moments are wrong by factors at the levels that matter here."""
    ratio, skewness = np.asarray(ratio, dtype=float), np.asarray(skewness, dtype=float)
    return ratio + skewness / 6 + skewness * ratio**2 / 3 + skewness**2 * ratio**3 / 27


def welch_degrees(*parts: tuple[np.ndarray | float, float]) -> np.ndarray:
    """Degrees of freedom of the sum of independent errors [(standard error, its degrees), ...] (Welch, Satterthwaite)."""
    total = sum(np.square(error) for error, _ in parts)
    weight = sum(np.square(np.square(error)) / degrees for error, degrees in parts)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(weight > 0, total**2 / weight, np.inf)


def holm(p_values: np.ndarray, level: float) -> np.ndarray:
    """Which hypotheses are rejected so that any false rejection has probability at most ``level``, however the tests
    depend on each other (Holm 1979)."""
    p_values = np.asarray(p_values, dtype=float)
    order = np.argsort(p_values, kind="stable")
    allowed = level / np.arange(len(p_values), 0, -1)
    passed = np.flatnonzero(p_values[order] > allowed)
    rejected = np.zeros(len(p_values), dtype=bool)
    rejected[order[: passed[0] if len(passed) else len(p_values)]] = True
    return rejected


def threshold(level: float) -> float:
    """The modulus that a standard normal number exceeds with probability ``level``."""
    return float(-ndtri(level / 2))


def smallest_detectable(stderr: np.ndarray | float, level: float, power: float = POWER) -> np.ndarray:
    """The deviation that a two-sided z-test at ``level`` rejects with probability ``power``."""
    return (threshold(level) + float(ndtri(power))) * np.asarray(stderr, dtype=float)


def power_against(deviation: np.ndarray | float, stderr: np.ndarray | float, level: float) -> np.ndarray:
    """The probability that a two-sided z-test at ``level`` rejects where the truth is off by ``deviation``."""
    deviation, stderr = np.abs(np.asarray(deviation, dtype=float)), np.asarray(stderr, dtype=float)
    certain = np.where(deviation > 0, np.inf, 0.0)
    ratio = np.where(stderr > 0, deviation / np.where(stderr > 0, stderr, 1.0), certain)
    return ndtr(ratio - threshold(level)) + ndtr(-ratio - threshold(level))
