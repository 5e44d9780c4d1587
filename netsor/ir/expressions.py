"""The scalar language: one small expression language that every stage speaks.

The same nodes describe coordinatewise functions, coefficients, functions of random scalars, guards, index terms,
constant arrays and, later, the kernels that the limit derives.  Nodes are immutable, hashable and compare by value;
``add``, ``mul`` and ``power`` are the constructors that keep sums and products flat and numbers folded.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

from netsor.ir.interned import Interned, node
from netsor.ir.number_powers import Number, number_power
from netsor.ir.ranges import Range


class Expr(metaclass=Interned):
    """Base of all nodes.  Operators build flat sums and products."""

    field_names: tuple[str, ...] = ()
    field_defaults: dict[str, Any] = {}

    def __add__(self, other):
        return add(self, other)

    __radd__ = __add__

    def __mul__(self, other):
        return mul(self, other)

    __rmul__ = __mul__

    def __neg__(self):
        return mul(-1, self)

    def __sub__(self, other):
        return add(self, mul(-1, other))

    def __rsub__(self, other):
        return add(other, mul(-1, self))

    def __truediv__(self, other):
        return mul(self, power(other, -1))

    def __rtruediv__(self, other):
        return mul(other, power(self, -1))

    def __pow__(self, exponent):
        return power(self, exponent)

    def __reduce__(self):
        # nodes are interned in every process that they are sent to
        return type(self), tuple(getattr(self, name) for name in self.field_names)

    def __repr__(self):
        from netsor.ir.text import text

        return text(self)


# --- numbers, symbols, indices ---------------------------------------------------------------------------------------


@node
class Num(Expr):
    """A number.  Literals of a program are exact (int or Fraction); computed constants may be floats."""

    value: Number


@node
class Sym(Expr):
    """A parameter that has no finite number: infinite (``H = inf``) or free in a derivation.  A free one carries a ``trial`` value,
    at which everything is checked that numbers decide."""

    name: str
    infinite: bool = False
    trial: Any = None


@node
class Width(Expr):
    """The size of a width in units of the first one: ``ratio`` in the limit; at width n the rounded size divided by n."""

    name: str
    ratio: Number


@node
class Index(Expr):
    """An index variable; as an expression it is its value.  ``tag`` tells copies apart: "" as declared, "x" and "y" the two
    copies of a kernel, integers for fresh ones."""

    name: str
    range: Range
    tag: Any = ""


_fresh = itertools.count(1)


def fresh(index: Index) -> Index:
    """A new index with the same name and range, different from every other."""
    return Index(index.name, index.range, next(_fresh))


# --- references ------------------------------------------------------------------------------------------------------


@node
class Array(Expr):
    """An entry of a ``data`` or ``const`` array.  ``declaration`` is an :class:`netsor.ir.program.ArrayDeclaration`."""

    declaration: Any
    subscripts: tuple


@node
class Coord(Expr):
    """A coordinate of an element of a vector family: Z^x in the limit, x_alpha at width n."""

    family: Any
    subscripts: tuple


@node
class ScalarRef(Expr):
    """An element of a scalar family (kinds C and S)."""

    family: Any
    subscripts: tuple


@node
class Let(Expr):
    """An element of a let-bound equation that the limit emitted."""

    binding: Any
    subscripts: tuple


@node
class Leaf(Expr):
    """A Gaussian variable inside an :class:`Expect`: an element of its block ``slot``."""

    slot: int
    subscripts: tuple = ()


# --- arithmetic ------------------------------------------------------------------------------------------------------


@node
class Add(Expr):
    terms: tuple


@node
class Mul(Expr):
    factors: tuple


@node
class Pow(Expr):
    base: Expr
    exponent: Expr


@node
class Call(Expr):
    """A function of the nonlinearity catalogue or an elementary one (exp, log, sin, cos, abs, sign, max, min, floor, ceil, mod, …).
    Parameters follow the argument: ``Call("leaky_relu", (z, Num(1/10)))``."""

    function: str
    arguments: tuple


# --- conditions ------------------------------------------------------------------------------------------------------


@node
class Compare(Expr):
    """``left op right`` with op one of < <= > >= == != ; a condition, not a number."""

    op: str
    left: Expr
    right: Expr


@node
class Logic(Expr):
    """``and``, ``or``, ``not`` of conditions."""

    op: str
    arguments: tuple


@node
class Where(Expr):
    """``then`` where the condition holds, ``otherwise`` elsewhere; what is excluded does not count (it may be out of range)."""

    test: Expr
    then: Expr
    otherwise: Expr


@node
class Indicator(Expr):
    """1 where the condition holds, 0 elsewhere."""

    test: Expr


# --- binders ---------------------------------------------------------------------------------------------------------


@node
class Reduce(Expr):
    """``op`` (sum, prod, max, min) of ``body`` over the values of ``indices`` that ``guard`` (a condition or None) admits."""

    op: str
    body: Expr
    indices: tuple
    guard: Expr | None = None


@node
class Softmax(Expr):
    """The softmax of ``body`` over ``index`` (those values that ``guard`` admits; the others are 0), at the value ``at`` of it."""

    body: Expr
    index: Index
    guard: Expr | None
    at: Expr


@node
class Average(Expr):
    """The average over an infinite axis: elements along it are iid given the rest."""

    body: Expr
    index: Index


@node
class Expect(Expr):
    """E[product of ``factors``], the leaves jointly Gaussian with the given means and covariances.

    Block ``m`` of leaves is a single variable (``inner[m] == ()``) or an array over the inner indices.  ``covariance[m][k]``
    is an expression over the :func:`first` copies of ``inner[m]`` and the :func:`second` copies of ``inner[k]``; ``mean[m]`` over
    the first copies of ``inner[m]``.  All other free indices of factors, means and covariances are the cells over which the
    expectation is taken.  ``mirror`` lists pairs of them whose exchange leaves the value as it is (the kernel of a family with
    itself).
    """

    factors: tuple
    inner: tuple
    mean: tuple
    covariance: tuple
    mirror: tuple = ()


@node
class Integral(Expr):
    """The integral of ``body`` over ``variable`` from 0 to 1: the expectation over a uniform variable.  The range of ``variable`` says how
    many nodes quadrature takes, about."""

    body: Expr
    variable: Index


def first(index: Index) -> Index:
    """The copy of an inner index that stands for the row of a covariance."""
    return Index(index.name, index.range, ("first", index.tag))


def second(index: Index) -> Index:
    """The copy of an inner index that stands for the column of a covariance."""
    return Index(index.name, index.range, ("second", index.tag))


# --- constructors ----------------------------------------------------------------------------------------------------

ZERO, ONE = Num(0), Num(1)


def lift(value) -> Expr:
    """An expression from an expression or a Python number."""
    return value if isinstance(value, Expr) else Num(value)


def add(*terms) -> Expr:
    """Flat sum with numbers folded."""
    out, constant = [], 0
    for term in map(lift, terms):
        for part in term.terms if isinstance(term, Add) else (term,):
            if isinstance(part, Num):
                constant = constant + part.value
            else:
                out.append(part)
    if constant != 0 or not out:
        out.append(Num(constant))
    return out[0] if len(out) == 1 else Add(tuple(out))


def mul(*factors) -> Expr:
    """Flat product with numbers folded and powers of the same symbol merged."""
    out, constant, symbols = [], 1, {}
    for factor in map(lift, factors):
        for part in factor.factors if isinstance(factor, Mul) else (factor,):
            base, exponent = (part.base, part.exponent) if isinstance(part, Pow) else (part, ONE)
            if isinstance(part, Num):
                constant = constant * part.value
            elif isinstance(base, (Sym, Num, Width)) and isinstance(exponent, Num):
                symbols[base] = symbols.get(base, 0) + exponent.value
            else:
                out.append(part)
    if constant == 0:
        return ZERO
    for base, exponent in symbols.items():
        part = power(base, exponent)
        if isinstance(part, Num):
            constant = constant * part.value
        else:
            out.insert(0, part)
    if constant != 1 or not out:
        out.insert(0, Num(constant))
    return out[0] if len(out) == 1 else Mul(tuple(out))


def power(base, exponent) -> Expr:
    """``base ** exponent``; exact powers of exact numbers are folded."""
    base, exponent = lift(base), lift(exponent)
    if exponent == ONE:
        return base
    if exponent == ZERO:
        return ONE
    if isinstance(exponent, Num) and isinstance(base, Num):
        folded = number_power(base.value, exponent.value)
        if folded is not None:
            return Num(folded)
    integral = isinstance(exponent, Num) and exponent.value == int(exponent.value) if _finite(exponent) else False
    if isinstance(base, Pow) and isinstance(base.exponent, Num) and integral:
        return power(base.base, base.exponent.value * exponent.value)
    if isinstance(base, Mul) and integral:
        return mul(*[power(factor, exponent) for factor in base.factors])
    if isinstance(base, Mul) and isinstance(exponent, Num):
        positive = [f for f in base.factors if _is_positive(f)]
        rest = [f for f in base.factors if f not in positive]
        if positive and rest:
            return mul(*[power(f, exponent) for f in positive], power(mul(*rest), exponent))
        if positive:
            return mul(*[power(f, exponent) for f in positive]) if len(positive) > 1 else Pow(base, exponent)
    return Pow(base, exponent)


def _is_positive(factor: Expr) -> bool:
    match factor:
        case Sym():
            return factor.infinite  # a free parameter may be negative
        case Num(value=value):
            return value > 0
    return isinstance(factor, Width)


def _finite(exponent) -> bool:
    return isinstance(exponent, Num) and math.isfinite(exponent.value)


def sqrt(value) -> Expr:
    return power(value, Fraction(1, 2))


def total(body: Expr, indices, guard: Expr | None = None) -> Expr:
    """Sum of ``body`` over ``indices``; nested sums are merged."""
    indices = tuple(indices)
    if not indices:
        return body if guard is None else mul(Indicator(guard), body)
    if body == ZERO:
        return ZERO
    if isinstance(body, Reduce) and body.op == "sum":
        return Reduce("sum", body.body, indices + body.indices, both(guard, body.guard))
    return Reduce("sum", body, indices, guard)


def both(left: Expr | None, right: Expr | None) -> Expr | None:
    """The conjunction of two guards, either of which may be absent."""
    if left is None or right is None:
        return right if left is None else left
    parts = []
    for guard in (left, right):
        parts += guard.arguments if isinstance(guard, Logic) and guard.op == "and" else (guard,)
    return Logic("and", tuple(dict.fromkeys(parts)))
