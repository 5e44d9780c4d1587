"""The simplifications that a person would make: common factors in front, numbers out of roots, Kronecker deltas collected."""

from __future__ import annotations

from collections import defaultdict

import sympy
from sympy.simplify.fu import TR10i

from netsor.derive.objects import InfiniteAverage

SAVED = 3  # operations that a common factor of all terms must save to be pulled out of the whole sum
MOST_QUANTITIES = 8  # of a polynomial whose factors are looked for, subscripts included
LONGEST_EXPANDED = 80  # operations of a formula that is multiplied out to see whether that is shorter


def tidy(expr: sympy.Expr) -> sympy.Expr:
    """The formula with common factors pulled out; multiplied out where that makes it shorter."""
    expr = expr.replace(_is_root_of_sum, _without_content).replace(_is_smaller_over_both, _over_larger)
    expr = expr.replace(lambda part: isinstance(part, InfiniteAverage), _without_constants)
    expr = expr.replace(_has_square_over_modulus, _modulus)
    if expr.has(sympy.KroneckerDelta):
        expr = expr.replace(_has_composite_delta, _where_equal)
    elif expr.is_Add and expr.count_ops() <= LONGEST_EXPANDED and expr.is_polynomial():
        expr = _shorter(_factored(expr), expr)
    if expr.has(sympy.sin) and expr.has(sympy.cos):
        expr = _shorter(TR10i(sympy.factor_terms(expr)), expr)
    found = _with_common_factors(expr)
    return _by_deltas(found) if expr.has(sympy.KroneckerDelta) else found


def _with_common_factors(expr: sympy.Expr) -> sympy.Expr:
    """Each term with its factors in front, or the whole sum with those of all terms where that saves enough."""
    whole = sympy.factor_terms(expr)
    if not isinstance(expr, sympy.Add):
        return whole
    apart = sympy.Add(*[sympy.factor_terms(term) for term in expr.args])
    content = expr.primitive()[0]
    saved = 0 if content.is_Integer and content != 1 else SAVED
    return whole if whole.is_Mul and whole.count_ops() + saved <= apart.count_ops() else apart


def _shorter(found: sympy.Expr, expr: sympy.Expr) -> sympy.Expr:
    return found if found.count_ops() < expr.count_ops() else expr


def _factored(expr: sympy.Expr) -> sympy.Expr:
    """The factors of a polynomial or fraction whose numbers are rational: those of others are slow to find and say nothing; a
    common denominator alone is none."""
    quantities = {part for part in sympy.preorder_traversal(expr) if isinstance(part, (sympy.Indexed, sympy.Symbol))}
    if not 0 < len(quantities) <= MOST_QUANTITIES or any(part.is_number and not part.is_Rational for part in sympy.preorder_traversal(expr)):
        return sympy.factor_terms(expr)
    found = sympy.factor(expr)
    return found if found.is_Pow or found.is_Mul and sum(bool(factor.free_symbols) for factor in found.args) > 1 else expr


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


# --- a^2/|a| ---------------------------------------------------------------------------------------------------------


def _has_square_over_modulus(part) -> bool:
    return isinstance(part, sympy.Mul) and any(_over_modulus(factor, part.args) for factor in part.args)


def _over_modulus(factor, factors) -> bool:
    return factor.is_Pow and factor.exp == -1 and isinstance(factor.base, sympy.Abs) and factor.base.args[0] ** 2 in factors


def _modulus(part) -> sympy.Expr:
    factors = list(part.args)
    for factor in part.args:
        if _over_modulus(factor, factors):
            factors.remove(factor)
            factors[factors.index(factor.base.args[0] ** 2)] = factor.base
    return sympy.Mul(*factors)


# --- Kronecker deltas ------------------------------------------------------------------------------------------------


def _has_composite_delta(part) -> bool:
    return isinstance(part, sympy.Mul) and any(
        isinstance(factor, sympy.KroneckerDelta) and not all(side.is_Symbol for side in factor.args) for factor in part.args)


def _where_equal(part) -> sympy.Expr:
    """A product without the deltas that follow from its other ones, δ[f(i),f(j)] beside δ[i,j]."""
    deltas = [factor for factor in part.args if isinstance(factor, sympy.KroneckerDelta)]
    same = {one: other for one, other in (delta.args for delta in deltas) if one.is_Symbol and other.is_Symbol}
    kept = [factor for factor in part.args if not (isinstance(factor, sympy.KroneckerDelta) and _follows(factor, same))]
    return sympy.Mul(*kept)


def _follows(delta: sympy.KroneckerDelta, same: dict) -> bool:
    return not all(side.is_Symbol for side in delta.args) and delta.xreplace(same) == 1


def _by_deltas(expr: sympy.Expr) -> sympy.Expr:
    """The formula as a sum over products of deltas, their coefficients factored, if that is shorter."""
    if expr.count_ops() > LONGEST_EXPANDED:
        return expr
    coefficients: dict[sympy.Expr, list[sympy.Expr]] = defaultdict(list)
    for term in sympy.Add.make_args(sympy.expand(expr)):
        deltas = [factor for factor in sympy.Mul.make_args(term) if isinstance(factor, sympy.KroneckerDelta)]
        rest = [factor for factor in sympy.Mul.make_args(term) if not isinstance(factor, sympy.KroneckerDelta)]
        coefficients[sympy.Mul(*deltas)].append(sympy.Mul(*rest))
    found = sympy.Add(*[_factored(sympy.Add(*terms)) * deltas for deltas, terms in coefficients.items()])
    return found if found.count_ops() + SAVED <= expr.count_ops() else expr
