"""What formulas of limits need beyond SymPy: indicators, softmax, extrema over an index, averages over an infinite axis, and
Gaussian expectations that have no closed form.

All are ordinary SymPy expressions: symbols in them can be replaced, and their numbers are found by :mod:`netsor.derive.evaluate`.
"""

from __future__ import annotations

import sympy
from sympy.core.function import ArgumentIndexError


class Indicator(sympy.Function):
    """1 where the condition (the argument) holds, 0 elsewhere."""

    is_commutative = True  # not to be asked of a condition

    def _eval_power(self, exponent):
        return self if exponent.is_positive else None

    def _eval_derivative(self, symbol):
        return sympy.Derivative(self, symbol) if symbol in self.free_symbols else sympy.S.Zero

    def _code(self, printer) -> str:
        return printer._print(sympy.Piecewise((1, self.args[0]), (0, True)))

    _pythoncode = _numpycode = _lambdacode = _mpmathcode = _code

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
    """Base of functions that netsor knows by name, ``label``: all of them real, with derivatives and float64 numbers."""

    label = ""

    def _eval_is_extended_real(self):
        return True if all(argument.is_extended_real for argument in self.args) else None

    def fdiff(self, argindex=1):
        """The derivative by the argument; a Dirac delta for the step, as SymPy has it for the sign.

        :raises ArgumentIndexError: by a parameter, and for other functions with jumps; SymPy's Derivative stands then."""
        from netsor.derive.slopes import derivative_of

        if self.label == "step":
            return sympy.DiracDelta(self.args[0])
        found = derivative_of(self.label, self.args) if argindex == 1 else None
        if found is None:
            raise ArgumentIndexError(self, argindex)
        return found

    def _eval_evalf(self, prec):
        if not all(argument.is_number for argument in self.args):
            return None
        return sympy.Float(float(numeric(self.label)(*map(float, self.args))), 15)

    def _code(self, printer) -> str:
        name = printer._module_format(f"{NUMERICALLY}.netsor_{self.func.__name__}")
        return f"{name}({', '.join(map(printer._print, self.args))})"

    _pythoncode = _numpycode = _lambdacode = _mpmathcode = _code


NUMERICALLY = "netsor.derive.numerically"
PRIME = "_prime"


_functions: dict[str, type] = {}

SYMPY_FUNCTIONS = {
    "exp": sympy.exp, "log": sympy.log, "sin": sympy.sin, "cos": sympy.cos, "tanh": sympy.tanh, "erf": sympy.erf,
    "abs": sympy.Abs, "sqrt": sympy.sqrt, "max": sympy.Max, "min": sympy.Min, "floor": sympy.floor, "ceil": sympy.ceiling,
    "mod": sympy.Mod, "sign": sympy.sign,
}


def function(name: str) -> type:
    """The SymPy function of a name of the catalogue: SymPy's own, or one that prints as its name; ``softsign'`` for a derivative."""
    if name in SYMPY_FUNCTIONS:
        return SYMPY_FUNCTIONS[name]
    if name not in _functions:
        _functions[name] = type(name.replace("'", PRIME), (Named,), {"label": name})
    return _functions[name]


def with_quantiles_undone(expr: sympy.Expr) -> sympy.Expr:
    """2 q - 1 for erf(normal_quantile(q)/sqrt(2)): the inverse of the standard normal distribution function."""
    quantile = function("normal_quantile")

    def undone(argument: sympy.Expr) -> sympy.Expr:
        sign, rest = (1, sympy.sqrt(2) * argument) if not argument.could_extract_minus_sign() else (-1, -sympy.sqrt(2) * argument)
        return sign * (2 * rest.args[0] - 1) if isinstance(rest, quantile) else sympy.erf(argument)

    return expr.replace(sympy.erf, undone) if expr.has(quantile) else expr


def label(expr: sympy.Function) -> str:
    """The name that a function is printed by."""
    return expr.label if isinstance(expr, Named) else expr.func.__name__


