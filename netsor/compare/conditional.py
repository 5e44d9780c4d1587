"""The density at finite width against that of the limit, with nothing smoothed.

Given all that is drawn before the last products a coordinate of the output is Gaussian (:mod:`netsor.finite.conditional`), so the
density at width n is an average of Gaussians, as the limit's is.  Their divergence is resolved far below the noise floor of
histograms: what is left is the noise of two mixing variables, of order 1/runs, and its mean is taken off."""

from __future__ import annotations

import numpy as np

from netsor.compare.divergence import REACH, integrand, nodes
from netsor.expectation import Estimate
from netsor.limit.laws import GaussianMixture, LawError


def kl_of_mixtures(p: GaussianMixture, q: GaussianMixture) -> Estimate:
    """KL(p, q) by quadrature of the densities, with its jackknife error over the replicates of both laws.

    A noisy density is further from everything than the true one by a term of order 1/samples; the jackknife takes it off.

    :raises LawError: for laws with atoms."""
    if len(p.points) or len(q.points):
        raise LawError("a law with an atom has no density")
    centre, deviation = float(p.mean().value), float(p.std().value)
    x, weight = nodes(centre - REACH * deviation, centre + REACH * deviation)
    first, second = p.components.density(x), q.components.density(x)

    def divergence(own: np.ndarray, other: np.ndarray) -> float:
        with np.errstate(divide="ignore"):
            return float(weight @ integrand(np.log(own), np.log(other)))

    mean, other = first.mean(axis=0), second.mean(axis=0)
    value = divergence(mean, other)
    bias, variance = 0.0, 0.0
    for without in ([divergence(d, other) for d in _leave_one_out(first)], [divergence(mean, d) for d in _leave_one_out(second)]):
        count = len(without)
        if count > 1:
            bias += (count - 1) * (float(np.mean(without)) - value)
            variance += (count - 1) * float(np.var(without))
    return Estimate(value - bias, float(np.sqrt(variance)), "quadrature of averaged densities; jackknife")


def _leave_one_out(densities: np.ndarray) -> np.ndarray:
    """Averages over all replicates but one; nothing for a single replicate."""
    count = len(densities)
    return (densities.sum(axis=0) - densities) / (count - 1) if count > 1 else densities[:0]
