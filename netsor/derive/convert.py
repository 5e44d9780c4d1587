"""The symbolic interpreter of the scalar language: expressions to SymPy."""

from __future__ import annotations

import math
from copy import copy
from fractions import Fraction

import sympy

from netsor.derive.closed_forms.unit_integral import unit_integral
from netsor.derive.counting import Ranges
from netsor.derive.expectations import gaussian_expectation
from netsor.derive.names import Letters, Names, indexed, limits
from netsor.derive.objects import Extremum, InfiniteAverage, Softmax, function, indicator
from netsor.derive.sums import summation
from netsor.ir.expressions import (
    Add, Array, Average, Call, Compare, Expect, Expr, Index, Integral, Leaf, Let, Logic, Mul, Num, Pow, Reduce, ScalarRef, Sym, Where,
    Width,
)
from netsor.ir.expressions import Indicator as IsTrue
from netsor.ir.expressions import Softmax as SoftmaxNode
from netsor.ir.program import ScalarFunction
from netsor.ir.rewrite import substitute
from netsor.limit.equations import Binding

LARGEST_PART_OF_PI = 64
_RELATIONS = {"<": sympy.Lt, "<=": sympy.Le, ">": sympy.Gt, ">=": sympy.Ge, "==": sympy.Eq, "!=": sympy.Ne}


