"""Derivatives: of the catalogue's functions as SymPy functions, and of expressions that are continuous."""

from __future__ import annotations

import math
from fractions import Fraction

import sympy

from netsor import nonlinearities
from netsor.derive.objects import Named, function
from netsor.nonlinearities.derived import jumps

LARGEST = 10_000  # of numerator and denominator of the square of a number that is taken for a root
SMOOTH = (sympy.exp, sympy.sin, sympy.cos, sympy.tanh, sympy.erf, sympy.sinh, sympy.cosh)


class NoSlope(Exception):
    """A function is not known to be the integral of its derivative: it jumps, or is singular somewhere."""


def derivative_of(name: str, arguments: tuple) -> sympy.Expr | None:
    """phi'(argument, *parameters) almost everywhere, for the function of the catalogue with that name: in other functions where it
    declares such a formula, else as the function ``phi'``.  None for functions that jump, or may do so."""
    if not nonlinearities.known(name):
        return None
    nonlinearity = nonlinearities.get(name)
    argument, *given = arguments
    defaults = [default for _, default in nonlinearity.parameters[len(given):]]
    parameters = [*given, *map(sympy.sympify, defaults)]
    try:
        found = nonlinearity.slope(argument, _of, *parameters)
    except (TypeError, ValueError, AttributeError):  # a symbol where the formula needs a number
        return None
    if found is not None:
        return exact(sympy.sympify(found))
    if not all(parameter.is_number for parameter in parameters) or jumps(nonlinearity, *map(float, parameters)):
        return None
    return function(name + "'")(*arguments)


def _of(name: str, argument, *parameters) -> sympy.Expr:
    return function(name)(argument, *map(sympy.sympify, parameters))


def exact(expr: sympy.Expr) -> sympy.Expr:
    """The expression with numbers such as 1/sqrt(2 pi) for their decimals, where these are right to the last digit."""
    return expr.xreplace({number: _root(number) for number in expr.atoms(sympy.Float)})


def _root(number: sympy.Float) -> sympy.Expr:
    """r, sqrt(r), sqrt(r pi) or sqrt(r/pi) with a simple fraction r, if the number is one."""
    value = float(number)
    for power in (1, 0.5):
        for factor in (1, sympy.pi, 1 / sympy.pi):
            content = Fraction(abs(value) ** (1 / power) / float(factor)).limit_denominator(LARGEST)
            form = sympy.sign(value) * (sympy.Rational(content.numerator, content.denominator) * factor) ** sympy.nsimplify(power)
            simple = 0 < content.numerator < LARGEST and content.denominator < LARGEST
            if simple and (factor == 1 or power != 1) and abs(float(form) - value) <= 2 * math.ulp(value):
                return form
    return number


def slope(expr: sympy.Expr, by: sympy.Expr) -> sympy.Expr:
    """The derivative of ``expr`` by a symbol (or an Indexed) almost everywhere, if ``expr`` is the integral of it: continuous, with
    kinks at most.

    :raises NoSlope: if it may jump or be singular."""
    if not _depends(expr, by):
        return sympy.S.Zero
    inner = lambda part: slope(part, by)  # noqa: E731
    if isinstance(expr, (sympy.Symbol, sympy.Indexed)):
        return sympy.diff(expr, by)
    if isinstance(expr, sympy.Add):
        return sympy.Add(*map(inner, expr.args))
    if isinstance(expr, sympy.Mul):
        return sympy.Add(*[
            inner(factor) * sympy.Mul(*expr.args[:k], *expr.args[k + 1:]) for k, factor in enumerate(expr.args) if _depends(factor, by)])
    if isinstance(expr, sympy.Pow):
        base, exponent = expr.args
        if _depends(exponent, by) or not (base.is_positive or (exponent.is_Integer and exponent.is_positive)):
            raise NoSlope
        return exponent * base ** (exponent - 1) * inner(base)
    if isinstance(expr, (sympy.Max, sympy.Min)):
        return _of_extremum(expr, inner)
    if isinstance(expr, (Named, sympy.Abs, *SMOOTH)):
        return _of_function(expr, by) * inner(expr.args[0])
    if isinstance(expr, sympy.Sum) and not any(_depends(bound, by) for limit in expr.limits for bound in limit):
        return sympy.Sum(inner(expr.function), *expr.limits)
    raise NoSlope


def _depends(expr: sympy.Basic, by: sympy.Expr) -> bool:
    free = expr.free_symbols
    return by in free or (isinstance(by, sympy.Indexed) and by.base.label in free)


def _of_function(expr: sympy.Expr, by: sympy.Expr) -> sympy.Expr:
    if any(_depends(parameter, by) for parameter in expr.args[1:]):
        raise NoSlope
    if isinstance(expr, sympy.Abs):
        return sympy.sign(expr.args[0])
    if isinstance(expr, Named):
        found = derivative_of(expr.label, expr.args)
        if found is None or not nonlinearities.get(expr.label).domain[0] == -math.inf:
            raise NoSlope
        return found
    return expr.fdiff(1)


def _of_extremum(expr: sympy.Expr, inner) -> sympy.Expr:
    """The slope of the largest (or smallest) argument; where two are equal there is a kink."""
    step, sign = function("step"), 1 if isinstance(expr, sympy.Max) else -1
    return sympy.Add(*[
        inner(one) * sympy.Mul(*[step(sign * (one - other)) for other in expr.args if other is not one]) for one in expr.args])
