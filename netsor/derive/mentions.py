"""Which quantities a formula mentions, and which equation an element of a quantity belongs to."""

from __future__ import annotations

import sympy

from netsor.derive.names import LoopNumber


def mentioned(expr: sympy.Expr) -> set[sympy.Expr]:
    """The quantities of a formula, with subscripts or without; parameters and letters are among the latter."""
    return expr.atoms(sympy.Indexed) | {each for each in expr.atoms(sympy.Symbol) if not isinstance(each, LoopNumber)}


def key(element: sympy.Expr) -> tuple[tuple, tuple]:
    """What tells the equation of an element apart (its name, the numbers of loops by place), and its other subscripts."""
    if not isinstance(element, sympy.Indexed):
        return (str(element), ()), ()
    numbers = tuple(each if isinstance(each, LoopNumber) else None for each in element.indices)
    return (str(element.base.label), numbers), tuple(each for each in element.indices if not isinstance(each, LoopNumber))
