"""Expressions as polynomials in coordinates of vectors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

from netsor.ir.expressions import ZERO, Add, Call, Coord, Expr, Mul, Num, Pow, Reduce, Where, add, lift, mul
from netsor.ir.rewrite import children, rebuild


def coords(expr: Expr) -> frozenset:
    """The coordinates (references to vector families) that occur in ``expr``."""
    if isinstance(expr, Coord):
        return frozenset((expr,))
    cached = expr.__dict__.get("_coords")
    if cached is None:
        cached = frozenset().union(*map(coords, children(expr)))
        object.__setattr__(expr, "_coords", cached)
    return cached


def with_parts(expr: Expr, names: Mapping[Expr, Expr]) -> Expr:
    """``expr`` with other expressions in the place of some of its parts, which have coordinates."""
    if expr in names:
        return names[expr]
    return rebuild(expr, lambda child: with_parts(child, names)) if coords(expr) else expr


def times(left: list[Expr], right: list[Expr]) -> list[Expr]:
    """The coefficients of the product of two polynomials, lowest first."""
    return [
        add(*[mul(left[i], right[k - i]) for i in range(len(left)) if 0 <= k - i < len(right)])
        for k in range(len(left) + len(right) - 1)
    ]


def degree(expr: Expr) -> int | None:
    """The degree of ``expr`` as a polynomial in coordinates, None if it is none."""
    return _degree(expr, max)


def homogeneous_degree(expr: Expr) -> int | None:
    """The common degree of all terms of ``expr`` in coordinates; None if it is no polynomial or the degrees differ.

    Degree 1 (a linear combination) may be computed in any orthonormal frame, and so may the sum over coordinates of degree 2."""
    return _degree(expr, _common)


def _degree(expr: Expr, of_sum: Callable[[list[int]], int | None]) -> int | None:
    """The degree, that of a sum being ``of_sum`` of the degrees of its terms."""
    of = lambda part: _degree(part, of_sum)  # noqa: E731
    if not coords(expr):
        return 0
    expr = as_power(expr)
    match expr:
        case Coord():
            return 1
        case Add():
            return _combine(of_sum, map(of, _terms(expr.terms)))
        case Mul():
            return _combine(sum, map(of, expr.factors))
        case Pow(exponent=Num(value=int(exponent))) if exponent > 0:
            inner = of(expr.base)
            return None if inner is None else inner * exponent
        case Reduce(op="sum") if expr.guard is None or not coords(expr.guard):
            return of(expr.body)
        case Where() if not coords(expr.test):
            return _combine(of_sum, map(of, _terms((expr.then, expr.otherwise))))
    return None


def _terms(terms: tuple[Expr, ...]) -> list[Expr]:
    """The terms that have a say: zero has every degree."""
    return [term for term in terms if term != ZERO]


def _common(degrees: list[int]) -> int | None:
    return degrees[0] if len(set(degrees)) == 1 else None


def _combine(operation, degrees) -> int | None:
    degrees = list(degrees)
    return None if None in degrees else operation(degrees)


_POWERS = {"identity": 1, "square": 2, "cube": 3}


def as_power(expr: Expr) -> Expr:
    """Named monomials written as powers."""
    if isinstance(expr, Call) and expr.function in _POWERS:
        exponent = _POWERS[expr.function]
        return expr.arguments[0] if exponent == 1 else Pow(expr.arguments[0], lift(exponent))
    if isinstance(expr, Pow) and isinstance(expr.exponent, Num) and isinstance(expr.exponent.value, Fraction):
        if expr.exponent.value.denominator == 1:
            return Pow(expr.base, Num(int(expr.exponent.value)))
    return expr