class Converter:
    """Converts the expressions of one derivation.

    ``inlined`` are the equations that are written out where they are used; ``sizes`` the parameters that are sizes of indices;
    ``correlation(k11, k12, k22)`` gives the symbol for a correlation that the formulas name."""

    def __init__(self, names: Names, inlined: frozenset[Binding], sizes: frozenset[str], correlation=None):
        self.names, self.inlined, self.sizes, self.correlation = names, inlined, sizes, correlation
        self.heads: list[sympy.Symbol] = []
        self.citations: list[str] = []
        self.binary: set[sympy.Expr] = set()  # scalars that are 0 or 1
        self.scalars: dict = {}  # equations of scalar families, where they may be written out

    def take_citations(self) -> list[str]:
        """Where the closed forms since the last call come from."""
        found = list(dict.fromkeys(self.citations))
        self.citations.clear()
        return found

    def with_variables(self, heads: list[sympy.Symbol]) -> "Converter":
        """The converter inside an expectation, with names for the Gaussian variables."""
        inside = copy(self)
        inside.heads = heads
        return inside

    def __call__(self, expr: Expr, letters: Letters) -> sympy.Expr:
        """``expr`` in SymPy, its indices written with ``letters``."""
        method = getattr(self, "_" + type(expr).__name__.lower())
        return method(expr, letters)

    # --- numbers, symbols, references --------------------------------------------------------------------------------

    def _num(self, expr: Num, letters: Letters) -> sympy.Expr:
        return number(expr.value)

    def _sym(self, expr: Sym, letters: Letters) -> sympy.Expr:
        return self.names.parameter(expr.name, expr.name in self.sizes)

    def _width(self, expr: Width, letters: Letters) -> sympy.Expr:
        return number(expr.ratio)

    def _index(self, expr: Index, letters: Letters) -> sympy.Expr:
        return letters.of(expr)

    def _array(self, expr: Array, letters: Letters) -> sympy.Expr:
        return indexed(self.names.array(expr.declaration), [self(s, letters) for s in expr.subscripts])

    def _scalarref(self, expr: ScalarRef, letters: Letters) -> sympy.Expr:
        binding = self.scalars.get(expr.family)
        if binding in self.inlined:
            return self(substitute(binding.expression, dict(zip(binding.labels, expr.subscripts))), letters)
        element = self.names.element(expr.family, [self(s, letters) for s in expr.subscripts])
        if isinstance(expr.family.definition, ScalarFunction) and isinstance(expr.family.definition.body, IsTrue):
            self.binary.add(element)
        return element

    def _coord(self, expr, letters: Letters) -> sympy.Expr:
        return self.names.element(expr.family, [self(s, letters) for s in expr.subscripts])

    def _let(self, expr: Let, letters: Letters) -> sympy.Expr:
        binding = expr.binding
        if binding in self.inlined:
            return self(substitute(binding.expression, dict(zip(binding.labels, expr.subscripts))), letters)
        return self.names.binding(binding, tuple(self(s, letters) for s in expr.subscripts))

    def _leaf(self, expr: Leaf, letters: Letters) -> sympy.Expr:
        return indexed(self.heads[expr.slot], [self(s, letters) for s in expr.subscripts])

    # --- arithmetic --------------------------------------------------------------------------------------------------

    def _add(self, expr: Add, letters: Letters) -> sympy.Expr:
        return sympy.Add(*[self(term, letters) for term in expr.terms])

    def _mul(self, expr: Mul, letters: Letters) -> sympy.Expr:
        return self._without_idle_powers(sympy.Mul(*[self(factor, letters) for factor in expr.factors]))

    def _pow(self, expr: Pow, letters: Letters) -> sympy.Expr:
        return self._without_idle_powers(sympy.Pow(self(expr.base, letters), self(expr.exponent, letters)))

    def _without_idle_powers(self, product: sympy.Expr) -> sympy.Expr:
        """A product in which what is 0 or 1 has no powers."""
        powers = [factor for factor in sympy.Mul.make_args(product) if isinstance(factor, sympy.Pow) and factor.base in self.binary]
        return product.xreplace({each: each.base for each in powers if each.exp.is_positive})

    def _call(self, expr: Call, letters: Letters) -> sympy.Expr:
        return function(expr.function)(*[self(argument, letters) for argument in expr.arguments])

    # --- conditions --------------------------------------------------------------------------------------------------

    def condition(self, expr: Expr | None, letters: Letters):
        """A condition as a SymPy Boolean; true for None."""
        if expr is None:
            return sympy.true
        if isinstance(expr, Compare):
            return _RELATIONS[expr.op](self(expr.left, letters), self(expr.right, letters))
        parts = [self.condition(part, letters) for part in expr.arguments]
        return {"and": sympy.And, "or": sympy.Or, "not": sympy.Not}[expr.op](*parts)

    def _compare(self, expr: Compare, letters: Letters):
        return self.condition(expr, letters)

    def _logic(self, expr: Logic, letters: Letters):
        return self.condition(expr, letters)

    def _indicator(self, expr: IsTrue, letters: Letters) -> sympy.Expr:
        return indicator(self.condition(expr.test, letters))

    def _where(self, expr: Where, letters: Letters) -> sympy.Expr:
        test = self.condition(expr.test, letters)
        then, otherwise = self(expr.then, letters), self(expr.otherwise, letters)
        if otherwise == 0:
            return indicator(test) * then
        return sympy.Piecewise((then, test), (otherwise, True))

    # --- binders -----------------------------------------------------------------------------------------------------

    def ranges(self, letters: Letters) -> Ranges:
        """The ranges of the letters of a formula, so far as they are finite."""
        return {symbol: (low, high) for symbol, low, high in letters.axes(lambda e: self(e, Letters()))}

    def _reduce(self, expr: Reduce, letters: Letters) -> sympy.Expr:
        inside = letters.scoped()
        bounds = [(inside.of(index), *limits(index, lambda e: self(e, letters))) for index in expr.indices]
        guard = self.condition(expr.guard, inside)
        body = self(expr.body, inside)
        match expr.op:
            case "sum":
                return summation(indicator(guard) * body, bounds, self.ranges(letters))
            case "prod":
                return sympy.Product(body if guard == sympy.true else sympy.Piecewise((body, guard), (1, True)), *bounds)
        for bound in reversed(bounds):
            body, guard = Extremum(sympy.Symbol(expr.op), body, guard, sympy.Tuple(*bound)), sympy.true
        return body

    def _softmax(self, expr: SoftmaxNode, letters: Letters) -> sympy.Expr:
        inside = letters.scoped()
        inside.symbols.pop(expr.index, None)
        bound = sympy.Tuple(inside.of(expr.index), *limits(expr.index, lambda e: self(e, letters)))
        body, guard = self(expr.body, inside), self.condition(expr.guard, inside)
        return Softmax(body, guard, self(expr.at, letters), bound)

    def _average(self, expr: Average, letters: Letters) -> sympy.Expr:
        inside = letters.scoped()
        symbol = inside.of(expr.index)
        body = self(expr.body, inside)
        return InfiniteAverage(body, symbol) if symbol in body.free_symbols else body

    def _integral(self, expr: Integral, letters: Letters) -> sympy.Expr:
        inside = letters.scoped()
        symbol = inside.real(expr.variable, self.names)
        factors = sympy.Mul.make_args(self(expr.body, inside))
        outside = [factor for factor in factors if symbol not in factor.free_symbols]
        body = sympy.Mul(*[factor for factor in factors if symbol in factor.free_symbols])
        closed = unit_integral(body, symbol)
        if closed is None:
            return sympy.Mul(*outside) * sympy.Integral(body, (symbol, 0, 1))
        exponentials, others = [], []
        for factor in (*outside, *sympy.Mul.make_args(closed)):
            (exponentials if isinstance(factor, sympy.exp) else others).append(factor)
        return sympy.Mul(*others) * sympy.exp(sympy.Add(*[each.args[0] for each in exponentials]))

    def _expect(self, expr: Expect, letters: Letters) -> sympy.Expr:
        return gaussian_expectation(expr, self, letters)


def number(value) -> sympy.Expr:
    """A number, exact where it is; a float that is a simple multiple of pi to the last digit is meant to be one."""
    if isinstance(value, Fraction):
        return sympy.Rational(value.numerator, value.denominator)
    if isinstance(value, int):
        return sympy.Integer(value)
    multiple = Fraction(value / math.pi).limit_denominator(LARGEST_PART_OF_PI) if math.isfinite(value) else Fraction(0)
    if multiple and abs(float(multiple) * math.pi - value) <= 2 * math.ulp(value):
        return sympy.pi * sympy.Rational(multiple.numerator, multiple.denominator)
    return sympy.Float(value)
