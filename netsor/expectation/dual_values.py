"""Accurate values of E f(U) g(V) for two families of laws at once, from which the dual function is interpolated."""

from __future__ import annotations

import math

import numpy as np

from netsor.expectation.family import Family
from netsor.expectation.hermite import HermiteRule
from netsor.expectation.plane import PlaneRule
from netsor.expectation.threads import serial_product
from netsor.expectation.trapezoid import CONVERGED, REACH, REFINEMENTS, line

_CHUNK = 2**20
# Enough for 1e-12 on panels that 16 nodes resolve to 1e-14.
_PANEL_NODES = 12


class TrapezoidRule:
    """For smooth functions: U, V = cos(theta/2) x +- sin(theta/2) y with independent x, y on a grid.

    The trapezoidal rule converges geometrically for analytic functions, uniformly in theta.
    """

    def __init__(self, first: Family, second: Family, points: int):
        self.first, self.second = first, second
        self.same = first == second
        x, weight = line(points)
        # y -> -y exchanges U and V: half of the plane, with the axis counted half, is enough
        upper = weight * np.where(x > 0, 1.0, np.where(x == 0, 0.5, 0.0))
        # a product of two odd or two even functions does not change under (x, y) -> (-x, -y)
        even = first.parity * second.parity == 1
        right = weight * np.where(x > 0, 2.0, np.where(x == 0, 1.0, 0.0)) if even else weight
        weights = right[:, None] * upper
        inside = (weights > 0) & (x[:, None] ** 2 + x**2 <= REACH**2)
        x, y = np.broadcast_arrays(x[:, None], x)
        self.x, self.y, self.weight = x[inside], y[inside], weights[inside]

    @staticmethod
    def of(first: Family, second: Family) -> TrapezoidRule | None:
        """The rule with as many points as are needed, or None if there are too many."""
        points = TrapezoidRule.points_needed(first, second)
        return None if points is None else TrapezoidRule(first, second, points)

    @staticmethod
    def points_needed(first: Family, second: Family) -> int | None:
        """The number of points with which the rule agrees with the next finer one at rho = 1, or None.

        At rho = 1 the integrand is nearest to its singularities: any other angle stretches it.
        """
        previous = None
        for points in REFINEMENTS:
            x, weight = line(points)
            f = first.values(x)
            g = f if first == second else second.values(x)
            matrix = np.stack([(f * weight) @ part.T for part in (g, g[:, ::-1])])
            if not np.all(np.isfinite(matrix)):
                return None
            size = np.sqrt(np.outer((f * f) @ weight, (g * g) @ weight))
            ends = np.outer(np.abs(f[:, [0, -1]]).max(axis=1), np.abs(g[:, [0, -1]]).max(axis=1)) * weight[0]
            if np.any(ends > 1e-14 * size):
                return None
            if previous is not None and np.all(np.abs(matrix - previous[1]) <= CONVERGED * size):
                return previous[0]
            previous = points, matrix
        return None

    def matrix(self, theta: float) -> np.ndarray:
        """Expectations (members of first, members of second) at correlation cos(theta)."""
        cosine, sine = math.cos(0.5 * theta), math.sin(0.5 * theta)
        step = max(1, _CHUNK // (len(self.first.laws()) + len(self.second.laws())))
        total = 0.0
        for start in range(0, len(self.x), step):
            part = slice(start, start + step)
            x, y, weight = cosine * self.x[part], sine * self.y[part], self.weight[part]
            f_plus, f_minus = self.first.values(x + y), self.first.values(x - y)
            if self.same:
                half = serial_product(f_plus * weight, f_minus)
                total = total + half + half.T
            else:
                g_plus, g_minus = self.second.values(x + y), self.second.values(x - y)
                total = total + serial_product(f_plus * weight, g_minus) + serial_product(f_minus * weight, g_plus)
        return total


class PanelRule:
    """For kinks and for layers that are thin against the deviation: panels that resolve every member."""

    def __init__(self, first: Family, second: Family):
        even = first.parity * second.parity == 1
        self.plane = PlaneRule(first.values, second.values, first.kinks(), second.kinks(), even=even,
                               hints=(first.hints(), second.hints()))

    def matrix(self, theta: float) -> np.ndarray:
        """Expectations (members of first, members of second) at correlation cos(theta)."""
        return self.plane.fine(math.cos(theta), math.sin(theta) if 0.0 < theta < math.pi else 0.0, _PANEL_NODES)


def dual_rule(first: Family, second: Family) -> HermiteRule | TrapezoidRule | PanelRule:
    """The cheapest rule that is accurate to rounding."""
    if not first.function.kinks and not second.function.kinks:
        return HermiteRule.of(first, second) or TrapezoidRule.of(first, second) or PanelRule(first, second)
    return PanelRule(first, second)
