"""Kolmogorov and Smirnov's distance between draws and a distribution function, at one width and at infinite width.

The empirical distribution functions F_n of several widths are combined as any other statistic: weights w with sum 1 that
cancel the terms in 1/n.  sum_n w_n F_n minus its mean is again a Brownian bridge, that of
1/sum(w_n^2/N_n) draws, so that the extrapolated distance has Kolmogorov's distribution too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import kolmogi, kolmogorov, ndtri

from netsor.compare.bias import MISFIT, intercept_weights, number_of_terms
from netsor.compare.probability import POWER


def probability(distance: float, count: float) -> float:
    """That the distance of ``count`` draws from their own law is at least ``distance`` (Stephens 1970: accurate from 4
    draws on, conservative for laws with atoms)."""
    return float(kolmogorov(_factor(count) * max(distance, 0.0)))


def critical(level: float, count: float) -> float:
    """The distance with false-alarm rate ``level``."""
    return float(kolmogi(level)) / _factor(count)


def smallest_detectable(count: float, level: float, slack: float = 0.0, power: float = POWER) -> float:
    """A difference of distribution functions that is detected with at least this power (bound: at one point the
    empirical function has standard deviation <= 1/(2 sqrt(count)))."""
    return critical(level, count) + float(slack) + float(ndtri(power)) * 0.5 / math.sqrt(count)


def _factor(count: float) -> float:
    root = math.sqrt(count)
    return root + 0.12 + 0.11 / root


@dataclass(frozen=True)
class Extrapolated:
    """The distance at infinite width and the number of draws at one width that would be as telling.

    ``misfit`` is the probability of the largest distance of an F_n from the fit (Bonferroni over widths; 1 if there is
    nothing to check), ``residuals`` those of each of ``widths``."""

    distance: float
    count: float
    terms: int
    misfit: float
    residuals: dict[int, float]
    left_out: tuple[int, ...] = ()


def extrapolate(widths: list[int], below: list[np.ndarray], counts: list[int], reference: np.ndarray) -> Extrapolated | None:
    """From F_n at the same edges at several widths; the smallest widths are left out until the fit is consistent."""
    order = np.argsort(widths)
    widths, below, counts = ([sequence[k] for k in order] for sequence in (list(widths), below, counts))
    if len(widths) < 2:
        return None
    first = found = _extrapolate(widths, below, counts, reference, ())
    start = 1
    while found.misfit < MISFIT and len(widths) - start >= 3:
        found = _extrapolate(widths[start:], below[start:], counts[start:], reference, tuple(widths[:start]))
        start += 1
    return found if found.misfit >= MISFIT else first


def _extrapolate(widths, below, counts, reference, left_out) -> Extrapolated:
    errors = 1 / np.sqrt(np.asarray(counts, dtype=float))
    weights, hat = intercept_weights(widths, errors)
    functions = np.array(below)
    distance = float(np.max(np.abs(weights @ functions - reference), initial=0.0))
    count = float(1 / np.sum(weights**2 * errors**2))
    residuals: dict[int, float] = {}
    if len(widths) > number_of_terms(len(widths)) + 1:
        off = functions - hat @ functions
        rest = np.eye(len(widths)) - hat
        variance = np.sum((rest * errors) ** 2, axis=1)
        residuals = {
            width: probability(float(np.max(np.abs(row))), 1 / own) for width, row, own in zip(widths, off, variance)}
    misfit = min([1.0, *[p * len(widths) for p in residuals.values()]])
    return Extrapolated(distance, count, number_of_terms(len(widths)), misfit, residuals, left_out)
