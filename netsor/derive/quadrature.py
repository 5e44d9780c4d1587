"""Numbers for expectations that have no closed form: the formula goes back to the scalar language and through the numeric engine."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import sympy

from netsor.derive.objects import SYMPY_FUNCTIONS, Extremum, GaussianExpectation, Indicator, Named, Softmax
from netsor.ir.expressions import (
    Array, Call, Compare, Expect, Expr, Index, Leaf, Logic, Num, Range, Reduce, Where, add, first, mul, power, second,
)
from netsor.ir.expressions import Indicator as IsTrue
from netsor.ir.expressions import Softmax as SoftmaxNode
from netsor.ir.program import ArrayDeclaration
from netsor.limit.equations import Binding
from netsor.limit.levels import Levels
from netsor.limit.numbers import Numbers
from netsor.limit.recursion import Recursion

Value = Callable[[sympy.Expr, dict], float]
NAMES = {own: name for name, own in SYMPY_FUNCTIONS.items()}


class Unknown(ValueError):
    """A formula mentions something that has no number."""


def expect(expr: GaussianExpectation, value: Value) -> float:
    """The expectation, every part of it that is no variable having the number ``value(part, indices)``."""
    blocks = [tuple(_index(entry, value) for entry in entries) for entries in expr.inner]
    back = _Back(expr, value)
    covariance = tuple(
        tuple(back.array(entry, expr.inner[m], blocks[m], expr.inner[k], blocks[k]) for k, entry in enumerate(row))
        for m, row in enumerate(expr.covariance.tolist()))
    means = tuple(back.array(mean, expr.inner[m], blocks[m]) for m, mean in enumerate(expr.means))
    factors = tuple(back(factor, {}) for factor in sympy.Mul.make_args(expr.integrand))
    recursion = Recursion()
    numbers = Numbers(recursion, Levels(recursion))
    binding = Binding("E", (), Expect(factors, tuple(blocks), means, covariance))
    value_found = float(numbers.value(binding).data)
    if any("QMC" in method for method in numbers.ledger.methods.get(binding, ())):
        raise Unknown("this expectation needs quasi-random points: program.limit() gives it with its error")
    return value_found


def _index(entry, value: Value) -> Index:
    symbol, _, low, high = entry
    return Index(str(symbol), Range(round(value(low, {})), round(value(high, {}))))


class _Back:
    """From SymPy to the scalar language, numbers in the place of everything known."""

    def __init__(self, expr: GaussianExpectation, value: Value):
        self.value = value
        self.slots = {}
        for slot, variable in enumerate(expr.variables):
            self.slots[variable.base.label if isinstance(variable, sympy.Indexed) else variable] = slot

    def array(self, entry, rows, row_indices, columns=(), column_indices=()) -> Expr:
        """The values of a covariance (or mean) over the inner indices."""
        if not rows and not columns:
            return Num(self.value(entry, {}))
        ranges = [index.range for index in (*row_indices, *column_indices)]
        symbols = [each[0] for each in rows] + [each[1] for each in columns]
        values = np.empty([range_.size for range_ in ranges])
        for place in np.ndindex(values.shape):
            values[place] = self.value(entry, {s: r.lo + p for s, r, p in zip(symbols, ranges, place)})
        copies = tuple(map(first, row_indices)) + tuple(map(second, column_indices))
        return Array(ArrayDeclaration("covariance", tuple(ranges), values), copies)

    def __call__(self, expr, indices: dict) -> Expr:
        if not self._is_random(expr):
            bound = {symbol for symbol in indices} & expr.free_symbols
            if not bound:
                return Num(self.value(expr, {}))
        inner = lambda part: self(part, indices)  # noqa: E731
        if isinstance(expr, sympy.Symbol):
            return indices[expr] if expr in indices else Leaf(self.slots[expr])
        if isinstance(expr, sympy.Number):
            return Num(int(expr) if expr.is_Integer else float(expr))
        if isinstance(expr, sympy.Indexed):
            if expr.base.label in self.slots:
                return Leaf(self.slots[expr.base.label], tuple(map(inner, expr.indices)))
            return self._table(expr, indices)
        if isinstance(expr, sympy.Add):
            return add(*map(inner, expr.args))
        if isinstance(expr, sympy.Mul):
            return mul(*map(inner, expr.args))
        if isinstance(expr, sympy.Pow):
            return power(inner(expr.base), inner(expr.exp))
        if isinstance(expr, sympy.Piecewise):
            result = None
            for branch, test in reversed(expr.args):
                result = inner(branch) if result is None else Where(self.condition(test, indices), inner(branch), result)
            return result
        if isinstance(expr, sympy.KroneckerDelta):
            return IsTrue(Compare("==", *map(inner, expr.args)))
        if isinstance(expr, Indicator):
            return IsTrue(self.condition(expr.args[0], indices))
        if isinstance(expr, (sympy.Sum, sympy.Product)):
            own = {limit[0]: self._bound(limit) for limit in expr.limits}
            return Reduce("sum" if isinstance(expr, sympy.Sum) else "prod", self(expr.function, {**indices, **own}), tuple(own.values()))
        if isinstance(expr, Extremum):
            own = {expr.limits[0]: self._bound(expr.limits)}
            guard = None if expr.guard == sympy.true else self.condition(expr.guard, {**indices, **own})
            return Reduce(str(expr.name), self(expr.body, {**indices, **own}), tuple(own.values()), guard)
        if isinstance(expr, Softmax):
            own = {expr.limits[0]: self._bound(expr.limits)}
            guard = None if expr.guard == sympy.true else self.condition(expr.guard, {**indices, **own})
            return SoftmaxNode(self(expr.body, {**indices, **own}), own[expr.limits[0]], guard, inner(expr.at))
        name = expr.label if isinstance(expr, Named) else NAMES.get(expr.func)
        if name is None:
            raise Unknown(f"{expr.func.__name__} is no function of programs")
        return Call(name, tuple(map(inner, expr.args)))

    def _is_random(self, expr) -> bool:
        return any(symbol in self.slots for symbol in expr.atoms(sympy.Symbol))

    def _bound(self, limit) -> Index:
        symbol, low, high = limit
        return Index(str(symbol), Range(round(self.value(low, {})), round(self.value(high, {}))), "bound")

    def _table(self, expr, indices: dict) -> Expr:
        """A known quantity at bound indices, as an array of numbers."""
        symbols = sorted((s for s in expr.free_symbols if s in indices), key=str)
        ranges = tuple(indices[symbol].range for symbol in symbols)
        values = np.empty([range_.size for range_ in ranges])
        for place in np.ndindex(values.shape):
            values[place] = self.value(expr, {s: r.lo + p for s, r, p in zip(symbols, ranges, place)})
        return Array(ArrayDeclaration("values", ranges, values), tuple(indices[symbol] for symbol in symbols))

    def condition(self, expr, indices: dict) -> Expr:
        if isinstance(expr, (sympy.And, sympy.Or)):
            name = "and" if isinstance(expr, sympy.And) else "or"
            return Logic(name, tuple(self.condition(part, indices) for part in expr.args))
        if isinstance(expr, sympy.logic.boolalg.ITE):
            test, then, otherwise = expr.args
            return self.condition(sympy.Or(sympy.And(test, then), sympy.And(sympy.Not(test), otherwise)), indices)
        if isinstance(expr, sympy.Not):
            return Logic("not", (self.condition(expr.args[0], indices),))
        return Compare(expr.rel_op, self(expr.lhs, indices), self(expr.rhs, indices))
