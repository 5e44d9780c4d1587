"""E g(Z) for every component of a mixture."""

from __future__ import annotations

import numpy as np

from netsor.expectation import ExpectationUndefined, UnaryFunction, expect_unary
from netsor.expectation.chebyshev import lobatto, to_coefficients
from netsor.limit.laws.base import LawError

DIRECT = 200  # with fewer distinct variances interpolation does not pay
ORDERS = (17, 33, 65, 129)
WANTED = 1e-13


def component_means(g: UnaryFunction, mean: np.ndarray, variance: np.ndarray) -> tuple[np.ndarray, np.ndarray, str]:
    """E g(Z), Z ~ N(mean, variance) for arrays of one shape: values, errors and the method.

    For a common mean and many variances it is interpolated in log V, where it is analytic, by Chebyshev polynomials
    whose order doubles until the coefficients have decayed; otherwise, or if they do not decay, one by one (polynomials
    too: they have closed forms).
    Raises LawError when an expectation does not exist.
    """
    try:
        with np.errstate(all="ignore"):  # a divergent integral overflows before it is refused
            smooth = g.polynomial is None and np.ptp(mean) == 0 and variance.min() > 0
            if smooth and len(np.unique(variance)) > DIRECT:
                interpolated = _interpolated(g, float(mean.flat[0]), variance)
                if interpolated is not None:
                    return interpolated
            estimate = expect_unary(g, mean, variance)
    except ExpectationUndefined as error:
        raise LawError(str(error)) from error
    return estimate.value, estimate.error, estimate.method


def _interpolated(g: UnaryFunction, mean: float, variance: np.ndarray) -> tuple[np.ndarray, np.ndarray, str] | None:
    logs = np.log(variance)
    middle, half = 0.5 * (logs.max() + logs.min()), 0.5 * np.ptp(logs)
    if half < 1e-6:
        return None
    for nodes in ORDERS:
        estimate = expect_unary(g, mean, np.exp(middle + half * lobatto(nodes)))
        size = np.abs(estimate.value).max()
        coefficients = to_coefficients(nodes) @ estimate.value
        missed = np.abs(coefficients[-4:]).max()
        if missed <= WANTED * size:
            value = np.polynomial.chebyshev.chebval(np.clip((logs - middle) / half, -1, 1), coefficients)
            error = np.full(variance.shape, 4 * missed + estimate.error.max())
            return value, error, f"{estimate.method}, interpolated in log V ({nodes} nodes)"
    return None
