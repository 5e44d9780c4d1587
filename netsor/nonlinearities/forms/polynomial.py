"""Polynomials, by Isserlis' theorem."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np


def gaussian_moments(mean, variance, highest: int) -> list[np.ndarray]:
    """E Z^k for k = 0..highest and Z ~ N(mean, variance): E Z^{k+1} = mean E Z^k + k variance E Z^{k-1}."""
    one = np.ones(np.broadcast_shapes(np.shape(mean), np.shape(variance)))
    moments = [one, mean * one]
    for k in range(1, highest):
        moments.append(mean * moments[k] + k * variance * moments[k - 1])
    return moments[: highest + 1]


@dataclass(frozen=True)
class PolynomialForm:
    """sum_k coefficients[k] x^k."""

    coefficients: tuple[float, ...]

    def derivatives_means(self, mean, variance) -> list[np.ndarray]:
        """E of every derivative of order 0, 1, ..., degree."""
        degree = len(self.coefficients) - 1
        moments = gaussian_moments(mean, variance, max(degree, 1))
        means = []
        for order in range(degree + 1):
            terms = range(order, degree + 1)
            means.append(sum(self.coefficients[k] * math.perm(k, order) * moments[k - order] for k in terms))
        return means

    def mean(self, mean, variance):
        return self.derivatives_means(mean, variance)[0]


def polynomial_pair(one: PolynomialForm, two: PolynomialForm):
    """E p(u) q(v) = sum_j cov^j / j! E p^(j)(u) E q^(j)(v): Isserlis' theorem, by the number of u-v pairings."""

    def formula(mean_u, mean_v, var_u, cov, var_v):
        left, right = one.derivatives_means(mean_u, var_u), two.derivatives_means(mean_v, var_v)
        orders = min(len(left), len(right))
        value = np.zeros(np.broadcast_shapes(np.shape(left[0]), np.shape(cov), np.shape(right[0])))
        for order in reversed(range(orders)):
            value = value * (cov / (order + 1)) + left[order] * right[order]
        return value

    return formula
