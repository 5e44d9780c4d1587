"""The derivative of a nonlinearity as a formula, for expressions."""

from __future__ import annotations

from netsor.ir.expressions import ONE, Call, Expr, Index, Range, lift
from netsor.nonlinearities import Nonlinearity
from netsor.nonlinearities.plugin_error import PluginError

ADVICE = 'its arguments are expressions: + - * / ** and of("sqrt", …), not functions of math or NumPy'


def slope_of(nonlinearity: Nonlinearity, argument: Expr, *parameters: Expr) -> Expr | None:
    """phi'(argument); None if the nonlinearity does not declare its slope.

    :raises PluginError: if what it declares fails for expressions."""
    of = lambda name, z, *rest: Call(name, tuple(map(lift, (z, *rest))))  # noqa: E731
    try:
        found = nonlinearity.slope(argument, of, *parameters)
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise PluginError(f"the slope of the nonlinearity {nonlinearity.name!r} fails ({reason}); {ADVICE}") from error
    if found is not None and not isinstance(found, (Expr, int, float)):
        kind = type(found).__name__
        raise PluginError(f"the slope of the nonlinearity {nonlinearity.name!r} is no expression but {kind}; {ADVICE}")
    return None if found is None else lift(found)


def check_slope_of_expressions(nonlinearity: Nonlinearity, *params: float) -> None:
    """Programs ask for the slope at expressions, with expressions as parameters.

    :raises PluginError: if it can be had for numbers only."""
    slope_of(nonlinearity, Index("z", Range(ONE, ONE)), *map(lift, nonlinearity.arguments(*params)))
