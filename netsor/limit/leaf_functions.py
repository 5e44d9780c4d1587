"""Expressions in one Gaussian leaf as the functions that the expectation engine takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netsor.expectation import CellFunction, UnaryFunction
from netsor.ir.elementary import ELEMENTARY
from netsor.ir.evaluate import Evaluator
from netsor.ir.expressions import ONE, ZERO, Add, Call, Expr, Leaf, Mul, Num, Pow, add
from netsor.ir.labelled import CELL, POINT, Labelled
from netsor.ir.polynomials import as_power, times
from netsor.ir.rewrite import rebuild, walk
from netsor.limit.cells import CellEvaluator, Cells, has_leaf
from netsor.limit.functions import function
from netsor.limit.kinks import crossings, roots
from netsor.limit.parity import parity

if TYPE_CHECKING:
    from netsor.limit.numbers import Numbers


def static_function(body: Expr) -> UnaryFunction:
    """A function of one leaf without other variables, with what the engine wants to know about it."""
    leaf = _the_leaf(body)
    if isinstance(body, Call) and body.function not in ELEMENTARY and body.arguments[0] == leaf:
        if all(isinstance(parameter, Num) for parameter in body.arguments[1:]):
            return UnaryFunction.of(body.function, *(float(p.value) for p in body.arguments[1:]))
    at = _Values(Evaluator(function), Cells((), {}), leaf)
    kinks = _kinks(body, lambda e: lambda x: at(e, x, slice(None)), 1)
    return UnaryFunction(
        key=_at_slot_zero(body),
        function=lambda x: at(body, np.asarray(x, dtype=float).reshape(1, -1), slice(None)).reshape(np.shape(x)),
        kinks=tuple(sorted({float(kink) for kink in kinks.ravel() if np.isfinite(kink)})),
        parity=parity(body, lambda _: -1),
        polynomial=polynomial_coefficients(body),
    )


def cell_function(body: Expr, cells: Cells, numbers: "Numbers") -> CellFunction:
    """A function of one leaf whose other entries are parameters of the cell."""
    at = _Values(numbers, cells, _the_leaf(body))
    kinks = _kinks(body, lambda e: lambda x: at(e, x, slice(None)), cells.count)
    return CellFunction(lambda x, window: at(body, x, window), kinks)


class _Values:
    """Values of expressions in one leaf at x of shape (cells, points).  Calls share nothing, so that threads may."""

    def __init__(self, parent: Evaluator, cells: Cells, leaf: Leaf):
        self.parent, self.cells, self.slot = parent, cells, leaf.slot

    def __call__(self, expr: Expr, x: np.ndarray, window: slice) -> np.ndarray:
        leaves = [Labelled(x, (CELL, POINT))] * (self.slot + 1)
        return CellEvaluator(self.parent, self.cells).at(expr, leaves, window)


def _kinks(body: Expr, evaluate, cells: int) -> np.ndarray:
    """Shape (cells, number of kinks), padded with inf."""
    found = [roots(evaluate(e), leaf_degree(e) == 1, cells) for e in crossings(body)]
    return np.concatenate(found, axis=1) if found else np.zeros((cells, 0))


def _the_leaf(body: Expr) -> Leaf:
    return next(part for part in walk(body) if isinstance(part, Leaf))


def _at_slot_zero(expr: Expr) -> Expr:
    return Leaf(0) if isinstance(expr, Leaf) else rebuild(expr, _at_slot_zero)


def leaf_degree(expr: Expr) -> int | None:
    """The degree as a polynomial in the leaf."""
    coefficients = polynomial_in_leaf(expr)
    return None if coefficients is None else len(coefficients) - 1


def polynomial_coefficients(body: Expr) -> tuple[float, ...] | None:
    """Numeric coefficients, lowest first; None if it is no polynomial with numeric coefficients."""
    coefficients = polynomial_in_leaf(body)
    if coefficients is None or not all(isinstance(c, Num) for c in coefficients):
        return None
    return tuple(float(c.value) for c in coefficients)


def polynomial_in_leaf(expr: Expr) -> list[Expr] | None:
    """Coefficients (expressions without the leaf), lowest first; None if it is no polynomial of moderate degree."""
    if not has_leaf(expr):
        return [expr]
    expr = as_power(expr)
    match expr:
        case Leaf():
            return [ZERO, ONE]
        case Add():
            parts = [polynomial_in_leaf(term) for term in expr.terms]
            if None in parts:
                return None
            return [add(*[p[k] for p in parts if k < len(p)]) for k in range(max(map(len, parts)))]
        case Mul() | Pow(exponent=Num(value=int())):
            if isinstance(expr, Pow) and not 0 < expr.exponent.value <= 16:
                return None
            factors = expr.factors if isinstance(expr, Mul) else [expr.base] * expr.exponent.value
            product: list[Expr] = [ONE]
            for factor in factors:
                part = polynomial_in_leaf(factor)
                if part is None or len(part) + len(product) > 34:
                    return None
                product = times(product, part)
            return product
    return None
