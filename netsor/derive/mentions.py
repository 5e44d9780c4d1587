"""Which quantities a formula mentions, which equation an element of a quantity belongs to, and formulas in the place of elements."""

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


def with_bound_apart(expr: sympy.Expr, used: set) -> sympy.Expr:
    """The formula with bound symbols renamed that have a meaning where it will stand."""
    bound = {
        symbol for part in sympy.preorder_traversal(expr) for symbol in getattr(part, "bound_symbols", ())
        if isinstance(part, sympy.Expr) and isinstance(symbol, sympy.Symbol)}
    clashes, taken = bound & used, {str(symbol) for symbol in expr.atoms(sympy.Symbol) | used}
    names = {}
    for symbol in sorted(clashes, key=str):
        name = symbol.name
        while name in taken:
            name += "'"
        taken.add(name)
        names[symbol] = symbol.func(name, **symbol._assumptions_orig)
    return expr.xreplace(names) if names else expr
