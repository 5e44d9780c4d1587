"""The bias of finite width: f(n) = f(inf) + b/n + c/n^2 + ..., fitted, cancelled by pairs, and its rate of decay.

Expansions are in 1/n and not in 1/sqrt(n) because a score is odd in its fresh factor: its odd cumulants, which are what
the odd powers of 1/sqrt(n) multiply, vanish.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import chdtrc

MISFIT = 1e-3
"""Probability of chi-squared below which a fit is not trusted and the smallest width is left out."""

WIDTHS_FOR_TWO_TERMS = 4
SEEN = 5.0
"""Standard errors of the bias from which on a rate of decay is worth fitting."""


@dataclass(frozen=True)
class BiasFit:
    """Weighted least squares of values against 1, 1/n, ... over ``widths``.

    ``weights @ values`` is the intercept: the value at infinite width.  ``predicted``, ``residual_errors`` (standard
    errors of value - predicted), ``bias`` (predicted - intercept) and ``bias_errors`` are at ``widths``; ``p_value`` is that of
    chi-squared, 1 if there are no degrees of freedom.  ``left_out`` widths were too small for the form of the fit."""

    widths: tuple[int, ...]
    terms: int
    coefficients: np.ndarray
    covariance: np.ndarray
    weights: np.ndarray
    predicted: np.ndarray
    residual_errors: np.ndarray
    bias: np.ndarray
    bias_errors: np.ndarray
    chi_squared: float
    left_out: tuple[int, ...] = ()

    @property
    def intercept(self) -> float:
        return float(self.coefficients[0])

    @property
    def intercept_error(self) -> float:
        return float(np.sqrt(self.covariance[0, 0]))

    @property
    def degrees(self) -> int:
        return len(self.widths) - len(self.coefficients)

    @property
    def p_value(self) -> float:
        return float(chdtrc(self.degrees, self.chi_squared)) if self.degrees > 0 else 1.0

    @property
    def fits(self) -> bool:
        """Whether the data are of the fitted form as far as one can see."""
        return self.p_value >= MISFIT


def number_of_terms(widths: int) -> int:
    """Powers of 1/n that are fitted: fixed by the number of widths beforehand, so that no choice looks at the data."""
    return 0 if widths < 2 else 1 if widths < WIDTHS_FOR_TWO_TERMS else 2


def design(widths: Sequence[int], terms: int) -> np.ndarray:
    """Rows (1, 1/n, ..., 1/n^terms), n in units of the smallest width."""
    return (min(widths) / np.asarray(widths, dtype=float))[:, None] ** np.arange(terms + 1)


def intercept_weights(widths: Sequence[int], errors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The weights of the values in the intercept, and the matrix that takes values to predictions."""
    rows = design(widths, number_of_terms(len(widths)))
    inverse = np.linalg.pinv(rows / errors[:, None])
    solve = inverse / errors
    return solve[0], rows @ solve


def fit_bias(widths: Sequence[int], values: np.ndarray, errors: np.ndarray) -> BiasFit | None:
    """The fit with the smallest widths left out until it fits; None for fewer than two widths.

    Under the null chi-squared is independent of the intercept, so that leaving out costs no false alarms beyond
    MISFIT times those of a biased intercept.  With two widths left the fit is an interpolation and is not checked."""
    order = np.argsort(widths)
    widths = np.asarray(widths)[order]
    values, errors = np.asarray(values, dtype=float)[order], np.asarray(errors, dtype=float)[order]
    if len(widths) < 2:
        return None
    first = fit = _fit(widths, values, errors, ())
    start = 1
    while not fit.fits and len(widths) - start >= 3:
        fit = _fit(widths[start:], values[start:], errors[start:], tuple(map(int, widths[:start])))
        start += 1
    return fit if fit.fits else first


def _fit(widths: np.ndarray, values: np.ndarray, errors: np.ndarray, left_out: tuple[int, ...]) -> BiasFit:
    terms = number_of_terms(len(widths))
    rows = design(widths, terms)
    solve = np.linalg.pinv(rows / errors[:, None]) / errors
    coefficients, covariance = solve @ values, (solve * errors**2) @ solve.T
    predicted = rows @ coefficients
    own = np.einsum("ij,jk,ik->i", rows, covariance, rows)
    residual_errors = np.sqrt(np.maximum(errors**2 - own, 0.0))
    powers_of_width = rows[:, 1:]
    bias = powers_of_width @ coefficients[1:]
    bias_errors = np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", powers_of_width, covariance[1:, 1:], powers_of_width), 0.0))
    chi_squared = float(np.sum(((values - predicted) / errors) ** 2))
    powers = float(widths.min()) ** np.arange(terms + 1)
    return BiasFit(
        tuple(map(int, widths)), terms, coefficients * powers, covariance * np.outer(powers, powers), solve[0],
        predicted, residual_errors, bias, bias_errors, chi_squared, left_out,
    )


def cancelled(widths: Sequence[int], values: np.ndarray, errors: np.ndarray) -> list[tuple[int, float, float]]:
    """(n, 2 f(2n) - f(n), its error) for every pair (n, 2n) among the widths: the term in 1/n is gone."""
    place = {int(width): k for k, width in enumerate(widths)}
    found = []
    for n, k in sorted(place.items()):
        if 2 * n in place:
            m = place[2 * n]
            found.append((n, float(2 * values[m] - values[k]), float(np.hypot(2 * errors[m], errors[k]))))
    return found


def decay_rate(widths: Sequence[int], differences: np.ndarray, errors: np.ndarray) -> tuple[float, float] | None:
    """alpha and its standard error in difference = b n^-alpha, by weighted least squares.

    None if fewer than two widths show a bias of SEEN errors, or its sign changes among them: then nothing is known
    about a rate."""
    widths = np.asarray(widths, dtype=float)
    differences, errors = np.asarray(differences, dtype=float), np.asarray(errors, dtype=float)
    seen = np.abs(differences) > SEEN * errors
    if seen.sum() < 2 or len(set(np.sign(differences[seen]))) > 1:
        return None
    log_n = np.log(widths / widths.min())

    low, high = -2.0, 6.0
    for _ in range(8):  # finer and finer around the best point, until the step is far below any error
        grid = np.linspace(low, high, 33)
        shapes = np.exp(-grid[:, None] * log_n) / errors
        sizes = shapes @ (differences / errors) / np.sum(shapes**2, axis=1)
        best = int(np.argmin(np.sum((differences / errors - sizes[:, None] * shapes) ** 2, axis=1)))
        low, high, alpha, size = grid[max(best - 1, 0)], grid[min(best + 1, 32)], grid[best], sizes[best]
    shape = np.exp(-alpha * log_n)
    jacobian = np.stack([shape, -size * log_n * shape], axis=1) / errors[:, None]
    information = jacobian.T @ jacobian
    determinant = np.linalg.det(information)
    if not determinant > 0:
        return None
    return float(alpha), float(np.sqrt(information[0, 0] / determinant))
