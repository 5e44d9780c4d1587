"""Numbers from formulas: the equations of a derivation at values of its parameters, data and scores.

This interprets the SymPy formulas themselves, one element at a time; what it shares with the numeric engine is the quadrature of
expectations that have no closed form.
"""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import sympy

from netsor.derive.equations import Equations, head
from netsor.derive.objects import Extremum, GaussianExpectation, Indicator, Named, Softmax, WithoutNumber, numeric
from netsor.derive.quadrature import Unknown, expect
from netsor.derive.statement import Statement
from netsor.ir.elementary import COMPARISONS


NEAR_ONE = 8 * sys.float_info.epsilon


def correlation(x: float) -> float:
    """The argument of an arcsine or arccosine: 1 where it is 1 up to rounding, of which these would make 1e-8.  Roots sqrt(1 - rho^2)
    that stand beside them are taken as 0 there."""
    return math.copysign(1.0, x) if abs(x) > 1 - NEAR_ONE else x


ROUNDING = 1e-13  # of the terms of a sum, relative
UNRESOLVED = 1e-9  # error of an integral beyond which it is no number
NUMERIC: dict[type, Callable[..., float]] = {
    sympy.exp: math.exp, sympy.log: math.log, sympy.sin: math.sin, sympy.cos: math.cos, sympy.tanh: math.tanh,
    sympy.erf: math.erf, sympy.Abs: abs, sympy.Max: max, sympy.Min: min, sympy.floor: math.floor, sympy.ceiling: math.ceil,
    sympy.acos: lambda x: math.acos(correlation(x)), sympy.asin: lambda x: math.asin(correlation(x)),
    sympy.atan: math.atan, sympy.Mod: lambda x, y: x % y, sympy.sign: lambda x: (x > 0) - (x < 0), sympy.sinh: math.sinh,
    sympy.cosh: math.cosh,
}


