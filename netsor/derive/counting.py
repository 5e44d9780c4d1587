"""How many values of an index some conditions admit: sum(1[j <= i]*1[j <= i'] for j) = min(i, i')."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import sympy

Ranges = Mapping[sympy.Symbol, tuple[sympy.Expr, sympy.Expr]]  # (lowest, highest value) of the letters whose range is known


def count(conditions: Sequence, bound: tuple, ranges: Ranges) -> sympy.Expr | None:
    """The number of values of ``bound`` = (index, low, high) that satisfy all ``conditions`` (SymPy relations); None where it is not
    certain that it is a difference of bounds (which must not be negative), or one less than the range.

    With upper bounds u and lower bounds l it is min u - max l + 1, if u >= l - 1 for each pair."""
    symbol, low, high = bound
    uppers, lowers, gaps = [], [], []
    for condition in conditions:
        found = _solved(condition, symbol)
        if found is None:
            return None
        {"<=": uppers, ">=": lowers, "!=": gaps}[found[0]].append(found[1])
    if gaps:
        inside = is_nonnegative(gaps[0] - low, ranges) and is_nonnegative(high - gaps[0], ranges)
        return high - low if inside and len(set(gaps)) == 1 and not uppers + lowers else None
    if not any(is_nonnegative(high - upper, ranges) for upper in uppers):
        uppers.append(high)
    if not any(is_nonnegative(lower - low, ranges) for lower in lowers):
        lowers.append(low)
    if not all(is_nonnegative(upper - lower + 1, ranges) for upper in uppers for lower in lowers):
        return None
    return sympy.Min(*uppers) - sympy.Max(*lowers) + 1


def _solved(condition, symbol: sympy.Symbol) -> tuple[str, sympy.Expr] | None:
    """A condition on whole numbers as (relation, bound) for the index: j <= bound, j >= bound or j != bound."""
    if not isinstance(condition, (sympy.Le, sympy.Lt, sympy.Ge, sympy.Gt, sympy.Ne)):
        return None
    difference = sympy.expand(condition.lhs - condition.rhs)
    slope = difference.coeff(symbol)
    rest = sympy.expand(difference - slope * symbol)
    if slope not in (1, -1) or symbol in rest.free_symbols or not rest.is_integer:
        return None
    if isinstance(condition, sympy.Ne):
        return "!=", -slope * rest
    if isinstance(condition, (sympy.Lt, sympy.Gt)):
        rest += 1 if isinstance(condition, sympy.Lt) else -1  # a < b is a + 1 <= b for whole numbers
    below = isinstance(condition, (sympy.Le, sympy.Lt)) == (slope == 1)
    return ("<=" if below else ">="), -slope * rest


def is_nonnegative(expr: sympy.Expr, ranges: Ranges) -> bool:
    """Whether an expression, linear in the letters, is certainly not negative for all their values."""
    expr = sympy.expand(expr)
    for _ in range(4):  # the ends of a range may mention other letters
        letters = [letter for letter in expr.free_symbols if letter in ranges]
        if not letters:
            break
        for letter in letters:
            slope = expr.coeff(letter)
            if letter in (expr - slope * letter).expand().free_symbols or not slope.is_number:
                return False
            low, high = ranges[letter]
            expr = sympy.expand(expr.xreplace({letter: low if slope > 0 else high}))
    return bool(expr.is_nonnegative)