def numeric(name: str):
    """The function of arrays behind a name."""
    from netsor.limit.functions import function as catalogue

    return catalogue(name)


class InCode:
    """What stands in functions of ``lambdify`` as its formula beside the values of its symbols."""

    def _code(self, printer) -> str:
        from netsor.derive.numerically import code

        return code(self, printer)

    _pythoncode = _numpycode = _lambdacode = _mpmathcode = _code


class Numeric(InCode, sympy.Expr):
    """Base of objects that have a number as soon as no symbol is left: by ``evalf``, in float64, and in functions of ``lambdify``."""

    is_commutative = True

    def _eval_evalf(self, prec):
        from netsor.derive.numerically import value

        return value(self)


class WithoutNumber(sympy.Expr):
    """Base of expectations over random scores, which formulas state and only samples estimate."""

    is_commutative = True

    def _code(self, printer) -> str:
        raise NotImplementedError(
            f"{type(self).__name__} is an expectation over random scores and has no number of its own: program.limit() estimates it")

    _pythoncode = _numpycode = _lambdacode = _mpmathcode = _code

    def _eval_derivative(self, symbol):
        return sympy.Derivative(self, symbol)  # the law of the scores may depend on it too


class Softmax(Numeric):
    """exp(body at the index) / sum of exp(body) over the values of the index that ``guard`` admits.

    Arguments: (body, guard, at, (index, low, high))."""

    body = property(lambda self: self.args[0])
    guard = property(lambda self: self.args[1])
    at = property(lambda self: self.args[2])
    limits = property(lambda self: self.args[3])

    @property
    def bound_symbols(self) -> list[sympy.Symbol]:
        return [self.limits[0]]

    @property
    def free_symbols(self) -> set:
        index, low, high = self.limits
        inside = (self.body.free_symbols | self.guard.free_symbols) - {index}
        return inside | self.at.free_symbols | low.free_symbols | high.free_symbols

    def _eval_derivative(self, symbol):
        """dA_i = A_i (dx_i - sum_k A_k dx_k)."""
        index, low, high = self.limits
        if symbol in set().union(*(part.free_symbols for part in (self.guard, self.at, low, high))):
            return sympy.Derivative(self, symbol)
        rate = sympy.diff(self.body, symbol)
        admitted = 1 if self.guard == sympy.true else Indicator(self.guard)
        mean = sympy.Sum(admitted * self.func(self.body, self.guard, index, self.limits) * rate, (index, low, high))
        return self * (rate.xreplace({index: self.at}) - mean) if rate != 0 else sympy.S.Zero

    def _eval_subs(self, old, new):
        if old == self.limits[0]:
            return self.func(self.body, self.guard, self.at._subs(old, new), self.limits)


class Extremum(Numeric):
    """max or min over an index: (name, body, guard, (index, low, high))."""

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


class InfiniteAverage(WithoutNumber):
    """The average of the body over an infinite axis, which is its expectation over one element: (body, index)."""

    body = property(lambda self: self.args[0])
    index = property(lambda self: self.args[1])

    @property
    def free_symbols(self) -> set:
        return self.body.free_symbols - {self.index}


class GaussianExpectation(Numeric):
    """E[integrand] over jointly Gaussian variables: (integrand, variables, means, covariance).

    A variable is a Symbol, or an Indexed over inner indices; entry (m, k) of the covariance is then an expression over the indices
    of variable m and the *second copies* of those of variable k: see ``inner``, a tuple for each variable of tuples (index, second
    copy, low, high)."""

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

    def _eval_subs(self, old, new):
        if old in self.own_symbols:
            return self

    def _eval_derivative(self, symbol):
        """By Price's theorem; SymPy's Derivative stands where no function would be right."""
        from netsor.derive.price import derivative

        if symbol in self.own_symbols:
            return sympy.S.Zero
        found = derivative(self, symbol)
        return sympy.Derivative(self, symbol) if found is None else found


class ScoreExpectation(WithoutNumber):
    """E over the law of random scores: (integrand,)."""

    integrand = property(lambda self: self.args[0])
