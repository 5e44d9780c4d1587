"""E f(U) g(V) for two jointly Gaussian variables: an ordered tuple of strategies."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from netsor.expectation.adaptive import adaptive_expectation
from netsor.expectation.dual_values import TrapezoidRule, dual_rule
from netsor.expectation.estimate import Estimate, ExpectationUndefined
from netsor.expectation.family import Family
from netsor.expectation.functions import CellFunction, UnaryFunction
from netsor.expectation.interpolation import interpolated_pairs
from netsor.expectation.plane import PlaneRule
from netsor.expectation.unary import ROUNDING, check_moments, expect_unary


@dataclass(frozen=True)
class Cells:
    """Means, variances and covariances of the pairs, one-dimensional arrays of one length."""

    mean_f: np.ndarray
    mean_g: np.ndarray
    var_f: np.ndarray
    var_g: np.ndarray
    cov: np.ndarray

    @staticmethod
    def of(*arrays: np.ndarray) -> Cells:
        return Cells(*arrays)

    def __len__(self) -> int:
        return len(self.cov)

    def __getitem__(self, part: Any) -> Cells:
        return Cells(self.mean_f[part], self.mean_g[part], self.var_f[part], self.var_g[part], self.cov[part])

    def swapped(self) -> Cells:
        return Cells(self.mean_g, self.mean_f, self.var_g, self.var_f, self.cov)

    @property
    def centred(self) -> bool:
        return not (np.any(self.mean_f) or np.any(self.mean_g))

    def correlation(self) -> tuple[np.ndarray, np.ndarray]:
        from netsor.nonlinearities.forms.geometry import correlation

        return correlation(self.var_f, self.cov, self.var_g)

    def distinct(self) -> tuple[Cells, np.ndarray]:
        """The different cells, and where each cell is among them."""
        stacked = np.stack([self.mean_f, self.mean_g, self.var_f, self.var_g, self.cov], axis=1)
        rows, back = np.unique(stacked, axis=0, return_inverse=True)
        return Cells(*rows.T), back.ravel()


def expect_pair(
    f: UnaryFunction | CellFunction, g: UnaryFunction | CellFunction, mean_f: Any, mean_g: Any, var_f: Any, var_g: Any, cov: Any
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
    _check_covariance(cells)
    if isinstance(f, CellFunction) or isinstance(g, CellFunction):
        from netsor.expectation.cell_pairs import expect_cell_pairs

        estimate = expect_cell_pairs(f, g, cells)
    else:
        estimate = _by_case(f, g, cells)
    if not np.all(np.isfinite(estimate.value)):
        bad = estimate.value[~np.isfinite(estimate.value)][0]
        reason = "the domain of a function is left" if np.isnan(bad) else "it overflows or diverges"
        raise ExpectationUndefined(f"the expectation of {f.label} times {g.label} is {bad}: {reason}")
    return Estimate(estimate.value.reshape(shape), estimate.error.reshape(shape), estimate.method)


def _check_covariance(cells: Cells) -> None:
    bound = np.sqrt(cells.var_f) * np.sqrt(cells.var_g)
    excess = np.abs(cells.cov) - bound * (1 + 1e-6)
    if not np.all(np.isfinite(cells.cov)) or np.any(excess > 1e-300):
        worst = int(np.argmax(np.where(np.isfinite(excess), excess, np.inf)))
        raise ValueError(
            f"variances {cells.var_f[worst]:.6g} and {cells.var_g[worst]:.6g} do not allow covariance {cells.cov[worst]:.6g}"
        )


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
    scale = np.abs(value) + np.sqrt(cells.var_f) * np.sqrt(cells.var_g) * (0 if _bounded(f, g) else 1)
    scale = scale + np.abs(cells.mean_f * cells.mean_g)
    return Estimate(value, 2 * ROUNDING * scale, "exact" if exact else "closed form")


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
    kinks = (np.array(g.kinks, dtype=float)[None, :] - centre[:, None]) / deviation[:, None]

    def integrand(cells: np.ndarray, x: np.ndarray) -> np.ndarray:
        return g(centre[cells, None] + deviation[cells, None] * x) * np.polynomial.hermite_e.hermeval(x, coefficients)

    value, error, nodes = adaptive_expectation(integrand, kinks)
    return Estimate(value[back.ravel()], error[back.ravel()], f"quadrature ({nodes} nodes)")


def degenerate(f: UnaryFunction, g: UnaryFunction, cells: Cells) -> Estimate | None:
    """Independent pairs factorise, fully correlated ones depend on one variable; the others go on."""
    rho, sine = cells.correlation()
    independent, dependent = rho == 0, sine == 0
    if not np.any(independent) and not np.any(dependent):
        return None
    value, error = np.empty(len(cells)), np.zeros(len(cells))
    value[independent], error[independent] = _product(f, g, cells[independent])
    value[dependent], error[dependent] = _one_variable(f, g, cells[dependent])
    rest = ~(independent | dependent)
    method = "quadrature (one variable)"
    if np.any(rest):
        estimate = first_strategy(GENERAL, f, g, cells[rest])
        value[rest], error[rest], method = estimate.value, estimate.error, estimate.method
    return Estimate(value, error, method)


def _one_variable(f: UnaryFunction, g: UnaryFunction, cells: Cells) -> tuple[np.ndarray, np.ndarray]:
    """E f(mean_f + sd_f X) g(mean_g +- sd_g X)."""
    if not len(cells):
        return np.empty(0), np.empty(0)
    distinct, back = cells.distinct()
    mean_f, mean_g = distinct.mean_f[:, None], distinct.mean_g[:, None]
    slope_f = np.sqrt(distinct.var_f)[:, None]
    slope_g = (np.sign(distinct.cov) * np.sqrt(distinct.var_g))[:, None]
    kinks_f = (np.array(f.kinks, dtype=float)[None, :] - mean_f) / slope_f
    kinks_g = (np.array(g.kinks, dtype=float)[None, :] - mean_g) / slope_g

    def integrand(cell: np.ndarray, x: np.ndarray) -> np.ndarray:
        return f(mean_f[cell] + slope_f[cell] * x) * g(mean_g[cell] + slope_g[cell] * x)

    value, error, _ = adaptive_expectation(integrand, np.concatenate([kinks_f, kinks_g], axis=1))
    return value[back], error[back]


def interpolation(f: UnaryFunction, g: UnaryFunction, cells: Cells) -> Estimate | None:
    """Chebyshev interpolation of the dual function, when there are many cells."""
    return interpolated_pairs(f, g, cells)


def plane_quadrature(f: UnaryFunction, g: UnaryFunction, cells: Cells) -> Estimate:
    """Two-dimensional quadrature of every distinct cell; cells that differ by correlation only share their panels."""
    distinct, back = cells.distinct()
    rho, sine = distinct.correlation()
    value, error = np.empty(len(distinct)), np.empty(len(distinct))
    laws = np.stack([distinct.mean_f, distinct.mean_g, distinct.var_f, distinct.var_g], axis=1)
    law, rule, smooth = None, None, None
    for cell in range(len(distinct)):
        if law is None or np.any(laws[cell] != law):
            law = laws[cell]
            smooth = smooth_rule(f, g, *law)
            rule = None if smooth else plane_rule(f, g, *law)
        if smooth:
            value[cell] = smooth.matrix(math.atan2(sine[cell], rho[cell]))[0, 0]
            error[cell] = 1e-13 * smooth.size
        else:
            matrix, gap = rule.matrix(rho[cell], sine[cell])
            value[cell], error[cell] = matrix[0, 0], gap[0, 0]
    split = ", split at kinks" if f.kinks or g.kinks else ""
    return Estimate(value[back], error[back], f"quadrature (two variables{split})")


def smooth_rule(f: UnaryFunction, g: UnaryFunction, mean_f: float, mean_g: float, var_f: float, var_g: float):
    """The trapezoidal rule where it applies, with ``size`` = sqrt(E f^2 E g^2); otherwise None."""
    one, two = Family.single(f, mean_f, var_f), Family.single(g, mean_g, var_g)
    rule = dual_rule(one, two)
    if not isinstance(rule, TrapezoidRule):
        return None
    squares = rule.matrix(0.0)[0, 0] if one == two else dual_rule(one, one).matrix(0.0)[0, 0] * dual_rule(two, two).matrix(0.0)[0, 0]
    rule.size = squares if one == two else math.sqrt(squares)
    return rule


def plane_rule(f: UnaryFunction, g: UnaryFunction, mean_f: float, mean_g: float, var_f: float, var_g: float) -> PlaneRule:
    """The rule for one law of the two variables."""
    slope_f, slope_g = math.sqrt(var_f), math.sqrt(var_g)
    return PlaneRule(
        lambda x: f(mean_f + slope_f * x)[None],
        lambda y: g(mean_g + slope_g * y)[None],
        (np.array(f.kinks, dtype=float) - mean_f) / slope_f,
        (np.array(g.kinks, dtype=float) - mean_g) / slope_g,
    )


GENERAL = (interpolation, plane_quadrature)
STRATEGIES = (opposite_parity, closed_form, polynomial_times_any, degenerate, *GENERAL)
