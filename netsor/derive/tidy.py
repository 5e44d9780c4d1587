"""The simplifications that a person would make: common factors in front, numbers out of roots."""

from __future__ import annotations

import sympy

SAVED = 3  # operations that a common factor of all terms must save to be pulled out of the whole sum


def tidy(expr: sympy.Expr) -> sympy.Expr:
    """The formula with common factors pulled out; nothing is expanded."""
    expr = expr.replace(_is_root_of_sum, _without_content)
    whole = sympy.factor_terms(expr)
    if isinstance(expr, sympy.Add):
        apart = sympy.Add(*[sympy.factor_terms(term) for term in expr.args])
        return whole if whole.count_ops() + SAVED <= apart.count_ops() else apart
    return whole


def _is_root_of_sum(part) -> bool:
    return isinstance(part, sympy.Pow) and abs(part.exp) == sympy.S.Half and isinstance(part.base, sympy.Add)


def _without_content(part) -> sympy.Expr:
    content, rest = part.base.primitive()
    return content**part.exp * rest**part.exp
