"""E f(U) g(V) for two jointly Gaussian variables: an ordered tuple of strategies."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from netsor.expectation.adaptive import adaptive_expectation
from netsor.expectation.estimate import Estimate, ExpectationUndefined
from netsor.expectation.functions import CellFunction, UnaryFunction
from netsor.expectation.interpolation import interpolated_pairs
from netsor.expectation.pair_cells import Cells, check_covariance
from netsor.expectation.pair_quadrature import one_variable, plane_quadrature
from netsor.expectation.unary import ROUNDING, check_integrable, check_moments, expect_unary


_PROBES = np.array([-2.53, -1.21, -0.37, 0.37, 1.21, 2.53])  # standard normal; no point where a function is likely to be singular


def expect_pair(
    f: UnaryFunction | CellFunction,
    g: UnaryFunction | CellFunction,
    mean_f: Any,
    mean_g: Any,
    var_f: Any,
    var_g: Any,
    cov: Any,
) -> Estimate:
    """E f(U) g(V), (U, V) ~ N((mean_f, mean_g), [[var_f, cov], [cov, var_g]]); all arguments broadcast.

    Covariances beyond sqrt(var_f var_g) by rounding count as correlation +-1; further beyond is a ValueError.
    Raises ExpectationUndefined when an expectation is not a finite number.
    """
    arrays = np.broadcast_arrays(*(np.asarray(array, dtype=float) for array in (mean_f, mean_g, var_f, var_g, cov)))
    shape = arrays[0].shape
    cells = Cells.of(*(array.ravel() for array in arrays))
    check_moments(cells.mean_f, cells.var_f)
    check_moments(cells.mean_g, cells.var_g)
    check_covariance(cells)
    if isinstance(f, CellFunction) or isinstance(g, CellFunction):
        from netsor.expectation.cell_pairs import expect_cell_pairs

        estimate = expect_cell_pairs(f, g, cells)
    else:
        _check_integrable(f, g, cells)
        _check_domain(f, cells.mean_f, cells.var_f)
        _check_domain(g, cells.mean_g, cells.var_g)
        estimate = _by_case(f, g, cells)
    if not np.all(np.isfinite(estimate.value)):
        bad = estimate.value[~np.isfinite(estimate.value)][0]
        reason = "the domain of a function is left" if np.isnan(bad) else "it overflows or diverges"
        raise ExpectationUndefined(f"the expectation of {f.label} times {g.label} is {bad}: {reason}")
    return Estimate(estimate.value.reshape(shape), estimate.error.reshape(shape), estimate.method)


def _check_integrable(f: UnaryFunction, g: UnaryFunction, cells: Cells) -> None:
    """Singularities of each function, and of the product where both depend on one variable."""
    check_integrable(f)
    check_integrable(g)
    if f.local_exponent + g.local_exponent <= -1 + 1e-3 and f.local_exponent < 0 and g.local_exponent < 0:
        scale = np.sqrt(cells.var_f) * np.sqrt(cells.var_g)
        if np.any(np.abs(cells.cov) >= scale * (1 - 1e-12)):
            check_integrable(f, power=2)
            check_integrable(g, power=2)
            raise ExpectationUndefined(f"{f.label} times {g.label} is not integrable at a singularity")


def _check_domain(f: UnaryFunction, mean: np.ndarray, variance: np.ndarray) -> None:
    """ExpectationUndefined where the function is not a number: quadrature would look for it to the last panel first."""
    if len(variance):
        widest = int(np.argmax(variance))
        if np.isnan(f(mean[widest] + np.sqrt(variance[widest]) * _PROBES)).any():
            raise ExpectationUndefined(f"the expectation of {f.label} is not a number: the domain of the function is left")


def _by_case(f: UnaryFunction, g: UnaryFunction, cells: Cells) -> Estimate:
    """Constant variables first; the rest by the first strategy that applies."""
    spread = (cells.var_f > 0) & (cells.var_g > 0)
    if np.all(spread) and len(cells):
        return first_strategy(STRATEGIES, f, g, cells)
    value, error, method = np.empty(len(cells)), np.zeros(len(cells)), "exact"
    value[~spread], error[~spread] = _product(f, g, cells[~spread])
    if np.any(spread):
        estimate = first_strategy(STRATEGIES, f, g, cells[spread])
        value[spread], error[spread], method = estimate.value, estimate.error, estimate.method
    return Estimate(value, error, method)


def first_strategy(strategies, f: UnaryFunction, g: UnaryFunction, cells: Cells) -> Estimate:
    """The estimate of the first strategy that does not pass."""
    for strategy in strategies:
        estimate = strategy(f, g, cells)
        if estimate is not None:
            return estimate
    raise AssertionError("quadrature takes every pair")


def _product(f: UnaryFunction, g: UnaryFunction, cells: Cells) -> tuple[np.ndarray, np.ndarray]:
    """E f(U) E g(V)."""
    one, two = expect_unary(f, cells.mean_f, cells.var_f), expect_unary(g, cells.mean_g, cells.var_g)
    value = one.value * two.value
    return value, np.abs(one.value) * two.error + np.abs(two.value) * one.error + one.error * two.error


def opposite_parity(f: UnaryFunction, g: UnaryFunction, cells: Cells) -> Estimate | None:
    """An odd function times an even one, centred: zero."""
    if f.parity * g.parity != -1 or not cells.centred:
        return None
    return Estimate(np.zeros(len(cells)), 0.0, "exact")


def closed_form(f: UnaryFunction, g: UnaryFunction, cells: Cells) -> Estimate | None:
    """A formula: of the two forms, means included, or declared for centred variables."""
    formula = pair_formula(f, g, cells.centred)
    if formula is None:
        return None
    with np.errstate(all="ignore"):
        value = formula(cells.mean_f, cells.mean_g, cells.var_f, cells.cov, cells.var_g)
    value = np.broadcast_to(value, len(cells))
    exact = f.polynomial is not None and g.polynomial is not None
    size = np.abs(value) * (1.0 + np.log1p(np.abs(value))) + np.abs(cells.mean_f * cells.mean_g)
    if not _bounded(f, g):
        size = size + np.sqrt(cells.var_f) * np.sqrt(cells.var_g)
    if f.kinks and g.kinks:
        # the angle inherits the rounding of the correlation, divided by its sine; only jumps feel it at first order
        _, sine = cells.correlation()
        steepness = np.where(sine > 0, 1.0 / np.where(sine > 0, sine, 1.0), 0.0)
        size = size + 0.25 * steepness * _jumps(f) * _jumps(g)
    return Estimate(value, 2 * ROUNDING * size, "exact" if exact else "closed form")


def _jumps(f: UnaryFunction) -> float:
    """The largest jump of the function at its kinks."""
    kinks = np.array(f.kinks, dtype=float)
    width = 1e-9 * (1.0 + np.abs(kinks))
    return float(np.max(np.abs(f(kinks + width) - f(kinks - width)), initial=0.0))


def _bounded(f: UnaryFunction, g: UnaryFunction) -> bool:
    return all(h.nonlinearity is not None and h.nonlinearity.growth == "bounded" for h in (f, g))


def pair_formula(f: UnaryFunction, g: UnaryFunction, centred: bool):
    """The formula (mean_f, mean_g, var_f, cov, var_g) -> E f g, or None."""
    from netsor.nonlinearities import pair_closed_form
    from netsor.nonlinearities.forms import pair_of_forms

    one, two = f.form, g.form
    if f.polynomial is not None and g.polynomial is not None and not (_linear(f) and _linear(g)):
        from netsor.nonlinearities.forms import PolynomialForm

        one, two = PolynomialForm(f.polynomial), PolynomialForm(g.polynomial)
    if one is not None and two is not None:
        formula = pair_of_forms(one, two)
        if formula is not None:
            return formula
    if centred and f.nonlinearity is not None and g.nonlinearity is not None:
        declared = pair_closed_form(f.nonlinearity, f.parameters, g.nonlinearity, g.parameters)
        if declared is not None:
            return lambda mean_f, mean_g, var_f, cov, var_g: declared(var_f, cov, var_g)
    return None


def _linear(f: UnaryFunction) -> bool:
    return f.polynomial is not None and len(f.polynomial) <= 2


def polynomial_times_any(f: UnaryFunction, g: UnaryFunction, cells: Cells) -> Estimate | None:
    """Stein's lemma: E p(U) g(V) = sum_j (cov/sd_g)^j / j! E p^(j)(U) E[g(V) He_j((V - mean_g)/sd_g)]."""
    if f.polynomial is None:
        return None if g.polynomial is None else polynomial_times_any(g, f, cells.swapped())
    from netsor.nonlinearities.forms import PolynomialForm

    derivatives = PolynomialForm(f.polynomial).derivatives_means(cells.mean_f, cells.var_f)
    slope = cells.cov / np.sqrt(cells.var_g)
    value, error = np.zeros(len(cells)), np.zeros(len(cells))
    for order, derivative in enumerate(derivatives):
        moment = _hermite_moment(g, order, cells.mean_g, cells.var_g)
        weight = slope**order / math.factorial(order) * derivative
        value += weight * moment.value
        error += np.abs(weight) * moment.error + ROUNDING * np.abs(weight * moment.value)
    return Estimate(value, error, "polynomial and quadrature")


