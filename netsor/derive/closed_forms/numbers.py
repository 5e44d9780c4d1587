"""Numbers from formulas."""

from __future__ import annotations

from collections.abc import Mapping

import mpmath
import sympy

DIGITS = 50


def value(formula: sympy.Expr, values: Mapping[sympy.Symbol, object] | None = None) -> float:
    """The formula at these values of its symbols, computed in 50 digits.

    Unlike ``evalf``, which looks for relative accuracy, it takes no longer where terms cancel: 1 - erf(100) is 0.
    :raises KeyError: if a symbol has no value.
    """
    from netsor.derive.closed_forms import attention

    formula, values = sympy.sympify(formula), values or {}
    symbols = sorted(formula.free_symbols, key=str)
    special = {"SquaredWeights": lambda k, s, v: mpmath.mpf(attention.squared_weights(int(k), int(s), float(v)))}
    with mpmath.workdps(DIGITS):
        numbers = [mpmath.mpmathify(values[symbol]) for symbol in symbols]
        return float(mpmath.re(sympy.lambdify(symbols, formula, [special, "mpmath"])(*numbers)))
