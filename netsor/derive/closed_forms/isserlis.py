"""Moments of any number of Gaussian variables (Isserlis 1918; Wick)."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import sympy


def polynomial_moment(exponents: Sequence[int], covariance_matrix, means: Sequence | None = None) -> sympy.Expr:
    """E x_1^{e_1} ... x_d^{e_d} for x ~ N(means, covariance_matrix), symbols or numbers.

    By Stein's lemma E x_i g = means_i E g + sum_j cov_ij E dg/dx_j.
    :raises ValueError: if an exponent is not a natural number or the sizes do not agree.
    """
    exponents = tuple(int(exponent) for exponent in exponents)
    covariance = sympy.Matrix(covariance_matrix)
    centre = [sympy.sympify(value) for value in means] if means is not None else [sympy.Integer(0)] * len(exponents)
    if covariance.shape != (len(exponents), len(exponents)) or len(centre) != len(exponents):
        raise ValueError(f"{len(exponents)} exponents need as many means and a square covariance matrix of that size")
    if min(exponents, default=0) < 0:
        raise ValueError("exponents are natural numbers")

    @functools.cache
    def moment(powers: tuple[int, ...]) -> sympy.Expr:
        i = next((place for place, power in enumerate(powers) if power), None)
        if i is None:
            return sympy.Integer(1)
        rest = _lowered(powers, i)
        value = centre[i] * moment(rest)
        for j, power in enumerate(rest):
            if power:
                value += power * covariance[i, j] * moment(_lowered(rest, j))
        return sympy.expand(value)

    return sympy.factor_terms(moment(exponents))


def _lowered(powers: tuple[int, ...], i: int) -> tuple[int, ...]:
    return (*powers[:i], powers[i] - 1, *powers[i + 1 :])
