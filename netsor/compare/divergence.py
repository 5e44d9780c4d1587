"""Kullback and Leibler's divergence between densities, by quadrature of the densities themselves.

KL(p, q) = integral of p (e^u - 1 - u), u = log(q/p): the integral of q - p is zero, and in this form nothing is negative
and nothing cancels, so that divergences of 1e-8 are known to as many digits as the densities.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from netsor.expectation import Estimate

if TYPE_CHECKING:
    from netsor.limit.laws import GaussianMixture, Law

PANELS = 24
ORDER = 12
REACH = 12.0


def kl_of_densities(log_p: Callable[[np.ndarray], np.ndarray], log_q: Callable[[np.ndarray], np.ndarray], low: float, high: float,
               panels: int = PANELS) -> float:
    """KL(p, q) from logarithms of densities on [low, high], outside of which both are negligible."""
    x, weight = nodes(low, high, panels)
    return float(weight @ integrand(log_p(x), log_q(x)))


def integrand(log_p: np.ndarray, log_q: np.ndarray) -> np.ndarray:
    """p (e^u - 1 - u) with u = log q - log p, to full relative precision for small u too."""
    u = log_q - log_p
    small = np.abs(u) < 1e-2
    v = np.where(small, u, 0.0)
    series = v * v * (1 / 2 + v * (1 / 6 + v * (1 / 24 + v * (1 / 120 + v / 720))))
    with np.errstate(over="ignore", invalid="ignore"):
        # e^u may overflow where q/p does, p e^u = q does not
        far = np.exp(log_q) - np.exp(log_p) * (1 + np.where(np.isinf(log_p), 0.0, u))
    return np.where(small, np.exp(log_p) * series, far)


def nodes(low: float, high: float, panels: int = PANELS) -> tuple[np.ndarray, np.ndarray]:
    """Gauss and Legendre's rule of ORDER points on equal panels."""
    point, weight = np.polynomial.legendre.leggauss(ORDER)
    ends = np.linspace(low, high, panels + 1)
    half = 0.5 * np.diff(ends)
    middle = 0.5 * (ends[1:] + ends[:-1])
    return (middle[:, None] + half[:, None] * point).ravel(), (half[:, None] * weight).ravel()


def kl_divergence(p: Law, q: Law) -> Estimate:
    """KL(p, q) of two laws with densities.  The error is that of both densities, to first order and added up in modulus:
    a bound, and generous where the errors of neighbouring points cancel.

    :raises LawError: where one has no density."""
    centre, deviation = float(p.mean().value), float(p.std().value)
    left, right = p.support()
    x, weight = nodes(max(left, centre - REACH * deviation), min(right, centre + REACH * deviation), 2 * PANELS)
    log_p, log_q = p.logpdf(x), q.logpdf(x)
    value = float(weight @ integrand(log_p.value, log_q.value))
    # d KL = integral of dp log(p/q) - dq p/q, the parts that change the total mass aside
    u = log_q.value - log_p.value
    moved = np.exp(log_p.value) * log_p.error * np.abs(u) + np.abs(np.expm1(u)) * np.exp(log_p.value) * log_q.error
    return Estimate(value, float(weight @ moved), "quadrature of densities")


def kl_matched_gaussian(law: GaussianMixture) -> Estimate:
    """KL(law, N(its mean, its variance)): how far from Gaussian a mixture is, with its jackknife error over replicates.

    A noisy density is further from Gaussian than the true one by a term of order 1/samples; the jackknife takes it off."""
    from netsor.limit.laws import LawError

    if len(law.points):
        raise LawError("a law with an atom is infinitely far from every Gaussian")
    if law.exact:
        return Estimate(0.0, 0.0, "exact")
    centre, deviation = float(law.mean().value), float(law.std().value)
    x, weight = nodes(centre - REACH * deviation, centre + REACH * deviation)
    densities = law.components.density(x)
    means, seconds = law.means.mean(axis=1), np.mean(law.variances + law.means**2, axis=1)
    count = len(densities)
    if count == 1:
        return Estimate(_from_gaussian(x, weight, densities[0], means[0], seconds[0]), 0.0, "quadrature")
    value = _from_gaussian(x, weight, densities.mean(axis=0), means.mean(), seconds.mean())
    rest = lambda array: (array.sum(axis=0) - array) / (count - 1)  # noqa: E731
    without = np.array([_from_gaussian(x, weight, *each) for each in zip(rest(densities), rest(means), rest(seconds))])
    error = np.sqrt((count - 1) / count * np.sum((without - without.mean()) ** 2))
    corrected = count * value - (count - 1) * without.mean()
    return Estimate(corrected, float(error), f"quadrature; {law.method}")


def _from_gaussian(x: np.ndarray, weight: np.ndarray, density: np.ndarray, mean: float, second: float) -> float:
    variance = second - mean**2
    log_q = -0.5 * (x - mean) ** 2 / variance - 0.5 * np.log(2 * np.pi * variance)
    with np.errstate(divide="ignore"):
        return float(weight @ integrand(np.log(density), log_q))
