"""Piecewise linear functions with any number of kinks and jumps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from netsor.nonlinearities.forms.bivariate import density, upper_moments
from netsor.nonlinearities.forms.geometry import correlation

# Beyond this many standard deviations the normal distribution function is exactly zero in float64.
NO_MASS = 39.0


@dataclass(frozen=True)
class Hinge:
    """slope max(z, 0) + jump step(z) with z = side (x - at): the change of a function beyond a kink."""

    at: float
    side: int
    slope: float
    jump: float = 0.0


@dataclass(frozen=True)
class Hinges:
    """constant + slope x + a sum of hinges.

    Hinges face away from zero, so that those far out in the tails contribute exactly nothing: clip(x, -100, 100)
    has exactly the kernel of x.
    """

    constant: float
    slope: float
    hinges: tuple[Hinge, ...]

    @staticmethod
    def of_pieces(kinks, slopes, point, value) -> Hinges:
        """The continuous function with these slopes between (and outside) the kinks that is ``value`` at ``point``."""
        central = sum(kink < 0 for kink in kinks)
        hinges = []
        for position, kink in enumerate(kinks):
            side = 1 if position >= central else -1
            change = slopes[position + 1] - slopes[position]
            if change and np.isfinite(kink):
                hinges.append(Hinge(at=float(kink), side=side, slope=change))
        lifted = Hinges(0.0, float(slopes[central]), tuple(hinges))
        return Hinges(value - lifted(point), lifted.slope, lifted.hinges)

    def __call__(self, x):
        value = self.constant + self.slope * x
        for hinge in self.hinges:
            beyond = hinge.side * (x - hinge.at)
            value = value + hinge.slope * np.maximum(beyond, 0.0) + hinge.jump * np.heaviside(beyond, 0.0)
        return value

    def mean(self, mean, variance):
        deviation = np.sqrt(variance)
        value = self.constant + self.slope * mean + np.zeros_like(deviation)
        for hinge in self.hinges:
            threshold = hinge.side * (hinge.at - mean) / deviation
            beyond = ndtr(-threshold)
            value = value + hinge.jump * beyond
            if hinge.slope:
                value = value + hinge.slope * deviation * (density(threshold) - threshold * beyond)
        return value


def _linear_hinge(hinge, cov, mean_u, mean_v, deviation_v):
    """E u hinge(v), by Stein's lemma: cov E hinge'(v) + mean_u E hinge(v)."""
    threshold = hinge.side * (hinge.at - mean_v) / deviation_v
    beyond, ridge = ndtr(-threshold), density(threshold)
    slope = hinge.side * cov * (hinge.slope * beyond + hinge.jump * ridge / deviation_v)
    return slope + mean_u * (hinge.slope * deviation_v * (ridge - threshold * beyond) + hinge.jump * beyond)


def _hinge_hinge(one, two, mean_u, mean_v, deviation_u, deviation_v, rho, sine):
    """E one(u) two(v) from the moments of the orthant beyond both kinks."""
    h = one.side * (one.at - mean_u) / deviation_u
    k = two.side * (two.at - mean_v) / deviation_v
    if np.min(h) > NO_MASS or np.min(k) > NO_MASS:
        return 0.0
    probability, first, second, both = upper_moments(h, k, one.side * two.side * rho, sine)
    value = one.jump * two.jump * probability
    value = value + one.slope * two.jump * deviation_u * first + one.jump * two.slope * deviation_v * second
    return value + one.slope * two.slope * deviation_u * deviation_v * both


def hinges_pair(one: Hinges, two: Hinges):
    """E one(u) two(v): linear parts by Stein's lemma, pairs of hinges by Rosenbaum's orthant moments."""

    def formula(mean_u, mean_v, var_u, cov, var_v):
        deviation_u, deviation_v = np.sqrt(var_u), np.sqrt(var_v)
        rho, sine = correlation(var_u, cov, var_v)
        value = one.slope * two.slope * (cov + mean_u * mean_v)
        value = value + one.constant * two.mean(mean_v, var_v) + two.constant * one.mean(mean_u, var_u)
        value = value - one.constant * two.constant
        for hinge in two.hinges:
            value = value + one.slope * _linear_hinge(hinge, cov, mean_u, mean_v, deviation_v)
        for hinge in one.hinges:
            value = value + two.slope * _linear_hinge(hinge, cov, mean_v, mean_u, deviation_u)
        for hinge in one.hinges:
            for other in two.hinges:
                value = value + _hinge_hinge(hinge, other, mean_u, mean_v, deviation_u, deviation_v, rho, sine)
        return value

    return formula
