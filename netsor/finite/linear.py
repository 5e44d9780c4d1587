"""Which coordinatewise expressions are homogeneous polynomials in coordinates: those do not depend on the choice of axes.

A linear combination of vectors may be computed in any orthonormal frame, and so may the sum over coordinates of products of two
vectors.  Everything else needs the coordinates themselves.
"""

from __future__ import annotations

from netsor.ir.expressions import ZERO, Add, Coord, Expr, Mul, Num, Pow, Reduce, Where
from netsor.ir.polynomials import as_power, coords


def homogeneous_degree(expr: Expr) -> int | None:
    """The common degree of all terms of ``expr`` in coordinates; None if it is no polynomial or the degrees differ."""
    if not coords(expr):
        return 0
    expr = as_power(expr)
    match expr:
        case Coord():
            return 1
        case Add():
            return _common(expr.terms)
        case Mul():
            degrees = [homogeneous_degree(factor) for factor in expr.factors]
            return None if None in degrees else sum(degrees)
        case Pow(exponent=Num(value=int(exponent))) if exponent > 0:
            inner = homogeneous_degree(expr.base)
            return None if inner is None else inner * exponent
        case Reduce(op="sum") if expr.guard is None or not coords(expr.guard):
            return homogeneous_degree(expr.body)
        case Where() if not coords(expr.test):
            return _common((expr.then, expr.otherwise))
    return None


def _common(terms: tuple[Expr, ...]) -> int | None:
    """The degree that all terms share; zero has every degree."""
    degrees = {homogeneous_degree(term) for term in terms if term != ZERO}
    return degrees.pop() if len(degrees) == 1 else None
