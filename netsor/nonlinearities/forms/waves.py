"""Combinations of sin, cos and exp."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Waves:
    """sine sin(x) + cosine cos(x) + exponential e^x."""

    sine: float = 0.0
    cosine: float = 0.0
    exponential: float = 0.0

    def shifted(self, mean):
        """The coefficients of the same function of x - mean."""
        sine = self.sine * np.cos(mean) - self.cosine * np.sin(mean)
        cosine = self.cosine * np.cos(mean) + self.sine * np.sin(mean)
        return sine, cosine, self.exponential * np.exp(mean)

    def mean(self, mean, variance):
        """E cos Z = e^{-v/2}, E e^Z = e^{v/2} for centred Z."""
        _, cosine, exponential = self.shifted(mean)
        return cosine * np.exp(-0.5 * variance) + (exponential * np.exp(0.5 * variance) if self.exponential else 0.0)


def waves_pair(one: Waves, two: Waves):
    """E one(u) two(v), from the Gaussian integrals

    E sin sin = e^{-(a+b)/2} sinh c, E cos cos = e^{-(a+b)/2} cosh c, E e^u e^v = e^{(a+b)/2 + c},
    E e^u sin v = e^{(a-b)/2} sin c, E e^u cos v = e^{(a-b)/2} cos c, E sin cos = 0,
    with a = var_u, b = var_v, c = cov.  The first two are written so that nothing overflows.
    """

    waves = (one.sine or one.cosine) and (two.sine or two.cosine)

    def formula(mean_u, mean_v, var_u, cov, var_v):
        sine_u, cosine_u, exp_u = one.shifted(mean_u)
        sine_v, cosine_v, exp_v = two.shifted(mean_v)
        value = np.zeros(np.broadcast_shapes(np.shape(var_u), np.shape(cov), np.shape(var_v)))
        if waves:
            size = np.abs(cov)
            crest = 0.5 * np.exp(size - 0.5 * (var_u + var_v))
            double = np.exp(-2.0 * size)
            value = value + cosine_u * cosine_v * crest * (1.0 + double)
            value = value - sine_u * sine_v * np.sign(cov) * crest * np.expm1(-2.0 * size)
        if one.exponential and two.exponential:
            value = value + exp_u * exp_v * np.exp(0.5 * (var_u + var_v) + cov)
        if one.exponential and (two.sine or two.cosine):
            growth = exp_u * np.exp(0.5 * (var_u - var_v))
            value = value + growth * (sine_v * np.sin(cov) + cosine_v * np.cos(cov))
        if two.exponential and (one.sine or one.cosine):
            growth = exp_v * np.exp(0.5 * (var_v - var_u))
            value = value + growth * (sine_u * np.sin(cov) + cosine_u * np.cos(cov))
        return value

    return formula
