"""What formulas of limits need beyond SymPy: indicators, softmax, extrema over an index, averages over an infinite axis, and
Gaussian expectations that have no closed form.

All are ordinary SymPy expressions: symbols in them can be replaced, and their numbers are found by :mod:`netsor.derive.evaluate`.
"""

from __future__ import annotations

import sympy


class Indicator(sympy.Function):
    """1 where the condition (the argument) holds, 0 elsewhere."""

    is_commutative = True  # not to be asked of a condition

    def _eval_power(self, exponent):
        return self if exponent.is_positive else None

    @classmethod
    def eval(cls, condition):
        if condition == sympy.true:
            return sympy.S.One
        if condition == sympy.false:
            return sympy.S.Zero


def indicator(condition) -> sympy.Expr:
    """The indicator of a condition: a Kronecker delta for an equality of indices."""
    if isinstance(condition, sympy.Eq):
        return sympy.KroneckerDelta(condition.lhs, condition.rhs)
    if isinstance(condition, sympy.And):
        return sympy.Mul(*[indicator(part) for part in condition.args])
    return Indicator(condition)


class Named(sympy.Function):
    """Base of functions that netsor knows by name."""


_functions: dict[str, type] = {}

SYMPY_FUNCTIONS = {
    "exp": sympy.exp, "log": sympy.log, "sin": sympy.sin, "cos": sympy.cos, "tanh": sympy.tanh, "erf": sympy.erf,
    "abs": sympy.Abs, "sqrt": sympy.sqrt, "max": sympy.Max, "min": sympy.Min, "floor": sympy.floor, "ceil": sympy.ceiling,
    "mod": sympy.Mod, "sign": sympy.sign,
}


def function(name: str) -> type:
    """The SymPy function of a name of the catalogue: SymPy's own, or one without properties that prints as its name."""
    if name in SYMPY_FUNCTIONS:
        return SYMPY_FUNCTIONS[name]
    if name not in _functions:
        _functions[name] = type(name, (Named,), {})
    return _functions[name]


def with_quantiles_undone(expr: sympy.Expr) -> sympy.Expr:
    """2 q - 1 for erf(normal_quantile(q)/sqrt(2)): the inverse of the standard normal distribution function."""
    quantile = function("normal_quantile")

    def undone(argument: sympy.Expr) -> sympy.Expr:
        sign, rest = (1, sympy.sqrt(2) * argument) if not argument.could_extract_minus_sign() else (-1, -sympy.sqrt(2) * argument)
        return sign * (2 * rest.args[0] - 1) if isinstance(rest, quantile) else sympy.erf(argument)

    return expr.replace(sympy.erf, undone) if expr.has(quantile) else expr


class Softmax(sympy.Expr):
    """exp(body at the index) / sum of exp(body) over the values of the index that ``guard`` admits.

    Arguments: (body, guard, at, (index, low, high))."""

    body = property(lambda self: self.args[0])
    guard = property(lambda self: self.args[1])
    at = property(lambda self: self.args[2])
    limits = property(lambda self: self.args[3])
    is_commutative = True

    @property
    def bound_symbols(self) -> list[sympy.Symbol]:
        return [self.limits[0]]

    @property
    def free_symbols(self) -> set:
        index, low, high = self.limits
        inside = (self.body.free_symbols | self.guard.free_symbols) - {index}
        return inside | self.at.free_symbols | low.free_symbols | high.free_symbols


class Extremum(sympy.Expr):
    """max or min over an index: (name, body, guard, (index, low, high))."""

    is_commutative = True
    name = property(lambda self: self.args[0])
    body = property(lambda self: self.args[1])
    guard = property(lambda self: self.args[2])
    limits = property(lambda self: self.args[3])

    @property
    def free_symbols(self) -> set:
        index, low, high = self.limits
        return ((self.body.free_symbols | self.guard.free_symbols) - {index}) | low.free_symbols | high.free_symbols

    @property
    def bound_symbols(self) -> list[sympy.Symbol]:
        return [self.limits[0]]

    def _eval_subs(self, old, new):
        if old == self.limits[0]:
            return self

    def _eval_derivative(self, symbol):
        return sympy.Derivative(self, symbol) if symbol in self.free_symbols else sympy.S.Zero


class InfiniteAverage(sympy.Expr):
    """The average of the body over an infinite axis, which is its expectation over one element: (body, index)."""

    is_commutative = True
    body = property(lambda self: self.args[0])
    index = property(lambda self: self.args[1])

    @property
    def free_symbols(self) -> set:
        return self.body.free_symbols - {self.index}


class GaussianExpectation(sympy.Expr):
    """E[integrand] over jointly Gaussian variables: (integrand, variables, means, covariance).

    A variable is a Symbol, or an Indexed over inner indices; entry (m, k) of the covariance is then an expression over the indices
    of variable m and the *second copies* of those of variable k: see ``inner``, a tuple for each variable of tuples (index, second
    copy, low, high)."""

    is_commutative = True
    integrand = property(lambda self: self.args[0])
    variables = property(lambda self: self.args[1])
    means = property(lambda self: self.args[2])
    covariance = property(lambda self: self.args[3])
    inner = property(lambda self: self.args[4])

    @property
    def own_symbols(self) -> set:
        """Symbols that are bound here: the variables and their inner indices."""
        own = set()
        for variable in self.variables:
            own |= {variable} if isinstance(variable, sympy.Symbol) else {variable.base.label, variable}
        for block in self.inner:
            own |= {entry[0] for entry in block} | {entry[1] for entry in block}
        return own

    @property
    def bound_symbols(self) -> list:
        return sorted(self.own_symbols, key=str)

    @property
    def free_symbols(self) -> set:
        return set().union(*(part.free_symbols for part in self.args)) - self.own_symbols

    def _eval_derivative(self, symbol):
        return sympy.Derivative(self, symbol) if symbol in self.free_symbols else sympy.S.Zero


class ScoreExpectation(sympy.Expr):
    """E over the law of random scores: (integrand,)."""

    is_commutative = True
    integrand = property(lambda self: self.args[0])
