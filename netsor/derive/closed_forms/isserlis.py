"""Moments of any number of Gaussian variables (Isserlis 1918; Wick)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import sympy


MOST_TERMS = 1000


class TooLong(ValueError):
    """A moment has more terms than a reader would follow."""


def polynomial_moment(exponents: Sequence[int], covariance_matrix, means: Sequence | None = None) -> sympy.Expr:
    """E x_1^{e_1} ... x_d^{e_d} for x ~ N(means, covariance_matrix), symbols or numbers.

    The sum over all ways to pair the variables, or to take the mean of one that is left alone.
    :raises ValueError: if an exponent is not a natural number or the sizes do not agree.
    :raises TooLong: if the moment has more than MOST_TERMS terms.
    """
    exponents = tuple(int(exponent) for exponent in exponents)
    covariance = sympy.Matrix(covariance_matrix)
    centre = [sympy.sympify(value) for value in means] if means is not None else [sympy.Integer(0)] * len(exponents)
    if covariance.shape != (len(exponents), len(exponents)) or len(centre) != len(exponents):
        raise ValueError(f"{len(exponents)} exponents need as many means and a square covariance matrix of that size")
    if min(exponents, default=0) < 0:
        raise ValueError("exponents are natural numbers")
    terms = pairings(exponents, covariance, centre)
    scale = math.prod(map(math.factorial, exponents))
    return sympy.factor_terms(sympy.Add(*[_term(scale, pairs, covariance, centre) for pairs in terms]))


Pairs = tuple[tuple[int, int, int], ...]  # (i, j, how often x_i is paired with x_j); j = -1 for its mean


def pairings(exponents: tuple[int, ...], covariance: sympy.Matrix, centre: Sequence) -> list[Pairs]:
    """The ways to write the exponents as sums of pairs with a covariance and single variables with a mean, one for each term.

    :raises TooLong: if there are more than MOST_TERMS."""
    found: list[tuple[tuple[int, ...], Pairs]] = [(exponents, ())]
    for i in range(len(exponents)):
        for j in range(i, len(exponents)):
            if covariance[i, j] != 0:
                found = [(_lowered(powers, i, j, used), (*pairs, (i, j, used))) for powers, pairs in found
                         for used in range((powers[i] // 2 if i == j else min(powers[i], powers[j])) + 1)]
            if len(found) > 100 * MOST_TERMS:
                raise TooLong(f"a moment of degree {sum(exponents)} of {len(exponents)} variables")
        found = [((*powers[:i], 0, *powers[i + 1:]), (*pairs, (i, -1, powers[i])))
                 for powers, pairs in found if powers[i] == 0 or centre[i] != 0]
        if len(found) > MOST_TERMS:
            raise TooLong(f"a moment of degree {sum(exponents)} of {len(exponents)} variables")
    return [pairs for _, pairs in found]


def _lowered(powers: tuple[int, ...], i: int, j: int, used: int) -> tuple[int, ...]:
    left = list(powers)
    left[i] -= used
    left[j] -= used
    return tuple(left)


def _term(scale: int, pairs: Pairs, covariance: sympy.Matrix, centre: Sequence) -> sympy.Expr:
    """prod e_i! prod C_ii^k/(2^k k!) prod C_ij^k/k! prod m_i^k/k!: the pairings that are alike, counted."""
    ways = math.prod(math.factorial(used) * (2**used if i == j else 1) for i, j, used in pairs)
    return sympy.Rational(scale, ways) * sympy.Mul(*[(centre[i] if j < 0 else covariance[i, j])**used for i, j, used in pairs])