def _hermite_moment(g: UnaryFunction, order: int, mean: np.ndarray, variance: np.ndarray) -> Estimate:
    """E g(V) He_order((V - mean) / sd)."""
    if order == 0:
        return expect_unary(g, mean, variance)
    coefficients = np.zeros(order + 1)
    coefficients[order] = 1.0
    distinct, back = np.unique(np.stack([mean, variance], axis=1), axis=0, return_inverse=True)
    centre, deviation = distinct[:, 0], np.sqrt(distinct[:, 1])

    def integrand(cells: np.ndarray, x: np.ndarray) -> np.ndarray:
        return g(centre[cells, None] + deviation[cells, None] * x) * np.polynomial.hermite_e.hermeval(x, coefficients)

    value, error, nodes = adaptive_expectation(integrand, g.breaks(centre, deviation))
    return Estimate(value[back.ravel()], error[back.ravel()], f"quadrature ({nodes} nodes)")


def degenerate(f: UnaryFunction, g: UnaryFunction, cells: Cells) -> Estimate | None:
    """Independent pairs factorise, fully correlated ones depend on one variable; the others go on."""
    rho, sine = cells.correlation()
    independent, dependent = rho == 0, sine == 0
    if not np.any(independent) and not np.any(dependent):
        return None
    value, error = np.empty(len(cells)), np.zeros(len(cells))
    value[independent], error[independent] = _product(f, g, cells[independent])
    value[dependent], error[dependent] = one_variable(f, g, cells[dependent])
    rest = ~(independent | dependent)
    method = "quadrature (one variable)"
    if np.any(rest):
        estimate = first_strategy(GENERAL, f, g, cells[rest])
        value[rest], error[rest], method = estimate.value, estimate.error, estimate.method
    return Estimate(value, error, method)


def interpolation(f: UnaryFunction, g: UnaryFunction, cells: Cells) -> Estimate | None:
    """Chebyshev interpolation of the dual function, when there are many cells."""
    return interpolated_pairs(f, g, cells)


GENERAL = (interpolation, plane_quadrature)
STRATEGIES = (opposite_parity, closed_form, polynomial_times_any, degenerate, *GENERAL)
