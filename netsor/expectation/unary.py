"""E f(Z) for one Gaussian variable: an ordered tuple of strategies."""

from __future__ import annotations

from typing import Any

import numpy as np

from netsor.expectation.adaptive import adaptive_expectation
from netsor.expectation.cells import expect_cells
from netsor.expectation.chebyshev import lobatto, to_coefficients
from netsor.expectation.estimate import Estimate, ExpectationUndefined
from netsor.expectation.functions import CellFunction, UnaryFunction

ROUNDING = 8 * np.finfo(float).eps
DIRECT = 200  # with fewer variances interpolation does not pay
ORDERS = (17, 33, 65, 129)
WANTED = 1e-13


def expect_unary(f: UnaryFunction | CellFunction, mean: Any, variance: Any) -> Estimate:
    """E f(Z), Z ~ N(mean, variance), for arrays of cells; mean and variance broadcast.

    Raises ValueError for a negative or infinite variance, ExpectationUndefined when the expectation is not a
    finite number. A CellFunction has one cell for each element of the broadcast shape, in C order.
    """
    mean, variance = np.broadcast_arrays(np.asarray(mean, dtype=float), np.asarray(variance, dtype=float))
    shape = mean.shape
    mean, variance = mean.ravel(), variance.ravel()
    check_moments(mean, variance)
    if isinstance(f, CellFunction):
        estimate = expect_cells(f, mean, variance)
        return _finite(f, Estimate(estimate.value.reshape(shape), estimate.error.reshape(shape), estimate.method))
    check_integrable(f)
    value, error = np.empty(len(mean)), np.zeros(len(mean))
    spread = variance > 0
    method = "exact"
    value[~spread] = f(mean[~spread])
    if np.any(spread):
        estimate = _first(f, mean[spread], variance[spread])
        value[spread], error[spread], method = estimate.value, estimate.error, estimate.method
    return _finite(f, Estimate(value.reshape(shape), error.reshape(shape), method))


def check_integrable(f: UnaryFunction, power: int = 1) -> None:
    """ExpectationUndefined if f**power has a singularity that no density smooths away (a power of the distance of -1 or less)."""
    if power * f.local_exponent <= -1 + 1e-3:
        what = f.label if power == 1 else f"the square of {f.label}"
        raise ExpectationUndefined(f"{what} is not integrable at a singularity")


def check_moments(mean: np.ndarray, variance: np.ndarray) -> None:
    """ExpectationUndefined or ValueError unless these are moments of Gaussian variables."""
    if not np.all(np.isfinite(mean)) or not np.all(np.isfinite(variance)):
        raise ExpectationUndefined("the mean or variance of a Gaussian variable is not finite")
    if np.any(variance < 0):
        raise ValueError(f"the variance of a Gaussian variable is negative: {variance.min():.6g}")


def _finite(f: Any, estimate: Estimate) -> Estimate:
    if np.all(np.isfinite(estimate.value)):
        return estimate
    bad = estimate.value[~np.isfinite(estimate.value)].flat[0]
    reason = "its values leave the domain of the function" if np.isnan(bad) else "it overflows or diverges"
    raise ExpectationUndefined(f"the expectation of {f.label} is {bad}: {reason}")


def _first(f: UnaryFunction, mean: np.ndarray, variance: np.ndarray) -> Estimate:
    for strategy in STRATEGIES:
        estimate = strategy(f, mean, variance)
        if estimate is not None:
            return estimate
    raise AssertionError("quadrature takes every function")


def odd_function(f: UnaryFunction, mean: np.ndarray, variance: np.ndarray) -> Estimate | None:
    """An odd function of a centred variable has mean zero."""
    if f.parity != -1 or np.any(mean):
        return None
    return Estimate(np.zeros_like(variance), 0.0, "exact")


def polynomial(f: UnaryFunction, mean: np.ndarray, variance: np.ndarray) -> Estimate | None:
    """Gaussian moments."""
    if f.polynomial is None:
        return None
    from netsor.nonlinearities.forms import PolynomialForm

    value = PolynomialForm(f.polynomial).mean(mean, variance)
    size = PolynomialForm(tuple(np.abs(f.polynomial))).mean(np.abs(mean), variance)
    return Estimate(value, ROUNDING * size, "exact")


def closed_form(f: UnaryFunction, mean: np.ndarray, variance: np.ndarray) -> Estimate | None:
    """A formula for shifted variables from the function's form, or one for centred variables from its declaration."""
    form = f.form
    with np.errstate(all="ignore"):
        if form is not None:
            value = form.mean(mean, variance)
        elif f.nonlinearity is not None and not np.any(mean):
            value = f.nonlinearity.mean(variance, *f.parameters)
        else:
            value = None
    if value is None:
        return None
    value = np.broadcast_to(value, mean.shape)
    # clipped functions are differences of large numbers when the mean is far out
    return Estimate(value, ROUNDING * (np.abs(value) + np.abs(mean)), "closed form")


def quadrature(f: UnaryFunction, mean: np.ndarray, variance: np.ndarray) -> Estimate:
    """Adaptive Gauss-Legendre panels between the kinks, once for each distinct cell."""
    distinct, back = np.unique(np.stack([mean, variance], axis=1), axis=0, return_inverse=True)
    centre, deviation = distinct[:, 0], np.sqrt(distinct[:, 1])

    def integrand(cells: np.ndarray, x: np.ndarray) -> np.ndarray:
        return f(centre[cells, None] + deviation[cells, None] * x)

    value, error, nodes = adaptive_expectation(integrand, f.breaks(centre, deviation))
    back = back.ravel()
    split = ", split at kinks" if f.kinks else ""
    return Estimate(value[back], error[back], f"quadrature ({nodes} nodes{split})")


def variance_interpolation(f: UnaryFunction, mean: np.ndarray, variance: np.ndarray) -> Estimate | None:
    """Many variances and one mean: the expectation is analytic in log V and interpolated there by Chebyshev polynomials whose order
    doubles until the coefficients have decayed."""
    if len(variance) <= DIRECT or np.ptp(mean) > 0:
        return None
    logs = np.log(variance)
    middle, half = 0.5 * (logs.max() + logs.min()), 0.5 * np.ptp(logs)
    if half < 1e-6:
        return None
    for nodes in ORDERS:
        at = np.exp(middle + half * lobatto(nodes))
        estimate = quadrature(f, np.full(nodes, mean[0]), at)
        size = np.max(np.abs(estimate.value))
        coefficients = to_coefficients(nodes) @ estimate.value
        missed = np.max(np.abs(coefficients[-4:]))
        if missed <= WANTED * size:
            value = np.polynomial.chebyshev.chebval(np.clip((logs - middle) / half, -1, 1), coefficients)
            error = np.full(variance.shape, 4 * missed + np.max(estimate.error))
            return Estimate(value, error, f"{estimate.method}, interpolated in log V ({nodes} nodes)")
    return None


STRATEGIES = (odd_function, polynomial, closed_form, variance_interpolation, quadrature)
