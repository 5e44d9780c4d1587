"""Statistics of independent runs: a value, its standard error, and how skewed the estimate still is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Measured:
    """Estimates from ``runs`` independent runs; ``value``, ``stderr`` and ``third`` are arrays of one shape.

    ``third`` is the third cumulant of the estimate.  Divided by ``stderr**3`` it is the skewness that is left of the
    central limit theorem, of order 1/sqrt(runs)."""

    value: np.ndarray
    stderr: np.ndarray
    third: np.ndarray
    runs: int

    def __getitem__(self, index: Any) -> Measured:
        return Measured(self.value[index], self.stderr[index], self.third[index], self.runs)


def mean_of(values: np.ndarray) -> Measured:
    """The mean over runs (axis 0): an unbiased estimate of E g for one number g of each run."""
    mean = values.mean(axis=0)
    return _with_influence(mean, values - mean)


def with_average(values: np.ndarray) -> np.ndarray:
    """Values (runs, elements) and, if there are several elements, one more column: their average."""
    if values.shape[1] < 2:
        return values
    return np.concatenate([values, values.mean(axis=1, keepdims=True)], axis=1)


def excess_kurtosis_of(centred: np.ndarray, average: bool = False) -> Measured:
    """E c^4/(E c^2)^2 - 3 from ``centred`` of shape (runs, ..., coordinates).

    Coordinates of one run are dependent: powers are averaged over them first.  The error is that of the influence
    function (c^4 - m4)/m2^2 - 2 (m4/m2^3) (c^2 - m2).  The bias of the ratio is of order 1/runs, below its error by
    a factor of sqrt(runs).  ``average`` adds the average over elements, ``centred`` being (runs, elements, coordinates)."""
    square = np.square(_in_units(centred))
    second, fourth = square.mean(axis=-1), (square * square).mean(axis=-1)
    m2, m4 = second.mean(axis=0), fourth.mean(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = m4 / m2**2
        influence = (fourth - m4) / m2**2 - 2 * ratio * (second - m2) / m2
    if average:
        ratio, influence = with_average(ratio[None])[0], with_average(influence)
    return _with_influence(ratio - 3, influence)


def _in_units(centred: np.ndarray) -> np.ndarray:
    """Values in units of a power of two near the largest: fourth powers neither overflow nor vanish, and no digit changes."""
    _, exponent = np.frexp(np.max(np.abs(centred), axis=(0, -1), keepdims=True, initial=0.0))
    return centred * np.ldexp(1.0, -np.clip(exponent, -1000, 1000))


def _with_influence(value: np.ndarray, influence: np.ndarray) -> Measured:
    """The estimate with the errors of a mean of ``influence`` (runs, ...), which has mean zero."""
    runs = len(influence)
    square = influence * influence
    variance = square.sum(axis=0) / max(runs - 1, 1) / runs
    third = (square * influence).mean(axis=0) / runs**2
    return Measured(np.asarray(value), np.sqrt(variance), third, runs)
