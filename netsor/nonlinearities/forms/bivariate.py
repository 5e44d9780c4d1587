"""Upper orthant probabilities and moments of the standard bivariate normal distribution."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr, owens_t


def density(x):
    """The standard normal density."""
    return np.exp(-0.5 * x * x) / np.sqrt(2 * np.pi)


def _ratio(numerator, sine):
    """numerator / sine, with the limit 0 where both vanish (two equal thresholds at rho = 1)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(numerator == 0, 0.0, numerator / sine)


def _offset(h, k, rho):
    """k - rho h, without cancellation when rho is close to +-1 and k close to +-h."""
    return np.where(rho > 0, (k - h) + (1.0 - rho) * h, (k + h) - (1.0 + rho) * h)


def upper_probability(h, k, rho, sine):
    """P(X > h, Y > k) for standard normal X, Y of correlation rho, sine = sqrt(1 - rho^2).

    Owen 1956, equation 2.1, by his T function; h = k = 0 is Sheppard's 1/4 + arcsin(rho) / 2 pi.
    """
    h, k, rho, sine = np.broadcast_arrays(h, k, rho, sine)
    with np.errstate(divide="ignore", invalid="ignore"):
        slope_h = np.where(h == 0, np.where(k > 0, -np.inf, np.inf), _ratio(_offset(h, k, rho), sine) / h)
        slope_k = np.where(k == 0, np.where(h > 0, -np.inf, np.inf), _ratio(_offset(k, h, rho), sine) / k)
        origin = 0.25 + np.arctan(rho / sine) / (2 * np.pi)
    product = np.sign(h) * np.sign(k)
    correction = np.where((product < 0) | ((product == 0) & (h + k > 0)), 0.5, 0.0)
    general = 0.5 * (ndtr(-h) + ndtr(-k)) - _owen(h, slope_h) - _owen(k, slope_k) - correction
    degenerate = np.where(rho > 0, ndtr(-np.maximum(h, k)), np.maximum(ndtr(-h) - ndtr(k), 0.0))
    value = np.where(sine == 0, degenerate, np.where((h == 0) & (k == 0), origin, general))
    return np.maximum(value, 0.0)


def _owen(h, slope):
    """T(h, slope), including infinite thresholds."""
    return np.where(np.isinf(h), 0.0, owens_t(np.where(np.isinf(h), 0.0, h), slope))


def upper_moments(h, k, rho, sine):
    """P, E[(X-h) 1], E[(Y-k) 1] and E[(X-h)(Y-k) 1], with 1 the indicator of X > h and Y > k.

    Rosenbaum 1961, equations 1 to 5.
    """
    probability = upper_probability(h, k, rho, sine)
    # infinite thresholds have no mass beyond them; any finite stand-in with zero density will do
    h, k = np.clip(h, -1e3, 1e3), np.clip(k, -1e3, 1e3)
    along_h = density(h) * ndtr(-_ratio(_offset(h, k, rho), sine))
    along_k = density(k) * ndtr(-_ratio(_offset(k, h, rho), sine))
    with np.errstate(divide="ignore", invalid="ignore"):
        # (h^2 - 2 rho h k + k^2) / (1 - rho^2) = h^2 + ((k - rho h) / sine)^2
        joint = sine * np.exp(-0.5 * (h * h + _ratio(_offset(h, k, rho), sine) ** 2)) / (2 * np.pi)
    first = along_h + rho * along_k - h * probability
    second = along_k + rho * along_h - k * probability
    both = (rho + h * k) * probability - k * along_h - h * along_k + joint
    return probability, first, second, both
