"""The dual function E f(U) g(V) of a range of laws, interpolated in the angle, the means and the log variances."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from netsor.expectation.chebyshev import clenshaw, lobatto, to_coefficients
from netsor.expectation.dual_values import dual_rule
from netsor.expectation.family import Family, Interval
from netsor.expectation.threads import in_threads
from netsor.expectation.functions import UnaryFunction

# Coefficients are dropped, and series ended, at this fraction of sqrt(E f^2 E g^2).
TAIL = 1e-11
MOST_ANGLES = 513
MOST_LAWS = 40
MOST_MEMBERS = 200


class DualFunction:
    """Chebyshev series in t = tan(arcsin(rho) / 2), whose coefficients are low-rank functions of the two laws.

    The dual is analytic in the angle arcsin(rho), up to and including rho = +-1, and hence in t, which costs no trigonometry.
    coefficient m at (law_u, law_v) = sum_r left_m[r](law_u) right_m[r](law_v). On a matrix the factors are
    evaluated once a row and once a column, and a cell costs one Clenshaw step for each m.
    ``error`` is relative to sqrt(E f(U)^2 E g(V)^2), measured away from all nodes.
    """

    def __init__(self, f: UnaryFunction, g: UnaryFunction, ranges_f: tuple[Interval, Interval], ranges_g):
        self.first, self.second = Family(f, *ranges_f), Family(g, *ranges_g)
        self.same = self.first == self.second
        # an odd factor of a centred variable makes the dual odd in rho, an even one even
        self.parity = self.first.parity or self.second.parity
        self._refine_laws()
        self._refine_angles()
        self._compress()

    # ---- nodes --------------------------------------------------------------------------------

    def _refine_laws(self) -> None:
        """Enough nodes in means and log variances, judged at rho = 1 and rho = 0.6."""
        while True:
            self.rule = dual_rule(self.first, self.second)
            self._scale()
            enough = True
            coefficients = [self._coefficients(self.rule.matrix(theta)) for theta in (0.0, math.acos(0.6))]
            for name in ("first", "second"):
                family = getattr(self, name)
                stacked = np.concatenate([part if name == "first" else part.T for part in coefficients], axis=1)
                mean_tail, log_tail = family.tails(stacked)
                grown = replace(
                    family, means=_grown(family.means, mean_tail), log_variances=_grown(family.log_variances, log_tail)
                )
                if grown.size > MOST_MEMBERS:
                    grown = family
                enough = enough and grown == family
                setattr(self, name, grown)
            if enough:
                return

    def _scale(self) -> None:
        """log sqrt(E f^2) at the nodes, as a series over laws: the unit of all values."""
        self.scales = []
        for family in (self.first, self.second):
            rule = self.rule if self.same else dual_rule(family, family)
            square = np.diagonal(rule.matrix(0.0))
            floor = max(square.max() * 1e-30, 1e-300)
            self.scales.append(family.transform() @ (0.5 * np.log(np.maximum(square[: family.size], floor))))

    def scale(self, side: int, basis: np.ndarray) -> np.ndarray:
        """sqrt(E f^2), up to interpolation, at laws given by their basis."""
        return np.exp(basis @ self.scales[side])

    def _coefficients(self, matrix: np.ndarray) -> np.ndarray:
        one, two = self.first, self.second
        inverse_one, inverse_two = one.transform(), two.transform()
        unit_one = self.scale(0, np.linalg.inv(inverse_one))
        unit_two = self.scale(1, np.linalg.inv(inverse_two))
        normalised = matrix[: one.size, : two.size] / np.outer(unit_one, unit_two)
        return inverse_one @ normalised @ inverse_two.T

    def _refine_angles(self) -> None:
        """Double the number of angles until the series has ended."""
        nodes = 17
        known: dict[float, np.ndarray] = {}
        while True:
            self._add_angles(nodes, known)
            values = np.array([known[position / (nodes - 1)] for position in range(nodes)])
            series = np.tensordot(to_coefficients(nodes), values, axes=1)
            if self.parity:
                series[(1 if self.parity == 1 else 0) :: 2] = 0.0
            tail = np.abs(series[-4:]).max()
            if tail <= TAIL or 2 * nodes - 1 > MOST_ANGLES:
                self.series, self.tail = series, float(tail)
                return
            nodes = 2 * nodes - 1

    def _add_angles(self, nodes: int, known: dict[float, np.ndarray]) -> None:
        """Coefficients over laws at the angles of ``nodes`` values of t, by position of t from 0 to 1, in two threads."""
        points = lobatto(nodes)
        wanted = [p for p in range(nodes) if p / (nodes - 1) not in known and not (self.parity and 2 * p > nodes - 1)]

        def compute(position: int) -> np.ndarray:
            return self._coefficients(self.rule.matrix(_theta(points[position])))

        for position, coefficients in zip(wanted, in_threads(compute, wanted)):
            known[position / (nodes - 1)] = coefficients
        if self.parity:
            for position in range(nodes // 2 + 1, nodes):
                known[position / (nodes - 1)] = self.parity * known[1.0 - position / (nodes - 1)]

    # ---- evaluation ---------------------------------------------------------------------------

    def _compress(self) -> None:
        """Singular values of every coefficient, cut where the sum of what is dropped stays below TAIL."""
        cut = 0.2 * TAIL
        self.factors: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        for m, coefficient in enumerate(self.series):
            u, s, v = np.linalg.svd(coefficient)
            rank = int((s * np.sqrt(coefficient.size) > cut).sum())
            root = np.sqrt(s[:rank])
            self.factors[m] = (u[:, :rank] * root, root[:, None] * v[:rank])
        last = max((m for m, (left, _) in self.factors.items() if left.shape[1]), default=0)
        step = 2 if self.parity else 1
        self.orders = range(1 if self.parity == -1 else 0, last + 1, step)
        # the largest of some points is not the largest of all
        self.error = 3.0 * self._measured_error() + 2e-15

    def factors_at(self, side: int, mean: np.ndarray, variance: np.ndarray) -> list[np.ndarray]:
        """The left (side 0) or right (side 1) factors of every order: arrays (laws, rank) or (rank, laws)."""
        family = (self.first, self.second)[side]
        basis = family.basis(mean, variance)
        unit = self.scale(side, basis)
        if side == 0:
            return [unit[:, None] * (basis @ self.factors[m][0]) for m in self.orders]
        return [unit * (self.factors[m][1] @ basis.T) for m in self.orders]

    def on_grid(self, t: np.ndarray, left: list[np.ndarray], right: list[np.ndarray]) -> np.ndarray:
        """Values for t (rows, columns) and factors of the rows and of the columns."""
        if not self.orders:
            return np.zeros_like(t)
        step, start = self.orders.step, self.orders.start
        product = np.empty_like(t)

        def coefficient(m: int) -> np.ndarray | float:
            position = (m - start) // step
            one, two = left[position], right[position]
            if one.shape[1] == 0:
                return 0.0
            # the product of a single column and a single row broadcasts faster than matmul goes about it
            return (np.multiply if one.shape[1] == 1 else np.matmul)(one, two, out=product)

        return clenshaw(t, coefficient, self.orders, self.parity)

    def on_cells(self, t: np.ndarray, left: list[np.ndarray], right: list[np.ndarray]) -> np.ndarray:
        """Values for t (cells) and factors of each cell."""
        if not self.orders:
            return np.zeros_like(t)
        step, start = self.orders.step, self.orders.start

        def coefficient(m: int) -> np.ndarray:
            position = (m - start) // step
            return np.einsum("cr,rc->c", left[position], right[position])

        return clenshaw(t, coefficient, self.orders, self.parity)

    def _measured_error(self) -> float:
        """The largest deviation from direct quadrature at laws and angles that are not nodes."""
        laws_one, laws_two = self.first.laws()[self.first.size :], self.second.laws()[self.second.size :]
        left = self.factors_at(0, laws_one[:, 0], laws_one[:, 1] ** 2)
        right = self.factors_at(1, laws_two[:, 0], laws_two[:, 1] ** 2)
        unit = np.outer(
            self.scale(0, self.first.basis(laws_one[:, 0], laws_one[:, 1] ** 2)),
            self.scale(1, self.second.basis(laws_two[:, 0], laws_two[:, 1] ** 2)),
        )
        worst = self.tail
        spacing = 1.0 / max(len(self.series) - 1, 1)
        for t in (1.0, 1.0 - 2 * spacing**2, math.cos(0.5 * math.pi * spacing * 3), 0.413, -0.179, -1.0 + 6 * spacing**2):
            matrix = self.rule.matrix(_theta(t))[self.first.size :, self.second.size :]
            found = self.on_grid(np.full(matrix.shape, t), left, right)
            worst = max(worst, float(np.abs((found - matrix) / unit).max()))
        return worst


def _theta(t: float) -> float:
    """arccos(rho), from 0 at t = 1 to pi at t = -1."""
    return 0.5 * math.pi - 2.0 * math.atan(t)


def _grown(interval: Interval, tail: float) -> Interval:
    """More nodes while the series has not ended."""
    if interval.nodes == 1 or tail <= TAIL or interval.nodes >= MOST_LAWS:
        return interval
    return replace(interval, nodes=min(MOST_LAWS, interval.nodes + max(2, interval.nodes // 3)))
