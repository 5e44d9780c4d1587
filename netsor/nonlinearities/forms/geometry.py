"""The angle between two Gaussian variables, accurate where they coincide."""

from __future__ import annotations

import numpy as np

# 1 - |rho| below this is rounding of the covariance, not information about the angle.
SNAP = 4 * np.finfo(float).eps


def pair_geometry(var_u, cov, var_v):
    """sqrt(var_u var_v - cov^2) and arcsin(rho), for covariance matrices [[var_u, cov], [cov, var_v]]: new arrays.

    The product of variances is never formed, so nothing overflows; |rho| within a few units in the last
    place of 1 (or beyond, by rounding) gives exactly 0 and +-pi/2.
    """
    sine = pair_sine(var_u, cov, var_v)
    with np.errstate(divide="ignore", invalid="ignore"):
        arcsine = np.asarray(np.divide(cov, sine))
    return sine, np.arctan(arcsine, out=arcsine)


def pair_sine(var_u, cov, var_v):
    """sqrt(var_u var_v - cov^2), exactly 0 at |rho| = 1: a new array."""
    return _scale_and_sine(var_u, cov, var_v)[1]


def half_angle(var_u, cov, var_v):
    """tan(arcsin(rho) / 2) = rho / (1 + sqrt(1 - rho^2)): from -1 to 1 with rho, a new array."""
    scale, sine = _scale_and_sine(var_u, cov, var_v)
    sine += scale
    return np.divide(cov, sine, out=sine)


def _scale_and_sine(var_u, cov, var_v):
    """sqrt(var_u var_v) and sqrt(var_u var_v - cov^2)."""
    scale = np.asarray(np.sqrt(var_u) * np.sqrt(var_v))
    size = np.asarray(np.abs(cov))
    gap = np.asarray(scale - size)
    total = np.add(scale, size, out=size if size.shape == gap.shape else None)
    np.copyto(gap, 0.0, where=gap <= SNAP * scale)
    # two roots rather than the root of a product, for the sake of very large and very small variances
    np.sqrt(gap, out=gap)
    gap *= np.sqrt(total, out=total)
    return scale, gap


def correlation(var_u, cov, var_v):
    """rho and sqrt(1 - rho^2), snapped to +-1 and 0 as in ``pair_geometry``."""
    scale = np.sqrt(var_u) * np.sqrt(var_v)
    with np.errstate(divide="ignore", invalid="ignore"):
        rho = np.where(scale > 0, np.asarray(cov, dtype=float) / scale, 0.0)
    rho = np.where(1.0 - np.abs(rho) > SNAP, rho, np.sign(rho))
    return rho, np.sqrt((1.0 - rho) * (1.0 + rho))
