"""The objects of formulas as numbers within SymPy: what ``evalf`` and functions made by ``lambdify`` call.

Numbers are float64; expectations have the error of the quadrature that also serves :meth:`netsor.derive.Derivation.evaluate`, about
1e-13 of their size.  In functions made by ``lambdify`` an object stands as its ``srepr`` beside the values of its symbols.
"""

from __future__ import annotations

import functools
from numbers import Integral
from typing import Any

import numpy as np
import sympy

from netsor.derive import objects
from netsor.derive.closed_forms import attention
from netsor.derive.evaluate import Evaluation
from netsor.derive.names import without_loops
from netsor.derive.quadrature import Unknown

PREFIX = "netsor_"


def value(expr: sympy.Expr) -> sympy.Float | None:
    """The number of an object without free symbols; None if symbols are left, or where it takes quasi-random points, whose error
    ``program.limit()`` states."""
    if expr.free_symbols:
        return None
    try:
        return sympy.Float(Evaluation([], {}, {}, {})(expr), 15)
    except Unknown:
        return None


def code(expr: sympy.Expr, printer) -> str:
    """The call that stands for an object in generated code: of :func:`netsor_number`."""
    symbols = sorted((symbol for symbol in expr.free_symbols if isinstance(symbol, sympy.Symbol)), key=sympy.default_sort_key)
    arrays = {part.base.label for part in expr.atoms(sympy.Indexed)}
    general = {symbol: sympy.Symbol(f"x{k}", **_kind(symbol)) for k, symbol in enumerate(symbols)}
    name = printer._module_format(f"{objects.NUMERICALLY}.netsor_number")
    which = tuple(str(general[symbol]) for symbol in symbols if symbol in arrays)
    values = "".join(f", {printer._print(symbol)}" for symbol in symbols)
    return f"{name}({sympy.srepr(without_loops(expr).xreplace(general))!r}, {which!r}{values})"


def _kind(symbol: sympy.Symbol) -> dict[str, bool]:
    return {"integer": True} if symbol.is_integer else {"real": True} if symbol.is_real else {}


def netsor_number(formula: str, arrays: tuple[str, ...], *values: Any) -> Any:
    """The number of an object at values of its symbols x0, x1, ...; elementwise where these are arrays, but for those that the formula
    has subscripts of (``arrays``), from which it takes elements by these subscripts as they are, as SymPy's code does.

    :raises ValueError: where it has no number without quasi-random points."""
    expr = _expression(formula)
    given = {f"x{k}": each for k, each in enumerate(values)}
    scalars = [name for name in given if name not in arrays]
    whole = {(name, (None,) * np.ndim(given[name])): (np.asarray(given[name]), [0] * np.ndim(given[name])) for name in arrays}
    spread = np.broadcast_arrays(*[np.asarray(given[name]) for name in scalars]) if scalars else []
    shape = spread[0].shape if spread else ()
    found = np.empty(shape)
    for place in np.ndindex(shape):
        numbers = {name: _number(each[place]) for name, each in zip(scalars, spread)}
        found[place] = Evaluation([], numbers, {}, whole)(expr)
    return found if shape else float(found)


def _number(value: Any) -> int | float:
    return int(value) if isinstance(value, Integral) else float(value)


@functools.lru_cache(maxsize=256)
def _expression(formula: str) -> sympy.Expr:
    return eval(formula, {}, _Names())  # noqa: S307 - what srepr wrote


class _Names(dict):
    """What a formula's ``srepr`` mentions: SymPy, the objects of formulas, functions of the catalogue."""

    def __missing__(self, name: str) -> Any:
        from sympy.functions.elementary.piecewise import ExprCondPair

        for place in (objects, attention, sympy):
            if hasattr(place, name):
                return getattr(place, name)
        return ExprCondPair if name == "ExprCondPair" else objects.function(_label(name))


def _label(name: str) -> str:
    """The name of a function of the catalogue, from its name in code."""
    return name.removesuffix(objects.PRIME) + "'" if name.endswith(objects.PRIME) else name


def __getattr__(name: str) -> Any:
    """``netsor_relu``: the function relu, of numbers and arrays."""
    if not name.startswith(PREFIX):
        raise AttributeError(name)
    try:
        function = objects.numeric(_label(name.removeprefix(PREFIX)))
    except KeyError:
        raise AttributeError(name) from None

    def elementwise(*arguments):
        found = function(*[np.asarray(each, dtype=float) for each in arguments])
        return found if np.ndim(found) else float(found)

    return elementwise
