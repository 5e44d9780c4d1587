"""Laws of inputs that are not Gaussian: Rademacher, Bernoulli, Uniform.

Each law is given in three ways, for three uses: atoms or the map from the unit interval for expectations, moments in closed form, and
the increasing function of a standard normal variable that has it, for quasi-random points and for draws.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from netsor.ir.expressions import ONE, ZERO, Call, Compare, Expr, Indicator, Num, Where, add, lift, mul, power
from netsor.ir.rewrite import substitute


@dataclass(frozen=True)
class Law:
    """A law with ``parameters``, expressions in the subscripts of the input."""

    parameters: tuple[Expr, ...]

    @property
    def name(self) -> str:
        return type(self).__name__

    def substitute(self, mapping) -> "Law":
        return type(self)(tuple(substitute(parameter, mapping) for parameter in self.parameters))

    def atoms(self) -> tuple[tuple[Expr, Expr], ...] | None:
        """(value, probability) of each value of a discrete law; None where the law has a density."""
        return None

    def moment(self, exponent: int) -> Expr:
        """E Z^exponent."""
        return add(*[mul(weight, power(value, exponent)) for value, weight in self.atoms()])

    @property
    def symmetric(self) -> bool:
        """Whether Z and -Z have the same law, for certain."""
        return False

    def of_normal(self, z: Expr) -> Expr:
        """A function of ``z`` that has the law if z is standard normal."""
        raise NotImplementedError


class Rademacher(Law):
    """-1 and 1 with probability 1/2 each."""

    def atoms(self):
        half = Num(Fraction(1, 2))
        return (Num(-1), half), (Num(1), half)

    @property
    def symmetric(self) -> bool:
        return True

    def of_normal(self, z: Expr) -> Expr:
        return Where(Compare("<", z, ZERO), Num(-1), ONE)


class Bernoulli(Law):
    """1 with the given probability, else 0."""

    def atoms(self):
        one, = self.parameters
        return (ZERO, add(1, mul(-1, one))), (ONE, one)

    def of_normal(self, z: Expr) -> Expr:
        one, = self.parameters
        if isinstance(one, Num) and not 0 < one.value < 1:
            return lift(int(one.value))
        if isinstance(one, Num):
            from scipy.special import ndtri

            return Indicator(Compare(">", z, Num(-float(ndtri(float(one.value))))))
        return Indicator(Compare(">", z, mul(-1, Call("normal_quantile", (one,)))))


class Uniform(Law):
    """The uniform law on [low, high]."""

    def at(self, u: Expr) -> Expr:
        """The point that has the fraction ``u`` of the mass below it."""
        low, high = self.parameters
        return add(low, mul(add(high, mul(-1, low)), u))

    def moment(self, exponent: int) -> Expr:
        """(high^(k+1) - low^(k+1)) / ((k+1) (high - low)), divided out."""
        low, high = self.parameters
        terms = [mul(power(low, k), power(high, exponent - k)) for k in range(exponent + 1)]
        return mul(Num(Fraction(1, exponent + 1)), add(*terms))

    @property
    def symmetric(self) -> bool:
        return add(*self.parameters) == ZERO

    def of_normal(self, z: Expr) -> Expr:
        return self.at(Call("sigmoid_erf", (mul(Num(math.sqrt(0.5)), z),)))


LAWS = {law.__name__: law for law in (Rademacher, Bernoulli, Uniform)}
