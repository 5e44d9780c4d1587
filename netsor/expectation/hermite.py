"""Mehler's expansion: E f(U) g(V) = sum_m rho^m a_m b_m, with the Hermite coefficients a_m of f and b_m of g."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from netsor.expectation.family import Family
from netsor.expectation.threads import serial_product

# Where e^{-x^2/4} is below 5e-19.
_REACH = 13.0
_FEWEST_ORDERS, _MOST_ORDERS = 64, 2**15
_MOST_POINTS = 2**13
# Coefficients decay like e^{-c sqrt(m)}: when orders M/2 to M hold less than this part of the energy, those beyond M hold
# about its power sqrt(2), 1e-16.
_ENERGY = 3e-12
# Two halves of a trapezoidal rule agree to this, relative to sqrt(E f^2).
_CONVERGED = 3e-14
_BLOCK = 256


class HermiteRule:
    """For functions without kinks: any number of angles from one set of one-dimensional integrals."""

    def __init__(self, first: np.ndarray, second: np.ndarray):
        """Coefficients of the members: shapes (members of first, orders), (members of second, orders)."""
        self.first, self.second = first, second

    @staticmethod
    def of(first: Family, second: Family) -> HermiteRule | None:
        """The rule with as many orders as are needed at rho = 1, or None if there are too many."""
        orders = _FEWEST_ORDERS
        while orders <= _MOST_ORDERS:
            one = hermite_coefficients(first, orders)
            two = one if first == second else hermite_coefficients(second, orders)
            if one is None or two is None:
                return None
            # Cauchy-Schwarz: it is enough that one of the two series has ended
            energy = math.sqrt(_upper_energy(one) * _upper_energy(two))
            if energy <= _ENERGY:
                return HermiteRule(one, two)
            needed = orders * (math.log(_ENERGY) / math.log(min(energy, 0.9))) ** 2
            if needed > 2 * _MOST_ORDERS and orders >= 1024:
                return None
            orders = max(2 * orders, 1 << int(math.log2(min(needed, _MOST_ORDERS))) if orders >= 256 else 0)
        return None

    def matrix(self, theta: float) -> np.ndarray:
        """Expectations (members of first, members of second) at correlation cos(theta)."""
        cosine, sine = abs(math.cos(theta)), math.sin(theta)
        log_rho = math.log(cosine) if cosine < 0.7 else 0.5 * math.log1p(-sine * sine)
        order = np.arange(self.first.shape[1])
        if log_rho < 0:
            order = order[: int(-45.0 / log_rho) + 2]
        power = np.exp(order * log_rho)
        if theta > 0.5 * math.pi:
            power[1::2] *= -1.0
        return serial_product(self.first[:, : len(order)] * power, self.second[:, : len(order)])


def hermite_coefficients(family: Family, orders: int) -> np.ndarray | None:
    """E f(X) He_m(X) / sqrt(m!) of every member for m < orders, or None where the trapezoidal rule does not converge.

    The rule converges geometrically for analytic functions. Its points are taken in two halves, whose agreement is the check.
    """
    deviation = family.laws()[:, 1].max()
    # frequencies: of the polynomials, of the weight, and of a function that is analytic in a strip; a guess, checked below
    bandwidth = math.sqrt(orders) + 10.0 + 35.0 * deviation / min(family.function.strip, 4.0)
    points = 1 + 4 * math.ceil(_REACH * bandwidth / (2 * np.pi))
    while points <= _MOST_POINTS:
        x = np.linspace(-_REACH, _REACH, points)
        values = family.values(x)
        step = 2 * _REACH / (points - 1) / math.sqrt(2 * math.pi)
        weighted = values * (step * np.exp(-0.25 * x * x))
        size = np.sqrt((values * values) @ (step * np.exp(-0.5 * x * x)))
        if not np.all(np.isfinite(size)) or np.any(np.abs(weighted[:, [0, -1]]) > 1e-15 * size[:, None]):
            return None
        halves = _projections(x, weighted, orders, family.parity)
        if np.all(np.abs(halves[0] - halves[1]) <= _CONVERGED * size[:, None]):
            return halves[0] + halves[1]
        points = 2 * points - 1
    return None


def _projections(x: np.ndarray, weighted: np.ndarray, orders: int, parity: int) -> tuple[np.ndarray, np.ndarray]:
    """Sums of ``weighted`` times He_m(x) e^{-x^2/4} / sqrt(m!) over every other point: shape (members, orders) each."""
    kept = np.arange(orders)
    if parity:  # the other orders vanish, and half of the line is enough
        weighted = weighted[:, len(x) // 2 :] * np.where(x[len(x) // 2 :] > 0, 2.0, 1.0)
        x, kept = x[len(x) // 2 :], kept[(1 - parity) // 2 :: 2]
    halves = tuple(np.zeros((len(weighted), orders)) for _ in range(2))
    for start, table in hermite_tables(x, orders):
        own = kept[(kept >= start) & (kept < start + len(table))]
        for half, total in enumerate(halves):
            total[:, own] = serial_product(weighted[:, half::2], table[own - start, half::2])
    return halves


def hermite_tables(x: np.ndarray, orders: int) -> Iterator[tuple[int, np.ndarray]]:
    """H_m(x) = He_m(x) e^{-x^2/4} / sqrt(m!), m < orders, some orders at a time: the first of them, and an array (orders, points)."""
    before, latest = np.zeros_like(x), np.exp(-0.25 * x * x)
    for start in range(0, orders, _BLOCK):
        table = np.empty((min(_BLOCK, orders - start), len(x)))
        for row, order in enumerate(range(start, start + len(table))):
            table[row] = latest
            # sqrt(m + 1) H_{m+1} = x H_m - sqrt(m) H_{m-1}: stable, H_m grows where it does not oscillate
            before, latest = latest, (x * latest - math.sqrt(order) * before) / math.sqrt(order + 1)
        yield start, table


def _upper_energy(coefficients: np.ndarray) -> float:
    """The largest part of E f^2 that the upper half of the orders holds."""
    energy = coefficients * coefficients
    return float((energy[:, energy.shape[1] // 2 :].sum(axis=1) / energy.sum(axis=1)).max())
