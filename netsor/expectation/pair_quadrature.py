"""E f(U) g(V) by quadrature: in one variable at correlation +-1, in two otherwise."""

from __future__ import annotations

import math

import numpy as np

from netsor.expectation.adaptive import adaptive_expectation
from netsor.expectation.dual_values import PanelRule, trapezoid_rule
from netsor.expectation.estimate import Estimate
from netsor.expectation.family import Family
from netsor.expectation.functions import UnaryFunction
from netsor.expectation.hermite_series import MODERATE, hermite_series
from netsor.expectation.pair_cells import Cells
from netsor.expectation.plane import PlaneRule


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
    value, error = np.empty(len(distinct)), np.empty(len(distinct))
    laws = np.stack([distinct.mean_f, distinct.mean_g, distinct.var_f, distinct.var_g], axis=1)
    groups = np.split(np.arange(len(distinct)), 1 + np.flatnonzero(np.any(np.diff(laws, axis=0), axis=1)))
    left = []
    for group in groups:
        smooth = smooth_rule(f, g, *laws[group[0]])
        if smooth is None:
            left.append(group)
            continue
        rule, unit = smooth
        value[group] = [rule.matrix(math.atan2(sine[cell], rho[cell]))[0, 0] for cell in group]
        error[group] = 1e-13 * unit
    moderate = np.concatenate([np.empty(0, int), *left])
    moderate = moderate[np.abs(rho[moderate]) <= MODERATE]
    done = np.zeros(len(distinct), dtype=bool)
    if len(moderate):
        value[moderate], error[moderate] = hermite_series(f, g, distinct[moderate])
        done[moderate] = np.isfinite(value[moderate])
    for group in left:
        group = group[~done[group]]
        rule = plane_rule(f, g, *laws[group[0]]) if len(group) else None
        for cell in group:
            matrix, gap = rule.matrix(rho[cell], sine[cell])
            value[cell], error[cell] = matrix[0, 0], gap[0, 0]
    split = ", split at kinks" if f.kinks or g.kinks else ""
    return Estimate(value[back], error[back], f"quadrature (two variables{split})")


def smooth_rule(f: UnaryFunction, g: UnaryFunction, mean_f: float, mean_g: float, var_f: float, var_g: float):
    """The trapezoidal rule where it applies, and sqrt(E f^2 E g^2), the unit of its error; otherwise None."""
    one, two = Family.single(f, mean_f, var_f), Family.single(g, mean_g, var_g)
    rule = trapezoid_rule(one, two)
    if rule is None:
        return None
    squares = [(trapezoid_rule(family, family) or PanelRule(family, family)).matrix(0.0)[0, 0] for family in (one, two)]
    return rule, math.sqrt(squares[0]) * math.sqrt(squares[1])


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
