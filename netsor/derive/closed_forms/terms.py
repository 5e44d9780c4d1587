"""Functions as sums of terms whose Gaussian expectations are elementary.

Every function here is a sum of terms

    coefficient x^power e^{rate x - decay x^2} S(x - at),

S absent or a *smoothed sign*, S(x) = E sgn(x + N(0, noise)): noise 0 is the sign itself, noise 1/2 is erf(x), noise 1 is
2 Phi(x) - 1.  Of sin and cos the expectations are written with sin and cos, hence terms of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import sympy

ZERO = sympy.Integer(0)


@dataclass(frozen=True)
class SmoothedSign:
    """S(x - at) = E sgn(x - at + N(0, noise)) = erf((x - at) / sqrt(2 noise))."""

    at: sympy.Expr = ZERO
    noise: sympy.Expr = ZERO


@dataclass(frozen=True)
class Term:
    """coefficient x^power e^{rate x - decay x^2} S(x - at)."""

    coefficient: sympy.Expr
    power: int = 0
    rate: sympy.Expr = ZERO
    decay: sympy.Expr = ZERO
    sign: SmoothedSign | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "coefficient", sympy.sympify(self.coefficient))

    @property
    def parity(self) -> int:
        if self.rate != 0 or (self.sign is not None and self.sign.at != 0):
            return 0
        return (-1) ** (self.power + (self.sign is not None))

    def signed(self, at=ZERO, noise=ZERO) -> Term:
        return replace(self, sign=SmoothedSign(sympy.sympify(at), sympy.sympify(noise)))

    def times(self, factor) -> Term:
        return replace(self, coefficient=factor * self.coefficient)

    def reflected(self) -> Term:
        """The term of -x; S(-x - at) = -S(x + at)."""
        coefficient = (-1) ** (self.power + (self.sign is not None)) * self.coefficient
        sign = self.sign and SmoothedSign(-self.sign.at, self.sign.noise)
        return Term(coefficient, self.power, -self.rate, self.decay, sign)

    def __call__(self, x):
        value = self.coefficient * x**self.power * sympy.exp(self.rate * x - self.decay * x**2)
        if self.sign is None:
            return value
        beyond, noise = x - self.sign.at, self.sign.noise
        return value * (sympy.sign(beyond) if noise == 0 else sympy.erf(beyond / sympy.sqrt(2 * noise)))


@dataclass(frozen=True)
class Wave:
    """coefficient sin(x) or coefficient cos(x)."""

    coefficient: sympy.Expr
    function: type

    @property
    def parity(self) -> int:
        return -1 if self.function is sympy.sin else 1

    def reflected(self) -> Wave:
        return Wave(self.parity * self.coefficient, self.function)

    def __call__(self, x):
        return self.coefficient * self.function(x)


@dataclass(frozen=True)
class Decomposition:
    """A function as a sum of terms, possibly plus a remainder of which nothing but the parity is known.

    ``kinks`` are the places of its signs in ascending order, which symbols alone could not tell; ``whole`` is the function
    itself, where the terms are not all of it or do not give its value at a jump.
    """

    terms: tuple[Term | Wave, ...]
    remainder: int = 0
    kinks: tuple[sympy.Expr, ...] = ()
    whole: Callable[[sympy.Expr], sympy.Expr] | None = None

    def __call__(self, x: sympy.Expr) -> sympy.Expr:
        return self.whole(x) if self.whole else sympy.Add(*(term(x) for term in self.terms))

    def __post_init__(self) -> None:
        object.__setattr__(self, "terms", tuple(term for term in self.terms if term.coefficient != 0))

    @property
    def parity(self) -> int:
        """+1 even, -1 odd, 0 neither."""
        parities = {term.parity for term in self.terms} | ({self.remainder} if self.remainder else set())
        return parities.pop() if len(parities) == 1 else 0

    @property
    def degree(self) -> int | None:
        """k if the function is positively homogeneous, f(s x) = s^k f(x) for s > 0."""
        powers = set()
        for term in self.terms:
            if isinstance(term, Wave) or term.rate != 0 or term.decay != 0:
                return None
            if term.sign is not None and (term.sign.at != 0 or term.sign.noise != 0):
                return None
            powers.add(term.power)
        return powers.pop() if len(powers) == 1 and not self.remainder else None

    def reflected(self) -> Decomposition:
        """The function of -x."""
        kinks = tuple(-kink for kink in reversed(self.kinks))
        return Decomposition(tuple(term.reflected() for term in self.terms), self.remainder, kinks)


def product(one: Term | Wave, two: Term | Wave, order: tuple) -> tuple[Term, ...] | None:
    """one(x) two(x) as terms, or None; ``order`` lists thresholds in ascending order, where symbols cannot tell."""
    if isinstance(one, Wave) or isinstance(two, Wave):
        return None
    merged = Term(
        one.coefficient * two.coefficient, one.power + two.power, one.rate + two.rate, one.decay + two.decay,
        one.sign or two.sign,
    )  # fmt: skip
    if one.sign is None or two.sign is None:
        return (merged,)
    if one.sign.noise != 0 or two.sign.noise != 0:
        return None
    plain = replace(merged, sign=None)
    if one.sign == two.sign:
        return (plain,)
    low, high = one.sign, two.sign
    if low.at in order and high.at in order:
        ascending = order.index(low.at) < order.index(high.at)
    else:
        ascending = (high.at - low.at).is_positive
        if ascending is None:
            return None
    if not ascending:
        low, high = high, low
    # sgn(x - low) sgn(x - high) = 1 - sgn(x - low) + sgn(x - high)
    return (plain, replace(plain.times(-1), sign=low), replace(plain, sign=high))


MOST_TERMS = 64  # of a product


def decomposition_product(one: Decomposition, two: Decomposition) -> Decomposition | None:
    """The product of two functions of one variable, equal almost everywhere; None where it is no sum of such terms.

    Signs at zero make rectifiers and steps of each other's powers: relu^k = x^(k-1) relu, step^2 = step, abs^2 = x^2, sign abs = x."""
    if one.remainder or two.remainder:
        return None
    kinks = one.kinks if len(one.kinks) >= len(two.kinks) else two.kinks
    found: dict[Term, sympy.Expr] = {}
    for left in one.terms:
        for right in two.terms:
            terms = product(left, right, kinks)
            if terms is None:
                return None
            for term in terms:
                key = replace(term, coefficient=sympy.Integer(1))
                found[key] = sympy.expand(found.get(key, ZERO) + term.coefficient)
            if len(found) > MOST_TERMS:
                return None
    return Decomposition(tuple(term.times(weight) for term, weight in found.items()), kinks=kinks, whole=lambda x: one(x) * two(x))


def polynomial(*coefficients) -> tuple[Term, ...]:
    """sum_k coefficients[k] x^k."""
    return tuple(Term(sympy.sympify(value), power) for power, value in enumerate(coefficients) if value != 0)


def ramp(slope, at=ZERO, power: int = 1) -> tuple[Term, ...]:
    """slope x^power for x > at and 0 below, as (1 + sgn(x - at)) / 2 times it."""
    half = Term(sympy.sympify(slope) / 2, power)
    return (half, half.signed(at))
