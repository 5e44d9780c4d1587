"""The simplifications that a person would make: common factors in front, numbers out of roots."""

from __future__ import annotations

import sympy

from netsor.derive.objects import InfiniteAverage


def tidy(expr: sympy.Expr) -> sympy.Expr:
    """The formula with common factors pulled out; nothing is expanded."""
    expr = expr.replace(_is_root_of_sum, _without_content).replace(_is_smaller_over_both, _over_larger)
    expr = expr.replace(lambda part: isinstance(part, InfiniteAverage), _without_constants)
    if isinstance(expr, sympy.Add):
        return sympy.Add(*[sympy.factor_terms(term) for term in expr.args])
    return sympy.factor_terms(expr)


def _without_constants(average: InfiniteAverage) -> sympy.Expr:
    """The average with the factors that do not depend on its index in front."""
    outside, inside = sympy.factor_terms(average.body).as_independent(average.index, as_Add=False)
    return outside * InfiniteAverage(inside, average.index)


def _is_root_of_sum(part) -> bool:
    return isinstance(part, sympy.Pow) and abs(part.exp) == sympy.S.Half and isinstance(part.base, sympy.Add)


def _without_content(part) -> sympy.Expr:
    content, rest = part.base.primitive()
    return content**part.exp * rest**part.exp


def _is_smaller_over_both(part) -> bool:
    return isinstance(part, sympy.Mul) and any(isinstance(factor, sympy.Min) and len(factor.args) == 2 for factor in part.args)


def _over_larger(part: sympy.Mul) -> sympy.Expr:
    """1/max(a, b) for min(a, b)/(a b)."""
    for factor in part.args:
        if isinstance(factor, sympy.Min) and len(factor.args) == 2 and {1 / each for each in factor.args} <= set(part.args):
            return part / factor * sympy.Mul(*factor.args) / sympy.Max(*factor.args)
    return part
