"""E f(U) g(V) by quadrature: in one variable at correlation +-1, in two otherwise."""

from __future__ import annotations

import math

import numpy as np

from netsor.expectation.adaptive import adaptive_expectation
from netsor.expectation.estimate import Estimate
from netsor.expectation.functions import UnaryFunction
from netsor.expectation.hermite_series import MODERATE, hermite_series
from netsor.expectation.pair_cells import Cells
from netsor.expectation.plane import PlaneRule
from netsor.expectation.trapezoid import trapezoid


def one_variable(f: UnaryFunction, g: UnaryFunction, cells: Cells) -> tuple[np.ndarray, np.ndarray]:
    """E f(mean_f + sd_f X) g(mean_g +- sd_g X)."""
    if not len(cells):
        return np.empty(0), np.empty(0)
    distinct, back = cells.distinct()
    mean_f, mean_g = distinct.mean_f[:, None], distinct.mean_g[:, None]
    slope_f = np.sqrt(distinct.var_f)[:, None]
    slope_g = (np.sign(distinct.cov) * np.sqrt(distinct.var_g))[:, None]
    breaks_f = f.breaks(distinct.mean_f, slope_f[:, 0])
    breaks_g = g.breaks(distinct.mean_g, np.abs(slope_g[:, 0])) * np.sign(slope_g)

    def integrand(cell: np.ndarray, x: np.ndarray) -> np.ndarray:
        return f(mean_f[cell] + slope_f[cell] * x) * g(mean_g[cell] + slope_g[cell] * x)

    value, error, _ = adaptive_expectation(integrand, np.concatenate([breaks_f, breaks_g], axis=1))
    return value[back], error[back]


def plane_quadrature(f: UnaryFunction, g: UnaryFunction, cells: Cells) -> Estimate:
    """Quadrature of every distinct cell: by the trapezoidal rule for smooth functions, else by Mehler's series where it ends soon, else
    on panels in the plane.  Cells that differ by correlation only share their rule."""
    distinct, back = cells.distinct()
    rho, sine = distinct.correlation()
    laws = np.stack([distinct.mean_f, distinct.mean_g, distinct.var_f, distinct.var_g], axis=1)
    value, error = np.full(len(distinct), np.nan), np.full(len(distinct), np.nan)
    if not f.kinks and not g.kinks:
        value, error = trapezoid(f, g, distinct)
    moderate = np.flatnonzero(np.isnan(value) & (np.abs(rho) <= MODERATE))
    if len(moderate):
        value[moderate], error[moderate] = hermite_series(f, g, distinct[moderate])
    law, rule = None, None
    for cell in np.flatnonzero(np.isnan(value)):
        if law is None or np.any(laws[cell] != law):
            law = laws[cell]
            rule = plane_rule(f, g, *law)
        matrix, gap = rule.matrix(rho[cell], sine[cell])
        value[cell], error[cell] = matrix[0, 0], gap[0, 0]
    split = ", split at kinks" if f.kinks or g.kinks else ""
    return Estimate(value[back], error[back], f"quadrature (two variables{split})")


def plane_rule(f: UnaryFunction, g: UnaryFunction, mean_f: float, mean_g: float, var_f: float, var_g: float) -> PlaneRule:
    """The rule for one law of the two variables."""
    slope_f, slope_g = math.sqrt(var_f), math.sqrt(var_g)
    return PlaneRule(
        lambda x: f(mean_f + slope_f * x)[None],
        lambda y: g(mean_g + slope_g * y)[None],
        (np.array(f.kinks, dtype=float) - mean_f) / slope_f,
        (np.array(g.kinks, dtype=float) - mean_g) / slope_g,
        hints=(f.breaks(mean_f, slope_f)[0], g.breaks(mean_g, slope_g)[0]),
    )