class Evaluation:
    """Values of the quantities of a derivation.

    ``parameters`` gives numbers to symbols; ``data`` arrays by name; ``scores`` arrays by the label of the family (``"p"``, or
    ``"p[1,a,i,j]"`` where a loop makes several), over its axes."""

    def __init__(self, statements: list[Statement], parameters: Mapping[str, Any], data: Mapping[str, Any], arrays: Mapping[tuple, Any]):
        self.parameters = {name: float(value) if not isinstance(value, int) else value for name, value in parameters.items()}
        self.data = {name: np.asarray(value, dtype=float) for name, value in data.items()}
        self.arrays = arrays  # of scores: (name, loop numbers) -> (values, lowest subscripts)
        self.equations = Equations(statements)
        self.known: dict = {}

    def __call__(self, expr: sympy.Expr, values: Mapping[sympy.Symbol, int] = {}) -> float:
        """The number of a formula, its indices having these values."""
        return self._value(expr, dict(values))

    def _value(self, expr, env: dict):
        if isinstance(expr, (sympy.Integer, int)):
            return int(expr)
        if expr.is_Number or isinstance(expr, sympy.NumberSymbol):
            return float(expr)
        if isinstance(expr, sympy.Symbol):
            return self._symbol(expr, env)
        if isinstance(expr, sympy.Indexed):
            return self._element(str(expr.base.label), tuple(round(self._value(i, env)) for i in expr.indices))
        if isinstance(expr, sympy.Add):
            return sum(self._value(arg, env) for arg in expr.args)
        if isinstance(expr, sympy.Mul):
            return self._product(expr, env)
        if isinstance(expr, sympy.Pow):
            return self._power(expr, env)
        if isinstance(expr, sympy.KroneckerDelta):
            return int(self._value(expr.args[0], env) == self._value(expr.args[1], env))
        if isinstance(expr, Indicator):
            return int(self.holds(expr.args[0], env))
        if isinstance(expr, sympy.Piecewise):
            return next(self._value(value, env) for value, test in expr.args if self.holds(test, env))
        if isinstance(expr, (sympy.Sum, sympy.Product)):
            terms = [self._value(expr.function, own) for own in self._each(expr.limits, env)]
            return math.fsum(terms) if isinstance(expr, sympy.Sum) else math.prod(terms)
        if isinstance(expr, sympy.Integral):
            return self._integral(expr, env)
        if isinstance(expr, Softmax):
            return self._softmax(expr, env)
        if isinstance(expr, Extremum):
            kept = [own for own in self._each([expr.limits], env) if self.holds(expr.guard, own)]
            return {"max": max, "min": min}[str(expr.name)](self._value(expr.body, own) for own in kept)
        if isinstance(expr, GaussianExpectation):
            return expect(expr, lambda part, own: self._value(part, {**env, **own}))
        if isinstance(expr, WithoutNumber):
            raise Unknown("this expectation over scores has no closed form: program.limit() estimates it")
        return self._function(expr, env)

    def _function(self, expr, env: dict) -> float:
        if isinstance(expr, (sympy.Derivative, sympy.Subs)):
            raise Unknown(f"the derivative of {type(expr.expr).__name__} has no formula")
        values = [self._value(arg, env) for arg in expr.args]
        if type(expr) in NUMERIC:
            return NUMERIC[type(expr)](*values)
        if all(arg.is_number for arg in expr.args) or not hasattr(expr, "_eval_evalf"):
            return float(expr.evalf())
        if type(expr).__module__.startswith("netsor.derive.closed_forms"):
            return float(expr.func(*[sympy.Integer(v) if isinstance(v, int) else sympy.Float(v, 17) for v in values]).evalf())
        if isinstance(expr, Named):
            return float(numeric(expr.label)(*values))
        return float(expr.func(*values).evalf())

    def _symbol(self, symbol: sympy.Symbol, env: dict):
        if symbol in env:
            return env[symbol]
        if hasattr(symbol, "value"):  # a loop's number
            return symbol.value
        if symbol.name in self.equations.table or symbol.name in self.data:
            return self._element(symbol.name, ())
        if symbol.name in self.parameters:
            return self.parameters[symbol.name]
        if any(name == symbol.name for name, _ in self.arrays):
            return self._element(symbol.name, ())
        raise Unknown(f"'{symbol.name}' has no value")

    def _product(self, expr, env: dict):
        """Indicators first: what they exclude may be out of range.  A correlation with something of variance 0 is never needed:
        0 times 0/0 is 0."""
        result, undefined = 1, None
        for factor in sorted(expr.args, key=lambda part: not isinstance(part, (Indicator, sympy.KroneckerDelta))):
            if result == 0:
                return 0
            try:
                result = result * self._value(factor, env)
            except ZeroDivisionError as error:
                undefined = error
        if undefined is not None and result != 0:
            raise undefined
        return result

    def _power(self, expr: sympy.Pow, env: dict):
        exponent = self._value(expr.exp, env)
        terms = [self._value(term, env) for term in sympy.Add.make_args(expr.base)]
        base = sum(terms)
        if len(terms) > 1 and exponent % 1 == 0.5 and -ROUNDING <= base / (sum(map(abs, terms)) or 1) <= NEAR_ONE:
            base = 0.0  # 1 - rho^2 of a correlation that is 1 up to rounding
        return base**exponent

    def holds(self, condition, env: dict) -> bool:
        """Whether a condition is true."""
        if condition in (sympy.true, sympy.false):
            return bool(condition)
        if isinstance(condition, sympy.And):
            return all(self.holds(part, env) for part in condition.args)
        if isinstance(condition, sympy.Or):
            return any(self.holds(part, env) for part in condition.args)
        if isinstance(condition, sympy.logic.boolalg.ITE):
            test, then, otherwise = condition.args
            return self.holds(then if self.holds(test, env) else otherwise, env)
        if isinstance(condition, sympy.Not):
            return not self.holds(condition.args[0], env)
        left, right = (self._value(side, env) for side in (condition.lhs, condition.rhs))
        return bool(COMPARISONS[condition.rel_op](left, right))

    def _each(self, limits, env: dict):
        """The environment for every value of the indices."""
        symbols = [limit[0] for limit in limits]
        ranges = [range(round(self._value(low, env)), round(self._value(high, env)) + 1) for _, low, high in limits]
        for values in itertools.product(*ranges):
            yield {**env, **dict(zip(symbols, values))}

    def _integral(self, expr: sympy.Integral, env: dict) -> float:
        from scipy.integrate import quad

        *others, (symbol, low, high) = expr.limits  # the last one is outermost
        function = sympy.Integral(expr.function, *others) if others else expr.function
        inside = lambda t: self._value(function, {**env, symbol: t})  # noqa: E731
        ends = self._value(low, env), self._value(high, env)
        value, error, *_ = quad(inside, *ends, epsabs=1e-13, epsrel=1e-12, limit=200, full_output=1)  # 1: no warnings
        if error > UNRESOLVED * max(1.0, abs(value)):
            raise Unknown(f"the integral over {symbol} is not resolved: {value:.6g} with an error of {error:.1g}")
        return value

    def _softmax(self, expr: Softmax, env: dict) -> float:
        index, at = expr.limits[0], self._value(expr.at, env)
        kept = {own[index]: self._value(expr.body, own) for own in self._each([expr.limits], env) if self.holds(expr.guard, own)}
        if at not in kept:
            return 0.0
        top = max(kept.values())
        return math.exp(kept[at] - top) / math.fsum(math.exp(value - top) for value in kept.values())

    def _element(self, name: str, subscripts: tuple[int, ...]) -> float:
        key = (name, subscripts)
        if key not in self.known:
            self.known[key] = self._find(name, subscripts)
        return self.known[key]

    def _find(self, name: str, subscripts: tuple[int, ...]) -> float:
        if name in self.data:
            return float(self.data[name][tuple(s - 1 for s in subscripts)])
        if (statement := self.equations.find(name, subscripts)) is not None:
            letters = {own: given for own, given in zip(head(statement.symbol)[1], subscripts) if not hasattr(own, "value")}
            return self._value(statement.right, letters)
        for (own, fixed), (values, lowest) in self.arrays.items():
            if own == name and len(fixed) == len(subscripts) and all(f is None or f == s for f, s in zip(fixed, subscripts)):
                place = [s for f, s in zip(fixed, subscripts) if f is None]
                return float(values[tuple(s - low for s, low in zip(place, lowest))])
        raise Unknown(f"'{name}[{','.join(map(str, subscripts))}]' has no value")

