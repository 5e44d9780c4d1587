"""Piecewise linear functions with a single kink, at zero."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from netsor.nonlinearities.forms.geometry import pair_geometry


@dataclass(frozen=True)
class KinkAtZero:
    """constant + slope x + absolute |x| + sign sgn(x)."""

    constant: float = 0.0
    slope: float = 0.0
    absolute: float = 0.0
    sign: float = 0.0

    def hinges(self):
        """The same function as a sum of hinges, for pairs with kinks elsewhere and for shifted variables."""
        from netsor.nonlinearities.forms.hinges import Hinge, Hinges

        # |x| = 2 max(x, 0) - x and sgn(x) = 2 step(x) - 1
        hinge = Hinge(at=0.0, side=1, slope=2 * self.absolute, jump=2 * self.sign)
        kinked = self.absolute != 0 or self.sign != 0
        return Hinges(self.constant - self.sign, self.slope - self.absolute, (hinge,) if kinked else ())

    def mean(self, mean, variance):
        if np.any(mean):
            return self.hinges().mean(mean, variance)
        return self.constant + self.absolute * np.sqrt(2 / np.pi) * np.sqrt(variance)


def kink_pair(one: KinkAtZero, two: KinkAtZero):
    """E one(u) two(v), centred, from the four pieces' second moments:

    E|u||v| = (2/pi) (s + cov arcsin rho),  E sgn(u) sgn(v) = (2/pi) arcsin rho,  E uv = cov,
    E u sgn(v) = sqrt(2/pi) cov / sd(v),  E|u| = sqrt(2/pi) sd(u),  s = sqrt(var_u var_v - cov^2),
    all other products vanish by symmetry (Sheppard 1899; Cho & Saul 2009).
    """
    root = np.sqrt(2 / np.pi)
    absolute = one.absolute * two.absolute * 2 / np.pi
    sign = one.sign * two.sign * 2 / np.pi
    linear = one.slope * two.slope
    constant = one.constant * two.constant
    constant_absolute = root * one.constant * two.absolute
    absolute_constant = root * one.absolute * two.constant
    linear_sign = root * one.slope * two.sign
    sign_linear = root * one.sign * two.slope

    # linear cov + absolute cov arcsin rho = absolute cov (tilt + arcsin rho)
    tilt = np.pi / 2 * linear / (one.absolute * two.absolute) if absolute else 0.0

    def formula(mean_u, mean_v, var_u, cov, var_v):
        value = 0.0 if absolute else linear * cov
        if absolute or sign:
            sine, arcsine = pair_geometry(var_u, cov, var_v)
            if sign:
                value = value + sign * arcsine
            if absolute:
                arcsine += tilt
                arcsine *= cov
                arcsine += sine
                arcsine *= absolute
                value = value + arcsine if sign else arcsine
        if constant:
            value = value + constant
        if constant_absolute or absolute_constant:
            value = value + constant_absolute * np.sqrt(var_v) + absolute_constant * np.sqrt(var_u)
        if linear_sign or sign_linear:
            value = value + cov * (linear_sign / np.sqrt(var_v) + sign_linear / np.sqrt(var_u))
        return value

    return formula
